"""A function as tables for the compiled interpreter, for one launch and wave width.

In: an `ir.Function`, the launch's constants (parameters, extents), which operations to execute. Out: `Tables`. Registers that no
executed operation touches get no row; a register that only ever holds a constant or a special value becomes that row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs
import numpy as np

from archex.base.errors import UnsupportedError
from archex.programs.graph import memory_slots
from archex.programs.interpreter import (  # noqa: F401  (they fill ENCODERS)
    encode_arithmetic,
    encode_async,
    encode_choice,
    encode_control,
    encode_matrix,
    encode_memory,
)
from archex.programs.interpreter import table as n
from archex.programs.interpreter.builder import ENCODERS, RECORDERS, Builder, parameter_bits
from archex.programs.ir import Function, Immediate, Operation, Space, Special

#: Always executed: they decide what runs next, or who waits.
CONTROL = frozenset({"branch", "branch_index", "exit", "trap", "barrier", "mbarrier", "cluster_barrier"})
#: Nothing to execute: time only.
SILENT = frozenset(
    """nop fence prefetch async_commit async_wait bulk_commit bulk_wait matrix_fence matrix_commit matrix_wait set_max_registers""".split()
)
#: Observed even where no addresses are wanted: they count bytes at barriers.
OBSERVED = frozenset({"bulk_copy"})


@attrs.frozen(eq=False)
class Tables:
    """What the compiled interpreter runs. `sources[i]`: the IR operation of code row i, for messages."""

    code: np.ndarray
    blocks: np.ndarray
    lists: np.ndarray
    constants: np.ndarray  # [rows, lanes], shared by all waves
    registers: int  # rows a wave, special values included
    predicates: int
    specials: np.ndarray  # row within a wave's own of each of `table.SPECIAL_ROWS`, -1 where unused
    sources: tuple[Operation, ...]
    writes_memory: bool
    slots: int  # most memory slots of a block
    signals: bool  # barriers in local memory
    scratch: int  # words that products work in


def _single_writes(function: Function) -> dict[int, Operation]:
    """Registers that one unguarded move of a constant or special value, or one parameter load, is all that ever writes."""
    writes: Counter[int] = Counter()
    found: dict[int, Operation] = {}
    for block in function.blocks:
        for operation in block.operations:
            for target in operation.dst:
                if target is not None:
                    writes[target.id] += 1
            if operation.guard is None and len(operation.dst) == 1 and operation.dst[0] is not None:
                first = operation.src[0] if operation.src else None
                moved = operation.op == "move" and isinstance(first, Immediate | Special) and operation.dtype != "pred"
                given = operation.op == "load" and operation.space == Space.PARAMETER and isinstance(first, Immediate)
                clock = isinstance(first, Special) and first.name in ("clock", "clock64", "globaltimer", "globaltimer_lo")
                if (moved and not clock) or given:
                    found[operation.dst[0].id] = operation
    return {register: operation for register, operation in found.items() if writes[register] == 1}


def encode(
    function: Function, parameters: bytes, values: Mapping[str, int], lanes: int, chosen: Sequence[AbstractSet[int]] | None = None,
    recorded: bool = True, assumed: Mapping[tuple[int, int], int] | None = None, waits: bool = True,
) -> Tables:  # fmt: skip
    """Tables of `function`. `chosen[b]`: operations of block b to execute (None: all). `recorded`: addresses are wanted.

    assumed: (block, operation) of comparisons whose outcome is given instead of executed. waits: waves wait for each other at barriers.
    """
    builder = Builder(function, parameters, values, lanes, waits)
    for register, operation in _single_writes(function).items():
        builder.operation = operation
        builder.sources.append(operation)
        if operation.op == "load":
            builder.aliases[register] = builder.constant(parameter_bits(builder, operation, 0))
        else:
            builder.aliases[register] = builder.operand(operation.src[0])
    aliased = set(builder.aliases)
    blocks: list[list[int]] = []
    slots = 0
    for index, block in enumerate(function.blocks):
        start = len(builder.rows)
        count = 0
        for at, operation in enumerate(block.operations):
            executed = chosen is None or at in chosen[index] or operation.op in CONTROL
            count += memory_slots(operation)
            if assumed and (index, at) in assumed:
                builder.operation = operation
                builder.sources.append(operation)
                encode_choice.decided(builder, operation, assumed[index, at])
                continue
            observed = operation.op in OBSERVED or (recorded and operation.memory_slot >= 0)
            if operation.op in SILENT or not (executed or observed):
                continue
            if len(operation.dst) == 1 and operation.dst[0] is not None and operation.dst[0].id in aliased:
                continue
            builder.operation = operation
            builder.sources.append(operation)
            if operation.op not in ENCODERS:
                raise UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})")
            if executed:
                ENCODERS[operation.op](builder, operation)
            else:
                RECORDERS.get(operation.op, encode_memory.touch)(builder, operation)
        blocks.append([start, len(builder.rows), block.next, block.reconverge, count if recorded else 0, len(block.operations)])
        slots = max(slots, count if recorded else 0)
    return _finish(builder, blocks, slots)


def _finish(builder: Builder, blocks: list[list[int]], slots: int) -> Tables:
    constants = np.zeros((max(1, len(builder.constants)), builder.lanes), dtype=np.int64)
    for bits, row in builder.constants.items():
        constants[row] = np.uint64(bits).astype(np.int64)
    specials = [builder.registers.get(-1000 - index, -1) for index in range(len(n.SPECIAL_ROWS))]
    return Tables(
        code=np.array(builder.rows or [[0] * n.CODE_COLUMNS], dtype=np.int64),
        blocks=np.array(blocks, dtype=np.int64),
        lists=np.array(builder.lists or [0], dtype=np.int64),
        constants=constants,
        registers=max(1, len(builder.registers)),
        predicates=n.FIRST_PREDICATE + len(builder.predicates),
        specials=np.array(specials, dtype=np.int64),
        sources=tuple(builder.sources),
        writes_memory=builder.writes_memory,
        slots=slots,
        signals=builder.signals,
        scratch=builder.scratch,
    )
