"""Add, multiply, divide and kin, integer and floating point."""

from __future__ import annotations

from archex.programs.ir import Register
from archex.programs.ptx.translate.context import Context, translates
from archex.programs.types import FLOATS

_ROUNDING = ("rn", "rz", "rm", "rp", "rna", "rs")
_FLOAT = (*_ROUNDING, "ftz", "sat", "approx", "full", "relu", "NaN", "xorsign", "abs", "oob", "noftz")
_DOUBLE = {"s8": "s16", "u8": "u16", "s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}


def _carry(ctx: Context) -> Register:
    """The register that stands for the condition code's carry."""
    if ctx.output.carry is None:
        ctx.output.carry = ctx.output.function.new_register("pred", "%carry")
    return ctx.output.carry


@translates("add", "sub")
def add(ctx: Context) -> None:
    flags = ctx.allow(_FLOAT, "cc")
    ctx.count(3)
    dtype = ctx.dtype()
    if "cc" in flags:
        ctx.emit(f"{ctx.name}_carry", dtype, (ctx.result(0, dtype), _carry(ctx)), (ctx.source(1, dtype), ctx.source(2, dtype)))
        return
    second = ctx.types[1] if len(ctx.types) > 1 else dtype
    if second != dtype:
        raise ctx.unsupported("mixed-precision arithmetic")
    ctx.emit(ctx.name, dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype), ctx.source(2, dtype)), mods=flags)


@translates("addc", "subc")
def add_with_carry(ctx: Context) -> None:
    flags = ctx.allow("cc")
    ctx.count(3)
    dtype = ctx.dtype()
    out = _carry(ctx) if "cc" in flags else None
    ctx.emit(f"{ctx.name[:3]}_carry", dtype, (ctx.result(0, dtype), out), (ctx.source(1, dtype), ctx.source(2, dtype), _carry(ctx)))


@translates("mul")
def multiply(ctx: Context) -> None:
    dtype = ctx.dtype()
    ctx.count(3)
    if dtype in FLOATS:
        ctx.emit("mul", dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype), ctx.source(2, dtype)), mods=ctx.allow(_FLOAT))
        return
    ctx.allow("lo", "hi", "wide")
    half = ctx.variant("lo", "hi", "wide")
    sources = (ctx.source(1, dtype), ctx.source(2, dtype))
    if half == "wide":
        if dtype not in _DOUBLE:
            raise ctx.error(f"`mul.wide` has no type `.{dtype}`")
        wide = _DOUBLE[dtype]
        ctx.emit("mul_wide", wide, (ctx.result(0, wide),), sources, source_dtype=dtype)
    else:
        ctx.emit(f"mul_{half}", dtype, (ctx.result(0, dtype),), sources)


@translates("mad", "madc")
def multiply_add(ctx: Context) -> None:
    dtype = ctx.dtype()
    ctx.count(4)
    if dtype in FLOATS:
        sources = (ctx.source(1, dtype), ctx.source(2, dtype), ctx.source(3, dtype))
        ctx.emit("fma", dtype, (ctx.result(0, dtype),), sources, mods=ctx.allow(_FLOAT))
        return
    flags = ctx.allow("lo", "hi", "wide", "cc", "sat")
    half = ctx.variant("lo", "hi", "wide")
    pair = (ctx.source(1, dtype), ctx.source(2, dtype))
    if half == "wide":
        if dtype not in _DOUBLE:
            raise ctx.error(f"`mad.wide` has no type `.{dtype}`")
        wide = _DOUBLE[dtype]
        ctx.emit("mad_wide", wide, (ctx.result(0, wide),), (*pair, ctx.source(3, wide)), source_dtype=dtype)
        return
    sources = (*pair, ctx.source(3, dtype))
    if ctx.name == "madc" or "cc" in flags:
        out = _carry(ctx) if "cc" in flags else None
        entering = (_carry(ctx),) if ctx.name == "madc" else ()
        ctx.emit("mad_carry", dtype, (ctx.result(0, dtype), out), (*sources, *entering), mods=(half,))
    else:
        ctx.emit(f"mad_{half}", dtype, (ctx.result(0, dtype),), sources, mods=("sat",) if "sat" in flags else ())


@translates("mul24", "mad24")
def multiply_24(ctx: Context) -> None:
    dtype = ctx.dtype()
    ctx.allow("lo", "hi", "sat")
    last = ctx.count(3 if ctx.name == "mul24" else 4)
    sources = tuple(ctx.source(index, dtype) for index in range(1, last))
    mods = (ctx.variant("lo", "hi"), *(("sat",) if "sat" in ctx.flags else ()))
    ctx.emit(ctx.name, dtype, (ctx.result(0, dtype),), sources, mods=mods)


@translates("fma")
def fused(ctx: Context) -> None:
    dtype = ctx.dtype()
    ctx.count(4)
    if len(ctx.types) > 1 and ctx.types[1] != dtype:
        raise ctx.unsupported("mixed-precision arithmetic")
    sources = tuple(ctx.source(index, dtype) for index in (1, 2, 3))
    ctx.emit("fma", dtype, (ctx.result(0, dtype),), sources, mods=ctx.allow(_FLOAT))


@translates("div", "rem", "min", "max", "copysign")
def binary(ctx: Context) -> None:
    dtype = ctx.dtype()
    last = ctx.count(3, 4 if ctx.name in ("min", "max") else 3)
    sources = tuple(ctx.source(index, dtype) for index in range(1, last))
    ctx.emit(ctx.name, dtype, (ctx.result(0, dtype),), sources, mods=ctx.allow(_FLOAT))


_UNARY = {
    "abs": "abs",
    "neg": "neg",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "rcp": "rcp",
    "sin": "sin",
    "cos": "cos",
    "ex2": "exp2",
    "lg2": "log2",
}
_UNARY["tanh"] = "tanh"


@translates(*_UNARY)
def unary(ctx: Context) -> None:
    dtype = ctx.dtype()
    ctx.count(2)
    ctx.emit(_UNARY[ctx.name], dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype),), mods=ctx.allow(_FLOAT))


@translates("sad")
def absolute_difference(ctx: Context) -> None:
    ctx.allow()
    dtype = ctx.dtype()
    ctx.count(4)
    ctx.emit("sad", dtype, (ctx.result(0, dtype),), tuple(ctx.source(index, dtype) for index in (1, 2, 3)))


@translates("dp4a", "dp2a")
def dot(ctx: Context) -> None:
    ctx.allow("lo", "hi")
    ctx.count(4)
    kinds = (ctx.dtype(0), ctx.dtype(1))
    dtype = "s32" if "s32" in kinds else "u32"
    half = (ctx.variant("lo", "hi"),) if ctx.name == "dp2a" else ()
    sources = tuple(ctx.source(index, "b32") for index in (1, 2, 3))
    ctx.emit("dot4" if ctx.name == "dp4a" else "dot2", dtype, (ctx.result(0, dtype),), sources, mods=(*half, *kinds))
