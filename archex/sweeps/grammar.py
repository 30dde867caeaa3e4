"""Overrides as Hydra's grammar reads them.

In: override strings. Out: `Assignment`s, one a key, with the values a sweep gives it. A string that does not parse, or a sweep without
`-m`, is a `Problem`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import attrs
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from archex.base.errors import ABSENT, Problem


@attrs.frozen
class Assignment:
    """One value for one key: `text` as Hydra would be given it, `shown` without Hydra's quotes."""

    key: str  # without +, ~ and package
    text: str
    value: Any
    deletes: bool = False

    @property
    def shown(self) -> str:
        """As a person writes it."""
        if self.deletes:
            return self.text
        return f"{self.key}={show_value(self.value)}"


def show_value(value: Any) -> str:
    """A value of the grammar as text: strings bare, null and booleans as YAML writes them."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ",".join(show_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{show_value(item)}" for key, item in value.items()) + "}"
    return str(value)


def parse(overrides: Iterable[str], multirun: bool) -> tuple[list[list[Assignment]], list[Problem]]:
    """For each override the assignments it sweeps over (one without a sweep), and all problems."""
    axes: dict[str, list[Assignment]] = {}
    problems = []
    parser = OverridesParser.create()
    for text in overrides:
        if not text.startswith("-") and "=" not in text and not text.startswith("~"):
            problems.append(Problem(text, ABSENT, "is not an override; expected KEY=VALUE, such as device=h200"))
            continue
        try:
            override = parser.parse_overrides([text])[0]
            axis = list(_expand(override))
        except HydraException as error:
            problems.append(Problem(text.partition("=")[0], text.partition("=")[2] or ABSENT, _reason(error)))
            continue
        if len(axis) > 1 and not multirun:
            problems.append(Problem(axis[0].key, text.partition("=")[2], "gives several values; sweeps need -m: archex run -m ..."))
        elif not axis:
            problems.append(Problem(override.key_or_group, text.partition("=")[2], "gives no value"))
        else:
            axes[axis[0].key] = axis  # the last one given wins, as in Hydra
    return list(axes.values()), problems


def _expand(override: Override) -> Iterator[Assignment]:
    prefix = override.get_key_element()
    if override.is_delete():
        yield Assignment(override.key_or_group, f"~{override.key_or_group}", None, deletes=True)
    elif override.is_sweep_override():
        if not override.is_discrete_sweep():
            raise HydraException("is an interval; a sweep needs a list of values: choice(a,b), range(1,9) or a,b")
        for element in override.sweep_string_iterator():
            text = f"{prefix}={element}"
            yield Assignment(override.key_or_group, text, OverridesParser.create().parse_overrides([text])[0].value())
    else:
        yield Assignment(override.key_or_group, f"{prefix}={override.get_value_element_as_str()}", override.value())


def _reason(error: HydraException) -> str:
    """Hydra's own words, without its hints at its own documentation."""
    text = str(error).strip().splitlines()[0].rstrip(".")
    if text.startswith("is an interval"):
        return text
    return "does not parse as an override: " + text[:1].lower() + text[1:]


def points(axes: list[list[Assignment]]) -> list[tuple[Assignment, ...]]:
    """Every combination, the last axis fastest."""
    return list(product(*axes))
