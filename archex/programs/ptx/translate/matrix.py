"""Matrix operations, kept whole: results, inputs with the lengths of their groups, and the opcode's parts."""

from __future__ import annotations

from archex.programs.ir import Immediate, Operand, Register, Space, Special
from archex.programs.ptx.syntax import Number, Sink, Vector
from archex.programs.ptx.translate.context import Context, translates
from archex.programs.ptx.translate.memory import SPACES
from archex.programs.types import BITS

_COUNTS = {"x1": 1, "x2": 2, "x4": 4}


def _values(ctx: Context, index: int) -> tuple[Operand, ...]:
    """Registers or numbers of any type, flattened; a literal is taken as 32 bits."""
    argument = ctx.arguments[index]
    found: list[Operand] = []
    for item in argument.items if isinstance(argument, Vector) else (argument,):
        if isinstance(item, Register):
            found.append(ctx.register(item))
        elif isinstance(item, Number | Special):
            found.append(ctx.operand(item, "b32", index))
        else:
            raise ctx.error("expected registers or numbers", index)
    return tuple(found)


def _results(ctx: Context, index: int) -> tuple[Register | None, ...]:
    argument = ctx.arguments[index]
    items = argument.items if isinstance(argument, Vector) else (argument,)
    for item in items:
        if not isinstance(item, Register | Sink):
            raise ctx.error("expected registers as results", index)
    return tuple(ctx.register(item) if isinstance(item, Register) else None for item in items)


def _whole(ctx: Context, op: str, accumulates: bool = False) -> None:
    """All inputs flattened behind one another; `accumulates` where the results are inputs too."""
    results = _results(ctx, 0)
    groups = [_values(ctx, index) for index in range(1, len(ctx.arguments))]
    if accumulates:
        groups.append(tuple(register for register in results if register is not None))
    sources = tuple(value for group in groups for value in group)
    dtype = ctx.types[0] if ctx.types else ""
    ctx.emit(op, dtype, results, sources, mods=ctx.parts, groups=tuple(len(group) for group in groups))


@translates("mma")
def multiply(ctx: Context) -> None:
    ctx.count(4, 7)
    _whole(ctx, "matrix_sparse" if any(part.startswith("sp") for part in ctx.parts) else "matrix")


@translates("wmma")
def fragment(ctx: Context) -> None:
    if "mma" in ctx.parts:
        ctx.count(4)
        _whole(ctx, "matrix")
        return
    ctx.variant("load", "store")
    storing = "store" in ctx.parts
    ctx.count(2, 3)
    base, offset, _ = ctx.address(0 if storing else 1)
    stride: Operand = ctx.source(2, "u32") if len(ctx.arguments) == 3 else Immediate(0)
    space = next((SPACES[part] for part in ctx.parts if part in SPACES), Space.GENERIC)
    dtype = ctx.dtype()
    shape = {"space": space, "offset": offset, "width": BITS[dtype] // 8, "mods": ctx.parts}
    if storing:
        ctx.emit("fragment_store", dtype, (), (base, *_values(ctx, 1), stride), **shape)
    else:
        ctx.emit("fragment_load", dtype, _results(ctx, 0), (base, stride), **shape)


@translates("ldmatrix", "stmatrix")
def rows(ctx: Context) -> None:
    ctx.count(2)
    at = 1 if ctx.name == "ldmatrix" else 0
    base, offset, _ = ctx.address(at)
    # A row of eight 16-bit elements for each lane that gives an address.
    vector = next((_COUNTS[part] for part in ctx.parts if part in _COUNTS), 1)
    shape = {"space": Space.LOCAL, "offset": offset, "width": 16, "vector": vector, "mods": ctx.parts}
    if at:
        ctx.emit("matrix_load", "b16", _results(ctx, 0), (base,), **shape)
    else:
        ctx.emit("matrix_store", "b16", (), (base, *_values(ctx, 1)), **shape)


@translates("movmatrix")
def transpose(ctx: Context) -> None:
    ctx.count(2)
    if "m8n8" not in ctx.parts or "b16" not in ctx.parts:
        raise ctx.unsupported("8 x 8 matrices of 16-bit elements only")
    ctx.emit("matrix_transpose", "b16", (ctx.result(0, "b32"),), (ctx.source(1, "b32"),), mods=ctx.parts)


@translates("wgmma")
def group_multiply(ctx: Context) -> None:
    kind = ctx.parts[0] if ctx.parts else ""
    if kind == "mma_async":
        ctx.count(4, 10)
        _whole(ctx, "matrix_async", accumulates=True)
    elif kind == "fence":
        ctx.emit("matrix_fence")
    elif kind == "commit_group":
        ctx.emit("matrix_commit")
    elif kind == "wait_group":
        ctx.count(1)
        ctx.emit("matrix_wait", src=(ctx.source(0, "u32"),))
    else:
        raise ctx.error(f"unknown instruction `{ctx.instruction.opcode}`")
