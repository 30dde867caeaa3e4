"""Small launches made here: a body of PTX between a common beginning and end. Laws and published microbenchmarks are run with them.

In: a body (registers as the beginning opens them), geometry. Out: `launch`, a `Launch` whose program lies in a folder; the bodies
that more than one place needs.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer, Fill
from archex.suite.launch import Launch

_HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
.reg .f16x2 %h<9>;
.reg .f32 %f<99>;
.reg .f64 %g<9>;
.reg .b32 %r<99>;
.reg .b64 %d<99>;
.reg .pred %p<9>;
"""
#: %d0 and %d1: the buffers. %r0: n. %r1: the thread in its workgroup, %r2: in the grid. %r3..%r6, %f0..%f3, %g0..%g3: values by lane.
_OPEN = """ld.param.u64 %d0, [out];
ld.param.u64 %d1, [in];
ld.param.u32 %r0, [n];
mov.u32 %r1, %tid.x;
mov.u32 %r10, %ctaid.x;
mov.u32 %r11, %ntid.x;
mad.lo.s32 %r2, %r10, %r11, %r1;
"""
#: Results reach memory, so that nothing they need is dropped.
_CLOSE = """mul.wide.u32 %d90, %r2, 4;
add.s64 %d91, %d0, %d90;
st.global.{kind} [%d91], {result};
ret;
}}
"""
UNIFORM = Fill("uniform")
#: One more of n rounds.
AGAIN = "add.s32 %r21, %r21, 1;\nsetp.lt.s32 %p0, %r21, %r0;\n@%p0 bra L;\n"
#: n dependent loads; each gives the element of the next.
CHASE = f"""mov.u32 %r20, 0;
mov.u32 %r21, 0;
L:
mul.wide.u32 %d4, %r20, 4;
add.s64 %d5, %d1, %d4;
ld.global.u32 %r20, [%d5];
{AGAIN}cvt.rn.f32.u32 %f0, %r20;
"""


def launch(
    folder: Path,
    body: str,
    threads: int = 32,
    workgroups: int = 1,
    *,
    n: int = 1,
    result: str = "%f0",
    kind: str = "f32",
    local: str = "",
    read: int = 1 << 20,
    fill: Fill = UNIFORM,
    dtype: str = "f32",
    caches: str = "cold",
) -> Launch:
    """`body` as a launch: `result` is stored by each thread, `read` are the bytes of `in`, `local` declares local memory."""
    text = _HEAD + local + _OPEN + body + _CLOSE.format(result=result, kind=kind)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.ptx"
    path.write_text(text)
    buffers = (Buffer("out", "f32", max(4 * threads * workgroups, 1024)), Buffer("in", dtype, read, fill))
    arguments = (Argument("buffer", "out"), Argument("buffer", "in"), Argument("i32", n))
    return Launch("k", path, "k", (workgroups, 1, 1), (threads, 1, 1), caches=caches, arguments=arguments, buffers=buffers)


def arrays(loads: int, stores: int) -> str:
    """A thread reads 16 bytes of each of `loads` arrays and writes their sum to each of `stores` more, which follow in memory."""
    text = "mul.wide.u32 %d4, %r2, 16;\nadd.s64 %d5, %d1, %d4;\nmov.u32 %r12, %nctaid.x;\nmul.lo.s32 %r12, %r12, %r11;\n"
    text += "mul.wide.u32 %d6, %r12, 16;\nmov.f32 %f0, 0f00000000;\n"
    for k in range(loads):
        text += f"ld.global.v4.f32 {_four(k)}, [%d5];\nadd.s64 %d5, %d5, %d6;\n"
    text += "".join(f"add.f32 %f0, %f0, %f{4 * k + j};\n" for k in range(loads) for j in range(10, 14))
    text += stores * "st.global.v4.f32 [%d5], {%f0, %f0, %f0, %f0};\nadd.s64 %d5, %d5, %d6;\n"
    return text + "setp.ne.f32 %p0, %f0, 0f42280000;\n@%p0 ret;\n"


