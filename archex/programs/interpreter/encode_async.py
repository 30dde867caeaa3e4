"""Encoders of copies beside the wave, of barriers in local memory and of what spans a cluster.

Barriers are executed in every mode; a copy's bytes are moved only where it is executed, its addresses are recorded and its bytes counted at
its barrier always.
"""

from __future__ import annotations

from archex.base.errors import UnsupportedError
from archex.base.layout import BULK_ACROSS, BULK_IN, BULK_OUT, BULK_PREFETCH, BULK_REDUCE, CLUSTER_SHIFT
from archex.programs.interpreter import rows
from archex.programs.interpreter import table as n
from archex.programs.interpreter.atomics import FLOAT, SIGNED
from archex.programs.interpreter.builder import Builder, encodes, records
from archex.programs.interpreter.rounding import FORMATS
from archex.programs.ir import Operation
from archex.programs.types import BITS
from archex.programs.types import SIGNED as SIGNED_TYPES

_WAYS = {"in": BULK_IN, "out": BULK_OUT, "reduce": BULK_REDUCE, "across": BULK_ACROSS, "prefetch": BULK_PREFETCH}


def copy_by_lane(builder: Builder, operation: Operation, execute: int) -> None:
    """Both addresses; `execute`: the bytes too."""
    mode, third = n.ALL_BYTES, 0
    if "ignore" in operation.mods:
        mode, third = n.IGNORED, builder.predicate(operation.src[2])
    elif "bytes" in operation.mods:
        mode, third = n.SOME_BYTES, builder.source(2)
    builder.row(
        n.ASIDE, n.COPY, a=builder.source(0), b=builder.source(1), c=third, mode=mode, offset=operation.offset, width=operation.width,
        list=builder.list_of([operation.source_offset]), slot=operation.memory_slot, execute=execute,
    )  # fmt: skip


def bulk_copy(builder: Builder, operation: Operation, execute: int) -> None:
    """The descriptor and the barrier's bytes; `execute`: the copied bytes too."""
    way = operation.mods[0]
    if execute and way in ("out", "reduce"):
        builder.writes_memory = True
    builder.signals = True
    reduction = kind = 0
    element = 8
    if way == "reduce":
        reduction, element = n.ATOMICS[operation.mods[2]], BITS[operation.dtype] // 8
        kind = FLOAT + FORMATS[operation.dtype] if operation.dtype in FORMATS else int(operation.dtype in SIGNED_TYPES) * SIGNED
    entries = [0] * n.COORDINATES
    entries[n.BARRIER_OPERAND], entries[n.MASK_OPERAND] = builder.source(3), builder.source(4)
    entries[n.FAR_OFFSET] = operation.source_offset
    entries[n.REDUCTION], entries[n.NUMBERS], entries[n.ELEMENT] = reduction, kind, element
    entries[n.DIMENSIONS] = operation.groups[1]
    entries += [builder.source(5 + index) for index in range(operation.groups[1])]
    builder.row(
        n.ASIDE, n.BULK, a=builder.source(0), b=builder.source(1), c=builder.source(2), mode=_WAYS[way], offset=operation.offset,
        list=builder.list_of(entries), slot=operation.memory_slot, execute=execute,
    )  # fmt: skip


@records("async_copy")
def observed_copy(builder: Builder, operation: Operation) -> None:
    copy_by_lane(builder, operation, 0)


@records("bulk_copy")
def observed_bulk(builder: Builder, operation: Operation) -> None:
    bulk_copy(builder, operation, 0)


@encodes("async_copy")
def executed_copy(builder: Builder, operation: Operation) -> None:
    copy_by_lane(builder, operation, 1)


@encodes("bulk_copy")
def executed_bulk(builder: Builder, operation: Operation) -> None:
    bulk_copy(builder, operation, 1)


@encodes("mbarrier")
def barrier_in_memory(builder: Builder, operation: Operation) -> None:
    mods = operation.mods
    one, zero = builder.constant(1), builder.constant(0)
    if any(part.startswith("arrive_drop") for part in mods):
        raise UnsupportedError(f"{operation.opcode} (line {operation.line}): later phases with fewer arrivals")
    builder.signals = True
    fields = {"a": builder.source(0), "b": one, "c": zero, "offset": operation.offset, "slot": operation.memory_slot, "dst": -1}
    if "copies" in mods:
        fields |= {"mode": n.SIGNAL_COPIES, "c": zero if "noinc" in mods else one}
    elif "test_wait" in mods or "try_wait" in mods:
        asked = builder.source(1)
        fields |= {"mode": n.SIGNAL_WAIT, "b": asked, "width": int("parity" in mods), "pred": builder.predicate(operation.dst[0])}
    elif "init" in mods:
        fields |= {"mode": n.SIGNAL_SET, "b": builder.source(1)}
    elif "inval" in mods:
        fields |= {"mode": n.SIGNAL_END}
    elif "arrive" not in mods:
        fields |= {"mode": n.SIGNAL_EXPECT if "expect_tx" in mods else n.SIGNAL_COMPLETE, "c": builder.source(1)}
    else:
        fields["mode"] = n.SIGNAL_ARRIVE
        if operation.dst and operation.dst[0] is not None:
            fields["dst"] = builder.result()
        if len(operation.src) > 1:
            fields["c" if "expect_tx" in mods else "b"] = builder.source(1)
    builder.row(n.ASIDE, n.SIGNAL, **fields)


@encodes("cluster_barrier")
def cluster_barrier(builder: Builder, operation: Operation) -> None:
    builder.row(n.ASIDE, n.MEET, mode=int("arrive" in operation.mods))


@encodes("map_cluster")
def map_cluster(builder: Builder, operation: Operation) -> None:
    """The rank's number, from one on, above the offset; what was mapped before is mapped anew."""
    rank, own = builder.temporary(), builder.temporary()
    one, shift = builder.constant(1), builder.constant(CLUSTER_SHIFT)
    kept = builder.constant(~(0xFFFF << CLUSTER_SHIFT))
    builder.row(n.INTEGER_ROW, rows.ADD32, dst=rank, a=builder.source(1), b=one)
    builder.row(n.INTEGER_ROW, rows.SHL64, dst=rank, a=rank, b=shift)
    builder.row(n.INTEGER_ROW, rows.AND, dst=own, a=builder.source(0), b=kept)
    builder.row(n.INTEGER_ROW, rows.OR, dst=builder.result(), a=own, b=rank)
