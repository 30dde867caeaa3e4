"""Loads, stores, atomics, prefetches and fences."""

from __future__ import annotations

from archex.programs.ir import LOCAL_WINDOW, PARAMETER_WINDOW, PRIVATE_WINDOW, Immediate, Operand, Register, Space
from archex.programs.ptx.instance import Place, is_call_parameter
from archex.programs.ptx.syntax import Vector
from archex.programs.ptx.translate.context import Context, translates
from archex.programs.types import BITS

SPACES = {
    "global": Space.GLOBAL,
    "shared": Space.LOCAL,
    "shared::cta": Space.LOCAL,
    "shared::cluster": Space.LOCAL,
    "local": Space.PRIVATE,
    "const": Space.CONSTANT,
    "param": Space.PARAMETER,
    "param::entry": Space.PARAMETER,
    "param::func": Space.PARAMETER,
}
_ORDERS = ("weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio")
_SCOPES = ("cta", "cluster", "gpu", "sys")
_CACHES = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc")
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_HINT_HEADS = ("L1::", "L2::", "unified")
#: A store or reduction in another workgroup's memory that reports to a barrier there.
_REPORTING = ("mbarrier::complete_tx::bytes",)
_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", "sub")


def _flags(ctx: Context, *more: str) -> tuple[str, ...]:
    """The modifiers without cache hints, all of them known."""
    for flag in ctx.flags:
        if flag.startswith(_HINT_HEADS):
            continue
        if flag not in (*SPACES, *_ORDERS, *_SCOPES, *_CACHES, *_VECTORS, *more):
            ctx.allow(SPACES, _ORDERS, _SCOPES, _CACHES, _VECTORS, more, [f for f in ctx.flags if f.startswith(_HINT_HEADS)])
    return tuple(flag for flag in ctx.flags if not flag.startswith(_HINT_HEADS))


def _space(ctx: Context) -> Space:
    return next((SPACES[part] for part in ctx.parts if part in SPACES), Space.GENERIC)


def _window(space: Space) -> int:
    return {Space.LOCAL: LOCAL_WINDOW, Space.PRIVATE: PRIVATE_WINDOW, Space.PARAMETER: PARAMETER_WINDOW}.get(space, 0)


def _place(ctx: Context, index: int) -> tuple[Space, Operand, int, Place | None]:
    """Space, base and offset of address operand `index`; a `Place` instead for call parameters held in registers."""
    space = _space(ctx)
    argument = ctx.arguments[index]
    base = getattr(argument, "base", None)
    variable = ctx.variable(base) if base is not None and hasattr(base, "scope") else None
    if variable is not None and is_call_parameter(variable, ctx.instance.routine):
        place = ctx.instance.place(variable, ctx.output)
        if place.memory is None:
            return Space.NONE, Immediate(0), argument.offset + base.offset, place  # type: ignore[union-attr]
        return Space.PRIVATE, Immediate(0), place.memory + argument.offset + base.offset, None  # type: ignore[union-attr]
    operand, offset, named = ctx.address(index)
    if space == Space.PARAMETER and isinstance(operand, Register):
        # The address of an entry's parameter or of a call's parameter was taken; only the latter lies in private memory.
        space = Space.PARAMETER if ctx.instance.routine.entry else Space.PRIVATE
    if space == Space.GENERIC and named is not None:
        offset += _window(named.space)
    return space, operand, offset, None


def _element(ctx: Context) -> tuple[str, int, int]:
    dtype = ctx.types[-1] if ctx.types else ctx.dtype()
    if dtype == "b128":
        raise ctx.unsupported("128-bit registers")
    vector = next((_VECTORS[part] for part in ctx.parts if part in _VECTORS), 1)
    return dtype, BITS[dtype] // 8, vector


