"""Copies, constants, equal expressions: one walk down the dominator tree that leaves each value once.

In: a function in single-assignment form. Out: the same, every source pointing at the oldest operation with that value. Only
operations that a path already computed are shared, so that nothing runs earlier than before.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.clean.fold import evaluate
from archex.programs.clean.rules import simplify
from archex.programs.ir import Function, Immediate, Operand, Operation, Register, Special
from archex.programs.operands import is_pure, substitute
from archex.programs.types import BITS

#: Operations whose two sources may change places.
COMMUTATIVE = frozenset({"add", "mul", "mul_lo", "mul_hi", "mul_wide", "and", "or", "xor", "min", "max"})
_FIRST_TWO = frozenset({"mad_lo", "mad_hi", "mad_wide", "fma"})
_BITWISE = frozenset({"and", "or", "xor", "not", "move", "select", "pack", "unpack", "shl", "lop3"})


class Numbering:
    """The walk's state: what each register stands for, and which operation defines it."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.stands_for: dict[Register, Operand] = {}
        self.definition: dict[Register, Operation] = {}
        self.changed = False

    def value(self, operand: Operand) -> Operand:
        """The operand after all replacements so far."""
        while isinstance(operand, Register) and operand in self.stands_for:
            operand = self.stands_for[operand]
        return operand

    def operation(self, operand: Operand) -> Operation | None:
        """What defines an operand, if an unguarded operation does."""
        found = self.definition.get(operand) if isinstance(operand, Register) else None
        return found if found is not None and found.guard is None else None

    def replace(self, register: Register, value: Operand) -> None:
        self.stands_for[register] = value
        self.changed = True

    def fits(self, register: Register, value: Operand) -> bool:
        """Whether a register's users may take `value` instead: equal widths, and no raw special."""
        if isinstance(value, Special):
            return False
        if isinstance(value, Immediate):
            return True
        kinds = self.function.register_dtypes
        return BITS[kinds[register.id]] == BITS[kinds[value.id]]


def number(function: Function) -> bool:
    """One walk; whether anything changed."""
    state = Numbering(function)
    dominator = graph.dominators(function)
    children: list[list[int]] = [[] for _ in function.blocks]
    order = graph.reverse_postorder([graph.successors(block) for block in function.blocks], 0)
    for index in reversed(order):
        if dominator[index] >= 0:
            children[dominator[index]].append(index)
    tables: list[dict[object, Operation]] = []
    stack: list[tuple[int, bool]] = [(0, False)]
    while stack:
        index, done = stack.pop()
        if done:
            tables.pop()
            continue
        stack.append((index, True))
        tables.append({})
        _walk_block(state, index, tables)
        stack += [(child, False) for child in children[index]]
    _substitute_everywhere(state)
    return state.changed


def _walk_block(state: Numbering, index: int, tables: list[dict[object, Operation]]) -> None:
    block = state.function.blocks[index]
    kept: list[Operation] = []
    for operation in block.operations:
        if operation.op == "phi":
            if not _same_phi(state, operation):
                kept.append(operation)
                _define(state, operation)
            continue
        state.changed |= substitute(operation, state.value)
        if operation.guard is not None and not _guard(state, operation):
            continue
        pure = is_pure(operation)
        if operation.guard is None and (pure or operation.op == "shuffle") and _replacement(state, operation) is not None:
            continue
        if operation.guard is None and pure:
            key = _key(operation)
            earlier = next((table[key] for table in reversed(tables) if key in table), None)
            if earlier is not None and _replace_by(state, operation, earlier):
                continue
            tables[-1][key] = operation
        kept.append(operation)
        _define(state, operation)
    block.operations = kept


def _define(state: Numbering, operation: Operation) -> None:
    for register in operation.dst:
        if register is not None:
            state.definition[register] = operation


