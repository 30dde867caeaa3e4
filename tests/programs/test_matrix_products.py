"""Products from registers against numpy, for every type and shape; exact where whole numbers are multiplied."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base.errors import ProgramError, UnsupportedError
from matrices import BITS, decode, encode, first, matrix, registers, run, second, spread_indices, total

#: Rows, depth, type of the first operand, of the second, of the accumulator.
SHAPES = [
    (16, 8, "f16", "f16", "f32"), (16, 16, "f16", "f16", "f32"), (16, 16, "f16", "f16", "f16"), (16, 8, "f16", "f16", "f16"),
    (16, 8, "bf16", "bf16", "f32"), (16, 16, "bf16", "bf16", "f32"), (16, 4, "tf32", "tf32", "f32"), (16, 8, "tf32", "tf32", "f32"),
    (16, 16, "s8", "s8", "s32"), (16, 32, "s8", "u8", "s32"), (16, 32, "u8", "s8", "s32"), (8, 16, "s8", "s8", "s32"),
    (8, 32, "s4", "u4", "s32"), (16, 32, "u4", "u4", "s32"), (16, 64, "s4", "s4", "s32"), (16, 32, "e4m3", "e4m3", "f32"),
    (16, 32, "e5m2", "e4m3", "f32"), (16, 16, "e4m3", "e5m2", "f16"), (8, 4, "f64", "f64", "f64"), (16, 4, "f64", "f64", "f64"),
    (16, 8, "f64", "f64", "f64"), (16, 16, "f64", "f64", "f64"),
]  # fmt: skip
ONE = {"f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-52}


def values(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    if dtype.startswith(("s", "u")):
        low, high = (-(1 << (BITS[dtype] - 1)), 1 << (BITS[dtype] - 1)) if dtype.startswith("s") else (0, 1 << BITS[dtype])
        return encode(rng.integers(low, high, shape) if dtype != "s32" else rng.integers(-(10**6), 10**6, shape), dtype)
    if dtype == "f64":
        return rng.standard_normal(shape).view(np.int64)
    return encode(rng.standard_normal(shape), dtype)


def check(found: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, kinds: tuple[str, str, str]) -> None:
    exact = decode(a, kinds[0]) @ decode(b, kinds[1]) + decode(c, kinds[2])
    if kinds[2] == "s32":
        assert np.array_equal(decode(found, "s32"), exact)
        return
    size = np.abs(decode(a, kinds[0])) @ np.abs(decode(b, kinds[1])) + np.abs(decode(c, kinds[2]))
    assert np.all(np.abs(decode(found, kinds[2]) - exact) <= ONE[kinds[2]] * (np.abs(exact) + 2.0**-24 * size + 2.0**-13) + 2.0**-50)


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("kind", SHAPES, ids=lambda kind: f"m{kind[0]}k{kind[1]}-{'-'.join(kind[2:])}")
def test_a_product_is_numpys(kind: tuple[int, int, str, str, str], width: int) -> None:
    rows, depth, one, two, sums = kind
    rng = np.random.default_rng(rows * depth)
    a, b, c = values(rng, (rows, depth), one), values(rng, (depth, 8), two), values(rng, (rows, 8), sums)
    operands = [
        registers(a, BITS[one], first(BITS[one], depth, rows)), registers(b.T, BITS[two], second(BITS[two])),
        registers(c, BITS[sums], total),
    ]  # fmt: skip
    text = f"mma.sync.aligned.m{rows}n8k{depth}.row.col.{sums}.{one}.{two}.{sums} {{d}}, {{0}}, {{1}}, {{2}};"
    words = run(text, operands, operands[2].shape[1], wide=sums == "f64", width=width)
    check(matrix(words, BITS[sums], total, rows, 8), a, b, c, (one, two, sums))


def test_sums_of_whole_numbers_wrap_or_saturate() -> None:
    a, b = np.full((16, 32), 127), np.full((32, 8), 127)
    c = np.full((16, 8), 2**31 - 1)
    operands = [registers(a, 8, first(8, 32)), registers(b.T, 8, second(8)), registers(c, 32, total)]
    for suffix, wanted in (("", (2**31 - 1 + 32 * 127 * 127) % 2**32), (".satfinite", 2**31 - 1)):
        words = run(f"mma.sync.aligned.m16n8k32.row.col{suffix}.s32.s8.s8.s32 {{d}}, {{0}}, {{1}}, {{2}};", operands, 4)
        assert np.all(words == wanted)


def test_the_rounding_is_one_for_a_product() -> None:
    """2**24 + 1 + 1 is not representable step by step; the sum is rounded once."""
    a, b, c = np.zeros((16, 16)), np.zeros((16, 8)), np.full((16, 8), 2.0**24)
    a[:, :2], b[:2] = 1, 1
    operands = [
        registers(encode(a, "f16"), 16, first(16, 16)), registers(encode(b, "f16").T, 16, second(16)),
        registers(encode(c, "f32"), 32, total),
    ]  # fmt: skip
    words = run("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {0}, {1}, {2};", operands, 4)
    assert np.all(decode(matrix(words, 32, total, 16, 8), "f32") == 2.0**24 + 2)


#: Depth, types, bits, words of indices a row, selectors.
SPARSE = [
    (16, "f16", "f32", 4), (32, "f16", "f32", 2), (32, "bf16", "f32", 2), (32, "f16", "f16", 2), (8, "tf32", "f32", 4),
    (16, "tf32", "f32", 2),
    (32, "s8", "s32", 2), (64, "s8", "s32", 1), (64, "e4m3", "f32", 1), (64, "u4", "s32", 2), (128, "s4", "s32", 1),
]  # fmt: skip


@pytest.mark.parametrize("ordered", ["sp", "sp::ordered_metadata"])
@pytest.mark.parametrize("kind", SPARSE, ids=lambda kind: f"k{kind[0]}-{kind[1]}-{kind[2]}")
def test_a_sparse_product_is_numpys(kind: tuple[int, str, str, int], ordered: str) -> None:
    depth, dtype, sums, selectors = kind
    bits = BITS[dtype]
    rng = np.random.default_rng(depth)
    stored = values(rng, (16, depth // 2), dtype)
    b, c = values(rng, (depth, 8), dtype), values(rng, (16, 8), sums)
    a, fields = np.zeros((16, depth), np.int64), []
    for row in range(16):
        indices = 0
        for chunk in range(depth // {32: 2, 4: 8}.get(bits, 4)):
            i, j = sorted(rng.choice(4, 2, replace=False))
            if bits == 32:
                i, j = ((0, 1), (2, 3))[rng.integers(2)]
                a[row, 2 * chunk + i // 2] = stored[row, chunk]
            elif bits == 4:
                for pair, at in enumerate((i, j)):
                    a[row, 8 * chunk + 2 * at : 8 * chunk + 2 * at + 2] = stored[row, 4 * chunk + 2 * pair : 4 * chunk + 2 * pair + 2]
            else:
                a[row, 4 * chunk + i], a[row, 4 * chunk + j] = stored[row, 2 * chunk : 2 * chunk + 2]
            indices |= int(i | j << 2) << 4 * chunk
        fields.append(indices)
    for selector in range(selectors):
        meta = rng.integers(0, 2**32, (32, 1), dtype=np.uint64)  # what other lanes hold is not read
        for row, indices in enumerate(fields):
            spread_indices(meta[:, 0], row, indices, bits, 2 * depth // {32: 1, 4: 4}.get(bits, 2), selector)
        operands = [
            registers(stored, bits, first(bits, depth // 2)), registers(b.T, bits, second(bits)), registers(c, BITS[sums], total), meta,
        ]  # fmt: skip
        text = (
            f"mma.{ordered}.sync.aligned.m16n8k{depth}.row.col.{sums}.{dtype}.{dtype}.{sums} {{d}}, {{0}}, {{1}}, {{2}}, {{3}}, {selector};"
        )
        found = run(text.replace("{3}", "i3x0"), operands, operands[2].shape[1])
        check(matrix(found, BITS[sums], total, 16, 8), a, b, c, (dtype, dtype, sums))


def test_a_part_of_a_group_is_an_error_at_the_line() -> None:
    operands = [np.zeros((32, 2)), np.zeros((32, 1)), np.zeros((32, 4))]
    text = "setp.lt.u32 p0, r0, 20; @p0 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {d}, {0}, {1}, {2};"
    with pytest.raises(ProgramError, match="20 of a group of 32 lanes take part in a matrix operation that all of them do together"):
        run(text, operands, 4)


def test_what_no_product_is_defined_for_is_named() -> None:
    operands = [np.zeros((32, 1)), np.zeros((32, 1)), np.zeros((32, 2))]
    with pytest.raises(UnsupportedError, match=r"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc \(line"):
        run("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {d}, {0}, {1}, {2};", operands, 2)
