"""The part of a slice that decides which blocks run, without the addresses that only records need.

In: a function and the operations of its timing slice. Out: the fewer operations that branches, exits, barriers and guards need.
Registers are followed without regard to order, so the result may be too large, never too small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from archex.programs.interpreter.encode import CONTROL, OBSERVED
from archex.programs.ir import Function, Operation, Register, Space

_WRITES = frozenset({"store", "atomic", "reduce_atomic", "matrix_store", "async_copy", "bulk_copy"})
_LOADS = frozenset({"load", "atomic", "matrix_load", "matrix_async"})


def _reads(operation: Operation) -> Iterator[int]:
    if operation.guard is not None:
        yield operation.guard.id
    for source in operation.src:
        if isinstance(source, Register):
            yield source.id


def control_slice(function: Function, chosen: Sequence[AbstractSet[int]]) -> list[set[int]]:
    """Operations of `chosen` that control depends on; memory writes too once something loaded is needed."""
    writers: dict[int, list[tuple[int, int]]] = {}
    stores: list[tuple[int, int]] = []
    steering: list[tuple[int, int]] = []
    for b, block in enumerate(function.blocks):
        for i, operation in enumerate(block.operations):
            if operation.op in CONTROL or operation.op in OBSERVED:
                steering.append((b, i))
            if i not in chosen[b]:
                continue
            for target in operation.dst:
                if target is not None:
                    writers.setdefault(target.id, []).append((b, i))
            if operation.op in _WRITES:
                stores.append((b, i))
    needed: set[tuple[int, int]] = set()
    with_memory = False
    waiting = list(steering)
    while waiting:
        at = waiting.pop()
        if at in needed:
            continue
        needed.add(at)
        operation = function.blocks[at[0]].operations[at[1]]
        for register in _reads(operation):
            waiting += writers.get(register, [])
        loads = operation.op in _LOADS and operation.space not in (Space.PARAMETER, Space.CONSTANT)
        if loads and not with_memory:
            with_memory = True
            waiting += stores
    needed -= {at for at in steering if not with_memory or at not in stores}  # what is only observed, or executed anyway
    return [{i for i in range(len(block.operations)) if (b, i) in needed} for b, block in enumerate(function.blocks)]
