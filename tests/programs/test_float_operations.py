"""Floating-point instructions against numpy and exact rationals: all formats, rounding modes and modifiers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from operations import evaluate, operands

FORMATS = {"f16": (np.float16, 2, 10, 5), "bf16": (None, 2, 7, 8), "f32": (np.float32, 4, 23, 8), "f64": (np.float64, 8, 52, 11)}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8000000000000}


def value(bits: int, form: str) -> float | Fraction:
    """What bits stand for: a rational, or an infinity or NaN as a float."""
    _, size, mantissa, width = FORMATS[form]
    sign = -1 if bits >> (8 * size - 1) else 1
    exponent, fraction = bits >> mantissa & ((1 << width) - 1), bits & ((1 << mantissa) - 1)
    bias = (1 << (width - 1)) - 1
    if exponent == (1 << width) - 1:
        return float("nan") if fraction else sign * float("inf")
    scale = Fraction(2) ** ((exponent or 1) - bias - mantissa)
    return sign * (fraction + ((1 << mantissa) if exponent else 0)) * scale


def rounded(exact: Fraction, form: str, mode: str) -> int:
    """Magnitude bits of a nonzero rational in a format, by definition of the rounding mode; the sign comes on top."""
    _, size, mantissa, width = FORMATS[form]
    bias, top = (1 << (width - 1)) - 1, (1 << width) - 1
    negative, x = exact < 0, abs(exact)
    exponent = max(x.numerator.bit_length() - x.denominator.bit_length(), 1 - bias)
    if exponent > 1 - bias and Fraction(2) ** exponent > x:
        exponent -= 1
    units = x / Fraction(2) ** (exponent - mantissa)
    whole, rest = units.numerator // units.denominator, units - units.numerator // units.denominator
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1),
        "rz": False,
        "rm": negative and rest > 0,
        "rp": not negative and rest > 0,
    }[mode]
    whole += bool(up)
    bits = whole + ((exponent + bias - 1) << mantissa) if whole >= 1 << mantissa else whole
    if bits >= top << mantissa:
        toward = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
        bits = (top << mantissa) - bool(toward)
    return bits | (1 << (8 * size - 1) if negative else 0)


def expected(rule: Callable[..., Fraction], inputs: list[np.ndarray], form: str, mode: str) -> list[int | None]:
    """Bits of each result where all operands are finite and the result is not zero; None elsewhere."""
    found: list[int | None] = []
    for row in zip(*inputs, strict=True):
        values = [value(int(bits), form) for bits in row]
        if not all(isinstance(v, Fraction) for v in values):
            found.append(None)
            continue
        try:
            exact = rule(*values)
        except ZeroDivisionError:
            found.append(None)
            continue
        found.append(rounded(exact, form, mode) if exact else None)
    return found


def check(text: str, rule: Callable[..., Fraction], form: str, mode: str, count: int) -> None:
    size = FORMATS[form][1]
    for spread in ("bits", "near"):
        if spread == "near" and form == "bf16":
            inputs = [(operands(4, seed, "near") >> 16).astype(np.uint16) for seed in range(count)]
        else:
            inputs = [operands(size, seed, spread) for seed in range(count)]
        inputs[-1][200:] = inputs[0][200:]  # exact cancellations and quotients of one
        found = evaluate(text, inputs, size)
        for got, wanted in zip(found, expected(rule, inputs, form, mode), strict=True):
            assert wanted is None or int(got) == wanted, (text, hex(int(got)), hex(wanted))


RULES: dict[str, tuple[int, Callable[..., Fraction]]] = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "fma": (3, lambda a, b, c: a * b + c),
    "div": (2, lambda a, b: a / b),
    "rcp": (1, lambda a: 1 / a),
}


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("form", ["f32", "f64"])
@pytest.mark.parametrize("name", RULES)
def test_every_direction(name: str, form: str, mode: str) -> None:
    count, rule = RULES[name]
    check(f"{name}.{mode}.{form} r, {', '.join(f'a{i}' for i in range(count))};", rule, form, mode, count)


@pytest.mark.parametrize("form", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma"])
def test_short_formats(name: str, form: str) -> None:
    count, rule = RULES[name]
    check(f"{name}.rn.{form} r, {', '.join(f'a{i}' for i in range(count))};", rule, form, "rn", count)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("form", ["f32", "f64"])
def test_square_root(form: str, mode: str) -> None:
    size = FORMATS[form][1]
    for spread in ("bits", "near"):
        a = operands(size, 1, spread)
        for bits, got in zip(a, evaluate(f"sqrt.{mode}.{form} r, a0;", [a], size), strict=True):
            x = value(int(bits), form)
            if not isinstance(x, Fraction) or x <= 0:
                continue
            low, high = rounded_root(x, form)
            wanted = {"rz": low, "rm": low, "rp": high}.get(mode)
            if wanted is None:
                middle = (value(low, form) + value(high, form)) / 2  # type: ignore[operator]
                wanted = low if middle * middle > x else high
            assert int(got) == wanted


def rounded_root(x: Fraction, form: str) -> tuple[int, int]:
    """The formats' numbers just below and just above a square root."""
    guess = rounded(Fraction(float(np.sqrt(np.longdouble(x.numerator) / np.longdouble(x.denominator)))), form, "rn")
    while value(guess, form) ** 2 > x:  # type: ignore[operator]
        guess -= 1
    while value(guess + 1, form) ** 2 <= x:  # type: ignore[operator]
        guess += 1
    return (guess, guess) if value(guess, form) ** 2 == x else (guess, guess + 1)  # type: ignore[operator]


