"""One lane runs an `ir.Function`, written apart from the clean-up and the interpreter, to compare functions with each other.

Integer operations have their meaning; every other operation (floating point, shuffles, unknown loads) is an uninterpreted function of
its operands, so that two functions agree only if they apply the same operations to the same values. A value nobody wrote is
`None` and spreads; where it would decide a branch, the run ends.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import attrs
from archex.programs.ir import Function, Immediate, Operation, Register, Space
from archex.programs.types import BITS, FLOATS

Bits = int | None


@attrs.define
class Run:
    """What a run did: its outward effects in order, and how it ended (`exit`, `limit`, `undefined`)."""

    effects: list[tuple]
    end: str


def width(dtype: str) -> int:
    return BITS[dtype]


def cut(value: int, dtype: str) -> int:
    return value & ((1 << width(dtype)) - 1)


def as_signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def as_type(value: int, dtype: str) -> int:
    return as_signed(value, width(dtype)) if dtype.startswith("s") else cut(value, dtype)


def opaque(*parts: object) -> int:
    text = repr(parts).encode()
    return zlib.crc32(text) | zlib.crc32(text + b"!") << 32


COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
UNORDERED = {"neu": "eq", "equ": "ne", "geu": "lt", "gtu": "le", "leu": "gt", "ltu": "ge", "nan": "num"}
BINARY = {"add": "+", "sub": "-", "mul_lo": "*", "and": "&", "or": "|", "xor": "^"}


def truth(sign: str, a: int, b: int) -> bool:
    return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]


def arithmetic(operation: Operation, bits: list[int]) -> int | None:
    """An integer operation's result before it is cut, None for anything uninterpreted."""
    op, dtype = operation.op, operation.dtype
    if op in ("move", "and", "or", "xor", "not", "select") or (dtype not in FLOATS and not dtype.endswith("x2")):
        kind = operation.source_dtype or dtype
        if op == "move":
            return bits[0]
        if op == "select":
            return bits[0] if bits[2] & 1 else bits[1]
        if op == "not":
            return ~bits[0]
        if kind in FLOATS or kind.endswith("x2"):
            return None
        if "sat" in operation.mods:
            return None
        values = [as_type(value, kind) for value in bits] if kind in BITS else bits
        if op in BINARY and len(bits) == 2:
            return eval(f"a {BINARY[op]} b", {"a": values[0], "b": values[1]})
        if op in ("min", "max"):
            return (min if op == "min" else max)(values)
        if op == "mul_wide":
            return values[0] * values[1]
        if op == "mad_wide":
            return values[0] * values[1] + bits[2]
        if op == "mad_lo":
            return bits[0] * bits[1] + bits[2]
        if op == "mul_hi":
            return values[0] * values[1] >> width(dtype)
        if op == "neg":
            return -values[0]
        if op == "abs":
            return abs(values[0])
        if op == "shl":
            return bits[0] << min(bits[1] & 0xFFFFFFFF, 64)
        if op == "shr":
            return values[0] >> min(bits[1] & 0xFFFFFFFF, 64)
        if op == "convert" and not operation.mods:
            return values[0]
        if op in ("div", "rem") and values[1]:
            quotient = abs(values[0]) // abs(values[1]) * (1 if (values[0] < 0) == (values[1] < 0) else -1)
            return quotient if op == "div" else values[0] - quotient * values[1]
        if op == "bitfield_extract" and dtype.startswith("u"):
            return cut(bits[0], dtype) >> (bits[1] & 255) & ((1 << (bits[2] & 255)) - 1)
        if op == "pack":
            return sum(cut(value, operation.source_dtype) << place * width(operation.source_dtype) for place, value in enumerate(bits))
    return None


