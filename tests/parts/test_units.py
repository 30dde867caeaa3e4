"""Units: exact, checked, printed so that they parse back."""

from __future__ import annotations

import re

import pytest
from archex.base.units import Duration, Rate, parse, show
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("228 KiB", "B", 233472),
        ("64MiB", "B", 67108864),
        (128, "B", 128),
        ("1.5 KiB", "B", 1536),
        ("64 MB", "B", 64000000),
        ("1.98 GHz", "Hz", 1980000000),
        ("1708MHz", "Hz", 1708000000),
        ("4.8 TB/s", "B/s", 4800000000000),
        (0, "B/s", 0),
        ("141.4 ns", "s", 1.414e-7),
        ("40", "cycles", 40),
        (8.5, "cycles", 8.5),
        ("40 cycles", "duration", Duration(40, "cycles")),
        ("218ns", "duration", Duration(2.18e-7, "s")),
        ("32 B/cycle", "rate", Rate(32, "B/cycle")),
        ("9.3 TB/s", "rate", Rate(9300000000000, "B/s")),
        ("95 %", "ratio", 0.95),
    ],
)
def test_parses_exactly(text: object, unit: str, value: object) -> None:
    assert parse(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "rule"),
    [
        ("64", "Hz", "needs a unit, such as 1.98 GHz (units: Hz, kHz, MHz, GHz, THz)"),
        ("3 GB", "Hz", "has the unit GB; expected one of Hz, kHz, MHz, GHz, THz, such as 1.98 GHz"),
        ("4 MiB", "count", "has the unit MiB; expected a plain number, such as 4"),
        ("4.5", "count", "must be a whole number, such as 4"),
        ("0.3 B", "B", "must be a whole number of bytes, such as 64 MiB"),
        ("many", "B", "must be a number in B, such as 64 MiB"),
        (True, "count", "must be a number in count, such as 4"),
        (None, "cycles", "must be a number in cycles, such as 40"),
        ("4 GHz", "duration", "has the unit GHz; expected a time such as 40 (cycles) or 141.4 ns"),
        ("fast", "rate", "must be a rate such as 64 B/cycle or 4.8 TB/s"),
    ],
)
def test_says_what_should_stand_there(text: object, unit: str, rule: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(rule)}$"):
        parse(text, unit)


@given(st.integers(0, 1 << 48))
def test_printed_bytes_parse_back(value: int) -> None:
    assert parse(show(value, "B"), "B") == value


@given(st.sampled_from(["Hz", "B/s", "cycles", "count"]), st.integers(0, 10**12))
def test_printed_numbers_parse_back(unit: str, value: int) -> None:
    assert parse(show(value, unit), unit) == pytest.approx(value, rel=1e-11)


def test_a_time_follows_its_own_clock() -> None:
    """Nanoseconds stay when the compute units' clock changes; a part's own cycles do, too."""
    assert Duration(100e-9, "s").cycles(2e9) == 200
    assert Duration(100e-9, "s").cycles(1e9) == 100
    assert Duration(100, "cycles").cycles(2e9, 1e9) == 200
    assert Duration(100, "cycles").cycles(2e9) == 100
    assert Rate(1e12, "B/s").bytes_per_cycle(2e9) == 500
    assert Rate(64, "B/cycle").bytes_per_cycle(2e9, 1e9) == 32
