"""Small PTX programs for the tests of the front end."""

from __future__ import annotations

from archex.programs.build import build_function
from archex.programs.ir import Function, Operation
from archex.programs.ptx import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


REGISTERS = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .f32 %f<9>; .reg .b64 %rd<20>; .reg .f64 %d<9>;"


def module(body: str, parameters: str = ".param .u64 out, .param .u32 n", before: str = "") -> str:
    """A file with one entry `k`; the body's first line is line 7 when nothing comes before."""
    return f"{HEAD}{before}.visible .entry k({parameters})\n{{\n{REGISTERS}\n{body}\n}}\n"


def build(body: str, parameters: str = ".param .u64 out, .param .u32 n", before: str = "") -> Function:
    """The entry of `module`, not cleaned."""
    return build_function(parse(module(body, parameters, before), "k.ptx"))


def operations(function: Function) -> list[Operation]:
    """All operations in block order."""
    return [operation for block in function.blocks for operation in block.operations]


def names(function: Function) -> list[str]:
    """The operations' names in block order."""
    return [operation.op for operation in operations(function)]
