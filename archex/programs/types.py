"""Widths and kinds of the data types an operation may have.

In: a type name (`s32`, `bf16x2`, `pred`). Out: its bits, its kind, and values encoded as raw bits of that type.
"""

from __future__ import annotations

import struct

#: Bits of each type; `pred` is one bit.
BITS: dict[str, int] = {
    "pred": 1,
    **{f"{kind}{bits}": bits for kind in "usb" for bits in (8, 16, 32, 64)},
    "b128": 128,
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f32": 32,
    "f64": 64,
    "f16x2": 32,
    "bf16x2": 32,
    "f32x2": 64,
    "u16x2": 32,
    "s16x2": 32,
    "e4m3": 8,
    "e5m2": 8,
    "e4m3x2": 16,
    "e5m2x2": 16,
    "e4m3x4": 32,
    "e5m2x4": 32,
    "e2m1x2": 8,
    "e2m3x2": 16,
    "e3m2x2": 16,
    "ue8m0x2": 16,
    "e2m1": 8,
    "e2m3": 8,
    "e3m2": 8,
    "ue8m0": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
    "b6x16_p32": 128,
    "b4x16_p64": 128,
    "b4x16": 64,
}

FLOATS = frozenset({"f16", "bf16", "tf32", "f32", "f64", "f16x2", "bf16x2", "f32x2"})
SIGNED = frozenset({"s8", "s16", "s32", "s64", "s16x2"})


def mask(dtype: str) -> int:
    """All bits of a type set."""
    return (1 << BITS[dtype]) - 1


def signed(bits: int, dtype: str) -> int:
    """Raw bits read as two's complement when the type is signed, as they are otherwise."""
    width = BITS[dtype]
    bits &= (1 << width) - 1
    return bits - (1 << width) if dtype in SIGNED and bits >> (width - 1) else bits


def float_bits(value: float, dtype: str) -> int:
    """The encoding of `value` in a floating-point type (round to nearest even; packed types repeat it)."""
    if dtype == "f64":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if dtype in ("f32", "tf32"):
        try:
            return int(struct.unpack("<I", struct.pack("<f", value))[0])
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    if dtype == "f16":
        try:
            return int(struct.unpack("<H", struct.pack("<e", value))[0])
        except OverflowError:
            return 0x7C00 if value > 0 else 0xFC00
    if dtype == "bf16":
        bits = float_bits(value, "f32")
        return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 if value == value else (bits >> 16) | 0x40
    half = float_bits(value, dtype[:-2])
    return half | half << BITS[dtype[:-2]]


def float_value(bits: int, dtype: str) -> float:
    """The value that raw bits of `f16 bf16 f32 f64` stand for."""
    if dtype == "f64":
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
    if dtype == "bf16":
        bits, dtype = bits << 16, "f32"
    if dtype == "f16":
        return float(struct.unpack("<e", struct.pack("<H", bits))[0])
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])
