"""What a translator of one instruction works with: its operands by position and type, and where operations go.

In: an `Instruction` inside one instance of a routine. Out: `ir.Operation`s appended to the output, errors with their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from archex.base.errors import ProgramError, UnsupportedError, closest
from archex.programs.ir import Immediate, Operand, Operation, Register, Space, Special
from archex.programs.ptx.instance import Instance, Output
from archex.programs.ptx.literals import encode
from archex.programs.ptx.syntax import Address, Argument, Instruction, Name, Negated, Number, Pair, Sink, Variable, Vector
from archex.programs.types import BITS

Translator = Callable[["Context"], None]
#: Opcode's first word -> translator.
TRANSLATORS: dict[str, Translator] = {}


def translates(*names: str) -> Callable[[Translator], Translator]:
    """Enter a translator for opcodes that start with one of `names`."""

    def enter(function: Translator) -> Translator:
        for name in names:
            TRANSLATORS[name] = function
        return function

    return enter


class Context:
    """One instruction being translated."""

    def __init__(self, instruction: Instruction, instance: Instance, output: Output) -> None:
        self.instruction = instruction
        self.instance = instance
        self.output = output
        self.name = instruction.name
        self.parts = instruction.parts
        self.types = [part for part in self.parts if part in BITS]
        self.flags = tuple(part for part in self.parts if part not in BITS)
        self.arguments = instruction.arguments

    # --- errors
    def error(self, message: str, index: int | None = None) -> ProgramError:
        """A `ProgramError` at operand `index`, or at the opcode."""
        column = self.instruction.column if index is None else self.instruction.columns[index]
        return ProgramError(message, self.output.file, self.instruction.line, column)

    def unsupported(self, why: str = "") -> UnsupportedError:
        """An `UnsupportedError` that names the opcode and its line."""
        return UnsupportedError(f"{self.instruction.opcode} (line {self.instruction.line})" + (f": {why}" if why else ""))

    def allow(self, *flags: str | Iterable[str]) -> tuple[str, ...]:
        """The modifiers that are no types; one outside `flags` is an error."""
        allowed = [f for flag in flags for f in ((flag,) if isinstance(flag, str) else flag)]
        for flag in self.flags:
            if flag not in allowed:
                meant = closest(flag, [*allowed, *BITS])
                hint = f"; did you mean `.{meant}`?" if meant else ""
                raise self.error(f"unknown modifier `.{flag}` of `{self.instruction.opcode}`{hint}")
        return self.flags

    def variant(self, *choices: str) -> str:
        """The one of `choices` that stands among the modifiers."""
        for part in self.parts:
            if part in choices:
                return part
        raise self.error(f"`{self.instruction.opcode}` needs one of {', '.join('`.' + c + '`' for c in choices)}")

    def dtype(self, index: int = 0) -> str:
        """The opcode's type number `index`."""
        if index >= len(self.types):
            raise self.error(
                f"`{self.instruction.opcode}` lacks {'a type' if not self.types else 'its second type'} such as `.u32` or `.f32`"
            )
        return self.types[index]

    def count(self, low: int, high: int | None = None) -> int:
        """The number of operands, which must lie in low..high."""
        found = len(self.arguments)
        high = low if high is None else high
        if not low <= found <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            raise self.error(f"`{self.instruction.opcode}` takes {wanted} operand{'s' if wanted != '1' else ''}, found {found}")
        return found

    # --- operands
    def register(self, argument: Register) -> Register:
        return self.instance.register(argument)

    def width_of(self, register: Register) -> int:
        return BITS[self.output.function.register_dtypes[register.id]]

    def _checked(self, local: Register, dtype: str, index: int, wider: bool) -> Register:
        register = self.register(local)
        declared = self.output.function.register_dtypes[register.id]
        have, want = BITS[declared], BITS[dtype]
        if have != want and (not wider or have < want or "pred" in (declared, dtype)):
            name = self.output.function.register_names[register.id]
            raise self.error(f"`{name}` is `.{declared}`, but `{self.instruction.opcode}` wants `.{dtype}` here", index)
        return register

    def operand(self, argument: Argument, dtype: str, index: int, wider: bool = False) -> Operand:
        """An input as an operand of type `dtype`; `wider` registers may be allowed (memory, converts)."""
        if isinstance(argument, Register):
            return self._checked(argument, dtype, index, wider)
        if isinstance(argument, Special):
            value = self.temporary(f"b{max(BITS[dtype], 32)}")
            self.emit("move", f"b{max(BITS[dtype], 32)}", (value,), (argument,))
            return value
        if isinstance(argument, Number):
            bits = encode(argument, dtype)
            if bits is None:
                raise self.error(f"this literal cannot be a `.{dtype}`", index)
            return Immediate(bits)
        if isinstance(argument, Name):
            return Immediate(self.address_of(argument, index) & ((1 << BITS[dtype]) - 1))
        raise self.error(f"expected a register or a number of type `.{dtype}`", index)

    def source(self, index: int, dtype: str, wider: bool = False) -> Operand:
        """Operand `index` as an input."""
        return self.operand(self.arguments[index], dtype, index, wider)

    def result(self, index: int, dtype: str, wider: bool = False) -> Register | None:
        """Operand `index` as a result; `_` is None."""
        argument = self.arguments[index]
        if isinstance(argument, Sink):
            return None
        if not isinstance(argument, Register):
            raise self.error("expected a register as result", index)
        return self._checked(argument, dtype, index, wider)

    def results(self, index: int, first: str, second: str) -> tuple[Register | None, ...]:
        """Operand `index` as `d` or `d|e`: always two entries."""
        argument = self.arguments[index]
        if isinstance(argument, Pair):
            made = []
            for part, dtype in ((argument.first, first), (argument.second, second)):
                if not isinstance(part, Register | Sink):
                    raise self.error("expected a register as result", index)
                made.append(self._checked(part, dtype, index, False) if isinstance(part, Register) else None)
            return tuple(made)
        return (self.result(index, first), None)

    def predicate(self, index: int) -> tuple[Operand, bool]:
        """Operand `index` as a predicate input, and whether it is negated."""
        argument = self.arguments[index]
        if isinstance(argument, Negated):
            return self._checked(argument.register, "pred", index, False), True
        return self.source(index, "pred"), False

    def vector(self, index: int, dtype: str, wider: bool = False) -> tuple[Operand, ...]:
        """Operand `index` as `{a, b, ...}` or one register, flattened."""
        argument = self.arguments[index]
        items = argument.items if isinstance(argument, Vector) else (argument,)
        return tuple(self.operand(item, dtype, index, wider) for item in items)

    def vector_results(self, index: int, dtype: str, wider: bool = False) -> tuple[Register | None, ...]:
        """Operand `index` as one or several results."""
        argument = self.arguments[index]
        made: list[Register | None] = []
        for item in argument.items if isinstance(argument, Vector) else (argument,):
            if isinstance(item, Sink):
                made.append(None)
            elif isinstance(item, Register):
                made.append(self._checked(item, dtype, index, wider))
            else:
                raise self.error("expected registers as results", index)
        return tuple(made)

    def variable(self, name: Name) -> Variable | None:
        return self.instance.variable(name)

    def address_of(self, name: Name, index: int | None = None) -> int:
        """A variable's address within its space (a global variable's own address)."""
        variable = self.variable(name)
        if variable is None:
            raise self.unsupported(f"the address of `{name.text}`")
        if variable.space == Space.PARAMETER:
            if not (variable.formal and self.instance.routine.entry):
                return self.instance.memory_of(variable, self.output) + name.offset
            return self.output.parameters[variable.name].offset + name.offset
        return self.output.layout.symbol(variable).offset + name.offset

    def address(self, index: int) -> tuple[Operand, int, Variable | None]:
        """Operand `index` as `[base + offset]`: base, offset, and the variable it names, if any."""
        argument = self.arguments[index]
        if not isinstance(argument, Address):
            raise self.error("expected an address in brackets", index)
        base = argument.base
        if isinstance(base, Register):
            register = self.register(base)
            if self.width_of(register) not in (32, 64):
                raise self.error("expected a 32-bit or 64-bit register as address", index)
            return register, argument.offset, None
        if isinstance(base, Name):
            return Immediate(0), self.address_of(base, index) + argument.offset, self.variable(base)
        return Immediate(0), int(base.value) + argument.offset, None

    # --- output
    def emit(self, op: str, dtype: str = "", dst: Iterable[Register | None] = (), src: Iterable[Operand] = (), **fields: Any) -> Operation:
        """Append one operation under this instruction's guard."""
        guard = self.instruction.guard
        operation = Operation(
            op,
            dtype,
            tuple(dst),
            tuple(src),
            guard=self.register(guard) if guard is not None else None,
            guard_negated=self.instruction.guard_negated,
            line=self.instruction.line,
            opcode=self.instruction.opcode,
            **fields,
        )
        self.output.items.append(operation)
        return operation

    def temporary(self, dtype: str) -> Register:
        return self.output.function.new_register(dtype)
