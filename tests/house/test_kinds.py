"""Every kind has page, config group and documentation; every number and every counter says what it is."""

from __future__ import annotations

import importlib
import re

import attrs
import pytest
from archex.base.folders import conf
from archex.engine.tables import COUNTERS
from archex.parts.kinds import KINDS, SLOTS
from archex.parts.part import META, Meta, Part
from archex.records.schema import COLUMNS
from archex.testing import CONTRACTS
from sources import ROOT

#: Kinds that decide for another part are chosen inside that part's file, not in a slot of their own.
IN_SLOTS = {slot.kind for slot in SLOTS.values()}


@pytest.mark.parametrize("kind", KINDS)
def test_one_kind_one_page(kind: str) -> None:
    page = KINDS[kind]
    assert page.__module__ == f"archex.parts.{kind}", "the page is the module of the kind's name"
    text = (importlib.import_module(page.__module__).__doc__ or "").strip()
    assert text, "the page opens with what the kind is"
    assert page.__doc__
    assert page.__doc__ != Part.__doc__


def test_every_kind_has_a_contract() -> None:
    assert set(KINDS) == set(CONTRACTS)


@pytest.mark.parametrize("slot", SLOTS)
def test_every_slot_has_choices(slot: str) -> None:
    assert list((conf() / slot).glob("*.yaml")), f"conf/{slot}/ has no choice"


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_says_what_it_is(kind: str) -> None:
    def fields(spec: type) -> list[str]:
        found = []
        for field in attrs.fields(spec):
            what = field.metadata.get(META)
            if not isinstance(what, Meta) or not what.meaning or not (what.unit or what.nested):
                found.append(f"{spec.__name__}.{field.name}")
            elif what.nested:
                found += fields(what.nested)
        return found

    assert not fields(KINDS[kind].Spec)


@pytest.mark.parametrize("kind", [kind for kind, page in KINDS.items() if page.functions])
def test_policy_functions_are_documented(kind: str) -> None:
    text = importlib.import_module(KINDS[kind].__module__).__doc__ or ""
    for function in KINDS[kind].functions:
        assert function.name in text or not function.required
        assert function.meaning
        assert function.returns


def test_counters_have_unit_meaning_and_column() -> None:
    columns = {column.name for column in COLUMNS}
    counted = {name for name, _, _ in COUNTERS}
    wrong = []
    for kind, page in KINDS.items():
        for counter in page.counters:
            if not (counter.unit and counter.meaning) or counter.column not in columns or counter.name not in counted:
                wrong.append(f"{kind}: {counter}")
    assert not wrong


def test_engine_counters_have_unit_and_meaning() -> None:
    assert not [name for name, unit, meaning in COUNTERS if not (unit and meaning)]
    assert len({name for name, _, _ in COUNTERS}) == len(COUNTERS)


def test_columns_have_a_meaning() -> None:
    assert not [column.name for column in COLUMNS if not column.meaning]
    assert not [column.name for column in COLUMNS if column.type == "float" and not column.unit]


def test_pages_of_the_documentation_name_every_kind_and_column() -> None:
    parts = (ROOT / "docs/parts.md").read_text()
    assert not [kind for kind in KINDS if f"`{kind}`" not in parts]
    assert not [function.name for page in KINDS.values() for function in page.functions if f"`{function.name}`" not in parts]
    words = set(re.findall(r"\w+", (ROOT / "docs/results.md").read_text()))
    assert not [column.name for column in COLUMNS if column.name not in words]
