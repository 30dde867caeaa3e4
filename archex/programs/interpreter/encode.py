"""A function as tables for the compiled interpreter, for one launch and wave width.

In: an `ir.Function`, the launch's constants (parameters, extents), which operations to execute. Out: `Tables`. Registers that no
executed operation touches get no row; a register that only ever holds a constant or a special value becomes that row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import attrs
import numpy as np

from archex.base.errors import UnsupportedError
from archex.programs.graph import memory_slots
from archex.programs.interpreter import table as n
from archex.programs.ir import Function, Immediate, Operand, Operation, Register, Space, Special
from archex.programs.types import BITS

#: Always executed: they decide what runs next, or who waits.
CONTROL = frozenset({"branch", "branch_index", "exit", "trap", "barrier", "mbarrier", "cluster_barrier"})
#: Nothing to execute: time only.
SILENT = frozenset(
    """nop fence prefetch async_commit async_wait bulk_commit bulk_wait matrix_fence matrix_commit matrix_wait set_max_registers""".split()
)

Row = dict[int, int]
Encoder = Callable[["Builder", Operation], None]
#: Operation name -> its encoder; filled by the `encode_*` modules.
ENCODERS: dict[str, Encoder] = {}
#: What only records, for operations that are not loads, stores or atomics.
RECORDERS: dict[str, Encoder] = {}
#: Observed even where no addresses are wanted: they count bytes at barriers.
OBSERVED = frozenset({"bulk_copy"})


def encodes(*names: str) -> Callable[[Encoder], Encoder]:
    """Enter an encoder for operations of these names."""

    def enter(function: Encoder) -> Encoder:
        for name in names:
            ENCODERS[name] = function
        return function

    return enter


def records(*names: str) -> Callable[[Encoder], Encoder]:
    """Enter an encoder that only records addresses."""

    def enter(function: Encoder) -> Encoder:
        for name in names:
            RECORDERS[name] = function
        return function

    return enter


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


class Builder:
    """One function being encoded."""

    def __init__(self, function: Function, parameters: bytes, values: Mapping[str, int], lanes: int) -> None:
        self.function = function
        self.parameters = parameters
        self.values = values
        self.lanes = lanes
        self.rows: list[list[int]] = []
        self.lists: list[int] = []
        self.constants: dict[int, int] = {}
        self.registers: dict[int, int] = {}
        self.predicates: dict[int, int] = {}
        self.aliases: dict[int, int] = {}
        self.temporaries = 0
        self.scratch = 0
        self.shared: dict[Any, int] = {}
        self.writes_memory = False
        self.signals = False
        self.operation = Operation("nop")
        self.sources: list[Operation] = []

    # --- operands
    def constant(self, bits: int) -> int:
        """A row of all lanes holding `bits`. Scratch rows stand before the constants."""
        bits &= 2**64 - 1
        return 2 * self.lanes * self.constants.setdefault(bits, len(self.constants))

    def register(self, number: int) -> int:
        """A register's row."""
        if number in self.aliases:
            return self.aliases[number]
        return 2 * self.lanes * self.registers.setdefault(number, len(self.registers)) + 1

    def temporary(self) -> int:
        """A register of the encoder's own."""
        self.temporaries += 1
        return self.register(-self.temporaries)

    def special(self, name: str) -> int:
        """A special value: a constant of the launch, or a row set when a wave starts. Rows are numbered behind the registers later."""
        if name in self.values:
            return self.constant(self.values[name])
        if name in ("clock", "clock64", "globaltimer", "globaltimer_lo"):
            name = "clock"
        if name not in n.SPECIAL_ROWS:
            raise UnsupportedError(f"special register %{name} (line {self.operation.line})")
        row = self.register(-1000 - n.SPECIAL_ROWS.index(name))
        if name == "clock":
            self.row(n.CONTROL, n.CLOCK, dst=row)
        return row

    def operand(self, operand: Operand) -> int:
        """The row of a source."""
        if isinstance(operand, Immediate):
            return self.constant(operand.bits)
        if isinstance(operand, Special):
            return self.special(operand.name)
        return self.register(operand.id)

    def source(self, index: int) -> int:
        """The row of source `index` of the current operation, zero where it has none."""
        return self.operand(self.operation.src[index]) if index < len(self.operation.src) else self.constant(0)

    def predicate(self, operand: Operand | None) -> int:
        """A predicate's number."""
        if operand is None:
            return -1
        if isinstance(operand, Immediate):
            return n.ALWAYS if operand.bits & 1 else n.NEVER
        assert isinstance(operand, Register)
        return self.predicates.setdefault(operand.id, n.FIRST_PREDICATE + len(self.predicates))

    def width_of(self, register: Register) -> int:
        """Bits of a register."""
        return BITS[self.function.register_dtypes[register.id]]

    def result(self, index: int = 0) -> int:
        """The row of result `index`; a discarded one goes to a temporary."""
        target = self.operation.dst[index] if index < len(self.operation.dst) else None
        return self.temporary() if target is None else self.register(target.id)

    # --- rows
    def row(self, group: int, op: int, **fields: int) -> None:
        """Append a row; unnamed fields are 0, no guard beyond the operation's own."""
        values = [0] * n.CODE_COLUMNS
        values[n.GROUP], values[n.OP] = group, op
        values[n.GUARD] = self.predicate(self.operation.guard) if group != n.CONTROL or op != n.CLOCK else -1
        values[n.NEGATE] = -1 if self.operation.guard_negated else 0
        values[n.SLOT] = values[n.PRED] = values[n.HINT] = -1
        values[n.SOURCE] = len(self.sources) - 1
        for name, value in fields.items():
            values[getattr(n, name.upper())] = value
        self.rows.append(values)

    def extend(self, dtype: str, register: Register | None) -> int:
        """Width a short signed result is extended to by sign, 0 when it is not."""
        if register is None or not dtype.startswith("s") or self.width_of(register) <= BITS[dtype]:
            return 0
        return self.width_of(register)

    def list_of(self, entries: Sequence[int]) -> int:
        """Put entries into the side table; where they begin."""
        self.lists.extend(entries)
        return len(self.lists) - len(entries)

    def table_of(self, make: Callable[..., list[int]], *arguments: int) -> int:
        """Put `make(*arguments)` into the side table, once; where it begins."""
        if (make, arguments) not in self.shared:
            self.shared[make, arguments] = self.list_of(make(*arguments))
        return self.shared[make, arguments]


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


