"""Encoders of arithmetic, logic, moves and conversions: row loops where there is one, lane functions otherwise."""

from __future__ import annotations

from archex.base.errors import UnsupportedError
from archex.programs.interpreter import convert_lane as converts
from archex.programs.interpreter import float_lane as floats
from archex.programs.interpreter import integer_lane as lanes
from archex.programs.interpreter import rows
from archex.programs.interpreter import table as n
from archex.programs.interpreter.builder import Builder, encodes
from archex.programs.interpreter.rounding import FORMATS, ROUNDINGS
from archex.programs.ir import Immediate, Operation, Register
from archex.programs.types import BITS, SIGNED

_FLOAT_FLAGS = {
    "ftz": floats.FTZ,
    "sat": floats.SAT,
    "approx": floats.APPROX,
    "NaN": floats.NAN,
    "xorsign": floats.XORSIGN,
    "relu": floats.RELU,
}
_ROWS = {
    ("add", 32): rows.ADD32, ("add", 64): rows.ADD64, ("sub", 32): rows.SUB32, ("sub", 64): rows.SUB64, ("mul_lo", 32): rows.MUL32,
    ("mul_lo", 64): rows.MUL64, ("mad_lo", 32): rows.MAD32, ("not", 32): rows.NOT32, ("shl", 32): rows.SHL32, ("shl", 64): rows.SHL64,
    **{(op, width): row for op, row in (("and", rows.AND), ("or", rows.OR), ("xor", rows.XOR)) for width in (16, 32, 64)},
}  # fmt: skip
_TYPED_ROWS = {
    ("shr", "s32"): rows.SHR_S32, ("min", "s32"): rows.MIN_S32, ("max", "s32"): rows.MAX_S32, ("min", "s64"): rows.MIN_S, ("max",
    "s64"): rows.MAX_S,
    ("mul_wide", "s64"): rows.WIDE_S32, ("mul_wide", "u64"): rows.WIDE_U32, ("mad_wide", "s64"): rows.WIDE_ADD_S32, ("mad_wide",
    "u64"): rows.WIDE_ADD_U32,
    **{("shr", t): rows.SHR_U32 for t in ("u32", "b32", "u16", "b16")}, **{("min", t): rows.MIN_S for t in ("u32", "u16")},
    **{("max", t): rows.MAX_S for t in ("u32", "u16")},
}  # fmt: skip
_LANES = {
    "add": lanes.ADD, "sub": lanes.SUB, "mul_lo": lanes.MUL_LO, "mul_hi": lanes.MUL_HI, "mul_wide": lanes.MUL_WIDE, "mad_lo": lanes.MAD_LO,
    "mad_hi": lanes.MAD_HI, "mad_wide": lanes.MAD_WIDE, "div": lanes.DIV, "rem": lanes.REM, "abs": lanes.ABS, "neg": lanes.NEG,
    "min": lanes.MIN,
    "max": lanes.MAX, "sad": lanes.SAD, "and": lanes.AND, "or": lanes.OR, "xor": lanes.XOR, "not": lanes.NOT, "cnot": lanes.CNOT,
    "shl": lanes.SHL,
    "shr": lanes.SHR, "funnel_left": lanes.FUNNEL_LEFT, "funnel_right": lanes.FUNNEL_RIGHT, "permute": lanes.PERMUTE,
    "bitfield_extract": lanes.EXTRACT, "bitfield_insert": lanes.INSERT, "bitfield_mask": lanes.MASK, "popcount": lanes.POPCOUNT,
    "clz": lanes.CLZ,
    "reverse_bits": lanes.REVERSE, "find_msb": lanes.FIND_MSB, "find_nth": lanes.FIND_NTH, "dot4": lanes.DOT4, "dot2": lanes.DOT2,
    "move": lanes.MOVE,
}  # fmt: skip
_PERMUTES = {"f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}
_COUNTS = frozenset({"popcount", "clz", "find_msb"})  # results of 32 bits whatever the operand
_ROW_FLOATS = {"add": rows.FADD, "sub": rows.FSUB, "mul": rows.FMUL, "fma": rows.FFMA}


def _fits(builder: Builder, operation: Operation, width: int) -> bool:
    """Whether the result's register is as wide as the operation."""
    target = operation.dst[0]
    return target is None or builder.width_of(target) == width


@encodes(*_LANES)
def arithmetic(builder: Builder, operation: Operation) -> None:
    dtype = operation.dtype
    if dtype == "pred":
        return logic(builder, operation)
    if dtype.removesuffix("x2") in FORMATS:
        return floating(builder, operation)
    if dtype.endswith("x2"):
        raise UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})")
    if operation.op == "move" or _row(builder, operation):
        if operation.op == "move":
            builder.row(n.INTEGER_ROW, rows.MOVE, dst=builder.result(), a=builder.source(0))
        return None
    return _lane(builder, operation)


