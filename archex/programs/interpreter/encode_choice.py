"""Encoders of comparisons and of what chooses by them. A comparison writes a mask of lanes."""

from __future__ import annotations

from archex.programs.interpreter import convert_lane as converts
from archex.programs.interpreter import rows
from archex.programs.interpreter import table as n
from archex.programs.interpreter.builder import Builder, encodes
from archex.programs.interpreter.encode_arithmetic import float_flags
from archex.programs.interpreter.rounding import FORMATS
from archex.programs.ir import Operand, Operation
from archex.programs.types import BITS, SIGNED, float_bits

_FLOAT_ROWS = {
    "eq": (rows.F_EQ, False), "lt": (rows.F_LT, False), "le": (rows.F_LE, False), "gt": (rows.F_LT, True), "ge": (rows.F_LE, True),
    "neu": (rows.F_NEU, False), "ltu": (rows.F_LTU, False), "leu": (rows.F_LEU, False), "gtu": (rows.F_LTU, True), "geu": (rows.F_LEU,
    True),
}  # fmt: skip
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_PROPERTIES = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")


def _compare(builder: Builder, comparison: str, dtype: str, operation: Operation, target: int) -> None:
    """a ? b into predicate `target`."""
    a, b = builder.source(0), builder.source(1)
    if dtype in FORMATS:
        flags = float_flags(operation)
        if dtype == "f32" and not flags and comparison in _FLOAT_ROWS:
            row, turned = _FLOAT_ROWS[comparison]
            builder.row(n.COMPARE_ROW, row, pred=target, a=b if turned else a, b=a if turned else b)
        else:
            builder.row(n.COMPARE_LANE, converts.FLOAT_COMPARISONS[comparison], pred=target, a=a, b=b, width=FORMATS[dtype], flags=flags)
        return
    signed = dtype in SIGNED and comparison not in _UNSIGNED
    comparison = _UNSIGNED.get(comparison, comparison)
    if comparison in ("gt", "ge"):
        a, b, comparison = b, a, {"gt": "lt", "ge": "le"}[comparison]
    if comparison in ("eq", "ne"):
        row = rows.EQ if comparison == "eq" else rows.NE
    elif BITS[dtype] == 64:
        row = {(True, "lt"): rows.LT, (True, "le"): rows.LE, (False, "lt"): rows.LT_U64, (False, "le"): rows.LE_U64}[signed, comparison]
    elif signed and BITS[dtype] < 32:
        shift = builder.constant(32 - BITS[dtype])
        sources = []
        for value in (a, b):
            sources.append(builder.temporary())
            builder.row(n.INTEGER_ROW, rows.SHL32, dst=sources[-1], a=value, b=shift)
        a, b = sources
        row = rows.LT_S32 if comparison == "lt" else rows.LE_S32
    elif signed:
        row = rows.LT_S32 if comparison == "lt" else rows.LE_S32
    else:
        row = rows.LT if comparison == "lt" else rows.LE
    builder.row(n.COMPARE_ROW, row, pred=target, a=a, b=b)


def _combined(builder: Builder, operation: Operation, targets: tuple[Operand | None, ...], dtype: str) -> None:
    """A comparison combined with a third predicate, and its inverse combined likewise."""
    combination = next((mod for mod in operation.mods[1:] if mod in ("and", "or", "xor")), None)
    first, second = (*targets, None)[:2]
    if combination is None and second is None and first is not None:
        _compare(builder, operation.mods[0], dtype, operation, builder.predicate(first))
        return
    _compare(builder, operation.mods[0], dtype, operation, n.TEMPORARY)
    third = builder.predicate(operation.src[2]) if combination else n.ALWAYS
    if "negated" in operation.mods:
        builder.row(n.PREDICATE, n.P_NOT, dst=n.TEMPORARY_2, a=third)
        third = n.TEMPORARY_2
    elif second is not None and operation.src[2:3] == (first,):  # the first result would overwrite the third operand
        builder.row(n.PREDICATE, n.P_MOVE, dst=n.TEMPORARY_2, a=third)
        third = n.TEMPORARY_2
    op = {"and": n.P_AND, "or": n.P_OR, "xor": n.P_XOR, None: n.P_AND}[combination]
    if first is not None:
        builder.row(n.PREDICATE, op, dst=builder.predicate(first), a=n.TEMPORARY, b=third)
    if second is not None:
        builder.row(n.PREDICATE, n.P_NOT, dst=n.TEMPORARY, a=n.TEMPORARY)
        builder.row(n.PREDICATE, op, dst=builder.predicate(second), a=n.TEMPORARY, b=third)


def decided(builder: Builder, operation: Operation, value: int) -> None:
    """A comparison whose outcome is given: no operands are read."""
    for target, holds in zip(operation.dst, (value, 1 - value), strict=False):
        if target is not None:
            builder.row(n.PREDICATE, n.P_MOVE, dst=builder.predicate(target), a=n.ALWAYS if holds else n.NEVER)