def parameter_bits(builder: Builder, operation: Operation, element: int) -> int:
    """The value of a parameter load with a constant address."""
    first = operation.src[0]
    assert isinstance(first, Immediate)
    at = first.bits + operation.offset + element * operation.width
    bits = int.from_bytes(builder.parameters[at : at + operation.width].ljust(operation.width, b"\0"), "little")
    target = operation.dst[element]
    if (
        target is not None
        and operation.dtype.startswith("s")
        and builder.width_of(target) > 8 * operation.width
        and bits >> (8 * operation.width - 1)
    ):
        bits |= ((1 << builder.width_of(target)) - 1) & ~((1 << 8 * operation.width) - 1)
    return bits


def encode(
    function: Function, parameters: bytes, values: Mapping[str, int], lanes: int, chosen: Sequence[AbstractSet[int]] | None = None,
    recorded: bool = True, assumed: Mapping[tuple[int, int], int] | None = None,
) -> Tables:  # fmt: skip
    """Tables of `function`. `chosen[b]`: operations of block b to execute (None: all). `recorded`: addresses are wanted.

    assumed: (block, operation) of comparisons whose outcome is given instead of executed.
    """
    # They fill ENCODERS.
    from archex.programs.interpreter import (  # noqa: F401
        encode_arithmetic,
        encode_async,
        encode_choice,
        encode_control,
        encode_matrix,
        encode_memory,
    )

    builder = Builder(function, parameters, values, lanes)
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
