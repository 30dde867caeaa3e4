"""Every kind of part has at least two members, and a stranger can replace each of them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from archex import hookimpl
from archex.assembly import assemble
from archex.describe import describe
from archex.parts.kinds import KINDS, SLOTS
from archex.registry import Registry, load
from archex.testing import CONTRACTS
from archex.testing.devices import compose, installed
from archex.testing.numbers import config_files, shipped, whole


def members(kind: str) -> list[Any]:
    """Parts of a kind, by name, with what config files make of them."""
    found: list[Any] = list(installed().names(kind))
    for slot in (slot.name for slot in SLOTS.values() if slot.kind == kind):
        for path in config_files(installed(), slot):
            content = {key: value for key, value in whole(path).items() if key != "sources"}
            if content not in found and set(content) != {"name"}:
                found.append(content)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_two_members(kind: str) -> None:
    assert len(members(kind)) >= 2 + (kind in {slot.kind for slot in SLOTS.values()} and kind != "wave_scheduler")


def stranger(part: type) -> Registry:
    """What is installed, and a part of a package that nobody knows."""
    module = ModuleType("stranger")
    module.archex_parts = hookimpl(lambda: [part])  # type: ignore[attr-defined]
    return load({"stranger": module})


@pytest.mark.parametrize("kind", KINDS)
def test_a_stranger_can_replace_it(kind: str) -> None:
    name = installed().names(kind)[0]
    before = installed().parts[kind, name].part
    part = type("Mine", (before,), {"name": "mine", "__doc__": "Somebody's own."})
    contract = type("Contract", (CONTRACTS[kind],), {"part": part, "spec": shipped(installed(), kind, name)})()
    registry = stranger(part)
    device = describe(contract.config(), registry)
    plain = describe(compose("tiny"), registry)
    slot, _, field = contract.places[0].partition(".")
    if field:
        assert getattr(device[slot], field).part is part
    else:
        assert device.slots[slot].part is part
        assert device.slots[slot].package == "stranger"
    assert device.fingerprint != plain.fingerprint
    assert assemble(device).tables.levels.shape == assemble(plain).tables.levels.shape
