"""Branches, calls and ends."""

from __future__ import annotations

from archex.programs.ir import Register
from archex.programs.ptx.instance import Instance, Mark, Place, is_call_parameter
from archex.programs.ptx.layout import callee_name
from archex.programs.ptx.syntax import Argument, Group, Name, Routine, Variable
from archex.programs.ptx.translate.context import Context, translates

#: Deeper than any kernel without recursion nests its calls.
_DEEPEST = 64


@translates("bra")
def branch(ctx: Context) -> None:
    flags = ctx.allow("uni")
    ctx.count(1)
    ctx.emit("branch", target=(_label(ctx, ctx.arguments[0], 0),), mods=("uniform",) if flags else ())


def _label(ctx: Context, argument: Argument, index: int) -> int:
    found = ctx.instance.label(argument) if isinstance(argument, Name) else None
    if found is None:
        raise ctx.error("expected a label of this function", index)
    return found


@translates("brx")
def branch_index(ctx: Context) -> None:
    flags = ctx.allow("idx", "uni")
    ctx.count(2)
    name = ctx.arguments[1]
    targets = ctx.instance.branch_list(name) if isinstance(name, Name) else None
    if not targets:
        raise ctx.error("expected the name of a `.branchtargets` list", 1)
    labels = tuple(_label(ctx, target, 1) for target in targets)
    ctx.emit("branch_index", "u32", (), (ctx.source(0, "u32"),), target=labels, mods=("uniform",) if "uni" in flags else ())


@translates("ret")
def leave(ctx: Context) -> None:
    flags = ctx.allow("uni")
    ctx.count(0)
    if ctx.instance.caller is None:
        ctx.emit("exit")
    else:
        ctx.emit("branch", target=(ctx.instance.end,), mods=("uniform",) if flags else ())


@translates("exit")
def end(ctx: Context) -> None:
    ctx.allow()
    ctx.count(0)
    ctx.emit("exit")


@translates("trap", "brkpt")
def trap(ctx: Context) -> None:
    ctx.allow()
    ctx.count(0)
    ctx.emit("trap" if ctx.name == "trap" else "nop")


@translates("nanosleep", "pmevent", "griddepcontrol")
def pause(ctx: Context) -> None:
    ctx.emit("nop", mods=(ctx.name, *ctx.flags))


@translates("call")
def call(ctx: Context) -> None:
    """The callee's body in place; a guarded call becomes a branch around it."""
    ctx.allow("uni")
    name = callee_name(ctx.instruction)
    if name is None:
        raise ctx.unsupported("an indirect call")
    routine = ctx.output.module.functions.get(name.text)
    if routine is None:
        raise ctx.error(f"unknown function `{name.text}`")
    if routine.body is None:
        raise ctx.unsupported(f"a call of `{name.text}`, which this file does not define")
    _check_recursion(ctx, routine)
    instance = Instance(routine, ctx.output, ctx.instance)
    around = None
    if ctx.instruction.guard is not None:
        around = ctx.output.new_label()
        branching = ctx.emit("branch", target=(around,))
        branching.guard_negated = not branching.guard_negated
    inputs, outputs = _groups(ctx)
    _bind(ctx, instance, routine.parameters, inputs, "takes")
    _bind(ctx, instance, routine.results, outputs, "returns")
    guard, ctx.instruction.guard = ctx.instruction.guard, None
    try:
        for local, formal in _register_pairs(ctx, routine.parameters, inputs):
            dtype = routine.register_dtypes[formal.id]
            ctx.emit("move", dtype, (instance.register(formal),), (ctx.operand(local, dtype, 0),))
        translate_body(instance, ctx)
        for local, formal in _register_pairs(ctx, routine.results, outputs):
            assert isinstance(local, Register)
            ctx.emit("move", routine.register_dtypes[formal.id], (ctx.register(local),), (instance.register(formal),))
    finally:
        ctx.instruction.guard = guard
    if around is not None:
        ctx.output.items.append(Mark(around, ""))


def _check_recursion(ctx: Context, routine: Routine) -> None:
    caller: Instance | None = ctx.instance
    while caller is not None:
        if caller.routine is routine:
            raise ctx.unsupported(f"recursion of `{routine.name}`")
        caller = caller.caller
    if ctx.instance.depth() > _DEEPEST:
        raise ctx.unsupported(f"calls nested deeper than {_DEEPEST}")


def _groups(ctx: Context) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """Arguments and results of `call (results), name, (arguments);`, either may be missing."""
    at = next(i for i, argument in enumerate(ctx.arguments) if isinstance(argument, Name))
    before = ctx.arguments[at - 1] if at else Group(())
    after = ctx.arguments[at + 1] if at + 1 < len(ctx.arguments) else Group(())
    inputs = after.items if isinstance(after, Group) else ()
    return inputs, before.items if isinstance(before, Group) else ()


def _bind(ctx: Context, instance: Instance, formals: list[Variable | Register], given: tuple[Argument, ...], verb: str) -> None:
    """Let the callee's `.param` names stand for the caller's places."""
    if len(formals) != len(given):
        raise ctx.error(f"`{instance.routine.name}` {verb} {len(formals)} value{'s' if len(formals) != 1 else ''}, found {len(given)}")
    for formal, item in zip(formals, given, strict=True):
        if isinstance(formal, Variable):
            variable = ctx.variable(item) if isinstance(item, Name) else None
            if variable is None or not is_call_parameter(variable, ctx.instance.routine):
                raise ctx.error(f"expected a `.param` variable for `{formal.name}`")
            place: Place = ctx.instance.place(variable, ctx.output)
            instance.places[id(formal)] = place


def _register_pairs(ctx: Context, formals: list[Variable | Register], given: tuple[Argument, ...]) -> list[tuple[Argument, Register]]:
    return [(item, formal) for formal, item in zip(formals, given, strict=True) if isinstance(formal, Register)]


def translate_body(instance: Instance, outer: Context) -> None:
    """A callee's statements into the output, closed by its end label."""
    from archex.programs.ptx.translate import translate_routine

    translate_routine(instance, outer.output)
    outer.output.items.append(Mark(instance.end, f"{instance.routine.name} end"))
