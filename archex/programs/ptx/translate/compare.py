"""Comparisons and choices."""

from __future__ import annotations

from archex.programs.ir import Operand
from archex.programs.ptx.translate.context import Context, translates

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
_COMBINATIONS = ("and", "or", "xor")


def _tail(ctx: Context, dtype: str) -> tuple[tuple[Operand, ...], tuple[str, ...]]:
    """Sources and mods of setp and set."""
    flags = ctx.allow(COMPARISONS, _COMBINATIONS, "ftz")
    mods: list[str] = [ctx.variant(*COMPARISONS)]
    sources: tuple[Operand, ...] = (ctx.source(1, dtype), ctx.source(2, dtype))
    combination = [flag for flag in flags if flag in _COMBINATIONS]
    ctx.count(4 if combination else 3)
    if combination:
        mods += combination
        third, negated = ctx.predicate(3)
        sources += (third,)
        mods += ["negated"] * negated
    return sources, (*mods, *(["ftz"] if "ftz" in flags else []))


@translates("setp")
def set_predicate(ctx: Context) -> None:
    ctx.count(3, 4)
    dtype = ctx.dtype()
    sources, mods = _tail(ctx, dtype)
    ctx.emit("compare", dtype, ctx.results(0, "pred", "pred"), sources, mods=mods, source_dtype=dtype)


@translates("set")
def set_value(ctx: Context) -> None:
    ctx.count(3, 4)
    dtype, source_dtype = ctx.dtype(0), ctx.dtype(1)
    sources, mods = _tail(ctx, source_dtype)
    ctx.emit("set", dtype, (ctx.result(0, dtype),), sources, mods=mods, source_dtype=source_dtype)


@translates("selp")
def select(ctx: Context) -> None:
    ctx.allow()
    ctx.count(4)
    dtype = ctx.dtype()
    ctx.emit("select", dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype), ctx.source(2, dtype), ctx.source(3, "pred")))


@translates("slct")
def select_by_sign(ctx: Context) -> None:
    mods = ctx.allow("ftz")
    ctx.count(4)
    dtype, by = ctx.dtype(0), ctx.dtype(1)
    sources = (ctx.source(1, dtype), ctx.source(2, dtype), ctx.source(3, by))
    ctx.emit("select_sign", dtype, (ctx.result(0, dtype),), sources, mods=mods, source_dtype=by)


@translates("testp")
def test(ctx: Context) -> None:
    mods = ctx.allow("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    ctx.count(2)
    dtype = ctx.dtype()
    ctx.emit("test_property", dtype, (ctx.result(0, "pred"),), (ctx.source(1, dtype),), mods=mods)