def _cache(flags: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    kept = [flag for flag in flags if flag not in SPACES and flag not in _VECTORS and flag != "weak"]
    return (kept[0], tuple(kept[1:])) if kept else ("", ())


@translates("ld", "ldu")
def load(ctx: Context) -> None:
    flags = _flags(ctx)
    ctx.count(2, 3)
    dtype, width, vector = _element(ctx)
    results = ctx.vector_results(0, dtype, wider=True)
    if len(results) != vector:
        raise ctx.error(f"expected {vector} results, found {len(results)}", 0)
    space, base, offset, place = _place(ctx, 1)
    if place is not None:
        _from_place(ctx, place, results, dtype, offset)
        return
    cache, mods = _cache(flags)
    shape = {"space": space, "offset": offset, "width": width, "vector": vector}
    ctx.emit("load", dtype, results, (base,), cache=cache, mods=mods, **shape)


@translates("st")
def store(ctx: Context) -> None:
    beside = "async" in ctx.flags
    flags = _flags(ctx, "async", *_REPORTING)
    ctx.count(3 if beside else 2, 3)
    dtype, width, vector = _element(ctx)
    values = ctx.vector(1, dtype, wider=True)
    if len(values) != vector:
        raise ctx.error(f"expected {vector} values, found {len(values)}", 1)
    space, base, offset, place = _place(ctx, 0)
    if place is not None:
        _to_place(ctx, place, values, dtype, offset)
        return
    if space in (Space.CONSTANT, Space.PARAMETER):
        raise ctx.error("expected a writable state space")
    cache, mods = ("", ()) if beside else _cache(flags)
    ctx.emit("store", dtype, (), (base, *values), cache=cache, mods=mods, space=space, offset=offset, width=width, vector=vector)

    if beside:
        _report(ctx, 2, width * vector)


def _report(ctx: Context, index: int, size: int) -> None:
    """Bytes that have come, counted at the barrier at address operand `index`."""
    base, offset, _ = ctx.address(index)
    ctx.emit("mbarrier", "b64", (), (base, Immediate(size)), mods=("complete_tx",), space=Space.LOCAL, offset=offset)


def _held(ctx: Context, place: Place, offset: int, dtype: str) -> Register:
    key = (offset, BITS[dtype] // 8)
    if key not in place.registers:
        place.registers[key] = ctx.output.function.new_register(f"b{max(BITS[dtype], 16)}", f"{place.variable.name}+{offset}")
    return place.registers[key]


def _from_place(ctx: Context, place: Place, results: tuple[Register | None, ...], dtype: str, offset: int) -> None:
    for lane, result in enumerate(results):
        held = _held(ctx, place, offset + lane * BITS[dtype] // 8, dtype)
        if result is None:
            continue
        if ctx.width_of(result) == BITS[dtype]:
            ctx.emit("move", dtype, (result,), (held,))
        else:
            ctx.emit("convert", _integer(dtype), (result,), (held,), source_dtype=_integer(dtype))


def _to_place(ctx: Context, place: Place, values: tuple[Operand, ...], dtype: str, offset: int) -> None:
    for lane, value in enumerate(values):
        held = _held(ctx, place, offset + lane * BITS[dtype] // 8, dtype)
        if BITS[dtype] >= 16 and (not isinstance(value, Register) or ctx.width_of(value) == BITS[dtype]):
            ctx.emit("move", dtype, (held,), (value,))
        else:
            unsigned = f"u{BITS[dtype]}"
            ctx.emit("convert", unsigned, (held,), (value,), source_dtype=unsigned)


def _integer(dtype: str) -> str:
    return dtype if dtype[0] == "s" else f"u{BITS[dtype]}"


@translates("atom", "red")
def atomic(ctx: Context) -> None:
    beside = "async" in ctx.flags
    flags = _flags(ctx, *_OPERATIONS, "noftz", *(("async", *_REPORTING) if beside else ()))
    dtype, width, vector = _element(ctx)
    operation = ctx.variant(*_OPERATIONS)
    first = 0 if ctx.name == "red" else 1
    wanted = first + (3 if operation == "cas" else 2)
    ctx.count(wanted, wanted + 1)
    if isinstance(ctx.arguments[first + 1], Vector) != (vector > 1):
        raise ctx.error(f"expected {vector} value{'s' if vector > 1 else ''}", first + 1)
    values = ctx.vector(first + 1, dtype)
    if operation == "cas":
        values += (ctx.source(first + 2, dtype),)
    space, base, offset, place = _place(ctx, first)
    if place is not None or space in (Space.CONSTANT, Space.PARAMETER, Space.PRIVATE):
        raise ctx.error("expected global or shared memory", first)
    mods = (operation, *(flag for flag in flags if flag in _ORDERS or flag in _SCOPES or flag == "noftz"))
    shape = {"space": space, "offset": offset, "width": width, "vector": vector, "mods": mods}
    results = ctx.vector_results(0, dtype) if first else (None,)
    if all(result is None for result in results) and operation not in ("exch", "cas"):
        ctx.emit("reduce_atomic", dtype, (), (base, *values), **shape)
    else:
        ctx.emit("atomic", dtype, results, (base, *values), **shape)
    if beside:
        _report(ctx, first + 2, width * vector)


@translates("prefetch", "prefetchu")
def prefetch(ctx: Context) -> None:
    levels = tuple(part for part in ctx.parts if part in ("L1", "L2", "tensormap") or part.startswith("L2::"))
    ctx.count(1)
    space, base, offset, _ = _place(ctx, 0)
    ctx.emit("prefetch", "", (), (base,), mods=levels, space=space, offset=offset)


@translates("discard", "applypriority")
def hint(ctx: Context) -> None:
    ctx.emit("nop", mods=(ctx.name,))


@translates("membar", "fence")
def fence(ctx: Context) -> None:
    if any(part.startswith("tensormap") for part in ctx.parts):
        raise ctx.unsupported()
    mods = tuple({"gl": "gpu"}.get(part, part) for part in ctx.parts)
    ctx.emit("fence", mods=mods)
