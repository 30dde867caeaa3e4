"""Bulk copies of boxes: what a slice of numpy gives, in one to five dimensions, with edges, swizzles, both ways and over a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout
from archex.base.errors import ProgramError
from archex.programs.arguments import Argument
from archex.programs.buffers import FIRST_ADDRESS, Buffer, Fill
from archex.programs.ir import PARAMETER_WINDOW
from archex.programs.tensor_map import TensorMap, packed
from archex.programs.trace import TraceSource
from draining import drain
from running import run_functional, source, whole, work

MAP = ".param .align 64 .b8 m[128]"
#: Coordinates come in the parameters c0.. (one a dimension); rd5: the map's address, r0: thread, r1: local memory, r2: barrier.
START = """.shared .align 1024 .b8 s[{local}]; .shared .align 8 .b8 b[8]; ld.param.u64 rd1, [o]; mov.b64 rd4, m; cvta.param.u64 rd5, rd4;
  mov.u32 r0, %tid.x; mov.u32 r1, s; mov.u32 r2, b; setp.eq.u32 p0, r0, 0; @p0 mbarrier.init.shared.b64 [r2], 1; bar.sync 0;
  {coordinates}"""
IN = """@!p0 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [r2], {size};
  cp.async.bulk.tensor.{n}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r1], [rd5, {{{c}}}], [r2];
  W: mbarrier.try_wait.parity.shared.b64 p1, [r2], 0; @!p1 bra W;"""
STORE = """mov.u32 r3, r0; L: setp.ge.u32 p2, r3, {words}; @p2 bra D; mad.lo.u32 r4, r3, 4, r1; ld.shared.u32 r5, [r4];
  mad.wide.u32 rd3, r3, 4, rd1; st.global.u32 [rd3], r5; add.u32 r3, r3, 64; bra L; D: ret;"""
OUT = """cp.async.bulk.tensor.{n}d.global.shared::cta.tile.bulk_group [rd5, {{{c}}}], [r1];"""


def kernel(body: str, shape: TensorMap, at: tuple[int, ...], size: int) -> Any:
    """A kernel of `o` and a tensor map around a body; `at`: the first element's coordinates."""
    count = len(at)
    names = [f"r{20 + index}" for index in range(count)]
    coordinates = " ".join(f"mov.u32 {name}, {value};" for name, value in zip(names, at, strict=True))
    fields = {"n": count, "c": ", ".join(names), "size": size, "words": size // 4}
    text = START.format(local=max(size, 128), coordinates=coordinates) + body.format(**fields)
    return source(text, f".param .u64 o, {MAP}")


def elements(shape: TensorMap) -> Buffer:
    """The buffer of a map, its elements counted up."""
    size = {"i8": 1, "f16": 2, "f32": 4, "i32": 4, "f64": 8}[shape.dtype]
    return Buffer(shape.buffer, shape.dtype, -(-(shape.offset + shape.span) // size) * size, Fill("arange", step=1))


def view(flat: np.ndarray, shape: TensorMap) -> np.ndarray:
    """The tensor as numpy sees it, the outermost dimension first."""
    start = flat[shape.offset // flat.itemsize :]
    strides = (flat.itemsize, *shape.strides)[::-1]
    return np.lib.stride_tricks.as_strided(start, shape.dims[::-1], strides)


def box_of(tensor: np.ndarray, at: tuple[int, ...], box: tuple[int, ...], outside: Any = 0) -> np.ndarray:
    """The box whose first element is at `at` (innermost first), `outside` where the tensor has none."""
    found = np.full(box[::-1], outside, dtype=tensor.dtype)
    first = [max(0, -c) for c in at]
    last = [min(extent, size - c) for c, extent, size in zip(at, box, tensor.shape[::-1], strict=True)]
    if all(a < b for a, b in zip(first, last, strict=True)):
        inside = tuple(slice(a, b) for a, b in zip(first, last, strict=True))[::-1]
        found[inside] = tensor[tuple(slice(c + a, c + b) for c, a, b in zip(at, first, last, strict=True))[::-1]]
    return found


def launch(shape: TensorMap, size: int, **options: Any) -> Any:
    buffer = elements(shape)
    given = work(1, 64, whole("O", size // 4), Argument("tensor_map", shape), **options)
    import attrs

    return attrs.evolve(given, buffers=(*given.buffers, buffer))


def copied(shape: TensorMap, at: tuple[int, ...], width: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """What the kernel copies (as it lies in local memory), and the tensor."""
    item = elements(shape)
    size = int(np.prod(shape.box)) * {"i8": 1, "f16": 2, "f32": 4, "i32": 4, "f64": 8}[shape.dtype]
    run = run_functional(kernel(IN + STORE, shape, at, size), launch(shape, size), width)
    flat = run.read(item.name)
    return run.read("O").view(flat.dtype), view(flat, shape)


def tensor(dtype: str, dims: tuple[int, ...], box: tuple[int, ...], **more: Any) -> TensorMap:
    return TensorMap("A", dtype, dims, more.pop("strides", packed(dtype, dims)), box, **more)


SHAPES = [
    (tensor("f32", (40,), (16,)), [(0,), (24,), (32,), (-5,), (40,), (-16,), (1 << 20,)]),
    (tensor("f16", (24, 10), (16, 4)), [(0, 0), (8, 6), (16, 8), (-3, -2), (24, 0), (5, -4)]),
    (tensor("i8", (48, 6, 5), (32, 3, 2)), [(0, 0, 0), (17, 4, 3), (-1, -1, -1), (40, 5, 4)]),
    (tensor("f64", (6, 5, 4, 3), (4, 3, 2, 2)), [(0, 0, 0, 0), (3, 3, 3, 2), (-2, -1, -1, -1), (5, 4, 3, 2)]),
    (tensor("i32", (8, 4, 3, 3, 2), (4, 2, 2, 2, 2)), [(0, 0, 0, 0, 0), (5, 3, 2, 2, 1), (-1, -1, -1, -1, -1)]),
    (tensor("f32", (20, 7), (8, 4), strides=(112,), offset=32), [(0, 0), (15, 5), (-4, -1)]),
]


@pytest.mark.parametrize(("shape", "places"), SHAPES)
def test_boxes_are_slices(shape: TensorMap, places: list[tuple[int, ...]]) -> None:
    for at in places:
        found, whole_tensor = copied(shape, at)
        assert np.array_equal(found, box_of(whole_tensor, at, shape.box).reshape(-1)), at


def test_waves_of_64() -> None:
    shape, places = SHAPES[1]
    found, whole_tensor = copied(shape, places[3], 64)
    assert np.array_equal(found, box_of(whole_tensor, places[3], shape.box).reshape(-1))


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_swizzles_exchange_parts_of_rows(swizzle: int) -> None:
    shape = tensor("f16", (swizzle // 2, 32), (swizzle // 2, 32), swizzle=swizzle)
    found, whole_tensor = copied(shape, (0, 0))
    raw = found.view(np.uint8).reshape(-1, 16)
    wanted = np.ascontiguousarray(whole_tensor).view(np.uint8).reshape(-1, 16)
    for chunk in range(len(wanted)):
        address = chunk * 16
        there = address ^ ((address >> 7 & (swizzle // 16 - 1)) << 4)
        assert np.array_equal(raw[there // 16], wanted[chunk])
    assert swizzle == 32 or not np.array_equal(raw, wanted)


def test_what_lies_outside_may_be_no_number() -> None:
    shape = tensor("f16", (16, 4), (16, 4), outside="nan")
    found, whole_tensor = copied(shape, (8, 2))
    wanted = box_of(whole_tensor, (8, 2), shape.box, np.nan)
    assert np.array_equal(found.reshape(4, 16), wanted, equal_nan=True)
    assert np.isnan(found).any()


@pytest.mark.parametrize("reduction", ["", "add", "max"])
def test_boxes_out_of_local_memory(reduction: str) -> None:
    """What the box has outside is not written; the rest is stored or added."""
    shape = tensor("i32", (12, 6), (8, 4), swizzle=32)
    size = 8 * 4 * 4
    order = OUT if not reduction else OUT.replace("cp.async", "cp.reduce.async").replace("cta.tile", f"cta.{reduction}.tile")
    body = (
        "setp.lt.u32 p3, r0, 32; mad.lo.u32 r4, r0, 4, r1; mul.lo.u32 r5, r0, 3; @p3 st.shared.u32 [r4], r5; bar.sync 0; @p0 "
        + order
        + " ret;"
    )
    run = run_functional(kernel(body, shape, (7, -1), size), launch(shape, size))
    before = np.arange(72, dtype=np.int32).reshape(6, 12)
    local = np.arange(32).reshape(-1, 4) * 0
    for chunk in range(8):
        there = chunk * 16 ^ ((chunk * 16 >> 7 & 1) << 4)
        local[chunk] = 3 * (there // 4 + np.arange(4))
    box = local.reshape(4, 8)
    wanted = before.copy()
    part = wanted[0:3, 7:12]
    given = box[1:4, 0:5]
    part[:] = given if not reduction else part + given if reduction == "add" else np.maximum(part, given)
    assert np.array_equal(run.read("A").reshape(6, 12), wanted)


def test_records_describe_what_lies_inside_and_count_everything() -> None:
    shape, at = tensor("f16", (24, 10, 3), (16, 4, 2), offset=32), (-3, 8, 1)
    size = 16 * 4 * 2 * 2
    for mode in ("timing", "functional"):
        steps = drain(TraceSource(kernel(IN + STORE, shape, at, size), launch(shape, size), 32, 2, mode), 1)
        rows = [record[4] for step in steps[0, 0] for record in step[2] if record[0] == layout.BULK]
        base = TraceSource(kernel("ret;", shape, at, size), launch(shape, size), 32, 2).placed.addresses["A"]
        assert len(rows) == 1
        assert rows[0][: layout.BULK_COUNT] == (base + 32 + 8 * 48 + 480, 26)
        assert rows[0][2:10] == (2, 48, 2, 480, 1, 0, 1, 0)
        assert rows[0][layout.BULK_CREDIT] == size
        assert rows[0][layout.BULK_LOCAL] == 0
    nothing = drain(TraceSource(kernel(IN + STORE, shape, (99, 0, 0), size), launch(shape, size), 32, 2), 1)
    row = next(record[4] for step in nothing[0, 0] for record in step[2] if record[0] == layout.BULK)
    assert (row[layout.BULK_BYTES], row[layout.BULK_CREDIT]) == (0, size)
    assert base > FIRST_ADDRESS


def test_prefetches_leave_a_record_and_no_barrier() -> None:
    shape = tensor("f32", (64, 8), (16, 4))
    body = "@p0 cp.async.bulk.prefetch.tensor.{n}d.L2.global.tile [rd5, {{{c}}}]; @p0 cp.async.bulk.prefetch.L2.global [rd1], 32; ret;"
    steps = drain(TraceSource(kernel(body, shape, (16, 2), 256), launch(shape, 256), 32, 2), 1)
    rows = [record[4] for step in steps[0, 0] for record in step[2] if record[0] == layout.BULK]
    assert [(row[layout.BULK_BYTES], row[layout.BULK_BARRIER], row[layout.BULK_WAY]) for row in rows] == [
        (64, -1, layout.BULK_PREFETCH),
        (32, -1, layout.BULK_PREFETCH),
    ]


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("form", ["tensor", "range"])
def test_multicast_over_a_cluster(form: str, width: int) -> None:
    """Rank 1 orders one copy for ranks 0, 2 and 3; each waits for its own bytes."""
    shape = tensor("i32", (16, 8), (16, 4))
    to, back = "shared::cluster.global", "mbarrier::complete_tx::bytes.multicast::cluster"
    copy = f"cp.async.bulk.tensor.2d.{to}.tile.{back} [r1], [rd5, {{{{{{c}}}}}}], [r2], h0;"
    if form == "range":
        copy = f"add.u64 rd6, rd1, 8192; cp.async.bulk.{to}.{back} [r1], [rd6], 256, [r2], h0;"
    body = f"""mov.u32 r6, %cluster_ctarank; setp.eq.u32 p4, r6, 1; and.pred p5, p0, p4; mov.b16 h0, 13; mov.u32 r7, %ctaid.x;
      setp.ne.u32 p6, r6, 1; and.pred p7, p0, p6; @p7 mbarrier.arrive.expect_tx.shared.b64 _, [r2], 256;
      barrier.cluster.arrive; barrier.cluster.wait; @!p5 bra N; {copy} N: @p4 bra D;
      W: mbarrier.try_wait.parity.shared.b64 p1, [r2], 0; @!p1 bra W; mad.lo.u32 r4, r0, 4, r1; ld.shared.u32 r5, [r4];
      mad.lo.u32 r8, r7, 64, r0; mad.wide.u32 rd3, r8, 4, rd1; st.global.u32 [rd3], r5; D: barrier.cluster.arrive;
      barrier.cluster.wait; ret;"""
    import attrs

    given = launch(shape, 16384, cluster=4)
    given = attrs.evolve(given, grid=(8, 1, 1), buffers=(attrs.evolve(given.buffers[0], fill=Fill("arange", step=1)), given.buffers[1]))
    function = kernel(body, shape, (0, 2), 256)
    found = run_functional(function, given, width).read("O")[: 8 * 64].reshape(8, 64)
    wanted = np.arange(8 * 64).reshape(8, 64)
    first = 32 if form == "tensor" else 2048
    wanted[[0, 2, 3, 4, 6, 7]] = first + np.arange(64)
    assert np.array_equal(found, wanted)
    slow = drain(TraceSource(function, given, width, 64, "functional"), 8)
    assert drain(TraceSource(function, given, width, 64), 8) == slow
    rows = [record[4] for wave in slow.values() for step in wave for record in step[2] if record[0] == layout.BULK]
    assert [row[layout.BULK_TARGETS] for row in rows] == [13, 13]
    TraceSource(function, given, width, 64).count(np.arange(8))


def test_what_is_wrong_is_said() -> None:
    shape = tensor("f32", (64, 8), (16, 4))
    size = 256

    def fails(body: str, words: str, at: tuple[int, ...] = (0, 0), given: Any = None) -> None:
        for mode in ("timing", "functional"):
            with pytest.raises(ProgramError, match=words):
                drain(TraceSource(kernel(body, shape, at, size), given or launch(shape, size), 32, 2, mode), 1)

    fails(IN + STORE, r"at 0x7b0000000040 lies no argument of the kind tensor_map with 3 dimensions", (0, 0, 0))
    fails(IN.replace("[r1]", "[r1+64]") + STORE, "not a multiple of the 128 bytes")
    fails(IN.replace("[rd5, ", "[rd1, ") + STORE, "lies no argument of the kind tensor_map|not a multiple of the 64")
    fails(IN.replace("{size}", "128") + STORE, "which nobody ends")
    fails(IN.replace("[r1], [rd5", "[r1+128], [rd5") + STORE, "accesses 256 bytes at local memory address 128; the workgroup has 264")
    wrong = work(1, 64, whole("O", 64), Argument("bytes", bytes(128)))
    fails(IN + STORE, "describes no tensor", given=wrong)
    with pytest.raises(ProgramError, match="as many coordinates as the tensor has dimensions"):
        kernel(IN.replace("{n}d", "1d"), shape, (0, 0), size)
    assert PARAMETER_WINDOW + 64 == 0x7B0000000040