def again(size: int, step: int, first: str, cache: str) -> str:
    """n rounds of four loads of 16 bytes a lane, `step` bytes apart, from `size` bytes, a power of two. `first`: register by lane."""
    text = f"shl.b32 %r20, {first}, 4;\nmov.f32 %f0, 0f00000000;\nmov.u32 %r21, 0;\nL:\n"
    for k in range(4):
        text += f"and.b32 %r22, %r20, {size - 1};\ncvt.u64.u32 %d4, %r22;\nadd.s64 %d5, %d1, %d4;\n"
        text += f"ld.global.{cache}.v4.f32 {_four(k)}, [%d5];\nadd.s32 %r20, %r20, {step};\n"
    return text + "".join(f"add.f32 %f0, %f0, %f{10 + k};\n" for k in range(16)) + AGAIN


def _four(k: int) -> str:
    return listed("f", 10 + 4 * k, 4)


def listed(kind: str, first: int, count: int) -> str:
    """Registers one after another, as a vector's operand."""
    return "{" + ", ".join(f"%{kind}{first + k}" for k in range(count)) + "}"


#: What chains of products multiply: lane numbers and constants.
OPERANDS = "".join(f"add.s32 %r{40 + k}, %r2, {k};\n" for k in range(8))


def sums(count: int) -> str:
    """All accumulators into %f0."""
    return "".join(f"add.f32 %f0, %f0, %f{k};\n" for k in range(1, count))


def zeros(count: int) -> str:
    """Accumulators to begin with."""
    return "".join(f"mov.f32 %f{k}, 0f00000000;\n" for k in range(count))


def register_chains(chains: int, each: int, sparse: bool = False, k: int = 16) -> str:
    """n rounds of products of 16 x 8 x `k` out of registers: `each` one behind the other, in each of `chains` independent chains."""
    opcode = f"mma.sp::ordered_metadata.sync.aligned.m16n8k{k}" if sparse else f"mma.sync.aligned.m16n8k{k}"
    a, b = listed("r", 40, (k // 4) >> sparse), listed("r", 44, k // 8)
    places = ", %r48, 0x0" if sparse else ""
    text = zeros(4 * chains) + OPERANDS + "mov.u32 %r48, 0x44444444;\nmov.u32 %r21, 0;\nL:\n"
    for index in range(chains * each):
        c = listed("f", 4 * (index % chains), 4)
        text += f"{opcode}.row.col.f32.f16.f16.f32 {c}, {a}, {b}, {c}{places};\n"
    return text + AGAIN + sums(4 * chains)


GROUP_LOCAL = ".shared .align 1024 .b8 tile[32768];\n"


def group_chain(elements: str = "f16", columns: int = 128, each: int = 4, sparse: bool = False, registers: bool = False) -> str:
    """n rounds of `each` products of 64 rows by `columns`, all of four waves, one behind the other.

    The right operand lies in local memory, the left one as well or in `registers`.
    """
    depth = {"f16": 16, "e4m3": 32}[elements] << sparse
    c = listed("f", 0, columns // 2)
    transposed = ("" if registers else ", 0") + ", 0" if elements == "f16" else ""
    left = listed("r", 40, 4) if registers else "%d2"
    opcode = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{columns}k{depth}.f32.{elements}.{elements}"
    places = ", %r48, 0" if sparse else ""
    text = zeros(columns // 2) + OPERANDS + "mov.u32 %r48, 0x44444444;\nsetp.ne.b32 %p1, 1, 0;\nmov.u32 %r12, tile;\n"
    # rows of 128 bytes in groups of 8, swizzled
    text += "cvt.u64.u32 %d2, %r12;\nshr.u64 %d2, %d2, 4;\nor.b64 %d2, %d2, 0x4000004000010000;\nadd.s64 %d3, %d2, 1024;\n"
    text += "mov.u32 %r21, 0;\nL:\nwgmma.fence.sync.aligned;\n"
    text += f"{opcode} {c}, {left}, %d3{places}, %p1, 1, 1{transposed};\n" * each
    return text + "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" + AGAIN + sums(columns // 2)
