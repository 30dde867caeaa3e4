"""A function on its way to the compiled interpreter's tables: rows, lists and the numbers of registers, predicates and constants.

In: operations, one at a time, through the encoders that the `encode_*` modules enter here. Out: a `Builder` holding what `encode` makes
tables of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from archex.base.errors import UnsupportedError
from archex.programs.interpreter import table as n
from archex.programs.ir import Function, Immediate, Operand, Operation, Register, Special
from archex.programs.types import BITS

Row = dict[int, int]
Encoder = Callable[["Builder", Operation], None]
#: Operation name -> its encoder; filled by the `encode_*` modules.
ENCODERS: dict[str, Encoder] = {}
#: What only records, for operations that are not loads, stores or atomics.
RECORDERS: dict[str, Encoder] = {}


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


class Builder:
    """One function being encoded."""

    def __init__(self, function: Function, parameters: bytes, values: Mapping[str, int], lanes: int, waits: bool = True) -> None:
        self.function = function
        self.waits = waits  # at barriers
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
