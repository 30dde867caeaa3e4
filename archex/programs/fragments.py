"""Fragments of matrices in registers, taken apart into what hardware does for them.

In: a function with `fragment_load`, `fragment_store` and products on fragments (`matrix` with the mods of `wmma.mma`). Out: the same
function with address arithmetic by lane, `matrix_load` or loads, products of the shape the registers are laid out for, and stores.

A fragment is a row of *pieces*: with g = lane / 4 and t = lane % 4, piece (G, T) holds line g + G at positions p*t + T .. p*t + T + p-1,
where p is what a 32-bit register holds (operands), or 2 (accumulators). A line is a row of the first operand or of the accumulator, a
column of the second operand. Products of 8 rows and 32 columns are computed transposed, so that operands change roles.
"""

from __future__ import annotations

from typing import Any

import attrs

from archex.programs.fragment_code import Writer
from archex.programs.ir import Function, Immediate, Operand, Operation, Register, Space
from archex.programs.types import BITS

#: Extents of the product that a fragment's registers are laid out for, by type of operands: m, n, k.
_PRODUCTS = {
    "f16": (16, 8, 16), "bf16": (16, 8, 16), "tf32": (16, 8, 8), "s8": (16, 8, 16), "u8": (16, 8, 16),
    "s4": (8, 8, 32), "u4": (8, 8, 32), "b1": (8, 8, 128), "f64": (8, 8, 4),
}  # fmt: skip
_ACCUMULATORS = frozenset({"f16", "f32", "s32", "f64"})


def expand(function: Function) -> None:
    """Take fragments apart, in place."""
    if not any(_is_fragment(operation) for block in function.blocks for operation in block.operations):
        return
    writer = Writer(function)
    for block in function.blocks:
        old, block.operations = block.operations, []
        for operation in old:
            if not _is_fragment(operation):
                block.operations.append(operation)
                continue
            writer.begin(block, operation)
            if operation.op == "matrix":
                _multiply(writer, operation)
            elif operation.op == "fragment_load":
                _load(writer, operation)
            else:
                _store(writer, operation)
    writer.finish()


def _is_fragment(operation: Operation) -> bool:
    return operation.op in ("fragment_load", "fragment_store") or (operation.op == "matrix" and "mma" in operation.mods)


@attrs.frozen
class _Fragment:
    """Where the elements of a fragment lie: pieces in the order of registers, positions of a piece, whether memory runs along a line."""

    pieces: tuple[tuple[int, int], ...]
    positions: int
    bits: int
    along: bool


def _extents(mods: tuple[str, ...]) -> tuple[int, int, int]:
    shape = next(part for part in mods if part.startswith("m") and part[1:2].isdigit())
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def _fragment(operation: Operation) -> _Fragment:
    m, n, _ = _extents(operation.mods)
    role = next(part for part in operation.mods if part in ("a", "b", "c", "d"))
    layout = "row" if "row" in operation.mods else "col"
    bits = BITS[operation.dtype]
    turned = (m, n) == (8, 32)
    if role in "cd":
        tall, wide = (n, m) if turned else (m, n)
        pieces = tuple((g, t) for up in range(0, tall, 16) for t in range(0, wide, 8) for g in range(up, min(up + 16, tall), 8))
        return _Fragment(pieces, 2, bits, layout == ("col" if turned else "row"))
    positions = 32 // bits or 1
    _, _, depth = _PRODUCTS[operation.dtype]
    lines = m if role == "a" else n
    steps = range(0, depth, 4 * positions)
    along = layout == ("row" if role == "a" else "col")
    if (role == "a") != turned:
        return _Fragment(
            tuple((g, t) for up in range(0, lines, 16) for t in steps for g in range(up, min(up + 16, lines), 8)), positions, bits, along
        )
    return _Fragment(tuple((g, t) for g in range(0, lines, 8) for t in steps), positions, bits, along)