class Lane:
    """Registers, memory and effects of one run."""

    def __init__(self, function: Function, parameters: bytes, specials: Mapping[str, int]) -> None:
        self.function, self.parameters, self.specials = function, parameters, specials
        self.registers: list[Bits] = [None] * len(function.register_dtypes)
        self.memory: dict[tuple[int, int], Bits] = {}
        self.effects: list[tuple] = []
        self.reads = 0

    def operand(self, operand: object) -> Bits:
        if isinstance(operand, Register):
            return self.registers[operand.id]
        if isinstance(operand, Immediate):
            return operand.bits
        return self.specials.get(operand.name, opaque(operand.name) & 31)

    def write(self, register: Register | None, value: Bits, dtype: str) -> None:
        if register is None:
            return
        full = width(self.function.register_dtypes[register.id])
        if value is not None:
            value = cut(value, dtype)
            if dtype.startswith("s") and width(dtype) < full:
                value = as_signed(value, width(dtype))
            value &= (1 << full) - 1
        self.registers[register.id] = value

    def address(self, operation: Operation) -> Bits:
        base = self.operand(operation.src[0])
        if base is None:
            return None
        limit = 32 if operation.space in (Space.LOCAL, Space.PRIVATE, Space.PARAMETER) else 64
        return (base + operation.offset) & ((1 << limit) - 1)

    def load(self, operation: Operation) -> None:
        address = self.address(operation)
        for place, register in enumerate(operation.dst):
            at = None if address is None else address + place * operation.width
            if at is None:
                value: Bits = None
            elif operation.space == Space.PARAMETER:
                value = int.from_bytes(self.parameters[at : at + operation.width], "little")
            else:
                key = (int(operation.space), at)
                value = self.memory[key] if key in self.memory else opaque("initial", key) & 0xFFFFFF
            self.write(register, value, operation.dtype)
        if "volatile" in (operation.cache, *operation.mods):
            self.effects.append(("load", operation.space, address, operation.width, operation.vector))

    def store(self, operation: Operation) -> None:
        address = self.address(operation)
        values = [self.operand(source) for source in operation.src[1:]]
        values = [None if value is None else cut(value, operation.dtype) for value in values]
        self.effects.append((operation.op, operation.mods, operation.space, address, operation.width, *values))
        if operation.op == "store" and address is not None:
            for place, value in enumerate(values):
                self.memory[(int(operation.space), address + place * operation.width)] = value

    def other(self, operation: Operation, bits: list[Bits]) -> None:
        plain = operation.op in ("compare",)
        if plain and len(bits) == 3 and bits[2] is not None and None in bits:
            # A third operand that decides alone does not care about the comparison.
            third = bool(bits[2] & 1) != ("negated" in operation.mods)
            if (operation.mods[1], third) in (("or", True), ("and", False)):
                bits = [0, 0, bits[2]]
        if any(value is None for value in bits) and operation.op != "select":
            for register in operation.dst:
                self.write(register, None, operation.dtype if not plain else "pred")
        elif operation.op == "select" and (bits[2] is None or bits[0 if bits[2] & 1 else 1] is None):
            self.write(operation.dst[0], None, operation.dtype)
        elif operation.op == "compare":
            self.compare(operation, bits)  # type: ignore[arg-type]
        elif operation.op == "unpack":
            for place, register in enumerate(operation.dst):
                self.write(register, bits[0] >> place * width(operation.dtype), operation.dtype)  # type: ignore[operator]
        else:
            result = arithmetic(operation, [0 if value is None else value for value in bits])
            for place, register in enumerate(operation.dst):
                if register is None:
                    continue
                dtype = operation.dtype if operation.dtype in BITS else self.function.register_dtypes[register.id]
                name = operation.op.replace("reduce_atomic", "atomic")
                guess = opaque(name, operation.dtype, operation.mods, operation.source_dtype, bits, place, operation.offset)
                self.write(register, guess if result is None else result, dtype if width(dtype) <= 64 else "b64")

    def compare(self, operation: Operation, bits: list[int]) -> None:
        mode = operation.mods[0]
        if operation.dtype in FLOATS or mode not in COMPARE or operation.dtype not in BITS:
            # An unordered comparison is the inverse of the ordered one it complements.
            base = UNORDERED.get(mode, mode)
            outcome = bool(opaque("compare", base, operation.dtype, bits[:2]) & 1) != (base != mode)
        else:
            unsigned = mode in ("lo", "ls", "hi", "hs")
            a, b = (cut(v, operation.dtype) if unsigned else as_type(v, operation.dtype) for v in bits[:2])
            outcome = truth(COMPARE[mode], a, b)
        third = bool(bits[2] & 1) != ("negated" in operation.mods) if len(bits) == 3 else None
        for register, value in zip(operation.dst, (outcome, not outcome), strict=False):
            if third is not None:
                value = {"and": value and third, "or": value or third, "xor": value != third}[operation.mods[1]]
            self.write(register, int(value), "pred")

    def wave_number(self, operation: Operation, bits: list[Bits]) -> bool:
        """Whether lanes hand each other `tid.x >> 5`, which all of them hold where rows of threads are whole waves."""
        rows = self.function.required_threads
        whole = rows is not None and rows[0] % 32 == 0 and operation.mods == ("idx",) and all(part is None for part in operation.dst[1:])
        return whole and bits[0] == self.specials["tid.x"] >> 5 and bits[1] is not None and bits[1] < 32 and bits[2] == 31

    def step(self, operation: Operation) -> str | int | None:
        """Run one operation; a block to go to, how the run ends, or None to go on."""
        if operation.guard is not None:
            guard = self.registers[operation.guard.id]
            if guard is None:
                return "undefined"
            if bool(guard & 1) == operation.guard_negated:
                return None
        op = operation.op
        if op in ("exit", "trap"):
            return "exit"
        if op == "branch":
            return operation.target[0]
        if op == "branch_index":
            index = self.operand(operation.src[0])
            return "undefined" if index is None or index >= len(operation.target) else operation.target[index]
        if op == "load":
            self.load(operation)
        elif op in ("store", "reduce_atomic"):
            self.store(operation)
        else:
            bits = [self.operand(source) for source in operation.src]
            if op == "atomic":
                self.effects.append(("atomic", operation.mods, operation.space, self.address(operation), operation.width, *bits[1:]))
                bits[0] = self.address(operation)
                operation = attrs.evolve(operation, offset=0)
            elif operation.offset or operation.source_offset:
                # An offset belongs to its address, whichever of the two holds it.
                moved = [operation.offset, operation.source_offset if op in ("async_copy", "bulk_copy") else 0]
                for place, offset in enumerate(moved[: len(bits)]):
                    if offset and bits[place] is not None:
                        bits[place] = bits[place] + offset & 0xFFFFFFFFFFFFFFFF
                operation = attrs.evolve(operation, offset=0, source_offset=0)
            if op == "shuffle" and self.wave_number(operation, bits):
                self.write(operation.dst[0], bits[0], operation.dtype)
                return None
            if op in ("shuffle", "vote", "barrier", "fence", "match") or op.startswith(
                ("matrix", "async", "bulk", "mbarrier", "fragment", "cluster")
            ):
                self.effects.append((op, operation.mods, *bits))
            self.other(operation, bits)
        return None


