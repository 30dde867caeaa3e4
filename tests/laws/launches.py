"""Small launches for laws: a body of PTX between a common beginning and end, run whole on a shipped device with overrides."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from archex.assembly import Device, assemble
from archex.base.options import Options
from archex.programs.buffers import Buffer, Fill
from archex.simulate import prepare, simulate
from archex.suite.launch import Argument, Launch
from archex.testing.devices import described

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


@cache
def device(name: str, **changes: Any) -> Device:
    """A shipped device; `l2__latency="60 ns"` overrides `l2.latency`."""
    return assemble(described(name, {key.replace("__", "."): value for key, value in changes.items()}))


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


def run(on: Device, work: Launch) -> dict[str, Any]:
    """The columns of a launch that is simulated whole."""
    return simulate(on, work, Options(sampling="off"))


def machine_operations(on: Device, work: Launch) -> Counter[str]:
    """How often each machine operation is in the code of a launch (of straight-line code: is issued by a wave)."""
    return Counter(name for block in prepare(on, work)[1].operations for name in block)
