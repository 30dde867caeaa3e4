"""Encoders of control flow, barriers and operations between lanes."""

from __future__ import annotations

from archex.programs.interpreter import integer_lane as lanes
from archex.programs.interpreter import table as n
from archex.programs.interpreter.builder import Builder, encodes
from archex.programs.interpreter.float_lane import MAX, MIN, NAN
from archex.programs.ir import Operation
from archex.programs.types import SIGNED

_SHUFFLES = {"up": n.UP, "down": n.DOWN, "bfly": n.BUTTERFLY, "idx": n.INDEX}
_VOTES = {"all": n.VOTE_ALL, "any": n.VOTE_ANY, "uni": n.VOTE_UNI, "ballot": n.VOTE_BALLOT}
_REDUCTIONS = {"add": lanes.ADD, "min": lanes.MIN, "max": lanes.MAX, "and": lanes.AND, "or": lanes.OR, "xor": lanes.XOR}
_BARRIERS = {"sync": n.SYNC, "arrive": n.ARRIVE, "red": n.REDUCE}
#: Absolute values before a floating-point reduction, beside the flags of float_lane.
_ABSOLUTE = 64


@encodes("branch")
def branch(builder: Builder, operation: Operation) -> None:
    builder.row(n.CONTROL, n.BRANCH, mode=operation.target[0])


@encodes("branch_index")
def branch_index(builder: Builder, operation: Operation) -> None:
    targets = builder.list_of(operation.target)
    builder.row(n.CONTROL, n.BRANCH_INDEX, a=builder.source(0), list=targets, vector=len(operation.target))


@encodes("exit", "trap")
def leave(builder: Builder, operation: Operation) -> None:
    builder.row(n.CONTROL, n.EXIT if operation.op == "exit" else n.TRAP)


@encodes("barrier")
def barrier(builder: Builder, operation: Operation) -> None:
    kind = operation.mods[0]
    if kind == "wave":
        return  # lanes of a wave meet where their paths do
    fields = {"a": builder.source(0), "b": builder.source(1), "mode": _BARRIERS[kind] if builder.waits else n.PASS}
    if kind == "red":
        predicate = builder.predicate(operation.src[2])
        if "negated" in operation.mods:
            builder.row(n.PREDICATE, n.P_NOT, dst=n.TEMPORARY_2, a=predicate)
            predicate = n.TEMPORARY_2
        how = ("and", "or", "popc").index(operation.mods[1])
        fields |= {
            "c": predicate,
            "width": how,
            "dst": builder.result() if how == 2 else 0,
            "pred": -1 if how == 2 else builder.predicate(operation.dst[0]),
        }
    builder.row(n.CONTROL, n.BARRIER, **fields)


def _cross(builder: Builder, operation: Operation, op: int, **fields: int) -> None:
    second = operation.dst[1] if len(operation.dst) > 1 else None
    pred = builder.predicate(second) if second is not None else -1
    builder.row(n.CROSS, op, **({"dst": builder.result(), "pred": pred} | fields))


@encodes("shuffle")
def shuffle(builder: Builder, operation: Operation) -> None:
    _cross(builder, operation, n.SHUFFLE, a=builder.source(0), b=builder.source(1), c=builder.source(2), mode=_SHUFFLES[operation.mods[0]])


@encodes("vote")
def vote(builder: Builder, operation: Operation) -> None:
    held = builder.predicate(operation.src[0])
    if "negated" in operation.mods:
        builder.row(n.PREDICATE, n.P_NOT, dst=n.TEMPORARY_2, a=held)
        held = n.TEMPORARY_2
    mode = _VOTES[operation.mods[0]]
    if mode == n.VOTE_BALLOT:
        _cross(builder, operation, n.VOTE, d=held, mode=mode)
    else:
        _cross(builder, operation, n.VOTE, d=held, mode=mode, dst=builder.temporary(), pred=builder.predicate(operation.dst[0]))


@encodes("match")
def match(builder: Builder, operation: Operation) -> None:
    _cross(builder, operation, n.MATCH_ALL if operation.mods[0] == "all" else n.MATCH_ANY, a=builder.source(0))


@encodes("active_mask")
def active_mask(builder: Builder, operation: Operation) -> None:
    _cross(builder, operation, n.ACTIVE)


@encodes("elect")
def elect(builder: Builder, operation: Operation) -> None:
    _cross(builder, operation, n.ELECT)


@encodes("redux")
def redux(builder: Builder, operation: Operation) -> None:
    kind = operation.mods[0]
    if operation.dtype == "f32":
        flags = (NAN if "NaN" in operation.mods else 0) | (_ABSOLUTE if "abs" in operation.mods else 0)
        _cross(builder, operation, n.REDUX, a=builder.source(0), mode=MIN if kind == "min" else MAX, width=1, flags=flags)
    else:
        _cross(builder, operation, n.REDUX, a=builder.source(0), mode=_REDUCTIONS[kind], signed=int(operation.dtype in SIGNED))