def run(function: Function, parameters: bytes, specials: Mapping[str, int], limit: int = 4000) -> Run:
    """Run until the end or `limit` effects and 20 times as many operations."""
    lane = Lane(function, parameters, specials)
    block, steps = 0, 0
    while True:
        if block < 0 or steps > 20 * limit or len(lane.effects) > limit:
            return Run(lane.effects, "limit")
        goto: str | int | None = None
        for operation in function.blocks[block].operations:
            steps += 1
            goto = lane.step(operation)
            if goto is not None:
                break
        if isinstance(goto, str):
            return Run(lane.effects, goto)
        block = function.blocks[block].next if goto is None else goto


def agree(source: Run, cleaned: Run) -> str:
    """Why the cleaned function's run is not the source's, or nothing. Undefined values of the source may become anything."""
    for place, (a, b) in enumerate(zip(source.effects, cleaned.effects, strict=False)):
        if len(a) != len(b):
            return f"effect {place}: {a} became {b}"
        for x, y in zip(a, b, strict=True):
            if x != y and x is not None:
                if {a[0], b[0]} == {"atomic", "reduce_atomic"} and x in ("atomic", "reduce_atomic"):
                    continue
                return f"effect {place}: {a} became {b}"
    if source.end == "exit" and (cleaned.end != "exit" or len(cleaned.effects) != len(source.effects)):
        return f"ended by {cleaned.end} after {len(cleaned.effects)} effects instead of {source.end} after {len(source.effects)}"
    if source.end == "undefined" and len(cleaned.effects) < len(source.effects):
        return "ended early"
    return ""
