"""Integer instructions against numpy, operand by operand, edges included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from operations import COUNT, evaluate, operands

SIGNED = {2: np.int16, 4: np.int32, 8: np.int64}
Reference = Callable[..., np.ndarray]


def wide(x: np.ndarray, signed: bool) -> list[int]:
    """Operands as Python integers."""
    return [int(v) for v in (x.view(SIGNED[x.dtype.itemsize]) if signed else x)]


def exact(rule: Callable[..., int], inputs: list[np.ndarray], signed: bool, out: int) -> np.ndarray:
    """`rule` on Python integers, cut to `out` bytes."""
    rows = zip(*(wide(x, signed) for x in inputs), strict=True)
    return np.array([rule(*row) & ((1 << (8 * out)) - 1) for row in rows], dtype=f"u{out}")


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


CASES: dict[str, tuple[int, int, Callable[..., int]]] = {
    "add": (2, 1, lambda a, b: a + b),
    "sub": (2, 1, lambda a, b: a - b),
    "mul.lo": (2, 1, lambda a, b: a * b),
    "mad.lo": (3, 1, lambda a, b, c: a * b + c),
    "min": (2, 1, min),
    "max": (2, 1, max),
    "div": (2, 1, quotient),
    "rem": (2, 1, lambda a, b: a if b == 0 else a - quotient(a, b) * b),
    "sad": (3, 1, lambda a, b, c: c + abs(a - b)),
}


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("kind", "us")
@pytest.mark.parametrize("name", CASES)
def test_arithmetic(name: str, kind: str, size: int) -> None:
    count, _, rule = CASES[name]
    inputs = [operands(size, seed) for seed in range(count)]
    text = f"{name}.{kind}{8 * size} r, {', '.join(f'a{i}' for i in range(count))};"
    assert np.array_equal(evaluate(text, inputs, size), exact(rule, inputs, kind == "s", size))


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("kind", "us")
def test_products(kind: str, size: int) -> None:
    inputs = [operands(size, seed) for seed in range(2)]
    third = operands(size, 5)
    signed, bits = kind == "s", 8 * size
    assert np.array_equal(
        evaluate(f"mul.hi.{kind}{bits} r, a0, a1;", inputs, size), exact(lambda a, b: a * b >> bits, inputs, signed, size)
    )
    if size > 2:
        found = evaluate(f"mad.hi.{kind}{bits} r, a0, a1, a2;", [*inputs, third], size)
        assert np.array_equal(found, exact(lambda a, b, c: (a * b >> bits) + c, [*inputs, third], signed, size))
    if size < 8:
        assert np.array_equal(
            evaluate(f"mul.wide.{kind}{bits} r, a0, a1;", inputs, 2 * size), exact(lambda a, b: a * b, inputs, signed, 2 * size)
        )
        long = operands(2 * size, 7)
        wanted = np.array(
            [
                (x + int(y)) & ((1 << 2 * bits) - 1)
                for x, y in zip(map(int, exact(lambda a, b: a * b, inputs, signed, 2 * size)), long, strict=True)
            ],
            dtype=long.dtype,
        )
        assert np.array_equal(evaluate(f"mad.wide.{kind}{bits} r, a0, a1, a2;", [*inputs, long], 2 * size), wanted)


@pytest.mark.parametrize("size", [4, 8])
def test_signs_and_counts(size: int) -> None:
    a, bits = operands(size, 3), 8 * size
    assert np.array_equal(evaluate(f"abs.s{bits} r, a0;", [a], size), exact(abs, [a], True, size))
    assert np.array_equal(evaluate(f"neg.s{bits} r, a0;", [a], size), exact(lambda x: -x, [a], True, size))
    assert np.array_equal(evaluate(f"not.b{bits} r, a0;", [a], size), ~a)
    assert np.array_equal(evaluate(f"cnot.b{bits} r, a0;", [a], size), (a == 0).astype(a.dtype))
    assert np.array_equal(evaluate(f"popc.b{bits} r, a0;", [a], 4), exact(lambda x: x.bit_count(), [a], False, 4))
    assert np.array_equal(evaluate(f"clz.b{bits} r, a0;", [a], 4), exact(lambda x: bits - x.bit_length(), [a], False, 4))
    assert np.array_equal(evaluate(f"brev.b{bits} r, a0;", [a], size), exact(lambda x: int(f"{x:0{bits}b}"[::-1], 2), [a], False, size))
    assert np.array_equal(evaluate(f"bfind.u{bits} r, a0;", [a], 4), exact(lambda x: x.bit_length() - 1, [a], False, 4))
    assert np.array_equal(evaluate(f"bfind.s{bits} r, a0;", [a], 4), exact(lambda x: (~x if x < 0 else x).bit_length() - 1, [a], True, 4))
    found = evaluate(f"bfind.shiftamt.u{bits} r, a0;", [a], 4)
    assert np.array_equal(found, exact(lambda x: bits - x.bit_length() if x else -1, [a], False, 4))


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("spread", ["bits", "small"])
def test_logic_and_shifts(size: int, spread: str) -> None:
    a, b, bits = operands(size, 1), operands(size, 2), 8 * size
    amount = operands(4, 3, spread)
    for name, rule in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        assert np.array_equal(evaluate(f"{name}.b{bits} r, a0, a1;", [a, b], size), rule(a, b))
    shifted = [(int(x) << min(int(n), bits)) & ((1 << bits) - 1) for x, n in zip(a, amount, strict=True)]
    assert np.array_equal(evaluate(f"shl.b{bits} r, a0, a1;", [a, amount], size), np.array(shifted, dtype=a.dtype))
    for kind in "us":
        wanted = [(v >> min(int(n), bits)) & ((1 << bits) - 1) for v, n in zip(wide(a, kind == "s"), amount, strict=True)]
        assert np.array_equal(evaluate(f"shr.{kind}{bits} r, a0, a1;", [a, amount], size), np.array(wanted, dtype=a.dtype))


def field(value: int, start: int, length: int, bits: int, signed: bool) -> int:
    """bfe as the PTX manual defines it, bit by bit."""
    start, length = start & 0xFF, length & 0xFF
    value &= (1 << bits) - 1
    top = 0 if not signed or length == 0 else (value >> min(start + length - 1, bits - 1)) & 1
    outcome = 0
    for i in range(bits):
        outcome |= ((value >> (start + i)) & 1 if i < length and start + i < bits else top) << i
    return outcome


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("spread", ["bits", "small"])
def test_fields(size: int, spread: str) -> None:
    a, b, bits = operands(size, 1), operands(size, 2), 8 * size
    start, length = operands(4, 3, spread), operands(4, 4, spread)
    rows = list(zip(a, b, start, length, strict=True))
    for kind in "us":
        wanted = [field(int(x), int(s), int(n), bits, kind == "s") for x, _, s, n in rows]
        assert np.array_equal(evaluate(f"bfe.{kind}{bits} r, a0, a1, a2;", [a, start, length], size), np.array(wanted, dtype=a.dtype))
    inserted = []
    for x, y, s, n in rows:
        position, count = int(s) & 0xFF, int(n) & 0xFF
        mask = sum(1 << i for i in range(position, min(position + count, bits)))
        inserted.append((int(y) & ~mask) | ((int(x) << position) & mask))
    assert np.array_equal(evaluate(f"bfi.b{bits} r, a0, a1, a2, a3;", [a, b, start, length], size), np.array(inserted, dtype=a.dtype))


def test_constant_fields_take_the_row_loop() -> None:
    a = operands(4, 1)
    assert np.array_equal(evaluate("bfe.u32 r, a0, 5, 9;", [a], 4), (a >> 5) & 511)


def test_permute_and_funnel() -> None:
    a, b, c = (operands(4, seed) for seed in range(3))
    bytes_of = [int(y) << 32 | int(x) for x, y in zip(a, b, strict=True)]

    def pick(pair: int, choice: int) -> int:
        byte = pair >> 8 * (choice & 7) & 255
        return (255 if byte & 128 else 0) if choice & 8 else byte

    wanted = [sum(pick(pair, int(s) >> 4 * i & 15) << 8 * i for i in range(4)) for pair, s in zip(bytes_of, c, strict=True)]
    assert np.array_equal(evaluate("prmt.b32 r, a0, a1, a2;", [a, b, c], 4), np.array(wanted, dtype=np.uint32))
    tables = {
        "f4e": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        "b4e": [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        "rc8": [[0] * 4, [1] * 4, [2] * 4, [3] * 4],
        "ecl": [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        "ecr": [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        "rc16": [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
    }
    for mode, table in tables.items():
        wanted = [sum(pick(pair, table[int(s) & 3][i]) << 8 * i for i in range(4)) for pair, s in zip(bytes_of, c, strict=True)]
        assert np.array_equal(evaluate(f"prmt.b32.{mode} r, a0, a1, a2;", [a, b, c], 4), np.array(wanted, dtype=np.uint32)), mode
    for amounts in (operands(4, 9), operands(4, 9, "small")):
        for mode in ("wrap", "clamp"):
            n = [int(x) & 31 if mode == "wrap" else min(int(x), 32) for x in amounts]
            left = [(pair << k >> 32) & 0xFFFFFFFF for pair, k in zip(bytes_of, n, strict=True)]
            right = [pair >> k & 0xFFFFFFFF for pair, k in zip(bytes_of, n, strict=True)]
            assert np.array_equal(evaluate(f"shf.l.{mode}.b32 r, a0, a1, a2;", [a, b, amounts], 4), np.array(left, dtype=np.uint32))
            assert np.array_equal(evaluate(f"shf.r.{mode}.b32 r, a0, a1, a2;", [a, b, amounts], 4), np.array(right, dtype=np.uint32))


def test_lookup_and_masks() -> None:
    a, b, c = (operands(4, seed) for seed in range(3))
    rng = np.random.default_rng(0)
    for table in (0, 255, 0xCA, *map(int, rng.integers(0, 256, 5))):
        wanted = np.zeros(COUNT, np.uint32)
        for i in range(8):
            if table >> i & 1:
                wanted |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        assert np.array_equal(evaluate(f"lop3.b32 r, a0, a1, a2, {table};", [a, b, c], 4), wanted)
    start, length = operands(4, 3, "small"), operands(4, 4, "small")
    for mode in ("clamp", "wrap"):
        rows = [(int(s) & 31, int(n) & 31) if mode == "wrap" else (int(s), int(n)) for s, n in zip(start, length, strict=True)]
        wanted = np.array([((1 << n) - 1 << s) & 0xFFFFFFFF for s, n in rows], dtype=np.uint32)
        assert np.array_equal(evaluate(f"bmsk.{mode}.b32 r, a0, a1;", [start, length], 4), wanted)
    assert np.array_equal(evaluate("fns.b32 r, a0, 0, 3;", [a], 4), np.array([nth(int(x), 3) for x in a], dtype=np.uint32))


def nth(value: int, wanted: int) -> int:
    places = [i for i in range(32) if value >> i & 1]
    return places[wanted - 1] if len(places) >= wanted else 0xFFFFFFFF


def test_saturation_and_24_bits() -> None:
    a, b, c = (operands(4, seed) for seed in range(3))
    low, high = -(2**31), 2**31 - 1
    assert np.array_equal(evaluate("add.sat.s32 r, a0, a1;", [a, b], 4), exact(lambda x, y: min(max(x + y, low), high), [a, b], True, 4))
    assert np.array_equal(evaluate("sub.sat.s32 r, a0, a1;", [a, b], 4), exact(lambda x, y: min(max(x - y, low), high), [a, b], True, 4))

    def cut(x: int) -> int:
        x &= 0xFFFFFF
        return x - (1 << 24) if x >> 23 else x

    assert np.array_equal(evaluate("mul24.lo.s32 r, a0, a1;", [a, b], 4), exact(lambda x, y: cut(x) * cut(y), [a, b], True, 4))
    assert np.array_equal(evaluate("mul24.hi.s32 r, a0, a1;", [a, b], 4), exact(lambda x, y: cut(x) * cut(y) >> 16, [a, b], True, 4))
    found = evaluate("mad24.lo.u32 r, a0, a1, a2;", [a, b, c], 4)
    assert np.array_equal(found, exact(lambda x, y, z: (x & 0xFFFFFF) * (y & 0xFFFFFF) + z, [a, b, c], False, 4))


def test_dot_products() -> None:
    a, b, c = (operands(4, seed) for seed in range(3))
    types = {"u": np.uint8, "s": np.int8}
    for x, y in ("uu", "ss", "us", "su"):
        products = a.view(types[x]).astype(np.int64).reshape(-1, 4) * b.view(types[y]).astype(np.int64).reshape(-1, 4)
        wanted = (products.sum(1) + c).astype(np.uint32)
        assert np.array_equal(evaluate(f"dp4a.{x}32.{y}32 r, a0, a1, a2;", [a, b, c], 4), wanted)
        halves = {"u": np.uint16, "s": np.int16}
        for side, where in (("lo", slice(0, 2)), ("hi", slice(2, 4))):
            pairs = a.view(halves[x]).astype(np.int64).reshape(-1, 2) * b.view(types[y]).astype(np.int64).reshape(-1, 4)[:, where]
            assert np.array_equal(evaluate(f"dp2a.{side}.{x}32.{y}32 r, a0, a1, a2;", [a, b, c], 4), (pairs.sum(1) + c).astype(np.uint32))


def test_carries() -> None:
    """128-bit sums and differences in four steps; 64-bit products by parts."""
    a, b, c, d = (operands(4, seed) for seed in range(4))
    left = [int(y) << 32 | int(x) for x, y in zip(a, b, strict=True)]
    right = [int(y) << 32 | int(x) for x, y in zip(c, d, strict=True)]
    for name, rule in (("add", lambda x, y: x + y), ("sub", lambda x, y: x - y)):
        high = evaluate(f"{{ .reg .b32 t; {name}.cc.u32 t, a0, a2; {name}c.u32 r, a1, a3; }}", [a, b, c, d], 4)
        wanted = [(rule(x, y) >> 32) & 0xFFFFFFFF for x, y in zip(left, right, strict=True)]
        assert np.array_equal(high, np.array(wanted, dtype=np.uint32)), name
    x, y, z, w = (operands(8, seed) for seed in range(4))
    high = evaluate("{ .reg .b64 t; add.cc.u64 t, a0, a2; addc.u64 r, a1, a3; }", [x, y, z, w], 8)
    wanted64 = [((int(i) | int(j) << 64) + (int(k) | int(m) << 64) >> 64) & (2**64 - 1) for i, j, k, m in zip(x, y, z, w, strict=True)]
    assert np.array_equal(high, np.array(wanted64, dtype=np.uint64))
    high = evaluate("{ .reg .b32 t; mad.lo.cc.u32 t, a0, a1, a2; madc.hi.u32 r, a0, a1, a3; }", [a, b, c, d], 4)
    products = [(int(i) * int(j) + (int(m) << 32 | int(k)) >> 32) & 0xFFFFFFFF for i, j, k, m in zip(a, b, c, d, strict=True)]
    assert np.array_equal(high, np.array(products, dtype=np.uint32))


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_comparisons(kind: str) -> None:
    size = int(kind[1:]) // 8
    a, b = operands(size, 1), operands(size, 2)
    b[40:60] = a[40:60]
    x, y = (v.view(SIGNED[size]) if kind[0] == "s" else v for v in (a, b))
    rules = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    if kind[0] == "u":
        rules |= {"lo": x < y, "ls": x <= y, "hi": x > y, "hs": x >= y}
    for name, holds in rules.items():
        found = evaluate(f"setp.{name}.{kind} q, a0, a1; selp.b32 r, 7, 9, q;", [a, b], 4)
        assert np.array_equal(found, np.where(holds, 7, 9).astype(np.uint32)), name
    found = evaluate(
        f"{{ .reg .pred u, v; setp.lt.{kind} u, a1, a0; setp.lt.and.{kind} q|v, a0, a1, !u; selp.b32 r, 1, 2, v; }}", [a, b], 4
    )
    assert np.array_equal(found, np.where(~(x < y) & ~(y < x), 1, 2).astype(np.uint32))
    assert np.array_equal(evaluate(f"set.le.u32.{kind} r, a0, a1;", [a, b], 4), np.where(x <= y, 0xFFFFFFFF, 0).astype(np.uint32))


def test_choice_by_sign() -> None:
    a, b, c = (operands(4, seed) for seed in range(3))
    assert np.array_equal(evaluate("slct.u32.s32 r, a0, a1, a2;", [a, b, c], 4), np.where(c.view(np.int32) >= 0, a, b))
    with np.errstate(invalid="ignore"):
        assert np.array_equal(evaluate("slct.u32.f32 r, a0, a1, a2;", [a, b, c], 4), np.where(c.view(np.float32) >= 0, a, b))


def test_predicate_logic() -> None:
    a, b = operands(4, 1, "small"), operands(4, 2, "small")
    text = """{ .reg .pred u, v, w; setp.lt.u32 u, a0, 35; setp.lt.u32 v, a1, 35; and.pred w, u, v; xor.pred u, u, v; not.pred v, v;
      selp.b32 r, 1, 0, w; selp.b32 a0, 2, 0, u; or.b32 r, r, a0; selp.b32 a0, 4, 0, v; or.b32 r, r, a0; }"""
    u, v = a < 35, b < 35
    assert np.array_equal(evaluate(text, [a, b], 4), (u & v) + 2 * (u ^ v) + 4 * ~v)


def test_packing() -> None:
    a, b = operands(4, 1), operands(4, 2)
    assert np.array_equal(evaluate("mov.b64 r, {a0, a1};", [a, b], 8), a.astype(np.uint64) | b.astype(np.uint64) << 32)
    swapped = evaluate("{ .reg .b16 x, y; mov.b32 {x, y}, a0; mov.b32 r, {y, x}; }", [a], 4)
    assert np.array_equal(swapped, a >> 16 | a << 16)
    four = evaluate("{ .reg .b16 w, x, y, z; mov.b64 {w, x, y, z}, a0; mov.b64 r, {z, y, x, w}; }", [operands(8, 3)], 8)
    assert np.array_equal(four, np.ascontiguousarray(operands(8, 3).view(np.uint16).reshape(-1, 4)[:, ::-1]).view(np.uint64).reshape(-1))
