"""Overrides as Hydra's grammar reads them.

In: override strings. Out: `Axis`es, one a key, each a sequence of the `Assignment`s that a sweep gives it. A string that does not parse, or
a sweep without `-m`, is a `Problem`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Protocol, overload

import attrs
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, FloatRange, Glob, IntervalSweep, Override, RangeSweep
from hydra.errors import HydraException

from archex.base.errors import ABSENT, Problem
from archex.sweeps import ranges
from archex.sweeps.points import Assignment


@attrs.frozen(eq=False)
class Axis(Sequence[Assignment]):
    """The values that a sweep gives to one key. An assignment is made when it is asked for: a range of 10^6 numbers holds none.

    override: as Hydra parsed it, for sweepers that ask more than which values there are. interval: the values are its two ends and one
    between, which show what is wrong with it by itself.
    """

    key: str
    override: Override
    values: Sequence[Any]  # as parsed: strings may carry their quotes
    interval: bool = False
    unit: str = ""  # of every value

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, place: int) -> Assignment: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Assignment]: ...
    def __getitem__(self, place: int | slice) -> Assignment | Sequence[Assignment]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        return self.assign(self.values[place])

    @property
    def given(self) -> str:
        """What stood behind the equals sign."""
        return (self.override.input_line or "").partition("=")[2]

    def assign(self, value: Any) -> Assignment:
        """The assignment of a parsed value."""
        if self.unit:
            value = f"{int(value) if isinstance(value, float) and value.is_integer() else value}{self.unit}"
        text = Override._get_value_element_as_str(value)
        prefix = self.override.get_key_element()
        if self.override.is_delete():
            return Assignment(self.key, prefix if value is None else f"{prefix}={text}", Override._convert_value(value), deletes=True)
        return Assignment(self.key, f"{prefix}={text}", Override._convert_value(value))


class Groups(Protocol):
    """What the grammar must know of the configs: which choices a group has."""

    def is_group(self, key: str) -> bool:
        """Whether a key is a group."""

    def options(self, group: str) -> list[str]:
        """Its choices."""


def parse(overrides: Iterable[str], multirun: bool, groups: Groups | None = None) -> tuple[list[Axis], list[Problem]]:
    """An axis for each key (of one value without a sweep), and all problems."""
    axes: dict[str, Axis] = {}
    problems = []
    parser = OverridesParser.create()
    parsed: list[Override] = []
    for text in overrides:
        if not text.startswith("-") and "=" not in text and not text.startswith("~"):
            problems.append(Problem(text, ABSENT, "is not an override; expected KEY=VALUE, such as device=h200"))
            continue
        try:
            parsed.append(_parsed(parser, text))
        except HydraException as error:
            problems.append(Problem(text.partition("=")[0], text.partition("=")[2] or ABSENT, ranges.mixed(text) or _reason(error)))
    seed = next((str(override.value()) for override in reversed(parsed) if override.key_or_group == "seed"), "0")
    for override in parsed:
        found = _axis(override, groups, seed)
        if isinstance(found, Problem):
            problems.append(found)
        elif len(found) > 1 and not multirun:
            problems.append(Problem(found.key, found.given, "gives several values; sweeps need -m: archex run -m ..."))
        elif not found:
            problems.append(Problem(found.key, found.given, "gives no value"))
        else:
            axes[found.key] = found  # the last one given wins, as in Hydra
    return list(axes.values()), problems


def _parsed(parser: OverridesParser, text: str) -> Override:
    """One override. `shuffle([1,2])` draws its numbers while it is parsed: the same ones each time."""
    state = random.getstate()
    random.seed(text)
    try:
        return parser.parse_overrides([ranges.plain(text)])[0]
    finally:
        random.setstate(state)


def _axis(override: Override, groups: Groups | None, seed: str) -> Axis | Problem:
    key, sweep = override.key_or_group, override._value
    given = (override.input_line or "").partition("=")[2]
    if isinstance(sweep, Glob):
        options = groups.options(key) if groups is not None and groups.is_group(key) else []
        chosen = sweep.filter(options)
        if chosen:
            return Axis(key, override, chosen)
        return Problem(key, given, "matches no choice" if options else "stands for choices of a group, and this is none", tuple(options))
    unit = ranges.unit(getattr(sweep, "tags", ()), key, given)
    if isinstance(unit, Problem):
        return unit
    if isinstance(sweep, IntervalSweep):
        return Axis(key, override, ranges.probes(sweep.start or 0, sweep.end or 0, unit), True, unit)
    if isinstance(sweep, ChoiceSweep):
        return Axis(key, override, _ordered(sweep.list, sweep, key, seed), unit=unit)
    if isinstance(sweep, RangeSweep):
        if not sweep.step:
            return Problem(key, given, "has a step of 0")
        numbers = sweep.range()
        values = _Floats(sweep) if isinstance(numbers, FloatRange) else numbers
        return Axis(key, override, _ordered(values, sweep, key, seed), unit=unit)
    return Axis(key, override, [sweep])


class _Floats(Sequence[float]):
    """A range of numbers that aren't whole, each computed when it is asked for: in decimal, so that steps of 0.1 pass 0.3."""

    def __init__(self, of: RangeSweep) -> None:
        self._start, stop, self._step = (Decimal(str(number)) for number in (of.start, of.stop, of.step))
        whole = max(0, int((stop - self._start) / self._step))
        last = self._start + whole * self._step
        self._length = whole + (last < stop if self._step > 0 else last > stop)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        if not 0 <= place < self._length:
            raise IndexError(place)
        return float(self._start + place * self._step)


def _ordered(values: Sequence[Any], sweep: ChoiceSweep | RangeSweep, key: str, seed: str) -> Sequence[Any]:
    """The values in their order; shuffled in the same way whenever the seed is the same."""
    if not sweep.shuffle:
        return values
    return [values[place] for place in random.Random(f"{seed} {key}").sample(range(len(values)), len(values))]


def _reason(error: HydraException) -> str:
    """Hydra's own words, without its hints at its own documentation."""
    text = str(error).strip().splitlines()[0].rstrip(".")
    return "does not parse as an override: " + text[:1].lower() + text[1:]
