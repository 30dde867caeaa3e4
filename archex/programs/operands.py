"""What an operation reads and writes, and whether it may be dropped, shared or moved.

In: an operation. Out: registers and yes/no facts that every pass asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from archex.programs.ir import Operand, Operation, Register, Space, Special

#: Operations whose effect is more than their results: never dropped, shared or repeated.
EFFECTS = frozenset(
    """store atomic reduce_atomic fence barrier prefetch branch branch_index exit return trap nop
    shuffle vote match active_mask redux elect
    matrix_load matrix_store matrix_transpose matrix_async matrix_fence matrix_commit matrix_wait fragment_load fragment_store
    async_copy async_commit async_wait bulk_copy bulk_commit bulk_wait mbarrier cluster_barrier map_cluster set_max_registers""".split()
)
#: Of these, operations that may go when nobody reads their results.
DROPPABLE = frozenset({"matrix_load", "matrix_transpose", "fragment_load", "active_mask", "map_cluster"})
#: Special values that may differ from one read to the next.
CHANGING = ("clock", "globaltimer", "smid", "pm")
_READ_ONLY = frozenset({Space.PARAMETER, Space.CONSTANT})


def reads(operation: Operation) -> Iterator[Register]:
    """Registers read: sources and the guard; a guarded result's old value too, as `tied`."""
    for source in operation.src:
        if isinstance(source, Register):
            yield source
    if operation.guard is not None:
        yield operation.guard
    for tied in operation.tied:
        if isinstance(tied, Register):
            yield tied


def writes(operation: Operation) -> Iterator[Register]:
    """Registers written."""
    for register in operation.dst:
        if register is not None:
            yield register


def is_pure(operation: Operation) -> bool:
    """The same operands always give the same results, and nothing else happens."""
    if operation.op in EFFECTS or operation.op == "phi":
        return False
    if operation.op == "load":
        return operation.space in _READ_ONLY and "volatile" not in (operation.cache, *operation.mods)
    source = operation.src[0] if operation.src else None
    if operation.op == "move" and isinstance(source, Special):
        return not source.name.startswith(CHANGING)
    return True


def is_droppable(operation: Operation) -> bool:
    """Nobody misses the operation when its results are not read."""
    if operation.op == "load":
        return "volatile" not in (operation.cache, *operation.mods)
    return operation.op not in EFFECTS or operation.op in DROPPABLE


def substitute(operation: Operation, value: Callable[[Operand], Operand]) -> bool:
    """Replace each source by `value(source)`; whether anything changed. The guard is left alone."""
    new = tuple(value(source) for source in operation.src)
    if new != operation.src:
        operation.src = new
        return True
    return False