def _row(builder: Builder, operation: Operation) -> bool:
    """Encode as a row loop if there is one for this width and type."""
    op, dtype = operation.op, operation.dtype
    width = 32 if op in _COUNTS else BITS[dtype]
    if operation.mods or not _fits(builder, operation, width):
        return False
    wide = operation.source_dtype in ("s32", "u32")
    found = _TYPED_ROWS.get((op, dtype)) if op not in ("mul_wide", "mad_wide") or wide else None
    if found is None:
        found = _ROWS.get((op, width))
    if op == "bitfield_extract" and dtype == "u32" and all(isinstance(s, Immediate) for s in operation.src[1:]):
        position, length = (s.bits & 0xFF for s in operation.src[1:] if isinstance(s, Immediate))
        if position < 32 and length < 63:
            found = rows.EXTRACT_U32
    if found is None:
        return False
    builder.row(n.INTEGER_ROW, found, dst=builder.result(), a=builder.source(0), b=builder.source(1), c=builder.source(2))
    return True


def _mode(operation: Operation) -> int:
    op, mods = operation.op, operation.mods
    if op == "permute":
        return _PERMUTES.get(mods[0], 0) if mods else 0
    if op in ("funnel_left", "funnel_right"):
        return int("clamp" in mods)
    if op == "bitfield_mask":
        return int("wrap" in mods)
    if op == "find_msb":
        return int("shiftamt" in mods)
    if op in ("dot4", "dot2"):
        kinds = [mod for mod in mods if mod in ("s32", "u32")]
        return (kinds[0] == "s32") | (kinds[1] == "s32") << 1 | ("hi" in mods) << 2
    return 0


def _lane(builder: Builder, operation: Operation) -> None:
    op, dtype = operation.op, operation.dtype
    width = BITS[operation.source_dtype] if op in ("mul_wide", "mad_wide") else BITS[dtype]
    code = _LANES[op]
    if "sat" in operation.mods and op in ("add", "sub"):
        code = lanes.ADD_SAT if op == "add" else lanes.SUB_SAT
    builder.row(
        n.INTEGER_LANE, code, dst=builder.result(), a=builder.source(0), b=builder.source(1), c=builder.source(2), d=builder.source(3),
        mode=_mode(operation),
        width=width, signed=int(dtype in SIGNED), result=32 if op in _COUNTS else BITS[dtype], extend=builder.extend(dtype,
        operation.dst[0]),
    )  # fmt: skip


@encodes("mul24", "mad24")
def multiply_24(builder: Builder, operation: Operation) -> None:
    code = lanes.MUL24_HI if "hi" in operation.mods else lanes.MUL24
    dtype = operation.dtype
    sources = {"a": builder.source(0), "b": builder.source(1), "c": builder.source(2)}
    builder.row(n.INTEGER_LANE, code, dst=builder.result(), width=32, signed=int(dtype in SIGNED), result=32, **sources)


@encodes("lop3")
def lookup(builder: Builder, operation: Operation) -> None:
    table = operation.src[3]
    assert isinstance(table, Immediate)
    sources = {"a": builder.source(0), "b": builder.source(1), "c": builder.source(2)}
    builder.row(n.INTEGER_LANE, lanes.LOP3, dst=builder.result(), mode=table.bits & 0xFF, width=32, result=32, **sources)