def _load(writer: Writer, operation: Operation) -> None:
    fragment, stride = _fragment(operation), operation.src[1]
    registers = len(fragment.pieces) * max(1, fragment.positions * fragment.bits // max(32, fragment.bits))
    if len(operation.dst) not in (registers, 8):
        raise writer.error(f"expected {registers} registers, found {len(operation.dst)}")
    found: list[Register]
    if operation.space == Space.LOCAL and fragment.bits == 16 and fragment.positions == 2 and len(fragment.pieces) > 1 and (
        "a" in operation.mods or "b" in operation.mods
    ):  # fmt: skip
        found = _load_matrices(writer, operation, fragment, stride)
    elif fragment.along:
        found = _load_along(writer, operation, fragment, stride)
    else:
        found = _load_across(writer, operation, fragment, stride)
    # Half-precision operands come again and again in the eight registers that programs name.
    for target, value in zip(operation.dst, [*found, *found, *found, *found], strict=False):
        if target is not None:
            writer.emit("move", writer.dtype(target), (target,), (value,), guarded=True)


def _load_matrices(writer: Writer, operation: Operation, fragment: _Fragment, stride: Operand) -> list[Register]:
    """Whole 8 x 8 matrices out of local memory: lanes 8 i .. 8 i + 7 give the rows of matrix i."""
    found: list[Register] = []
    for first in range(0, len(fragment.pieces), 4):
        some = fragment.pieces[first : first + 4]
        g0, t0 = some[0]
        lines_first = some[1][0] != g0  # matrix 1 is 8 lines on, else 8 positions
        # The two bits of the matrix's number, as 8 or 0 to add.
        low, high = writer.lane_bits(3, 8), writer.lane_bits(4, 8) if len(some) > 2 else Immediate(0)
        line, position = (low, high) if lines_first else (high, low)
        rows, columns = (line, position) if fragment.along else (position, line)
        row = writer.add32(rows, writer.lane_bits(0, 8))
        step = writer.mad32(row, stride, columns)
        start = (g0, t0) if fragment.along else (t0, g0)
        address = writer.address(writer.shift32(step, 1), stride, start[0], 2 * start[1], 2)
        values = [writer.new("b32") for _ in some]
        mods = ("sync", "aligned", "m8n8", f"x{len(some)}", *(() if fragment.along else ("trans",)), "shared", "b16")
        writer.emit(
            "matrix_load", "b16", values, (address.base,), guarded=True, space=Space.LOCAL, offset=address.offset, width=16,
            vector=len(some), mods=mods,
        )  # fmt: skip
        found += values
    return found


def _load_along(writer: Writer, operation: Operation, fragment: _Fragment, stride: Operand) -> list[Register]:
    """A load a piece."""
    found = []
    packed = fragment.bits < 32
    width = 4 if packed else fragment.bits // 8
    count = 1 if packed else fragment.positions
    kind = "b32" if packed else f"b{fragment.bits}"
    for base, offset in writer.pieces_along(fragment.pieces, fragment.positions, fragment.bits, stride):
        values = [writer.new(kind) for _ in range(count)]
        writer.emit(
            "load", kind, values, (base,), guarded=True, space=operation.space, offset=offset, width=width, vector=count, cache="ca"
        )
        found += values
    return found


def _load_across(writer: Writer, operation: Operation, fragment: _Fragment, stride: Operand) -> list[Register]:
    """A load an element; short ones are put together."""
    if fragment.bits < 8:
        raise writer.error("elements of less than a byte lie along a line only")
    found = []
    size = fragment.bits // 8
    kind = f"b{max(16, fragment.bits)}"
    for piece in writer.pieces_across(fragment.pieces, fragment.positions, size, stride):
        parts = []
        for base, offset in piece:
            value = writer.new(kind)
            writer.emit(
                "load", f"b{fragment.bits}", (value,), (base,), guarded=True, space=operation.space, offset=offset, width=size, cache="ca"
            )
            parts.append(value)
        found += parts if fragment.bits >= 32 else [writer.pack(parts, fragment.bits)]
    return found


def _store(writer: Writer, operation: Operation) -> None:
    fragment, stride = _fragment(operation), operation.src[-1]
    values = list(operation.src[1:-1])
    packed = fragment.bits < 32
    each = 1 if packed else fragment.positions
    if len(values) != each * len(fragment.pieces):
        raise writer.error(f"expected {each * len(fragment.pieces)} registers, found {len(values)}")
    groups = [values[i : i + each] for i in range(0, len(values), each)]
    shape: dict[str, Any] = {"guarded": True, "space": operation.space, "cache": operation.cache}
    if fragment.along:
        width = 4 if packed else fragment.bits // 8
        places = writer.pieces_along(fragment.pieces, fragment.positions, fragment.bits, stride)
        for (base, offset), group in zip(places, groups, strict=True):
            writer.emit("store", f"b{8 * width}", (), (base, *group), offset=offset, width=width, vector=each, **shape)
        return
    for piece, group in zip(writer.pieces_across(fragment.pieces, fragment.positions, fragment.bits // 8, stride), groups, strict=True):
        parts = writer.unpack(group[0], fragment.bits, fragment.positions) if packed else group
        for (base, offset), value in zip(piece, parts, strict=True):
            width = fragment.bits // 8
            writer.emit("store", f"b{fragment.bits}", (), (base, value), offset=offset, width=width, **shape)


def _multiply(writer: Writer, operation: Operation) -> None:
    """Products of the shape the registers are laid out for, one behind the other."""
    types = [part for part in operation.mods if part in BITS]
    result, start = types[0], types[-1]
    elements = ("f16", "f16") if len(types) == 2 else (types[1], types[2])
    m, n, k = _extents(operation.mods)
    turned = (m, n) == (8, 32)
    at = 0
    inputs: list[list[Operand]] = []
    for length in operation.groups:
        inputs.append(list(operation.src[at : at + length]))
        at += length
    a, b, c = inputs
    if turned:
        a, b, m, n, elements = b, a, n, m, (elements[1], elements[0])
    height, width, _ = _PRODUCTS[elements[0]]
    if start != result:
        c = writer.convert_all(c, start, result)
        start = result
    each = len(c) * height * width // (m * n)
    a_each = _registers(height, k, elements[0])
    b_each = _registers(width, k, elements[1])
    made: list[Register] = []
    mods = tuple(
        part for part in operation.mods if part not in (*BITS, "mma", "row", "col") and not (part.startswith("m") and part[1:2].isdigit())
    )
    kinds = (result, *elements, start)
    for tile in range(m * n // (height * width)):
        first, second = (tile, 0) if m > height else (0, tile)
        sources = (
            a[first * a_each : (first + 1) * a_each], b[second * b_each : (second + 1) * b_each], c[tile * each : (tile + 1) * each]
        )  # fmt: skip
        results = [writer.new(writer.dtype(value)) for value in operation.dst[tile * each : (tile + 1) * each] if value is not None]
        flat = tuple(value for group in sources for value in group)
        writer.emit(
            "matrix", result, results, flat, guarded=True, groups=tuple(map(len, sources)),
            mods=(*mods, f"m{height}n{width}k{k}", "row", "col", *kinds),
        )  # fmt: skip
        made += results
    for target, value in zip(operation.dst, made, strict=True):
        if target is not None:
            writer.emit("move", writer.dtype(target), (target,), (value,), guarded=True)


def _registers(lines: int, depth: int, element: str) -> int:
    """Registers a lane needs for an operand."""
    return max(1, lines * depth * BITS[element] // (32 * max(32, BITS[element])))