@pytest.mark.parametrize("form", ["f16", "f32", "f64"])
def test_special_values(form: str) -> None:
    kind, size, _, _ = FORMATS[form]
    assert kind is not None
    a, b = operands(size, 1), operands(size, 2)
    with np.errstate(all="ignore"):
        x, y = a.view(kind), b.view(kind)
        for name, result in (("add", x + y), ("mul", x * y)):
            wanted = np.where(np.isnan(result), np.array(NAN[form], a.dtype), result.view(a.dtype))
            assert np.array_equal(evaluate(f"{name}.{form} r, a0, a1;", [a, b], size), wanted), name
        for name, best in (("min", np.fmin(x, y)), ("max", np.fmax(x, y))):
            found = evaluate(f"{name}.{form} r, a0, a1;", [a, b], size)
            both = np.isnan(x) & np.isnan(y)
            assert np.array_equal(found[both], np.full(both.sum(), NAN[form], a.dtype))
            assert np.array_equal(found.view(kind)[~both], best[~both])
    zero, top = a.dtype.type(0), a.dtype.type(1 << (8 * size - 1))
    pair = [np.where(np.arange(256) % 2, zero, top).astype(a.dtype), np.where(np.arange(256) % 2, top, zero).astype(a.dtype)]
    assert (evaluate(f"min.{form} r, a0, a1;", pair, size) == top).all()
    assert (evaluate(f"max.{form} r, a0, a1;", pair, size) == zero).all()
    assert np.array_equal(evaluate(f"abs.{form} r, a0;", [a], size), a & ~top)
    assert np.array_equal(evaluate(f"neg.{form} r, a0;", [a], size), a ^ top)


def test_modifiers() -> None:
    a, b = operands(4, 1), operands(4, 2)
    a[60:80] = np.arange(1, 21)  # subnormal
    with np.errstate(all="ignore"):
        x, y = a.view(np.float32), b.view(np.float32)
        flushed = [np.where(np.abs(v) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), v), v) for v in (x, y)]
        product = flushed[0] * flushed[1]
        product = np.where(np.abs(product) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), product), product)
        wanted = np.where(np.isnan(product), np.uint32(NAN["f32"]), product.view(np.uint32))
        assert np.array_equal(evaluate("mul.ftz.f32 r, a0, a1;", [a, b], 4), wanted)
        total = x + y
        cut = np.where(np.isnan(total), 0, np.clip(total, 0, 1)).astype(np.float32)
        assert np.array_equal(evaluate("add.sat.f32 r, a0, a1;", [a, b], 4).view(np.float32), cut)
        assert np.array_equal(
            evaluate("copysign.f32 r, a0, a1;", [a, b], 4).view(np.float32).view(np.uint32), (a & 1 << 31) | (b & 0x7FFFFFFF)
        )
        nan = evaluate("min.NaN.f32 r, a0, a1;", [a, b], 4)
        either = np.isnan(x) | np.isnan(y)
        assert (nan[either] == NAN["f32"]).all()
        assert np.array_equal(nan.view(np.float32)[~either], np.minimum(x, y)[~either])


