"""Moves, packing, conversions, and changes of address space."""

from __future__ import annotations

from archex.base.layout import CLUSTER_SHIFT
from archex.programs.ir import (
    CONSTANT_WINDOW,
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    PRIVATE_WINDOW,
    Immediate,
    Register,
    Special,
)
from archex.programs.ptx.syntax import Name, Sink, Vector
from archex.programs.ptx.translate.context import Context, translates
from archex.programs.types import BITS, FLOATS

_CONVERSION = ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "rs", "sat", "satfinite", "relu", "ftz", "scaled", "n2")
#: Address spaces by the word in `cvta` and `isspacep`, with their generic window; global addresses are generic already.
_WINDOWS = {"const": CONSTANT_WINDOW, "shared": LOCAL_WINDOW, "shared::cta": LOCAL_WINDOW, "local": PRIVATE_WINDOW}
_WINDOWS |= {"global": 0, "param": PARAMETER_WINDOW, "param::entry": PARAMETER_WINDOW, "shared::cluster": LOCAL_WINDOW}
#: A window reaches as far as the next one begins.
_WINDOW_SHIFT = 40


@translates("mov")
def move(ctx: Context) -> None:
    ctx.allow()
    ctx.count(2)
    dtype = ctx.dtype()
    if dtype == "b128":
        raise ctx.unsupported("128-bit registers")
    target, value = ctx.arguments
    if dtype == "pred" and isinstance(value, Special):
        sources = (ctx.operand(value, "b32", 1), Immediate(0))
        ctx.emit("compare", "u32", (ctx.result(0, "pred"), None), sources, mods=("ne",), source_dtype="u32")
        return
    if isinstance(target, Vector):
        if isinstance(value, Vector):
            raise ctx.error("expected a register or a number, found a vector", 1)
        part = f"b{BITS[dtype] // len(target.items)}"
        if part not in BITS:
            raise ctx.error(f"`.{dtype}` does not divide into {len(target.items)} parts", 0)
        ctx.emit("unpack", part, ctx.vector_results(0, part), (ctx.source(1, dtype),), source_dtype=dtype)
    elif isinstance(value, Vector):
        part = f"b{BITS[dtype] // len(value.items)}"
        if part not in BITS:
            raise ctx.error(f"`.{dtype}` does not divide into {len(value.items)} parts", 1)
        ctx.emit("pack", dtype, (ctx.result(0, dtype),), ctx.vector(1, part), source_dtype=part)
    elif not isinstance(target, Sink):
        ctx.emit("move", dtype, (ctx.result(0, dtype),), (_moved(ctx, dtype),))


def _moved(ctx: Context, dtype: str) -> Register | Immediate | Special:
    value = ctx.arguments[1]
    if isinstance(value, Special):
        return value
    if isinstance(value, Name) and ctx.variable(value) is None:
        raise ctx.unsupported(f"the address of `{value.text}`")
    return ctx.source(1, dtype)


@translates("cvt")
def convert(ctx: Context) -> None:
    if "pack" in ctx.parts:
        raise ctx.unsupported()
    mods = ctx.allow(_CONVERSION)
    dtype, source_dtype = ctx.dtype(0), ctx.dtype(1)
    last = ctx.count(2, 4)
    sources = tuple(ctx.source(index, source_dtype, wider=True) for index in range(1, min(last, 3)))
    if last == 4:
        raise ctx.unsupported("stochastic rounding")
    if dtype == source_dtype and not mods and dtype not in FLOATS and _same_width(ctx, dtype):
        ctx.emit("move", dtype, (ctx.result(0, dtype),), sources)
        return
    ctx.emit("convert", dtype, (ctx.result(0, dtype, wider=True),), sources, mods=mods, source_dtype=source_dtype)


def _same_width(ctx: Context, dtype: str) -> bool:
    return all(isinstance(argument, Register) and ctx.width_of(ctx.register(argument)) == BITS[dtype] for argument in ctx.arguments[:2])


@translates("cvta")
def change_space(ctx: Context) -> None:
    ctx.allow("to", _WINDOWS)
    ctx.count(2)
    space = ctx.variant(*_WINDOWS)
    dtype = ctx.dtype()
    window = _WINDOWS[space]
    if BITS[dtype] == 32:
        raise ctx.unsupported("32-bit generic addresses")
    result, value = ctx.result(0, dtype), ctx.source(1, dtype)
    if window == 0:
        ctx.emit("move", dtype, (result,), (value,))
    elif "to" in ctx.parts:
        # A window starts at a multiple of its size, so that leaving it drops upper bits.
        ctx.emit("and", "b64", (result,), (value, Immediate((1 << _WINDOW_SHIFT) - 1)))
    else:
        ctx.emit("or", "b64", (result,), (value, Immediate(window)))


@translates("isspacep")
def in_space(ctx: Context) -> None:
    ctx.allow(_WINDOWS)
    ctx.count(2)
    window = _WINDOWS[ctx.variant(*_WINDOWS)]
    upper = ctx.temporary("b64")
    ctx.emit("shr", "u64", (upper,), (ctx.source(1, "u64"), Immediate(_WINDOW_SHIFT)))
    result = (ctx.result(0, "pred"), None)
    if window:
        ctx.emit("compare", "u64", result, (upper, Immediate(window >> _WINDOW_SHIFT)), mods=("eq",), source_dtype="u64")
        return
    other = ctx.temporary("pred")
    ctx.emit("compare", "u64", (other, None), (upper, Immediate(LOCAL_WINDOW >> _WINDOW_SHIFT)), mods=("ne",), source_dtype="u64")
    sources = (upper, Immediate(PRIVATE_WINDOW >> _WINDOW_SHIFT), other)
    ctx.emit("compare", "u64", result, sources, mods=("ne", "and"), source_dtype="u64")


@translates("mapa")
def map_to_cluster(ctx: Context) -> None:
    mods = ctx.allow("shared::cluster")
    ctx.count(3)
    dtype = ctx.dtype()
    ctx.emit("map_cluster", dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype), ctx.source(2, "u32")), mods=mods)


@translates("getctarank")
def rank_of_address(ctx: Context) -> None:
    """The rank that an address names, the own one where it names none."""
    ctx.allow("shared::cluster")
    ctx.count(2)
    dtype = f"u{BITS[ctx.dtype()]}"
    upper, masked, number, other = ctx.temporary(dtype), ctx.temporary(dtype), ctx.temporary("b32"), ctx.temporary("b32")
    own, unnamed = ctx.temporary("b32"), ctx.temporary("pred")
    ctx.emit("shr", dtype, (upper,), (ctx.source(1, dtype), Immediate(CLUSTER_SHIFT)))
    ctx.emit("and", f"b{BITS[dtype]}", (masked,), (upper, Immediate(0xFFFF)))
    if dtype == "u64":
        ctx.emit("convert", "u32", (number,), (masked,), source_dtype="u64")
    else:
        ctx.emit("move", "b32", (number,), (masked,))
    ctx.emit("move", "b32", (own,), (Special("cluster_ctarank"),))
    ctx.emit("compare", "u32", (unnamed, None), (number, Immediate(0)), mods=("eq",), source_dtype="u32")
    ctx.emit("add", "u32", (other,), (number, Immediate(0xFFFF_FFFF)))
    ctx.emit("select", "b32", (ctx.result(0, "b32"),), (own, other, unnamed))