@encodes("add_carry", "sub_carry", "mad_carry")
def carry(builder: Builder, operation: Operation) -> None:
    """The sum and the carry out of it; a multiplication goes through a temporary."""
    width = BITS[operation.dtype]
    a, b, entering = builder.source(0), builder.source(1), 2
    if operation.op == "mad_carry":
        product = builder.temporary()
        half = lanes.MUL_HI if operation.mods[0] == "hi" else lanes.MUL_LO
        builder.row(n.INTEGER_LANE, half, dst=product, a=a, b=b, width=width, signed=int(operation.dtype in SIGNED), result=width)
        a, b, entering = product, builder.source(2), 3
    inward = builder.predicate(operation.src[entering]) if len(operation.src) > entering else n.NEVER
    out = builder.predicate(operation.dst[1]) if len(operation.dst) > 1 else -1
    op = 1 if operation.op == "sub_carry" else 0
    builder.row(n.CARRY, op, dst=builder.result(), a=a, b=b, c=inward, pred=out, width=width)


def rounding(operation: Operation) -> int:
    """The rounding a modifier asks for; nearest even otherwise."""
    return next((ROUNDINGS[mod] for mod in operation.mods if mod in ROUNDINGS), 0)


def float_flags(operation: Operation) -> int:
    """Modifiers as bits."""
    return sum(bit for name, bit in _FLOAT_FLAGS.items() if name in operation.mods)


@encodes(*floats.OPERATIONS)
def floating(builder: Builder, operation: Operation) -> None:
    dtype = operation.dtype
    if dtype.removesuffix("x2") not in FORMATS:
        return arithmetic(builder, operation)
    code = floats.OPERATIONS.get(operation.op)
    if operation.op == "move":
        builder.row(n.INTEGER_ROW, rows.MOVE, dst=builder.result(), a=builder.source(0))
        return None
    if code is None:
        raise UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})")
    sources = {"a": builder.source(0), "b": builder.source(1), "c": builder.source(2)}
    flags, mode = float_flags(operation), rounding(operation)
    if dtype == "f32" and operation.op in _ROW_FLOATS and not flags and not mode:
        builder.row(n.FLOAT_ROW, _ROW_FLOATS[operation.op], dst=builder.result(), **sources)
        return None
    three = operation.op in ("min", "max") and len(operation.src) == 3
    form = FORMATS[dtype.removesuffix("x2")]
    packed = int(dtype.endswith("x2"))
    first = builder.temporary() if three else builder.result()
    builder.row(n.FLOAT_LANE, code, dst=first, mode=mode, width=form, flags=flags, signed=packed, result=64, **sources)
    if three:
        builder.row(
            n.FLOAT_LANE, code, dst=builder.result(), a=first, b=sources["c"], mode=mode, width=form, flags=flags, signed=packed, result=64
        )
    return None


@encodes("pack")
def pack(builder: Builder, operation: Operation) -> None:
    """Parts into one register, lowest first."""
    width = BITS[operation.source_dtype]
    gathered = builder.source(0)
    for index in range(1, len(operation.src)):
        target = builder.result() if index == len(operation.src) - 1 else builder.temporary()
        fields = {"a": builder.source(index), "b": gathered, "c": builder.constant(index * width), "d": builder.constant(width)}
        builder.row(n.INTEGER_LANE, lanes.INSERT, dst=target, width=BITS[operation.dtype], result=BITS[operation.dtype], **fields)
        gathered = target
    if len(operation.src) == 1:
        builder.row(n.INTEGER_ROW, rows.MOVE, dst=builder.result(), a=gathered)


@encodes("unpack")
def unpack(builder: Builder, operation: Operation) -> None:
    """Parts of one register; it is copied first in case it is one of the results."""
    width = BITS[operation.dtype]
    whole = builder.source(0)
    first = operation.src[0]
    if isinstance(first, Register) and first in operation.dst:
        whole = builder.temporary()
        builder.row(n.INTEGER_ROW, rows.MOVE, dst=whole, a=builder.source(0))
    for index, target in enumerate(operation.dst):
        if target is not None:
            fields = {"a": whole, "b": builder.constant(index * width), "c": builder.constant(width)}
            builder.row(n.INTEGER_LANE, lanes.EXTRACT, dst=builder.register(target.id), width=64, result=width, **fields)


