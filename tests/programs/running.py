"""Small launches for tests: a program, a geometry, arguments in a short form."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import attrs
from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer, Fill
from archex.programs.build import build_function, load_function
from archex.programs.ir import Function
from archex.programs.ptx.parser import parse
from archex.programs.trace import TraceSource, run_functional

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"
UNIFORM = Fill("uniform", low=-0.5, high=0.5)
ZERO = Fill()


@attrs.frozen
class Work:
    """The least a launch needs to be."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    buffers: tuple[Buffer, ...]
    dynamic_local_bytes: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)


def work(grid: Any, block: Any, *items: Any, local: int = 0, cluster: Any = 1) -> Work:
    """`items`: a Buffer (its address), an int (i32), a float (f32), or an Argument."""
    buffers: dict[str, Buffer] = {}
    arguments = []
    for item in items:
        if isinstance(item, Buffer):
            buffers.setdefault(item.name, item)
            arguments.append(Argument("buffer", item.name))
        elif isinstance(item, Argument):
            arguments.append(item)
        else:
            arguments.append(Argument("f32" if isinstance(item, float) else "i32", item))

    def three(extent: Any) -> tuple[int, int, int]:
        x, y, z = ((*extent, 1, 1) if isinstance(extent, tuple) else (extent, 1, 1))[:3]
        return (x, y, z)

    return Work(three(grid), three(block), tuple(arguments), tuple(buffers.values()), local, three(cluster))


def floats(name: str, count: int, fill: Fill = UNIFORM, dtype: str = "f32") -> Buffer:
    """A buffer of `count` floats."""
    return Buffer(name, dtype, count * {"f16": 2, "f32": 4, "f64": 8}[dtype], fill)


def whole(name: str, count: int, fill: Fill = ZERO, dtype: str = "i32") -> Buffer:
    """A buffer of `count` whole numbers."""
    return Buffer(name, dtype, count * int(dtype[1:]) // 8, fill)


@cache
def reference(name: str, clean: bool = True) -> Function:
    """A kernel of the reference set, by the beginning of its file's name behind `_Z<digits>`, or by its whole name."""
    folders = [REFERENCE / "h200" / "cuda_ptx", REFERENCE / "h200" / "triton_ptx", REFERENCE / "mi300a" / "ptx"]
    for folder in folders:
        for path in sorted(folder.glob("*.ptx")):
            if path.name.startswith(name) or path.name.lstrip("_Z0123456789").startswith(name):
                return load_function(path, clean=clean)
    raise LookupError(name)


@cache
def standard(file: str, entry: str) -> Function:
    """A kernel of the standard suite."""
    return load_function(REFERENCE.parents[1] / "archex" / "suite" / "kernels" / "standard" / f"{file}.ptx", entry)


def source(body: str, parameters: str = ".param .u64 o", registers: str = "") -> Function:
    """A kernel `k` around a body; `%tid` addresses: rd1 = o + 8 * linear thread."""
    text = f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k({parameters})
{{
  .reg .pred p<20>; .reg .b16 h<40>; .reg .b32 r<60>; .reg .b64 rd<40>; .reg .f32 f<40>; .reg .f64 d<20>; {registers}
  {body}
}}
"""
    return build_function(parse(text, "k.ptx"), "k")


__all__ = ["REFERENCE", "UNIFORM", "TraceSource", "Work", "floats", "reference", "run_functional", "source", "standard", "whole", "work"]
