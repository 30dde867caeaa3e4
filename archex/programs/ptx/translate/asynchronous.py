"""Copies that run beside the wave, and the barriers in local memory they report to."""

from __future__ import annotations

from archex.programs.ir import PENDING_BITS, Immediate, Operand, Register, Space
from archex.programs.ptx.syntax import Address, Pair, Sink
from archex.programs.ptx.translate.bulk import bulk
from archex.programs.ptx.translate.context import Context, translates


@translates("cp")
def copy(ctx: Context) -> None:
    rest = ctx.parts[2:] if ctx.parts[:2] == ("reduce", "async") else ctx.parts[1:]
    if "async" not in ctx.parts[:2]:
        raise ctx.error(f"unknown instruction `{ctx.instruction.opcode}`")
    if rest[:1] == ("commit_group",):
        ctx.emit("async_commit")
    elif rest[:1] == ("wait_group",):
        ctx.count(1)
        ctx.emit("async_wait", src=(ctx.source(0, "u32"),))
    elif rest[:1] == ("wait_all",):
        ctx.emit("async_wait", mods=("all",))
    elif rest[:1] == ("mbarrier",):
        base, offset, _ = ctx.address(0)
        ctx.emit("mbarrier", "b64", (), (base,), mods=("copies", *rest), space=Space.LOCAL, offset=offset)
    elif rest[:1] == ("bulk",):
        bulk(ctx, rest)
    else:
        _small(ctx)


def _small(ctx: Context) -> None:
    """4, 8 or 16 bytes a lane from global to local memory."""
    ctx.variant("ca", "cg")
    ctx.count(3, 5)
    to, offset, _ = ctx.address(0)
    source, source_offset, _ = ctx.address(1)
    size = ctx.arguments[2]
    width = getattr(size, "value", None)
    if width not in (4, 8, 16):
        raise ctx.error("expected 4, 8 or 16 bytes", 2)
    extra: tuple[Operand, ...] = ()
    mods: tuple[str, ...] = ()
    if (len(ctx.arguments) > 3 and not any(part.startswith("L2::cache_hint") for part in ctx.parts)) or len(ctx.arguments) == 5:
        argument = ctx.arguments[3]
        predicate = isinstance(argument, Register) and ctx.width_of(ctx.register(argument)) == 1
        extra = (ctx.source(3, "pred" if predicate else "u32"),)
        mods = ("ignore",) if predicate else ("bytes",)
    shape = {"space": Space.LOCAL, "offset": offset, "source_offset": source_offset, "width": width}
    ctx.emit("async_copy", "b8", (), (to, source, *extra), mods=mods, cache=ctx.variant("ca", "cg"), **shape)


@translates("mbarrier")
def memory_barrier(ctx: Context) -> None:
    results: list[Register | None] = []
    sources: list[Operand] = []
    offset = 0
    if "pending_count" in ctx.parts:  # the low bits of a state
        ctx.count(2)
        low = ctx.temporary("b64")
        ctx.emit("and", "b64", (low,), (ctx.source(1, "b64"), Immediate((1 << PENDING_BITS) - 1)))
        ctx.emit("convert", "u32", (ctx.result(0, "b32"),), (low,), source_dtype="u64")
        return
    waiting = any(part in ("test_wait", "try_wait") for part in ctx.parts)
    for index, argument in enumerate(ctx.arguments):
        if isinstance(argument, Address):
            base, offset, _ = ctx.address(index)
            sources.append(base)
        elif isinstance(argument, Sink | Pair):
            results += ctx.results(index, "b64", "pred") if isinstance(argument, Pair) else (None,)
        elif not sources and isinstance(argument, Register):
            results.append(ctx.result(index, "pred" if waiting else "b64"))
        else:
            wide = isinstance(argument, Register) and ctx.width_of(ctx.register(argument)) == 64
            sources.append(ctx.source(index, "b64" if wide else "b32"))
    if not sources:
        raise ctx.error("expected the address of a barrier in brackets")
    ctx.emit("mbarrier", "b64", results, sources, mods=ctx.parts, space=Space.LOCAL, offset=offset)


@translates("setmaxnreg")
def set_registers(ctx: Context) -> None:
    ctx.allow("inc", "dec", "sync", "aligned")
    ctx.count(1)
    ctx.emit("set_max_registers", src=(ctx.source(0, "u32"),), mods=(ctx.variant("inc", "dec"),))


@translates("createpolicy")
def policy(ctx: Context) -> None:
    """A cache hint as a value; nothing here reads its bits."""
    ctx.emit("move", "b64", (ctx.result(0, "b64"),), (Immediate(0),))