def type_code(dtype: str) -> int | None:
    """A type's code in the conversion tables, None for one they lack."""
    if dtype in FORMATS:
        return FORMATS[dtype]
    return converts.integer_code(BITS[dtype], dtype in SIGNED) if dtype[0] in "usb" and dtype[1:].isdigit() else None


def _conversion_flags(operation: Operation) -> int:
    flags = float_flags(operation)
    if any(mod in ("rni", "rzi", "rmi", "rpi") for mod in operation.mods):
        flags |= converts.TO_INTEGER
    return flags | (converts.FINITE if "satfinite" in operation.mods else 0)


@encodes("convert")
def convert(builder: Builder, operation: Operation) -> None:
    """One conversion, or two for packed results and operands."""
    dtype, source_dtype = operation.dtype, operation.source_dtype
    packed, packed_source = dtype.endswith("x2"), source_dtype.endswith("x2")
    target, source = type_code(dtype.removesuffix("x2")), type_code(source_dtype.removesuffix("x2"))
    if target is None or source is None:
        raise UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})")
    fields = {"mode": rounding(operation), "flags": _conversion_flags(operation), "width": source, "signed": target}
    if not packed:
        plain = not operation.mods and builder.width_of(operation.dst[0]) == BITS[dtype] if operation.dst[0] is not None else False
        if plain and (source_dtype, dtype) in (("s32", "s64"), ("s32", "u64"), ("s32", "b64")):
            builder.row(n.INTEGER_ROW, rows.EXTEND_S32, dst=builder.result(), a=builder.source(0))
        elif plain and source_dtype in ("u64", "s64", "b64") and dtype in ("u32", "s32", "b32"):
            builder.row(n.INTEGER_ROW, rows.CUT32, dst=builder.result(), a=builder.source(0))
        elif plain and source_dtype == "u32" and dtype in ("u64", "s64", "b64"):
            builder.row(n.INTEGER_ROW, rows.CUT32, dst=builder.result(), a=builder.source(0))
        else:
            short = 0 if dtype in FORMATS else BITS[dtype]
            builder.row(
                n.CONVERT,
                0,
                dst=builder.result(),
                a=builder.source(0),
                result=short or 64,
                extend=builder.extend(dtype, operation.dst[0]),
                **fields,
            )
        return
    width = BITS[dtype] // 2
    parts = [builder.temporary(), builder.temporary()]
    pair = [builder.source(1), builder.source(0)] if len(operation.src) == 2 else [builder.source(0)] * 2
    for index, part in enumerate(parts):
        value = pair[index]
        if packed_source:
            half = BITS[source_dtype] // 2
            value = builder.temporary()
            where = {"b": builder.constant(index * half), "c": builder.constant(half)}
            builder.row(n.INTEGER_LANE, lanes.EXTRACT, dst=value, a=pair[index], width=64, result=half, **where)
        builder.row(n.CONVERT, 0, dst=part, a=value, result=64, **fields)
    where = {"c": builder.constant(width), "d": builder.constant(width)}
    builder.row(n.INTEGER_LANE, lanes.INSERT, dst=builder.result(), a=parts[1], b=parts[0], width=2 * width, result=2 * width, **where)


_PREDICATE_LOGIC = {"move": n.P_MOVE, "not": n.P_NOT, "and": n.P_AND, "or": n.P_OR, "xor": n.P_XOR}


def logic(builder: Builder, operation: Operation) -> None:
    """Predicates are masks of lanes."""
    if operation.op not in _PREDICATE_LOGIC:
        raise UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})")
    sources = [builder.predicate(source) for source in operation.src] + [n.NEVER]
    builder.row(n.PREDICATE, _PREDICATE_LOGIC[operation.op], dst=builder.predicate(operation.dst[0]), a=sources[0], b=sources[1])
