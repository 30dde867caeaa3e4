"""Whether a launch's trace is the same however its waves take turns.

In: a function, the operations of it that a timing run executes. Out: None, or the first operation by which the order could show.

The engine asks for waves in an order that depends on the device's timing, and a wave's rings fill by that order. A wave's way and its
addresses are a function of the launch alone as long as nothing passes from wave to wave. A timing run executes only what ways and addresses
depend on, so that is what the rule looks at:

writes    An executed store, atomic or copy to memory that others see might be read by an executed load that comes before it or behind it,
          as the order has it. Where there is none, every load finds what the launch began with. A thread's own memory is its own.
          (Local memory written and read behind barriers would do as well where there are no races; the text alone doesn't show that.)
barriers  One that all waves of a workgroup wait at tells none of them anything, so that a timing run need not wait there at all: a wave
          runs on, and no ring holds up another one's. That takes one barrier, named by a constant: with two of them waves could wait
          for each other for ever, which a run has to find. `red` answers a sum over all; `arrive` and a count let through who comes
          first. One in memory tells how many phases have passed, and one of a cluster holds up other slots: both are left out.
clocks    count what has been executed, which is less where work is counted than where it is traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from archex.programs.interpreter.encode import CONTROL, OBSERVED
from archex.programs.ir import Function, Immediate, Operand, Operation, Space, Special
from archex.programs.operands import CHANGING

_WRITES = frozenset({"store", "atomic", "reduce_atomic", "fragment_store", "matrix_store", "async_copy", "bulk_copy"})
_BETWEEN = frozenset({"mbarrier", "cluster_barrier"})


def order_shows(function: Function, chosen: Sequence[AbstractSet[int]]) -> Operation | None:
    """The first executed operation that the order of waves could show by (`chosen[b]`: those executed of block b)."""
    barriers: set[Operand] = set()
    for index, block in enumerate(function.blocks):
        for place, operation in enumerate(block.operations):
            if operation.op == "barrier" and operation.mods[0] != "wave":
                barriers.add(operation.src[0])
                if len(barriers) > 1 or not _of_all(operation):
                    return operation
            elif (place in chosen[index] or operation.op in CONTROL or operation.op in OBSERVED) and _shows(operation):
                return operation
    return None


def _shows(operation: Operation) -> bool:
    if operation.op in _WRITES:
        return operation.space != Space.PRIVATE
    return operation.op in _BETWEEN or any(isinstance(source, Special) and source.name.startswith(CHANGING) for source in operation.src)


def _of_all(barrier: Operation) -> bool:
    """Whether every wave of a workgroup comes to a barrier and waits there, and nothing is answered."""
    number, count = (*barrier.src, Immediate(0))[:2]
    return barrier.mods[0] == "sync" and isinstance(number, Immediate) and count == Immediate(0)