@pytest.mark.parametrize(
    ("name", "rule", "tolerance"),
    [
        ("ex2.approx", np.exp2, 2e-7),
        ("lg2.approx", np.log2, 1e-6),
        ("sin.approx", np.sin, 1e-6),
        ("cos.approx", np.cos, 1e-6),
        ("tanh.approx", np.tanh, 1e-3),
        ("rsqrt.approx", lambda x: 1 / np.sqrt(x), 2e-7),
        ("rcp.approx.ftz", lambda x: 1 / x, 2e-7),
        ("sqrt.approx", np.sqrt, 2e-7),
    ],
)
def test_approximations(name: str, rule: Callable[[np.ndarray], np.ndarray], tolerance: float) -> None:
    a = (np.abs(operands(4, 1, "near").view(np.float32)) % 20 + np.float32(0.01)).view(np.uint32)
    wanted = rule(a.view(np.float32).astype(np.float64))
    np.testing.assert_allclose(evaluate(f"{name}.f32 r, a0;", [a], 4).view(np.float32), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("form", ["f16x2", "bf16x2"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma", "min", "max"])
def test_pairs(name: str, form: str) -> None:
    count = 3 if name == "fma" else 2
    rounding = ".rn" if name in ("add", "sub", "mul", "fma") else ""
    inputs = [operands(4, seed) for seed in range(count)]
    found = evaluate(f"{name}{rounding}.{form} r, {', '.join(f'a{i}' for i in range(count))};", inputs, 4)
    for half in (0, 16):
        parts = [(x >> half).astype(np.uint16) for x in inputs]
        single = evaluate(f"{name}{rounding}.{form[:-2]} r, {', '.join(f'a{i}' for i in range(count))};", parts, 2)
        assert np.array_equal((found >> half).astype(np.uint16), single)


@pytest.mark.parametrize("form", ["f16", "f32", "f64"])
def test_comparisons(form: str) -> None:
    kind, size, _, _ = FORMATS[form]
    assert kind is not None
    a, b = operands(size, 1), operands(size, 2)
    b[50:90] = a[50:90]
    with np.errstate(invalid="ignore"):
        x, y = a.view(kind), b.view(kind)
        either = np.isnan(x) | np.isnan(y)
        rules = {
            "eq": x == y,
            "ne": (x != y) & ~either,
            "lt": x < y,
            "le": x <= y,
            "gt": x > y,
            "ge": x >= y,
            "num": ~either,
            "nan": either,
        }
    rules |= {f"{name}u": rules[name] | either for name in ("eq", "ne", "lt", "le", "gt", "ge")}
    for name, holds in rules.items():
        found = evaluate(f"setp.{name}.{form} q, a0, a1; selp.b32 r, 7, 9, q;", [a, b], 4)
        assert np.array_equal(found, np.where(holds, 7, 9).astype(np.uint32)), name
    assert np.array_equal(evaluate(f"set.ltu.u32.{form} r, a0, a1;", [a, b], 4), np.where(rules["ltu"], 0xFFFFFFFF, 0).astype(np.uint32))
    if form != "f16":
        small = np.abs(x) < np.finfo(kind).tiny
        for name, holds in (
            ("finite", np.isfinite(x)),
            ("infinite", np.isinf(x)),
            ("notanumber", np.isnan(x)),
            ("subnormal", small & (x != 0)),
        ):
            assert np.array_equal(
                evaluate(f"testp.{name}.{form} q, a0; selp.b32 r, 7, 9, q;", [a], 4), np.where(holds, 7, 9).astype(np.uint32)
            ), name


def test_float_to_float() -> None:
    for mode in ("rn", "rz", "rm", "rp"):
        for source, target in (("f64", "f32"), ("f32", "f16"), ("f64", "f16"), ("f32", "bf16")):
            if target == "bf16" and mode not in ("rn", "rz"):
                continue
            for spread in ("bits", "near"):
                a = operands(FORMATS[source][1], 1, spread)
                found = evaluate(f"cvt.{mode}.{target}.{source} r, a0;", [a], FORMATS[target][1])
                for bits, got in zip(a, found, strict=True):
                    x = value(int(bits), source)
                    if isinstance(x, Fraction) and x:
                        assert int(got) == rounded(x, target, mode), (mode, source, target)
    a = operands(2, 1)
    with np.errstate(invalid="ignore"):
        x = a.view(np.float16)
        found = evaluate("cvt.f32.f16 r, a0;", [a], 4).view(np.float32)
    assert np.array_equal(found[~np.isnan(x)], x.astype(np.float32)[~np.isnan(x)])
    assert np.isnan(found[np.isnan(x)]).all()
    b = operands(4, 2, "near")
    for mode, rule in (("rni", np.rint), ("rzi", np.trunc), ("rmi", np.floor), ("rpi", np.ceil)):
        assert np.array_equal(evaluate(f"cvt.{mode}.f32.f32 r, a0;", [b], 4).view(np.float32), rule(b.view(np.float32)))
    pair = evaluate("cvt.rn.f16x2.f32 r, a0, a1;", [b, operands(4, 3, "near")], 4)
    low = operands(4, 3, "near").view(np.float32).astype(np.float16).view(np.uint16).astype(np.uint32)
    assert np.array_equal(pair, b.view(np.float32).astype(np.float16).view(np.uint16).astype(np.uint32) << 16 | low)


@pytest.mark.parametrize("target", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
def test_float_to_integer(source: str, target: str) -> None:
    bits, size = int(target[1:]), FORMATS[source][1]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if target[0] == "s" else (0, (1 << bits) - 1)
    out = max(bits // 8, 4)
    for spread in ("bits", "near"):
        a = operands(size, 1, spread)
        for mode, rule in (
            ("rni", round),
            ("rzi", int),
            ("rmi", lambda x: x.numerator // x.denominator),
            ("rpi", lambda x: -(-x.numerator // x.denominator)),
        ):
            found = evaluate(f"cvt.{mode}.{target}.{source} r, a0;", [a], out)
            for given, got in zip(a, found, strict=True):
                x = value(int(given), source)
                whole = (
                    0 if x != x else high if x == float("inf") else low if x == -float("inf") else min(max(rule(Fraction(x)), low), high)
                )
                assert int(got) == whole & ((1 << 8 * out) - 1), (mode, source, target, x)


@pytest.mark.parametrize("source", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
def test_integer_to_float_and_integer(source: str) -> None:
    bits = int(source[1:])
    size = max(bits // 8, 2)
    a = operands(size, 1)

    def number(x: int) -> int:
        x &= (1 << bits) - 1
        return x - (1 << bits) if source[0] == "s" and x >> (bits - 1) else x

    values = [number(int(x)) for x in a]
    for target in ("f16", "f32", "f64"):
        for mode in ("rn", "rz", "rm", "rp"):
            found = evaluate(f"cvt.{mode}.{target}.{source} r, a0;", [a], FORMATS[target][1])
            for x, got in zip(values, found, strict=True):
                assert int(got) == (rounded(Fraction(x), target, mode) if x else 0), (source, target, mode, x)
    for target in ("s16", "u16", "s32", "u32", "s64", "u64"):
        wide = int(target[1:])
        found = evaluate(f"cvt.{target}.{source} r, a0;", [a], wide // 8)
        assert [int(x) for x in found] == [x & ((1 << wide) - 1) for x in values], target
        low, high = (-(1 << (wide - 1)), (1 << (wide - 1)) - 1) if target[0] == "s" else (0, (1 << wide) - 1)
        found = evaluate(f"cvt.sat.{target}.{source} r, a0;", [a], wide // 8)
        assert [int(x) for x in found] == [min(max(x, low), high) & ((1 << wide) - 1) for x in values], target
