"""Numbers with units: exact parsing (`228 KiB`, `1.98 GHz`, `4.8 TB/s`, `141.4 ns`, `40`) and printing.

In: what a config or command line says. Out: numbers in base units: bytes, hertz, seconds, bytes a second, cycles, counts.
A time or a rate of a part may be given in its own cycles or in seconds: `Duration` and `Rate` remember which, and are turned into
the cycles of a clock at assembly, so that sweeping one clock leaves other clocks' nanoseconds alone.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

_BINARY = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_DECIMAL = {"": Fraction(1), "k": Fraction(10**3), "K": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12)}
_BYTES = {f"{p}B": Fraction(f) for p, f in _BINARY.items()} | {f"{p}B": f for p, f in _DECIMAL.items()}
_HERTZ = {f"{p}Hz": f for p, f in _DECIMAL.items() if p != "K"}
_SECONDS = {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9), "ps": Fraction(1, 10**12)}
_RATES = {f"{p}/s": f for p, f in _BYTES.items()}
_CYCLES = {"": Fraction(1), "cycle": Fraction(1), "cycles": Fraction(1)}
_PER_CYCLE = {"": Fraction(1), "B/cycle": Fraction(1), "bytes/cycle": Fraction(1)}

#: unit of a field -> (accepted suffixes, whole numbers only, an example)
_SUFFIXES: dict[str, tuple[dict[str, Fraction], bool, str]] = {
    "B": ({"": Fraction(1)} | _BYTES, True, "64 MiB"),
    "Hz": (_HERTZ, False, "1.98 GHz"),
    "s": (_SECONDS, False, "141.4 ns"),
    "B/s": (_RATES, False, "4.8 TB/s"),
    "cycles": (_CYCLES, False, "40"),
    "B/cycle": (_PER_CYCLE, False, "32"),
    "count": ({"": Fraction(1)}, True, "4"),
    "ratio": ({"": Fraction(1), "%": Fraction(1, 100)}, False, "0.5"),
}
UNITS = (*_SUFFIXES, "duration", "rate", "name", "flag")
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z/%]*)\s*$")


class Duration(NamedTuple):
    """A time: `value` cycles of the part's own clock, or seconds."""

    value: float
    unit: str  # "cycles" or "s"

    def cycles(self, clock_hz: float, own_clock_hz: float | None = None) -> float:
        """The same time in cycles of `clock_hz`; the part's own clock defaults to that one."""
        if self.unit == "s":
            return self.value * clock_hz
        return self.value * (clock_hz / own_clock_hz) if own_clock_hz else self.value


class Rate(NamedTuple):
    """A data rate: `value` bytes a cycle of the part's own clock, or bytes a second."""

    value: float
    unit: str  # "B/cycle" or "B/s"

    def bytes_per_cycle(self, clock_hz: float, own_clock_hz: float | None = None) -> float:
        """The same rate in bytes a cycle of `clock_hz`."""
        if self.unit == "B/s":
            return self.value / clock_hz
        return self.value * (own_clock_hz / clock_hz) if own_clock_hz else self.value


def parse(value: Any, unit: str) -> Any:
    """`value` as a number in `unit`; ValueError says what should stand there."""
    try:
        return _parsed(value, unit)
    except TypeError:  # a list or a map, which can't be looked up
        return _parsed.__wrapped__(value, unit)


@lru_cache(maxsize=4096, typed=True)  # a sweep reads the same few hundred texts again and again
def _parsed(value: Any, unit: str) -> Any:
    if unit == "duration":
        return _either(value, "s", "cycles", Duration, "a time such as 40 (cycles) or 141.4 ns")
    if unit == "rate":
        return _either(value, "B/s", "B/cycle", Rate, "a rate such as 64 B/cycle or 4.8 TB/s")
    suffixes, whole, example = _SUFFIXES[unit]
    number, suffix = _split(value, unit, example)
    if not suffix and number == 0:
        return 0  # nothing is nothing in any unit
    if suffix not in suffixes:
        listed = ", ".join(s for s in suffixes if s)
        if not suffix:
            raise ValueError(f"needs a unit, such as {example} (units: {listed})")
        raise ValueError(f"has the unit {suffix}; expected {'one of ' + listed if listed else 'a plain number'}, such as {example}")
    exact = number * suffixes[suffix]
    if exact.denominator == 1:
        return int(exact)
    if whole:
        raise ValueError(f"must be a whole number{' of bytes' if unit == 'B' else ''}, such as {example}")
    return float(exact)


def _split(value: Any, unit: str, example: str) -> tuple[Fraction, str]:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"must be a number in {unit}, such as {example}")
    found = _NUMBER.match(str(value))
    if not found:
        raise ValueError(f"must be a number in {unit}, such as {example}")
    return Fraction(found[1]), found[2]


def measure(value: Any) -> tuple[float, str]:
    """A number of whatever: in base units, and the unit that its suffix says (`count` without one); ValueError for no number."""
    number, suffix = _split(value, "any unit", "40, 64 MiB or 1.98 GHz")
    for unit in ("count", "B", "Hz", "s", "B/s", "cycles", "B/cycle", "ratio"):
        if suffix in _SUFFIXES[unit][0]:
            return float(number * _SUFFIXES[unit][0][suffix]), unit
    raise ValueError(f"has the unit {suffix}; expected one of {', '.join(suffixes())}")


def suffixes() -> list[str]:
    """Every suffix that a number may carry."""
    return list(dict.fromkeys(suffix for known, _, _ in _SUFFIXES.values() for suffix in known if suffix))


def _either(value: Any, timed: str, clocked: str, form: Any, example: str) -> Any:
    try:
        _, suffix = _split(value, "", "")
    except ValueError:
        raise ValueError(f"must be {example}") from None
    for unit in (timed, clocked):
        if suffix in _SUFFIXES[unit][0]:
            return form(parse(value, unit), unit)
    raise ValueError(f"has the unit {suffix}; expected {example}")


def show(value: Any, unit: str) -> str:
    """`value` (in `unit`) as a person would write it; parsing the text gives the value back."""
    if value is None:
        return "none"
    if isinstance(value, (Duration, Rate)):
        return show(value.value, value.unit) + (" cycles" if value.unit == "cycles" else "")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if unit == "B":
        return _scaled(value, [(2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")], "B", exact=True)
    if unit == "Hz":
        return _scaled(value, [(10**9, "GHz"), (10**6, "MHz"), (10**3, "kHz")], "Hz")
    if unit == "B/s":
        return _scaled(value, [(10**12, "TB/s"), (10**9, "GB/s"), (10**6, "MB/s")], "B/s")
    if unit == "s":
        return _scaled(value, [(1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")], "s")
    return _plain(value) + (" B/cycle" if unit == "B/cycle" else "")


def _scaled(value: float, scales: list[tuple[float, str]], base: str, exact: bool = False) -> str:
    for factor, name in scales:
        if value and abs(value) >= factor and (not exact or value * 8 % factor == 0):
            return f"{_plain(value / factor)} {name}"
    return f"{_plain(value)} {base}"


def _plain(value: float) -> str:
    if isinstance(value, int) or float(value).is_integer():
        return str(int(value))
    return f"{value:.12g}"
