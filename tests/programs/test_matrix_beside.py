"""Products with operands in local memory (`wgmma`) against numpy: layouts, swizzles, types, signs, what is kept, and traces."""

from __future__ import annotations

from typing import NamedTuple

import attrs
import numpy as np
import pytest
from archex.base import layout
from archex.base.errors import ProgramError
from archex.programs.buffers import Buffer
from archex.programs.trace import TraceSource, run_functional
from matrices import BITS, decode, encode, first, registers, spread_indices
from running import source, work

#: Bytes of a line in the canonical layouts, by the mode of the descriptor; nothing is swizzled at 16.
LINES = {0: 16, 3: 32, 2: 64, 1: 128}
LEAST = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f1, f2, f3, f4}, rd10, rd11, 0, 1, 1, 0, 0;"


class Case(NamedTuple):
    """A product of 64 rows."""

    columns: int
    dtype: str
    sums: str
    mode: int
    first_turned: bool = False
    second_turned: bool = False
    in_registers: bool = False
    signs: tuple[int, int] = (1, 1)
    keep: int = 1
    sparse: bool = False
    second: str = ""

    @property
    def depth(self) -> int:
        return 256 // BITS[self.dtype] * (2 if self.sparse else 1)


def put(memory: np.ndarray, at: int, bits: np.ndarray, size: int, mode: int, turned: bool) -> int:
    """Lay a matrix [line, k] out at `at` as the manual's canonical layouts; the descriptor."""
    lines, depth = bits.shape
    wide = LINES[mode]
    per_line = wide // size
    leading = stride = 0
    for line in range(lines):
        for k in range(depth):
            inner, outer, outers = (line, k, depth) if turned else (k, line, lines)
            part, within = divmod(inner, per_line)
            block = 8 * wide
            # Eight lines are a block; blocks follow each other along the outer extent first.
            blocks = outers // 8
            address = part * blocks * block + outer // 8 * block + outer % 8 * wide + within * size
            if mode:
                chunk = address // 16 % 8
                mask = wide // 16 - 1
                address += 16 * ((chunk ^ (address // 128 & mask)) - chunk)
            for byte in range(size):
                memory[at + address + byte] = int(bits[line, k]) >> 8 * byte & 255
    along, across = blocks * block, block  # from part to part, and from block to block
    leading, stride = (along, across) if mode or not turned else (across, along)
    return (at >> 4) | (leading >> 4) << 16 | (stride >> 4) << 32 | mode << 62


def values(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    if dtype == "s32":
        return encode(rng.integers(-(10**5), 10**5, shape), dtype)
    if dtype[0] in "su":
        return rng.integers(0, 256, shape)
    return encode(rng.standard_normal(shape), dtype)


def spread(rng: np.random.Generator, stored: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """A sparse operand's dense form, and what lanes hold of its indices, [wave, lane]."""
    rows, terms = stored.shape
    dense, meta = np.zeros((rows, 2 * terms), np.int64), np.zeros((4, 32), np.uint64)
    for row in range(rows):
        indices = 0
        for chunk in range(terms // 2):
            i, j = sorted(rng.choice(4, 2, replace=False))
            dense[row, 4 * chunk + i], dense[row, 4 * chunk + j] = stored[row, 2 * chunk : 2 * chunk + 2]
            indices |= int(i | j << 2) << 4 * chunk
        spread_indices(meta[row // 16], row, indices, bits, 2 * terms, 0)
    return dense, meta


def program(case: Case, one: int, two: int, words: int, count: int) -> str:
    """Local memory filled, the product, its results stored."""
    names = "{" + ", ".join(f"d{k}" for k in range(count)) + "}"
    a = "{a0, a1, a2, a3}" if case.in_registers else "rd10"
    constants = []
    if case.dtype[0] not in "su":
        constants += list(map(str, case.signs))
    if BITS[case.dtype] == 16:
        constants += ([] if case.in_registers else [str(int(case.first_turned))]) + [str(int(case.second_turned))]
    last = ", ".join(["p1", *constants])
    other = case.second or case.dtype
    meta = "m0, 0, " if case.sparse else ""
    op = f"wgmma.mma_async{'.sp' if case.sparse else ''}.sync.aligned.m64n{case.columns}k{case.depth}.{case.sums}.{case.dtype}.{other}"
    return "\n".join([
        "mov.u32 r0, %tid.x; ld.param.u64 rd0, [pm]; ld.param.u64 rd1, [pa]; ld.param.u64 rd2, [pc]; mov.u32 r2, r0;",
        f"AGAIN: mul.wide.u32 rd4, r2, 4; add.u64 rd5, rd0, rd4; ld.global.u32 r4, [rd5]; mul.lo.u32 r5, r2, 4; st.shared.u32 [r5], r4;"
        f" add.u32 r2, r2, 128; setp.lt.u32 p0, r2, {words}; @p0 bra AGAIN; bar.sync 0;",
        "mad.wide.u32 rd6, r0, 20, rd1; ld.global.b32 m0, [rd6+16];",
        " ".join(f"ld.global.b32 a{k}, [rd6+{4 * k}];" for k in range(4)),
        f"mad.wide.u32 rd7, r0, {4 * count}, rd2;",
        " ".join(f"ld.global.b32 d{k}, [rd7+{4 * k}];" for k in range(count)),
        f"mov.u64 rd10, {one}; mov.u64 rd11, {two}; setp.eq.u32 p1, {case.keep}, 1;",
        f"wgmma.fence.sync.aligned; {op} {names}, {a}, rd11, {meta}{last};",
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
        " ".join(f"st.global.b32 [rd7+{4 * k}], d{k};" for k in range(count)) + " ret;",
    ])  # fmt: skip


def accumulators(bits: np.ndarray, width: int) -> np.ndarray:
    """[thread, register] words of a 64 x n accumulator."""
    each = 32 // width
    columns = bits.shape[1]
    words = np.zeros((128, columns // 2 // each), np.uint64)
    for thread in range(128):
        for i in range(columns // 2):
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2)
            column = 8 * (i // 4) + thread % 4 * 2 + i % 2
            words[thread, i // each] |= np.uint64((int(bits[row, column]) & (1 << width) - 1) << width * (i % each))
    return words


CASES = [
    *(Case(64, "f16", "f32", mode) for mode in LINES),
    *(Case(64, "f16", "f32", mode, second_turned=True) for mode in LINES),
    *(Case(128, "bf16", "f32", mode, first_turned=True) for mode in LINES),
    Case(8, "f16", "f16", 0), Case(256, "f16", "f16", 2, second_turned=True), Case(24, "f16", "f32", 3, in_registers=True),
    Case(64, "f16", "f32", 1, in_registers=True, second_turned=True), Case(16, "f16", "f32", 1, signs=(-1, 1)),
    Case(16, "f16", "f32", 1, signs=(-1, -1)), Case(16, "f16", "f32", 1, keep=0), Case(32, "tf32", "f32", 1), Case(32, "tf32", "f32", 3),
    Case(32, "e4m3", "f32", 1, second="e5m2"), Case(32, "e5m2", "f16", 2), Case(32, "s8", "s32", 1, second="u8"),
    Case(48, "u8", "s32", 0, in_registers=True), Case(32, "f16", "f32", 2, sparse=True),
    Case(32, "f16", "f32", 1, sparse=True, in_registers=True), Case(32, "s8", "s32", 1, sparse=True),
]  # fmt: skip


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case if part not in ("", (1, 1))))
def test_a_product_is_numpys(case: Case, width: int) -> None:
    rng = np.random.default_rng(case.columns)
    bits, sums_bits, other = BITS[case.dtype], BITS[case.sums], case.second or case.dtype
    terms = case.depth // 2 if case.sparse else case.depth
    a, b, c = (
        values(rng, (64, terms), case.dtype),
        values(rng, (case.depth, case.columns), other),
        values(rng, (64, case.columns), case.sums),
    )
    dense, meta = spread(rng, a, bits) if case.sparse else (a, np.zeros((4, 32), np.uint64))
    memory = np.zeros(96 * 1024, np.uint8)
    # A layout wider than one product's depth holds more; what lies between is not read.
    wide = LINES[case.mode] // (bits // 8)
    tall = a if case.first_turned else np.pad(a, ((0, 0), (0, -terms % max(wide, 1))))
    long = b.T if case.second_turned else np.pad(b.T, ((0, 0), (0, -case.depth % max(wide, 1))))
    one = put(memory, 1024, tall, bits // 8, case.mode, case.first_turned)
    two = put(memory, 48 * 1024, long, bits // 8, case.mode, case.second_turned)
    start = accumulators(c, sums_bits)
    operand = np.concatenate([registers(a[16 * w : 16 * w + 16], bits, first(bits, terms)) for w in range(4)])
    given = np.concatenate([operand, meta.reshape(128, 1)], 1).astype(np.uint32)
    declared = f".reg .b32 m0, a0, a1, a2, a3, {', '.join(f'd{k}' for k in range(start.shape[1]))};"
    text = program(case, one, two, len(memory) // 4, start.shape[1])
    function = source(text, ".param .u64 pm, .param .u64 pa, .param .u64 pc", declared)
    buffers = [
        Buffer("M", "u32", memory.nbytes, data=memory.tobytes()), Buffer("A", "u32", given.nbytes, data=given.tobytes()),
        Buffer("C", "u32", 4 * start.size, data=start.astype(np.uint32).tobytes()),
    ]  # fmt: skip
    found = run_functional(function, work(1, 128, *buffers, local=memory.nbytes), width).read("C").reshape(start.shape)
    exact = case.signs[0] * case.signs[1] * (decode(dense, case.dtype) @ decode(b, other)) + case.keep * decode(c, case.sums)
    if case.sums == "s32":
        assert np.array_equal(found, accumulators(encode(exact, "s32"), 32))
        return
    each = 32 // sums_bits
    for thread in range(128):
        for i in range(case.columns // 2):
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2)
            wanted = exact[row, 8 * (i // 4) + thread % 4 * 2 + i % 2]
            value = decode(np.array([int(found[thread, i // each]) >> sums_bits * (i % each) & (1 << sums_bits) - 1]), case.sums)[0]
            assert abs(value - wanted) <= {16: 2.0**-11, 32: 2.0**-24}[sums_bits] * abs(wanted) + {16: 2.0**-10, 32: 2.0**-21}[sums_bits]


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_a_trace_says_where_the_second_operand_begins(mode: str) -> None:
    text = f"mov.u64 rd10, 64; mov.u64 rd11, 80; {LEAST} ret;"
    traces = TraceSource(source(text, ""), attrs.evolve(work(1, 128), dynamic_local_bytes=4096), 32, 4, mode)
    traces.start(np.array([0]), np.array([0]))
    traces.refill(np.array([0]))
    found = traces.records.reshape(-1, layout.RECORD_COLUMNS).tolist()
    assert [row for row in found if row[layout.RECORD_KIND] != layout.NO_ACCESS] == [[layout.AFFINE, 1280, 16, 0xFFFF_FFFF]] * 4


def test_an_operand_outside_of_local_memory_is_an_error_at_the_line() -> None:
    text = f"mov.u64 rd10, 0; mov.u64 rd11, 250; {LEAST} ret;"
    with pytest.raises(ProgramError, match="accesses 2 bytes at local memory address 4096; the workgroup has 4096"):
        run_functional(source(text, ""), work(1, 128, local=4096))
