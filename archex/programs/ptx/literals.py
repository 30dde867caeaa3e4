"""Numbers of PTX text as values, and as the raw bits an operation of some type wants."""

from __future__ import annotations

from archex.programs.ptx.syntax import Number
from archex.programs.types import BITS, FLOATS, float_bits, float_value


def read_number(text: str) -> Number:
    """A number token's value."""
    lead = text[:2].lower()
    if lead == "0f":
        return Number("f32", int(text[2:], 16))
    if lead == "0d":
        return Number("f64", int(text[2:], 16))
    plain = text.rstrip("U")
    if lead == "0x":
        return Number("int", int(plain, 16))
    if lead == "0b":
        return Number("int", int(plain, 2))
    if "." in plain or "e" in plain or "E" in plain:
        return Number("float", float(plain))
    if len(plain) > 1 and plain[0] == "0" and all(c in "01234567" for c in plain):
        return Number("int", int(plain, 8))
    return Number("int", int(plain))


def negated(number: Number) -> Number:
    """The number with its sign turned."""
    if number.kind == "f32":
        return Number("f32", int(number.value) ^ (1 << 31))
    if number.kind == "f64":
        return Number("f64", int(number.value) ^ (1 << 63))
    return Number(number.kind, -number.value)


def encode(number: Number, dtype: str) -> int | None:
    """Raw bits of a literal used as an operand of type `dtype`, or None where PTX has no such conversion."""
    kind, value = number
    if dtype == "pred":
        return int(value != 0) if kind == "int" else None
    bits = BITS[dtype]
    if dtype in ("f32", "f64", "tf32"):
        if kind == "int":
            return float_bits(float(value), dtype)
        if kind == "float":
            return float_bits(value, dtype)
        if (kind == "f64") == (dtype == "f64"):
            return int(value)
        return float_bits(float_value(int(value), kind), dtype)
    if dtype in FLOATS and kind != "int":
        return float_bits(float(value) if kind == "float" else float_value(int(value), kind), dtype)
    if kind == "int":
        return int(value) & ((1 << bits) - 1)
    if (kind == "f32" and bits >= 32) or (kind == "f64" and bits >= 64):
        return int(value)
    return None
