"""Products of small matrices for tests: registers of 32 lanes filled and read by the layouts that the PTX manual gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from archex.programs.buffers import Buffer
from archex.programs.trace import run_functional
from running import source, work

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "s32": 32}
#: (element number, group, thread in group) -> (row or column, position along k); as in the manual's sections on fragments.
Place = Callable[[int, int, int], tuple[int, int]]


def first(bits: int, depth: int, rows: int = 16) -> Place:
    """Multiplicand A."""
    each = max(1, 32 // bits)  # elements a register

    def place(i: int, g: int, t: int) -> tuple[int, int]:
        register, e = divmod(i, each)
        upper, step = (register % 2, register // 2) if rows == 16 else (0, register)
        return g + 8 * upper, t * each + e + 4 * each * step

    return place


def second(bits: int) -> Place:
    """Multiplicand B: (column, position)."""
    each = max(1, 32 // bits)
    return lambda i, g, t: (g, t * each + i % each + 4 * each * (i // each))


def total(i: int, g: int, t: int) -> tuple[int, int]:
    """Accumulators."""
    return g + 8 * (i // 2), 2 * t + i % 2


def _short(dtype: str) -> np.ndarray:
    """Values of the 128 patterns without a sign; what is not a number comes as infinity."""
    mantissa = {"e4m3": 3, "e5m2": 2}[dtype]
    patterns = np.arange(128)
    exponent, fraction, bias = patterns >> mantissa, patterns & ((1 << mantissa) - 1), (1 << (6 - mantissa)) - 1
    scale = np.where(exponent == 0, fraction, fraction + (1 << mantissa)) * 2.0 ** (np.maximum(exponent, 1) - bias - mantissa)
    return np.where(patterns >= {"e4m3": 127, "e5m2": 124}[dtype], np.inf, scale)


def encode(values: np.ndarray, dtype: str) -> np.ndarray:
    """Bits of each value, as int64; towards zero where numpy lacks the type."""
    if dtype in ("f16", "f32", "f64"):
        size = BITS[dtype] // 8
        return values.astype(f"f{size}").view(f"u{size}").astype(np.int64)
    if dtype in ("bf16", "tf32"):
        bits = values.astype(np.float32).view(np.uint32).astype(np.int64)
        return bits >> 16 if dtype == "bf16" else bits & ~0x1FFF
    if dtype in ("e4m3", "e5m2"):
        found = np.searchsorted(_short(dtype), np.abs(values), side="right") - 1
        return found | np.where(values < 0, 128, 0)
    return values.astype(np.int64) & ((1 << BITS[dtype]) - 1)


def decode(bits: np.ndarray, dtype: str) -> np.ndarray:
    """Values of bits, as float64 or int64."""
    if dtype in ("f16", "f32", "f64"):
        size = BITS[dtype] // 8
        return bits.astype(f"u{size}").view(f"f{size}").astype(np.float64)
    if dtype in ("bf16", "tf32"):
        return (bits << (16 if dtype == "bf16" else 0)).astype(np.uint32).view(np.float32).astype(np.float64)
    if dtype in ("e4m3", "e5m2"):
        return _short(dtype)[bits & 127] * np.where(bits & 128, -1.0, 1.0)
    found = bits & ((1 << BITS[dtype]) - 1)
    return found - ((found >> (BITS[dtype] - 1)) << BITS[dtype]) if dtype.startswith("s") else found


def registers(matrix: np.ndarray, bits: int, place: Place) -> np.ndarray:
    """[lane, register] words of a matrix of bits, [line, position]."""
    each = max(1, 32 // bits)
    count = matrix.size // 32
    words = np.zeros((32, max(1, count // each)), np.uint64)
    for lane in range(32):
        for i in range(count):
            words[lane, i // each] |= np.uint64((int(matrix[place(i, lane // 4, lane % 4)]) & (1 << bits) - 1) << bits * (i % each))
    return words


def matrix(words: np.ndarray, bits: int, place: Place, rows: int, columns: int) -> np.ndarray:
    """The matrix of bits that registers hold."""
    each = max(1, 32 // bits)
    found = np.zeros((rows, columns), np.uint64)
    for lane in range(32):
        for i in range(rows * columns // 32):
            word = int(words[lane, i // each])
            found[place(i, lane // 4, lane % 4)] = (word >> bits * (i % each)) & ((1 << bits) - 1)
    return found.view(np.int64)


def spread_indices(meta: np.ndarray, row: int, indices: int, bits: int, length: int, selector: int) -> None:
    """Put a row's `length` bits of indices of stored elements into the registers of its lanes."""
    upper, lane = row % 16 // 8, row % 8 * 4
    if bits >= 16:  # halves of a register: rows g and g + 8
        for word in range(length // 16):
            at = lane + (selector if length == 16 else 2 * selector + word)
            meta[at] = int(meta[at]) & (0xFFFF if upper else 0xFFFF << 16) | (indices >> 16 * word & 0xFFFF) << 16 * upper
        return
    for word in range(length // 32):  # a register a row
        meta[lane + upper + (2 * selector if length == 32 else 2 * word)] = indices >> 32 * word & 0xFFFF_FFFF


def run(instruction: str, inputs: list[np.ndarray], results: int, wide: bool = False, width: int = 32, local: int = 0) -> np.ndarray:
    """Words [lane, result] after `instruction`; `{0}`, `{1}`, ... in it are vectors of registers, `{d}` the results."""
    kind, size = ("b64", 8) if wide else ("b32", 4)
    names = [[f"i{n}x{k}" for k in range(array.shape[1])] for n, array in enumerate(inputs)]
    declared = "".join(f".reg .{'b64' if wide else 'b32'} {', '.join(group)}; " for group in names)
    declared += f".reg .{kind} {', '.join(f'd{k}' for k in range(results))}; "
    body = ["mov.u32 r0, %tid.x;"]
    for n, group in enumerate(names):
        body.append(f"ld.param.u64 rd0, [in{n}]; mad.wide.u32 rd0, r0, {size * len(group)}, rd0;")
        body += [f"ld.global.{kind} {name}, [rd0+{size * k}];" for k, name in enumerate(group)]
    vectors = ["{" + ", ".join(group) + "}" for group in names]
    result = "{" + ", ".join(f"d{k}" for k in range(results)) + "}"
    for n, vector in enumerate(vectors):
        instruction = instruction.replace("{" + str(n) + "}", vector)
    body.append(instruction.replace("{d}", result))
    body.append(f"ld.param.u64 rd0, [o]; mad.wide.u32 rd0, r0, {size * results}, rd0;")
    body += [f"st.global.{kind} [rd0+{size * k}], d{k};" for k in range(results)]
    parameters = ", ".join([*(f".param .u64 in{n}" for n in range(len(inputs))), ".param .u64 o"])
    function = source("\n".join([*body, "ret;"]), parameters, declared)
    kinds = f"u{8 * size}"
    groups = max(1, width // 32)
    buffers = []
    for n, array in enumerate(inputs):
        data = np.concatenate([array] * groups).astype(f"u{size}")
        buffers.append(Buffer(f"A{n}", kinds, data.nbytes, data=data.tobytes()))
    out = Buffer("R", kinds, groups * 32 * results * size)
    found = run_functional(function, work(1, 32 * groups, *buffers, out, local=local), width).read("R").reshape(groups, 32, results)
    assert (found == found[0]).all()
    return found[0].astype(np.uint64)
