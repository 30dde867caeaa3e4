"""Logic, shifts, bit fields and bit searches."""

from __future__ import annotations

from archex.programs.ptx.translate.context import Context, translates

_PLAIN = {"and": "and", "or": "or", "xor": "xor", "not": "not", "cnot": "cnot"}


@translates(*_PLAIN)
def logic(ctx: Context) -> None:
    ctx.allow()
    dtype = ctx.dtype()
    last = ctx.count(2 if ctx.name in ("not", "cnot") else 3)
    sources = tuple(ctx.source(index, dtype) for index in range(1, last))
    ctx.emit(_PLAIN[ctx.name], dtype, (ctx.result(0, dtype),), sources)


@translates("shl", "shr")
def shift(ctx: Context) -> None:
    ctx.allow()
    dtype = ctx.dtype()
    ctx.count(3)
    ctx.emit(ctx.name, dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype), ctx.source(2, "u32")))


@translates("shf")
def funnel(ctx: Context) -> None:
    ctx.allow("l", "r", "wrap", "clamp")
    ctx.count(4)
    side = "funnel_left" if ctx.variant("l", "r") == "l" else "funnel_right"
    sources = tuple(ctx.source(index, "b32") for index in (1, 2, 3))
    ctx.emit(side, "b32", (ctx.result(0, "b32"),), sources, mods=(ctx.variant("wrap", "clamp"),))


@translates("prmt")
def permute(ctx: Context) -> None:
    mode = ctx.allow("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    ctx.count(4)
    ctx.emit("permute", "b32", (ctx.result(0, "b32"),), tuple(ctx.source(index, "b32") for index in (1, 2, 3)), mods=mode)


@translates("bfe")
def extract(ctx: Context) -> None:
    ctx.allow()
    dtype = ctx.dtype()
    ctx.count(4)
    ctx.emit("bitfield_extract", dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype), ctx.source(2, "u32"), ctx.source(3, "u32")))


@translates("bfi")
def insert(ctx: Context) -> None:
    ctx.allow()
    dtype = ctx.dtype()
    ctx.count(5)
    sources = (ctx.source(1, dtype), ctx.source(2, dtype), ctx.source(3, "u32"), ctx.source(4, "u32"))
    ctx.emit("bitfield_insert", dtype, (ctx.result(0, dtype),), sources)


@translates("bmsk")
def field_mask(ctx: Context) -> None:
    ctx.allow("wrap", "clamp")
    ctx.count(3)
    mode = ctx.variant("wrap", "clamp")
    ctx.emit("bitfield_mask", "b32", (ctx.result(0, "b32"),), (ctx.source(1, "u32"), ctx.source(2, "u32")), mods=(mode,))


_SEARCH = {"popc": "popcount", "clz": "clz", "bfind": "find_msb"}


@translates(*_SEARCH)
def search(ctx: Context) -> None:
    mods = ctx.allow("shiftamt") if ctx.name == "bfind" else ctx.allow()
    dtype = ctx.dtype()
    ctx.count(2)
    ctx.emit(_SEARCH[ctx.name], dtype, (ctx.result(0, "u32"),), (ctx.source(1, dtype),), mods=mods)


@translates("brev")
def reverse(ctx: Context) -> None:
    ctx.allow()
    dtype = ctx.dtype()
    ctx.count(2)
    ctx.emit("reverse_bits", dtype, (ctx.result(0, dtype),), (ctx.source(1, dtype),))


@translates("fns")
def find_nth(ctx: Context) -> None:
    ctx.allow()
    ctx.count(4)
    ctx.emit("find_nth", "b32", (ctx.result(0, "b32"),), (ctx.source(1, "b32"), ctx.source(2, "b32"), ctx.source(3, "s32")))


@translates("lop3")
def lookup(ctx: Context) -> None:
    if len(ctx.arguments) > 5 or ctx.flags:
        raise ctx.unsupported("the form with a predicate")
    ctx.count(5)
    ctx.emit("lop3", "b32", (ctx.result(0, "b32"),), tuple(ctx.source(index, "b32") for index in (1, 2, 3, 4)))
