"""Operations that are really simpler ones, seen from what defines their sources.

In: an operation and the walk's knowledge (`value`, `operation`, `replace`, `fits`). Out: True if the operation was changed in place,
None if its results already stand for something else, False if nothing is known. Every rule is exact on all bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from archex.programs.ir import Function, Immediate, Operand, Operation, Register
from archex.programs.types import BITS, FLOATS, SIGNED, mask


class Knowledge(Protocol):
    """What a rule may ask."""

    function: Function

    def operation(self, operand: Operand) -> Operation | None: ...
    def replace(self, register: Register, value: Operand) -> None: ...
    def fits(self, register: Register, value: Operand) -> bool: ...


Outcome = bool | None
Rule = Callable[[Operation, Knowledge], Outcome]
_RULES: dict[str, list[Rule]] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        for name in names:
            _RULES.setdefault(name, []).append(rule)
        return rule

    return enter


def simplify(operation: Operation, known: Knowledge) -> Outcome:
    """Apply the first rule that knows something."""
    for rule in _RULES.get(operation.op, ()):
        outcome = rule(operation, known)
        if outcome is not False:
            return outcome
    return False


def _becomes(operation: Operation, known: Knowledge, value: Operand) -> Outcome:
    result = operation.dst[0]
    if result is None or not known.fits(result, value):
        return False
    known.replace(result, value)
    return None


def _bits(operand: Operand) -> int | None:
    return operand.bits if isinstance(operand, Immediate) else None


def _is_integer(operation: Operation) -> bool:
    return operation.dtype not in FLOATS and not operation.dtype.endswith("x2") and operation.dtype in BITS


def _change(
    operation: Operation, op: str, *sources: Operand, mods: tuple[str, ...] = (), dtype: str = "", source_dtype: str = ""
) -> Outcome:
    operation.op, operation.src, operation.mods = op, sources, mods
    operation.dtype = dtype or operation.dtype
    operation.source_dtype = source_dtype
    return True


@_rule("add", "mul_lo", "and", "or", "xor", "min", "max", "mul_wide")
def constant_last(operation: Operation, known: Knowledge) -> Outcome:
    a, b = operation.src[0], operation.src[1]
    if isinstance(a, Immediate) and not isinstance(b, Immediate) and _is_integer(operation) and len(operation.src) == 2:
        operation.src = (b, a)
        return True
    return False


@_rule("add", "or", "xor", "shl", "shr", "sub")
def zero(operation: Operation, known: Knowledge) -> Outcome:
    if _is_integer(operation) and _bits(operation.src[1]) == 0 and not operation.mods:
        return _becomes(operation, known, operation.src[0])
    return False


@_rule("sub")
def subtraction(operation: Operation, known: Knowledge) -> Outcome:
    if not _is_integer(operation) or operation.mods:
        return False
    a, b = operation.src
    if a == b:
        return _becomes(operation, known, Immediate(0))
    if isinstance(b, Immediate):
        return _change(operation, "add", a, Immediate(-b.bits & mask(operation.dtype)))
    if _bits(a) == 0:
        return _change(operation, "neg", b)
    return False


@_rule("add")
def addition_of_negative(operation: Operation, known: Knowledge) -> Outcome:
    """a + (-b) is one subtraction."""
    if not _is_integer(operation) or operation.mods or len(operation.src) != 2:
        return False
    for place in (1, 0):
        other = known.operation(operation.src[place])
        if other is not None and other.op == "neg" and _same_width(other, operation):
            return _change(operation, "sub", operation.src[1 - place], other.src[0])
    return False


@_rule("mul_lo")
def product(operation: Operation, known: Knowledge) -> Outcome:
    factor = _bits(operation.src[1])
    if factor is None or not _is_integer(operation):
        return False
    if factor == 0:
        return _becomes(operation, known, Immediate(0))
    if factor == 1:
        return _becomes(operation, known, operation.src[0])
    if factor & (factor - 1) == 0 and BITS[operation.dtype] >= 16:
        return _change(operation, "shl", operation.src[0], Immediate(factor.bit_length() - 1), dtype=f"b{BITS[operation.dtype]}")
    return False


@_rule("mul_lo")
def wide_product(operation: Operation, known: Knowledge) -> Outcome:
    """The 64-bit product of two extended 32-bit values is the wide product."""
    if BITS.get(operation.dtype) != 64:
        return False
    a, b = operation.src
    first = _extended(a, known)
    if first is None:
        return False
    value, kind = first
    second = _extended(b, known)
    if second is not None and second[1] == kind:
        return _change(operation, "mul_wide", value, second[0], dtype=kind[0] + "64", source_dtype=kind)
    if isinstance(b, Immediate) and _narrow(b.bits, kind) is not None:
        return _change(operation, "mul_wide", value, Immediate(b.bits & 0xFFFFFFFF), dtype=kind[0] + "64", source_dtype=kind)
    return False


def _extended(operand: Operand, known: Knowledge) -> tuple[Operand, str] | None:
    """The 32-bit value behind a plain extension to 64 bits, and its type."""
    source = known.operation(operand)
    if source is not None and source.op == "convert" and source.source_dtype in ("s32", "u32") and BITS[source.dtype] == 64:
        if source.mods or source.dtype in FLOATS:
            return None
        return source.src[0], source.source_dtype
    return None


def _narrow(bits: int, kind: str) -> int | None:
    """The bits as a 32-bit value of `kind`, if they are its extension to 64 bits."""
    low = bits & 0xFFFFFFFF
    wide = low | (0xFFFFFFFF00000000 if kind == "s32" and low >> 31 else 0)
    return low if wide == bits else None


@_rule("shl")
def shifted_wide(operation: Operation, known: Knowledge) -> Outcome:
    """A shifted wide product, or a shifted signed extension, is a wide product with a larger factor."""
    amount = _bits(operation.src[1])
    if amount is None or BITS[operation.dtype] != 64:
        return False
    source = known.operation(operation.src[0])
    if source is not None and source.op == "mul_wide" and source.source_dtype in ("s32", "u32"):
        factor = _bits(source.src[1])
        if factor is not None and factor < 1 << 31 and factor << amount < 1 << 31:
            scaled = Immediate(factor << amount)
            return _change(operation, "mul_wide", source.src[0], scaled, dtype=source.dtype, source_dtype=source.source_dtype)
    return False


@_rule("shl", "shr")
def repeated_shift(operation: Operation, known: Knowledge) -> Outcome:
    amount = _bits(operation.src[1])
    source = known.operation(operation.src[0])
    if amount is None or source is None or source.op != operation.op or BITS[source.dtype] != BITS[operation.dtype]:
        return False
    inner = _bits(source.src[1])
    if inner is None or inner + amount >= BITS[operation.dtype]:
        return False
    if operation.op == "shr" and (source.dtype in SIGNED) != (operation.dtype in SIGNED):
        return False
    return _change(operation, operation.op, source.src[0], Immediate(inner + amount))


@_rule("and", "or", "xor")
def logic(operation: Operation, known: Knowledge) -> Outcome:
    a, b = operation.src
    everything = mask(operation.dtype)
    if a == b:
        return _becomes(operation, known, Immediate(0) if operation.op == "xor" else a)
    bits = _bits(b)
    if bits is None:
        return False
    if operation.op == "and" and bits in (0, everything):
        return _becomes(operation, known, a if bits else Immediate(0))
    if operation.op == "or" and bits == everything:
        return _becomes(operation, known, b)
    if operation.op == "xor" and bits == everything:
        return _change(operation, "not", a)
    source = known.operation(a)
    if source is not None and source.op == operation.op and BITS[source.dtype] == BITS[operation.dtype]:
        inner = _bits(source.src[1])
        if inner is not None:
            joined = {"and": inner & bits, "or": inner | bits, "xor": inner ^ bits}[operation.op]
            return _change(operation, operation.op, source.src[0], Immediate(joined))
    return False


@_rule("not")
def double_inversion(operation: Operation, known: Knowledge) -> Outcome:
    source = known.operation(operation.src[0])
    if source is None:
        return False
    if source.op == "not" and BITS[source.dtype] == BITS[operation.dtype]:
        return _becomes(operation, known, source.src[0])
    inverse = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "lo": "hs", "hs": "lo", "hi": "ls", "ls": "hi"}
    if source.op == "compare" and operation.dtype == "pred" and source.dst[0] == operation.src[0] and len(source.mods) == 1:
        if source.dtype not in FLOATS and source.mods[0] in inverse:
            result = operation.dst[0]
            _change(operation, "compare", *source.src, mods=(inverse[source.mods[0]],), dtype=source.dtype, source_dtype=source.dtype)
            operation.dst = (result, None)
            return True
    return False


@_rule("mad_lo", "mad_wide")
def trivial_multiply_add(operation: Operation, known: Knowledge) -> Outcome:
    if operation.mods:
        return False
    a, b, c = operation.src
    if isinstance(a, Immediate) and not isinstance(b, Immediate):
        operation.src = (b, a, c)
        return True
    if _bits(c) == 0:
        op = "mul_lo" if operation.op == "mad_lo" else "mul_wide"
        return _change(operation, op, a, b, source_dtype=operation.source_dtype)
    if operation.op == "mad_lo" and _bits(b) == 1:
        return _change(operation, "add", a, c)
    if operation.op == "mad_lo" and isinstance(a, Immediate) and isinstance(b, Immediate):
        return _change(operation, "add", c, Immediate(a.bits * b.bits & mask(operation.dtype)))
    return False


@_rule("select")
def choice(operation: Operation, known: Knowledge) -> Outcome:
    a, b, p = operation.src
    if a == b:
        return _becomes(operation, known, a)
    if isinstance(p, Immediate):
        return _becomes(operation, known, a if p.bits & 1 else b)
    inverted = known.operation(p)
    if inverted is not None and inverted.op == "not":
        operation.src = (b, a, inverted.src[0])
        return True
    return False


@_rule("compare")
def comparison(operation: Operation, known: Knowledge) -> Outcome:
    """A choice of 1 and 0 compared with 0 is the predicate itself; constants go to the right."""
    if operation.dtype in FLOATS or len(operation.mods) != 1 or operation.dst[1] is not None or operation.dtype not in BITS:
        return False
    a, b = operation.src
    mirrored = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "lo": "hi", "hi": "lo", "ls": "hs", "hs": "ls"}
    if isinstance(a, Immediate) and not isinstance(b, Immediate) and operation.mods[0] in mirrored:
        operation.src, operation.mods = (b, a), (mirrored[operation.mods[0]],)
        return True
    source = known.operation(a)
    if source is not None and source.op == "select" and _bits(b) == 0 and operation.mods[0] in ("eq", "ne"):
        ends = (_bits(source.src[0]), _bits(source.src[1]))
        if ends in ((1, 0), (0, 1)):
            straight = (ends == (1, 0)) == (operation.mods[0] == "ne")
            if straight:
                return _becomes(operation, known, source.src[2])
            operation.dst = operation.dst[:1]
            return _change(operation, "not", source.src[2], dtype="pred")
    return False


@_rule("convert")
def conversion(operation: Operation, known: Knowledge) -> Outcome:
    """A cut of an extension is the value itself; extensions of extensions are one."""
    if operation.mods or len(operation.src) != 1 or not _is_integer(operation) or operation.source_dtype in FLOATS:
        return False
    value = operation.src[0]
    if not isinstance(value, Register):
        return False
    wide, narrow = BITS[operation.source_dtype], BITS[operation.dtype]
    result = operation.dst[0]
    kinds = known.function.register_dtypes
    if result is None or BITS[kinds[result.id]] != narrow:
        return False
    if BITS[kinds[value.id]] == wide == narrow:
        return _becomes(operation, known, value)
    source = known.operation(value)
    if source is None or source.op != "convert" or source.mods or source.dtype in FLOATS or source.source_dtype in FLOATS:
        return False
    if len(source.src) != 1 or source.dtype.endswith("x2") or BITS[kinds[value.id]] != BITS[source.dtype]:
        return False
    inner = BITS[source.source_dtype]
    if wide == BITS[source.dtype] and narrow <= inner < wide and inner >= 32:
        if narrow == inner:
            return _becomes(operation, known, source.src[0])
        return _change(operation, "convert", source.src[0], source_dtype=f"u{inner}")
    return False


@_rule("unpack")
def unpacking(operation: Operation, known: Knowledge) -> Outcome:
    """The parts of what was just packed."""
    source = known.operation(operation.src[0])
    if source is None or source.op != "pack" or source.source_dtype != operation.dtype:
        return False
    pairs = list(zip(operation.dst, source.src, strict=True))
    if any(part is not None and not known.fits(part, value) for part, value in pairs):
        return False
    for part, value in pairs:
        if part is not None:
            known.replace(part, value)
    return None


@_rule("pack")
def packing(operation: Operation, known: Knowledge) -> Outcome:
    """All parts of one value, in order, are the value."""
    source = known.operation(operation.src[0])
    if source is not None and source.op == "unpack" and source.dst == operation.src and source.dtype == operation.source_dtype:
        return _becomes(operation, known, source.src[0])
    return False


@_rule("pack")
def constant_pack(operation: Operation, known: Knowledge) -> Outcome:
    width = BITS[operation.source_dtype]
    if not all(isinstance(source, Immediate) for source in operation.src):
        return False
    joined = 0
    for place, source in enumerate(operation.src):
        joined |= (source.bits & ((1 << width) - 1)) << place * width  # type: ignore[union-attr]
    return _becomes(operation, known, Immediate(joined))


def _same_width(a: Operation, b: Operation) -> bool:
    return BITS.get(a.dtype) == BITS.get(b.dtype) and not a.mods


@_rule("div", "rem")
def division(operation: Operation, known: Knowledge) -> Outcome:
    """Unsigned division by a power of two is a shift or a mask."""
    divisor = _bits(operation.src[1])
    if divisor is None or operation.dtype not in ("u16", "u32", "u64") or divisor == 0 or divisor & (divisor - 1):
        return False
    if operation.op == "div":
        return _change(operation, "shr", operation.src[0], Immediate(divisor.bit_length() - 1))
    return _change(operation, "and", operation.src[0], Immediate(divisor - 1), dtype=f"b{BITS[operation.dtype]}")


@_rule("bitfield_extract")
def low_field(operation: Operation, known: Knowledge) -> Outcome:
    """An unsigned field at the bottom is a mask, one that reaches the top a shift."""
    start, length = _bits(operation.src[1]), _bits(operation.src[2])
    width = BITS[operation.dtype]
    if start is None or length is None or operation.dtype in SIGNED:
        return False
    start, length = start & 0xFF, length & 0xFF
    if start == 0 and length < width:
        return _change(operation, "and", operation.src[0], Immediate((1 << length) - 1), dtype=f"b{width}")
    if start < width and start + length >= width:
        return _change(operation, "shr", operation.src[0], Immediate(start))
    return False
