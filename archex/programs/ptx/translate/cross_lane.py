"""Operations between the lanes of a wave, and barriers."""

from __future__ import annotations

from archex.programs.ir import Immediate, Operand
from archex.programs.ptx.translate.context import Context, translates

_ALL = Immediate(0xFFFFFFFF)


@translates("shfl")
def shuffle(ctx: Context) -> None:
    ctx.allow("sync", "up", "down", "bfly", "idx")
    ctx.count(5 if "sync" in ctx.flags else 4)
    dtype = ctx.dtype()
    mask: Operand = ctx.source(4, "b32") if "sync" in ctx.flags else _ALL
    sources = (ctx.source(1, dtype), ctx.source(2, "b32"), ctx.source(3, "b32"), mask)
    ctx.emit("shuffle", dtype, ctx.results(0, dtype, "pred"), sources, mods=(ctx.variant("up", "down", "bfly", "idx"),))


@translates("vote")
def vote(ctx: Context) -> None:
    ctx.allow("sync", "all", "any", "uni", "ballot")
    ctx.count(3 if "sync" in ctx.flags else 2)
    mode = ctx.variant("all", "any", "uni", "ballot")
    dtype = "b32" if mode == "ballot" else "pred"
    predicate, negated = ctx.predicate(1)
    mask: Operand = ctx.source(2, "b32") if "sync" in ctx.flags else _ALL
    mods = (mode, "negated") if negated else (mode,)
    ctx.emit("vote", dtype, (ctx.result(0, dtype),), (predicate, mask), mods=mods)


@translates("match")
def match(ctx: Context) -> None:
    ctx.allow("sync", "any", "all")
    ctx.count(3)
    dtype = ctx.dtype()
    sources = (ctx.source(1, dtype), ctx.source(2, "b32"))
    ctx.emit("match", dtype, ctx.results(0, "b32", "pred"), sources, mods=(ctx.variant("any", "all"),))


@translates("activemask")
def active(ctx: Context) -> None:
    ctx.allow()
    ctx.count(1)
    ctx.emit("active_mask", "b32", (ctx.result(0, "b32"),))


@translates("redux")
def reduce(ctx: Context) -> None:
    flags = ctx.allow("sync", "add", "min", "max", "and", "or", "xor", "abs", "NaN")
    ctx.count(3)
    dtype = ctx.dtype()
    mods = (ctx.variant("add", "min", "max", "and", "or", "xor"), *(flag for flag in flags if flag in ("abs", "NaN")))
    ctx.emit("redux", dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype), ctx.source(2, "b32")), mods=mods)


@translates("elect")
def elect(ctx: Context) -> None:
    ctx.allow("sync")
    ctx.count(2)
    ctx.emit("elect", "b32", ctx.results(0, "b32", "pred"), (ctx.source(1, "b32"),))


@translates("bar", "barrier")
def barrier(ctx: Context) -> None:
    if "cluster" in ctx.parts:
        mods = ctx.allow("cluster", "arrive", "wait", "acquire", "release", "relaxed", "aligned")
        ctx.count(0)
        ctx.emit("cluster_barrier", mods=tuple(mod for mod in mods if mod not in ("cluster", "aligned")))
        return
    ctx.allow("sync", "arrive", "red", "warp", "cta", "aligned", "popc", "and", "or")
    if "warp" in ctx.parts:
        ctx.count(1)
        ctx.emit("barrier", src=(ctx.source(0, "b32"),), mods=("wave",))
        return
    kind = ctx.variant("sync", "arrive", "red")
    if kind != "red":
        last = ctx.count(1, 2) if kind == "sync" else ctx.count(2)
        ctx.emit("barrier", src=tuple(ctx.source(index, "u32") for index in range(last)), mods=(kind,))
        return
    operation = ctx.variant("popc", "and", "or")
    last = ctx.count(3, 4)
    dtype = "u32" if operation == "popc" else "pred"
    count: Operand = ctx.source(2, "u32") if last == 4 else Immediate(0)
    predicate, negated = ctx.predicate(last - 1)
    mods = (kind, operation, *(("negated",) if negated else ()))
    ctx.emit("barrier", dtype, (ctx.result(0, dtype),), (ctx.source(1, "u32"), count, predicate), mods=mods)
