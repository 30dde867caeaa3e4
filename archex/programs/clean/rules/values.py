"""Choices, comparisons, conversions and packings that are simpler ones."""

from __future__ import annotations

from archex.programs.clean.rules.kind import Knowledge, Outcome, becomes, change, constant_bits, is_integer, rule
from archex.programs.ir import Immediate, Operation, Register
from archex.programs.types import BITS, FLOATS


@rule("select")
def choice(operation: Operation, known: Knowledge) -> Outcome:
    a, b, p = operation.src
    if a == b:
        return becomes(operation, known, a)
    if isinstance(p, Immediate):
        return becomes(operation, known, a if p.bits & 1 else b)
    inverted = known.operation(p)
    if inverted is not None and inverted.op == "not":
        operation.src = (b, a, inverted.src[0])
        return True
    return False


@rule("compare")
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
    if source is not None and source.op == "select" and constant_bits(b) == 0 and operation.mods[0] in ("eq", "ne"):
        ends = (constant_bits(source.src[0]), constant_bits(source.src[1]))
        if ends in ((1, 0), (0, 1)):
            straight = (ends == (1, 0)) == (operation.mods[0] == "ne")
            if straight:
                return becomes(operation, known, source.src[2])
            operation.dst = operation.dst[:1]
            return change(operation, "not", source.src[2], dtype="pred")
    return False


@rule("convert")
def conversion(operation: Operation, known: Knowledge) -> Outcome:
    """A cut of an extension is the value itself; extensions of extensions are one."""
    if operation.mods or len(operation.src) != 1 or not is_integer(operation) or operation.source_dtype in FLOATS:
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
        return becomes(operation, known, value)
    source = known.operation(value)
    if source is None or source.op != "convert" or source.mods or source.dtype in FLOATS or source.source_dtype in FLOATS:
        return False
    if len(source.src) != 1 or source.dtype.endswith("x2") or BITS[kinds[value.id]] != BITS[source.dtype]:
        return False
    inner = BITS[source.source_dtype]
    if wide == BITS[source.dtype] and narrow <= inner < wide and inner >= 32:
        if narrow == inner:
            return becomes(operation, known, source.src[0])
        return change(operation, "convert", source.src[0], source_dtype=f"u{inner}")
    return False


@rule("unpack")
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


@rule("pack")
def packing(operation: Operation, known: Knowledge) -> Outcome:
    """All parts of one value, in order, are the value."""
    source = known.operation(operation.src[0])
    if source is not None and source.op == "unpack" and source.dst == operation.src and source.dtype == operation.source_dtype:
        return becomes(operation, known, source.src[0])
    return False


@rule("pack")
def constant_pack(operation: Operation, known: Knowledge) -> Outcome:
    width = BITS[operation.source_dtype]
    if not all(isinstance(source, Immediate) for source in operation.src):
        return False
    joined = 0
    for place, source in enumerate(operation.src):
        joined |= (source.bits & ((1 << width) - 1)) << place * width  # type: ignore[union-attr]
    return becomes(operation, known, Immediate(joined))
