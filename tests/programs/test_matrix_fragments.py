"""Products of fragments (`wmma`) against numpy: every shape, layout and space; which operations they become."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base.errors import ProgramError
from archex.programs.buffers import Buffer
from archex.programs.ir import Function, Space
from archex.programs.trace import run_functional
from matrices import BITS, decode, encode
from running import source, work

from programs import operations

SHAPES = [(16, 16), (32, 8), (8, 32)]
#: Type of operands, of accumulators, of results, depth, registers of a (by rows), of b, of c, of d.
KINDS = [("f16", "f32", "f32", 16), ("f16", "f16", "f16", 16), ("f16", "f16", "f32", 16), ("f16", "f32", "f16", 16),
         ("bf16", "f32", "f32", 16),
         ("s8", "s32", "s32", 16), ("u8", "s32", "s32", 16)]  # fmt: skip
CASES = [(*shape, *kind) for kind in KINDS for shape in SHAPES] + [
    (16, 16, "tf32", "f32", "f32", 8), (8, 8, "f64", "f64", "f64", 4), (8, 8, "s4", "s32", "s32", 32),
]  # fmt: skip


def registers(lines: int, depth: int, dtype: str, accumulators: bool = False) -> int:
    """Registers of a fragment in PTX: half-precision operands come twice."""
    count = max(1, lines * depth * BITS[dtype] // 32 // max(32, BITS[dtype]))
    return 8 if dtype == "f16" and not accumulators else count


def kernel(case: tuple, layouts: tuple[str, str, str], strides: tuple[int, int, int, int], local: bool) -> Function:
    m, n, dtype, start, result, depth = case
    shape = f"m{m}n{n}k{depth}"
    wide = dtype == "f64"
    names = {}
    for name, count in (
        ("a", registers(m, depth, dtype)), ("b", registers(n, depth, dtype)), ("c", registers(m, n, start, True)),
        ("e", registers(m, n, result, True)),
    ):  # fmt: skip
        names[name] = [f"{name}{k}" for k in range(count)]
    kind = "f64" if wide else "b32"
    declared = " ".join(f".reg .{kind} {', '.join(group)};" for group in names.values())
    vectors = {name: "{" + ", ".join(group) + "}" for name, group in names.items()}
    body = ["ld.param.u64 rd0, [pa]; ld.param.u64 rd1, [pb]; ld.param.u64 rd2, [pc]; ld.param.u64 rd3, [pd];"]
    space, places = ".global", ["rd0", "rd1"]
    if local:
        # Each lane copies 32-bit words; b lies behind a.
        space, places = ".shared", ["r20", "r21"]
        body.append("mov.u32 r20, 0; mov.u32 r21, 8192;")
        body.append("mov.u32 r1, %laneid; mov.u32 r2, 0;\nAGAIN: mad.lo.u32 r3, r2, 128, 0; mad.lo.u32 r3, r1, 4, r3;")
        body.append("cvt.u64.u32 rd4, r3; add.u64 rd5, rd0, rd4; ld.global.u32 r4, [rd5]; st.shared.u32 [r3], r4;")
        body.append("add.u64 rd5, rd1, rd4; ld.global.u32 r4, [rd5]; st.shared.u32 [r3+8192], r4;")
        body.append("add.u32 r2, r2, 1; setp.lt.u32 p0, r2, 64; @p0 bra AGAIN; bar.sync 0;")
    for index, (name, layout) in enumerate(zip("ab", layouts, strict=False)):
        body.append(f"wmma.load.{name}.sync.aligned.{layout}.{shape}{space}.{dtype} {vectors[name]}, [{places[index]}], {strides[index]};")
    # The accumulators' strides come in a register, and through a generic address.
    body.append(f"mov.u32 r10, {strides[2]}; add.u32 r10, r10, r10; shr.u32 r10, r10, 1;")
    body.append(f"wmma.load.c.sync.aligned.{layouts[2]}.{shape}.{start} {vectors['c']}, [rd2], r10;")
    types = f"{result}.{start}" if dtype == "f16" else f"{result}.{dtype}.{dtype}.{start}"
    body.append(
        f"wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{types} {vectors['e']}, {vectors['a']}, {vectors['b']}, {vectors['c']};"
    )
    body.append(f"wmma.store.d.sync.aligned.{layouts[2]}.{shape}.global.{result} [rd3], {vectors['e']}, {strides[3]}; ret;")
    return source("\n".join(body), ".param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd", declared)


def stored(matrix: np.ndarray, dtype: str, layout: str, stride: int) -> bytes:
    """A matrix of bits in memory, lines `stride` elements apart."""
    lines = matrix if layout == "row" else matrix.T
    padded = np.zeros((lines.shape[0], stride), np.int64)
    padded[:, : lines.shape[1]] = lines
    if BITS[dtype] == 4:
        return (padded[:, ::2] | padded[:, 1::2] << 4).astype(np.uint8).tobytes()
    return padded.astype(f"u{BITS[dtype] // 8}").tobytes()


def random_bits(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    if dtype == "s32":
        return encode(rng.integers(-(10**6), 10**6, shape), dtype)
    if dtype[0] in "su":
        return rng.integers(0, 1 << BITS[dtype], shape)
    return encode(rng.standard_normal(shape), dtype)


@pytest.mark.parametrize("local", [False, True], ids=["global", "local"])
@pytest.mark.parametrize(
    "layouts", [("row", "col", "row"), ("col", "row", "col"), ("row", "row", "row"), ("col", "col", "row")], ids="-".join
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_a_product_is_numpys(case: tuple, layouts: tuple[str, str, str], local: bool) -> None:
    m, n, dtype, start, result, depth = case
    if dtype == "s4" and layouts[:2] != ("row", "col"):
        pytest.skip("four-bit operands have one layout")
    rng = np.random.default_rng(m * n)
    a, b, c = random_bits(rng, (m, depth), dtype), random_bits(rng, (depth, n), dtype), random_bits(rng, (m, n), start)
    strides = [
        (depth if layouts[0] == "row" else m) + 32, (depth if layouts[1] == "col" else n) + 64, (n if layouts[2] == "row" else m) + 8,
        (n if layouts[2] == "row" else m) + 16,
    ]  # fmt: skip
    data = [
        stored(a, dtype, layouts[0], strides[0]), stored(b, dtype, layouts[1], strides[1]), stored(c, start, layouts[2], strides[2])
    ]  # fmt: skip
    size = BITS[result] // 8
    lines = m if layouts[2] == "row" else n
    buffers = [Buffer(name, "u8", 8192, data=bytes_.ljust(8192, b"\0")) for name, bytes_ in zip("ABC", data, strict=True)]
    out = Buffer("D", f"u{8 * size}", lines * strides[3] * size)
    function = kernel(case, layouts, (*strides,), local)  # type: ignore[arg-type]
    exact = decode(a, dtype) @ decode(b, dtype) + decode(c, start)
    for width in (32, 64):
        launch = work(1, width, *buffers, out, local=16384)
        found = run_functional(function, launch, width).read("D").reshape(lines, strides[3])[:, : n if layouts[2] == "row" else m]
        numbers = decode(found.astype(np.int64) if size < 8 else found.view(np.int64), result)
        numbers = numbers if layouts[2] == "row" else numbers.T
        if result == "s32":
            assert np.array_equal(numbers, exact)
        else:
            one = {"f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-52}[result]
            assert np.all(np.abs(numbers - exact) <= one * np.abs(exact) + {"f16": 2.0**-10, "f32": 2.0**-22, "f64": 2.0**-48}[result])


def test_what_a_product_of_halves_becomes() -> None:
    """As hardware has it: a load of four matrices an operand, two products, two pairs of stores."""
    function = kernel((16, 16, "f16", "f32", "f32", 16), ("row", "row", "row"), (40, 136, 16, 16), True)
    found = operations(function)
    loads = [operation for operation in found if operation.op == "matrix_load"]
    assert [load.vector for load in loads] == [4, 4]
    assert ["trans" in load.mods for load in loads] == [False, True]
    products = [operation for operation in found if operation.op == "matrix"]
    assert [product.groups for product in products] == [(4, 2, 4)] * 2
    assert all(set(product.mods) >= {"m16n8k16", "f32", "f16"} for product in products)
    stores = [operation for operation in found if operation.op == "store" and operation.space == Space.GLOBAL]
    assert [(store.vector, store.width) for store in stores] == [(2, 4)] * 4


def test_a_wrong_number_of_registers_is_an_error_at_the_line() -> None:
    text = "ld.param.u64 rd0, [o]; wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {r1, r2, r3}, [rd0], 16; ret;"
    with pytest.raises(ProgramError, match="expected 4 registers, found 3"):
        source(text)
