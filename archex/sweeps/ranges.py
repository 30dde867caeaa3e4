"""Ranges and intervals with units, which Hydra's grammar has no form for: `range(20MiB,80MiB,4MiB)`, `interval(1.2GHz,2GHz)`.

In: an override as typed. Out: the same with plain numbers and the unit as a tag, `tag(MiB,range(20,80,4))`, which Hydra parses; and what
the tags of a sweep say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from archex.base.errors import Problem, closest
from archex.base.units import measure, suffixes

#: Tags for a search: an interval by orders of magnitude; a list whose order means something.
LOG, ORDERED = "log", "ordered"
_SWEEP = re.compile(r"^(?:tag\((?P<tags>[^()]*),)?\s*(?P<name>range|interval)\((?P<numbers>[^()]*)\)\)?$")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ITEM = re.compile(rf"^\s*(?P<name>(?:start|stop|step|end)\s*=\s*)?(?P<number>{_NUMBER})\s*(?P<unit>[A-Za-z/%]*)\s*$")


def plain(argument: str) -> str:
    """An override whose range or interval has units, rewritten; any other, and one that makes no sense, as it is."""
    key, equals, value = argument.partition("=")
    found = _SWEEP.match(value)
    if not equals or not found or (found["tags"] is None) == value.endswith("))"):
        return argument
    items = [_ITEM.match(item) for item in found["numbers"].split(",")]
    units = _units(found)
    if not units or None in items or mixed(argument):
        return argument
    smallest = min(units, key=lambda unit: (measure(f"1{unit}")[0], unit))
    numbers = [f"{item['name'] or ''}{_in_unit(item['number'], item['unit'] or smallest, smallest)}" for item in items if item]
    tag = smallest if smallest.isalpha() else f"'{smallest}'"
    tags = f"{found['tags']},{tag}" if found["tags"] else tag
    return f"{key}=tag({tags},{found['name']}({','.join(numbers)}))"


def mixed(argument: str) -> str | None:
    """What is wrong with the units of a range or an interval, as a rule; None without one, and if nothing is."""
    found = _SWEEP.match(argument.partition("=")[2])
    units = _units(found) if found else set()
    known = set(suffixes())
    kinds = {measure(f"1{unit}")[1] for unit in units & known}
    if strangers := sorted(units - known):
        right = [unit for unit in suffixes() if not kinds or measure(f"1{unit}")[1] in kinds]
        return f"has the unit {strangers[0]}; expected one of {', '.join(right)}"
    if len(kinds) > 1:
        return f"has units of different things: {', '.join(sorted(units))}"
    return None


def _units(found: re.Match[str]) -> set[str]:
    items = [_ITEM.match(item) for item in found["numbers"].split(",")]
    return {item["unit"] for item in items if item} - {""}


def _in_unit(number: str, unit: str, wanted: str) -> str:
    """A number in another unit of the same kind, as Hydra reads numbers."""
    ratio = Fraction(measure(f"1{unit}")[0] / measure(f"1{wanted}")[0]).limit_denominator(10**6)
    exact = Fraction(number) * ratio
    return str(exact.numerator) if exact.denominator == 1 else format(Decimal(repr(float(exact))), "f")


def probes(low: float, high: float, unit: str) -> list[float]:
    """The ends of an interval and a number between. Bytes are whole, and go in steps of the unit that they are written in."""
    between = low + 0.617 * (high - low)
    whole = isinstance(low, int) or in_bytes(unit)
    return [low, int(between) if whole else between, high]


def in_bytes(unit: str) -> bool:
    """Whether a unit is one of bytes."""
    return bool(unit) and measure(f"1{unit}")[1] == "B"


def unit(tags: Iterable[str], key: str, given: str) -> str | Problem:
    """The unit among the tags of a sweep; none is empty."""
    found = sorted(set(tags) & set(suffixes()))
    if len(found) > 1:
        return Problem(key, given, f"has two units: {' and '.join(found)}")
    return "".join(found)


def strange(tags: Iterable[str], key: str) -> list[Problem]:
    """Tags that mean nothing to a search."""
    known = (LOG, ORDERED, *suffixes())
    return [Problem(key, tag, "is not a known tag", known, closest(tag, known)) for tag in sorted(set(tags) - set(known))]