@encodes("compare")
def compare(builder: Builder, operation: Operation) -> None:
    dtype = operation.source_dtype or operation.dtype
    if dtype.removesuffix("x2") in FORMATS and dtype.endswith("x2"):
        _packed(builder, operation, dtype)
    else:
        _combined(builder, operation, operation.dst, dtype)


def _halves(builder: Builder, operation: Operation, dtype: str) -> list[tuple[int, int]]:
    """Low and high halves of both operands, in temporaries."""
    width = BITS[dtype] // 2
    found = []
    for index in range(2):
        pair = []
        for source in (0, 1):
            shifted = builder.temporary()
            builder.row(n.INTEGER_ROW, rows.SHR_U32, dst=shifted, a=builder.source(source), b=builder.constant(index * width))
            pair.append(shifted)
            builder.row(n.INTEGER_ROW, rows.AND, dst=shifted, a=shifted, b=builder.constant((1 << width) - 1))
        found.append((pair[0], pair[1]))
    return found


def _packed(builder: Builder, operation: Operation, dtype: str) -> None:
    """Two 16-bit comparisons: the first result is the low half's, the second the high half's."""
    comparison = converts.FLOAT_COMPARISONS[operation.mods[0]]
    combination = next((mod for mod in operation.mods[1:] if mod in ("and", "or", "xor")), None)
    for (a, b), target in zip(_halves(builder, operation, dtype), operation.dst, strict=False):
        if target is None:
            continue
        out = builder.predicate(target)
        at = n.TEMPORARY if combination else out
        builder.row(n.COMPARE_LANE, comparison, pred=at, a=a, b=b, width=FORMATS[dtype.removesuffix("x2")], flags=float_flags(operation))
        if combination:
            op = {"and": n.P_AND, "or": n.P_OR, "xor": n.P_XOR}[combination]
            builder.row(n.PREDICATE, op, dst=out, a=at, b=builder.predicate(operation.src[2]))


@encodes("set")
def set_value(builder: Builder, operation: Operation) -> None:
    """All ones or 1.0 where the comparison holds."""
    source = operation.source_dtype
    dtype = operation.dtype
    one = float_bits(1.0, dtype.removesuffix("x2")) if dtype.removesuffix("x2") in FORMATS else (1 << BITS[dtype]) - 1
    if source.endswith("x2"):
        width = BITS[dtype] // 2
        single = one & ((1 << width) - 1)
        parts = []
        for index, (a, b) in enumerate(_halves(builder, operation, source)):
            fields = {"width": FORMATS[source.removesuffix("x2")], "flags": float_flags(operation)}
            builder.row(n.COMPARE_LANE, converts.FLOAT_COMPARISONS[operation.mods[0]], pred=n.TEMPORARY, a=a, b=b, **fields)
            parts.append(builder.temporary())
            builder.row(n.SELECT, 0, dst=parts[-1], a=builder.constant(single << (index * width)), b=builder.constant(0), c=n.TEMPORARY)
        builder.row(n.INTEGER_ROW, rows.OR, dst=builder.result(), a=parts[0], b=parts[1])
        return
    _compare(builder, operation.mods[0], source, operation, n.TEMPORARY)
    combination = next((mod for mod in operation.mods[1:] if mod in ("and", "or", "xor")), None)
    if combination:
        third = builder.predicate(operation.src[2])
        if "negated" in operation.mods:
            builder.row(n.PREDICATE, n.P_NOT, dst=n.TEMPORARY_2, a=third)
            third = n.TEMPORARY_2
        builder.row(n.PREDICATE, {"and": n.P_AND, "or": n.P_OR, "xor": n.P_XOR}[combination], dst=n.TEMPORARY, a=n.TEMPORARY, b=third)
    builder.row(n.SELECT, 0, dst=builder.result(), a=builder.constant(one), b=builder.constant(0), c=n.TEMPORARY)


@encodes("select")
def select(builder: Builder, operation: Operation) -> None:
    builder.row(n.SELECT, 0, dst=builder.result(), a=builder.source(0), b=builder.source(1), c=builder.predicate(operation.src[2]))


@encodes("select_sign")
def select_sign(builder: Builder, operation: Operation) -> None:
    """a where c >= 0, b elsewhere (NaN too)."""
    c, zero = builder.source(2), builder.constant(0)
    if operation.source_dtype == "f32":
        builder.row(n.COMPARE_LANE, converts.GE, pred=n.TEMPORARY, a=c, b=zero, width=FORMATS["f32"], flags=float_flags(operation))
    else:
        builder.row(n.COMPARE_ROW, rows.LE_S32, pred=n.TEMPORARY, a=zero, b=c)
    builder.row(n.SELECT, 0, dst=builder.result(), a=builder.source(0), b=builder.source(1), c=n.TEMPORARY)


@encodes("test_property")
def test_property(builder: Builder, operation: Operation) -> None:
    kind = 100 + _PROPERTIES.index(operation.mods[0])
    target = builder.predicate(operation.dst[0])
    builder.row(n.COMPARE_LANE, kind, pred=target, a=builder.source(0), b=builder.constant(0), width=FORMATS[operation.dtype])