def _replacement(state: Numbering, operation: Operation) -> Operand | None:
    """Simplify until nothing more is known; the value that stands for the only result, if any."""
    for _ in range(8):
        if len(operation.dst) == 1 or (operation.op == "compare" and operation.dst[1] is None) or operation.op == "unpack":
            bits = evaluate(operation) if _whole_register(state, operation) else None
            found: Operand | None = Immediate(bits) if bits is not None else None
            if found is None and operation.op == "move" and not isinstance(operation.src[0], Special):
                found = operation.src[0]
            result = operation.dst[0]
            if found is not None and result is not None and state.fits(result, found):
                state.replace(result, found)
                return found
        outcome = simplify(operation, state)
        if outcome is False:
            return None
        state.changed = True
        if outcome is None:  # every result already stands for something else
            return Immediate(0)
    return None


def _whole_register(state: Numbering, operation: Operation) -> bool:
    """Whether the result fills its register, so that its bits are the register's bits."""
    result = operation.dst[0]
    if result is None or operation.op in ("unpack", "set"):
        return False
    if operation.op == "compare":
        return True
    return BITS.get(operation.dtype) == BITS[state.function.register_dtypes[result.id]]


def _replace_by(state: Numbering, operation: Operation, earlier: Operation) -> bool:
    pairs = list(zip(operation.dst, earlier.dst, strict=True))
    if any(new is not None and (old is None or not state.fits(new, old)) for new, old in pairs):
        return False
    for new, old in pairs:
        if new is not None and old is not None:
            state.replace(new, old)
    return True


def _key(operation: Operation) -> object:
    sources = operation.src
    if operation.op in COMMUTATIVE and len(sources) == 2:
        sources = tuple(sorted(sources, key=repr))
    elif operation.op in _FIRST_TWO:
        sources = (*sorted(sources[:2], key=repr), *sources[2:])
    dtype = str(BITS[operation.dtype]) if operation.op in _BITWISE and operation.dtype in BITS else operation.dtype
    extra = (operation.source_dtype, operation.mods, operation.space, operation.offset, operation.width, operation.vector)
    return operation.op, dtype, sources, extra


def _same_phi(state: Numbering, phi: Operation) -> bool:
    """A phi whose sources are all one value is that value."""
    result = phi.dst[0]
    assert result is not None
    values = {state.value(source) for source in phi.src} - {result}
    if len(values) != 1:
        return False
    value = next(iter(values)) or Immediate(0)
    if isinstance(value, Register) and value not in state.definition:
        return False  # defined further down: it only reaches here around a loop
    if not state.fits(result, value):
        return False
    state.replace(result, value)
    return True


def _guard(state: Numbering, operation: Operation) -> bool:
    """Settle a guard that is known or inverted; False when the operation goes."""
    assert operation.guard is not None
    guard = state.value(operation.guard)
    while True:
        source = state.operation(guard)
        if source is None or source.op != "not":
            break
        guard = state.value(source.src[0])
        operation.guard_negated = not operation.guard_negated
        state.changed = True
    if isinstance(guard, Register):
        operation.guard = guard
        return True
    state.changed = True
    assert isinstance(guard, Immediate)
    if bool(guard.bits & 1) != operation.guard_negated:
        operation.guard, operation.guard_negated, operation.tied = None, False, ()
        return True
    for register, old in zip(operation.dst, operation.tied or (None,) * len(operation.dst), strict=True):
        if register is not None:
            state.replace(register, Immediate(0) if old is None else old)
    return False  # a branch never taken: its block falls through


def _substitute_everywhere(state: Numbering) -> None:
    """Sources that were read before they were replaced (around loops), kept values, guards."""
    for block in state.function.blocks:
        for operation in block.operations:
            substitute(operation, state.value)
            if operation.tied:
                operation.tied = tuple(None if old is None else state.value(old) for old in operation.tied)
            if operation.guard is not None:
                guard = state.value(operation.guard)
                if isinstance(guard, Register):
                    operation.guard = guard
