"""Constant parts of addresses into the memory operations.

In: a function in single-assignment form. Out: `load [x + 4]` instead of an addition and `load`. The addition must die with it, so that
no other value lives longer than before. Arithmetic wraps at the base's width on both sides, so this is exact.
"""

from __future__ import annotations

from archex.programs.ir import Function, Immediate, Operation, Register, Space
from archex.programs.operands import reads, writes
from archex.programs.types import BITS, signed

#: Operations with an address in src[0] and `offset`, and those with a second address in src[1] and `source_offset`.
ADDRESSED = frozenset(
    """load store atomic reduce_atomic prefetch
    matrix_load matrix_store fragment_load fragment_store async_copy mbarrier bulk_copy""".split()
)
_TWO_ADDRESSES = frozenset({"async_copy"})
#: Offsets a memory instruction can hold are signed 24-bit numbers on every device described here.
_REACH = 1 << 23


def fold_offsets(function: Function) -> bool:
    """One pass; whether anything changed."""
    definition: dict[Register, Operation] = {}
    users: dict[Register, list[Operation]] = {}
    for block in function.blocks:
        for operation in block.operations:
            for register in writes(operation):
                definition[register] = operation
            for register in reads(operation):
                users.setdefault(register, []).append(operation)
    changed = False
    for register, addition in definition.items():
        if _is_offset(addition, function) and _only_addresses(register, users.get(register, [])):
            base, constant = addition.src
            assert isinstance(constant, Immediate)
            amount = _signed(constant, addition)
            if all(_reaches(user, register, amount) for user in users.get(register, [])):
                for user in users.get(register, []):
                    _move_into(user, register, base, amount)  # type: ignore[arg-type]
                    if isinstance(base, Register):
                        users.setdefault(base, []).append(user)
                changed |= bool(users.get(register))
                users[register] = []
    for block in function.blocks:
        for operation in block.operations:
            changed |= _absolute(operation)
    return changed


def _is_offset(operation: Operation, function: Function) -> bool:
    if operation.op != "add" or operation.guard is not None or operation.mods or len(operation.src) != 2:
        return False
    if operation.dtype not in ("s32", "u32", "s64", "u64") or not isinstance(operation.src[1], Immediate):
        return False
    return isinstance(operation.src[0], Register)


def _signed(constant: Immediate, addition: Operation) -> int:
    return signed(constant.bits, f"s{BITS[addition.dtype]}")


def _only_addresses(register: Register, users: list[Operation]) -> bool:
    for user in users:
        if user.op not in ADDRESSED or user.guard == register or register in user.tied:
            return False
        last = 2 if user.op in _TWO_ADDRESSES else 1
        if register in user.src[last:]:
            return False
    return bool(users)


def _reaches(user: Operation, register: Register, amount: int) -> bool:
    offsets = []
    if user.src[0] == register:
        offsets.append(user.offset)
    if user.op in _TWO_ADDRESSES and user.src[1] == register:
        offsets.append(user.source_offset)
    return all(-_REACH <= offset + amount < _REACH for offset in offsets)


def _move_into(user: Operation, register: Register, base: Register, amount: int) -> None:
    sources = list(user.src)
    if sources[0] == register:
        sources[0] = base
        user.offset += amount
    if user.op in _TWO_ADDRESSES and sources[1] == register:
        sources[1] = base
        user.source_offset += amount
    user.src = tuple(sources)


def _absolute(operation: Operation) -> bool:
    """A constant base is an offset from zero."""
    if operation.op not in ADDRESSED:
        return False
    base = operation.src[0]
    if not isinstance(base, Immediate) or base.bits == 0:
        return False
    limit = 32 if operation.space in (Space.LOCAL, Space.PRIVATE, Space.PARAMETER) else 64
    operation.offset = (operation.offset + base.bits) & ((1 << limit) - 1)
    operation.src = (Immediate(0), *operation.src[1:])
    return True
