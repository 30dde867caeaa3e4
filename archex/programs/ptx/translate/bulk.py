"""Copies of ranges and boxes, ordered by one lane: every form brought to one order of sources.

`bulk_copy`: src (own local address, the other address or the tensor map's, bytes, barrier, mask of workgroups, coordinates...), zero where
a form has none; `offset` belongs to the first, `source_offset` to the second; mods (way, `range` or `tensor`, the reduction, then the
opcode's parts), ways: `in out reduce across prefetch`.
"""

from __future__ import annotations

from archex.programs.ir import CONSTANT_WINDOW, PARAMETER_WINDOW, Immediate, Operand, Register, Space
from archex.programs.ptx.syntax import Address, Vector
from archex.programs.ptx.translate.context import Context

_WINDOWS = {Space.PARAMETER: PARAMETER_WINDOW, Space.CONSTANT: CONSTANT_WINDOW}
_SHARED = ("shared::cluster", "shared::cta")
_REDUCTIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec")


def bulk(ctx: Context, rest: tuple[str, ...]) -> None:
    """One instruction; `rest`: what follows `cp.async` or `cp.reduce.async`."""
    if "commit_group" in rest:
        ctx.emit("bulk_commit")
        return
    if "wait_group" in rest:
        ctx.count(1)
        ctx.emit("bulk_wait", src=(ctx.source(0, "u32"),), mods=("read",) if "read" in rest else ())
        return
    way = _way(ctx, rest)
    tensor = "tensor" in rest
    if any(part.startswith("im2col") for part in rest) or "tile::gather4" in rest or "tile::scatter4" in rest:
        raise ctx.unsupported("boxes that are no tiles")
    if "cp_mask" in rest:
        raise ctx.unsupported("a mask of bytes")
    at = 0
    near: Operand = Immediate(0)
    far, size, barrier, mask = near, near, near, near
    offset = far_offset = 0
    coordinates: tuple[Operand, ...] = ()
    order = {"in": ("near", "far"), "across": ("far", "near"), "prefetch": ("far",)}.get(way, ("far", "near"))
    for side in order:
        base, shift, named = ctx.address(at)
        if side == "near":
            near, offset = base, shift
        else:
            window = _WINDOWS.get(named.space, 0) if named is not None and tensor else 0
            far, far_offset = base, shift + window
            coordinates = _coordinates(ctx, at)
        at += 1
    if not tensor:
        size, at = ctx.source(at, "u32"), at + 1
    if way in ("in", "across"):
        barrier, at = _plain_address(ctx, at), at + 1
    if "multicast::cluster" in rest:
        mask, at = ctx.source(at, "b16"), at + 1
    if len(ctx.arguments) not in (at, at + 1):
        raise ctx.error(f"`{ctx.instruction.opcode}` takes {at} operands, found {len(ctx.arguments)}")
    if tensor and len(coordinates) != next((int(part[0]) for part in rest if part in ("1d", "2d", "3d", "4d", "5d")), 0):
        raise ctx.error("expected as many coordinates as the tensor has dimensions", order.index("far"))
    if not tensor and coordinates:
        raise ctx.error("expected an address without coordinates", order.index("far"))
    sources = (near, far, size, barrier, mask, *coordinates)
    operation = ctx.variant(*_REDUCTIONS) if ctx.parts[0] == "reduce" else ""
    mods = (way, "tensor" if tensor else "range", *((operation,) if operation else ()), *rest)
    dtype = ctx.types[0] if operation and ctx.types else "b8"
    space = Space.LOCAL if way in ("in", "across") else Space.GLOBAL
    shape = {"space": space, "offset": offset, "source_offset": far_offset, "groups": (5, len(coordinates))}
    ctx.emit("bulk_copy", dtype, (), sources, mods=mods, **shape)


def _way(ctx: Context, rest: tuple[str, ...]) -> str:
    """Where to: `in` (global to local memory), `out`, `reduce` (added to global memory), `across` (another workgroup's) or `prefetch`."""
    if "prefetch" in rest:
        return "prefetch"
    spaces = [part for part in rest if part in (*_SHARED, "global")]
    if len(spaces) != 2 or spaces == ["global", "global"]:
        raise ctx.error(f"`{ctx.instruction.opcode}` needs where to and from: `.global` and `.shared::cta` or `.shared::cluster`")
    to, source = spaces
    reducing = ctx.parts[0] == "reduce"
    if to == "global":
        return "reduce" if reducing else "out"
    if reducing:
        raise ctx.unsupported("reductions in another workgroup's memory")
    return "in" if source == "global" else "across"


def _coordinates(ctx: Context, index: int) -> tuple[Operand, ...]:
    argument = ctx.arguments[index]
    assert isinstance(argument, Address)
    items = [item for given in argument.coordinates for item in (given.items if isinstance(given, Vector) else (given,))]
    return tuple(ctx.operand(item, "b32", index) for item in items)


def _plain_address(ctx: Context, index: int) -> Operand:
    """Operand `index` as an address without an offset beside it."""
    base, offset, _ = ctx.address(index)
    if offset == 0:
        return base
    if not isinstance(base, Register):
        return Immediate(base.bits + offset) if isinstance(base, Immediate) else base
    dtype = f"u{ctx.width_of(base)}"
    moved = ctx.temporary(dtype)
    ctx.emit("add", dtype, (moved,), (base, Immediate(offset & ((1 << ctx.width_of(base)) - 1))))
    return moved
