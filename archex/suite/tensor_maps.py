"""Tensor maps of `launches.json`: which part of a buffer a kernel's bulk copies of boxes see, and how.

In: a `tensor_map` object. Out: an argument; its buffer is named as a buffer argument's is. Every rule that a map breaks is noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from archex.base.errors import ABSENT, closest
from archex.programs.arguments import Argument
from archex.programs.buffers import DTYPES, Buffer
from archex.programs.interpreter.boxes import MOST_DIMENSIONS
from archex.programs.tensor_map import ALIGNMENT, MOST_IN_BOX, OUTSIDE, SWIZZLES, TensorMap, packed

if TYPE_CHECKING:
    from archex.suite.reading import Reader

KEYS = ("dims", "strides", "box", "swizzle", "interleave", "outside")


def read_tensor_map(reader: Reader, path: str, given: Any, keys: tuple[str, ...], buffers: dict[str, Buffer]) -> Argument | None:
    """One argument; `keys`: those that say which buffer."""
    if not isinstance(given, dict):
        reader.problem(path, given, "must be an object with buffer, dims and box")
        return None
    reader.known(path, given, (*keys, *KEYS))
    before = len(reader.problems)
    base = reader.buffer(path, {"buffer": ABSENT} | {key: given[key] for key in keys if key in given}, buffers)
    dims = _extents(reader, path, given, "dims", 1 << 32)
    box = _extents(reader, path, given, "box", MOST_IN_BOX)
    swizzle = _choice(reader, path, given, "swizzle", SWIZZLES)
    _choice(reader, path, given, "interleave", (0,))
    outside = _choice(reader, path, given, "outside", OUTSIDE)
    if base is None or not dims or not box or len(reader.problems) > before:
        return None
    buffer = buffers[str(base.value)]
    dtype = given.get("dtype", buffer.dtype)
    strides = _strides(reader, path, given, dtype, dims)
    made = TensorMap(buffer.name, dtype, dims, strides, box, swizzle, outside, base.offset)
    if len(reader.problems) == before:
        _fits(reader, path, made, given, buffer)
    return Argument("tensor_map", made) if len(reader.problems) == before else None


def _extents(reader: Reader, path: str, given: dict[str, Any], key: str, most: int) -> tuple[int, ...]:
    found = given.get(key, ABSENT)
    rule = f"must be 1 to {MOST_DIMENSIONS} whole numbers from 1 to {most}, the innermost dimension's first"
    if not isinstance(found, list) or not 1 <= len(found) <= MOST_DIMENSIONS:
        reader.problem(f"{path}.{key}", found, rule)
        return ()
    if not all(isinstance(item, int) and not isinstance(item, bool) and 1 <= item <= most for item in found):
        reader.problem(f"{path}.{key}", found, rule)
        return ()
    return tuple(found)


def _choice(reader: Reader, path: str, given: dict[str, Any], key: str, choices: tuple[Any, ...]) -> Any:
    found = given.get(key, choices[0])
    if found not in choices or isinstance(found, bool):
        rule = f"must be {' or '.join(map(str, choices))}"
        reader.problem(f"{path}.{key}", found, rule, suggestion=closest(found, [c for c in choices if isinstance(c, str)]))
        return choices[0]
    return found


def _strides(reader: Reader, path: str, given: dict[str, Any], dtype: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    found = given.get("strides", list(packed(dtype, dims)))
    if not isinstance(found, list) or len(found) != len(dims) - 1:
        reader.problem(f"{path}.strides", found, f"must hold bytes for each dimension but the innermost: {len(dims) - 1} numbers")
        return packed(dtype, dims)
    if not all(isinstance(item, int) and not isinstance(item, bool) and item > 0 and item % ALIGNMENT == 0 for item in found):
        reader.problem(f"{path}.strides", found, f"must be multiples of {ALIGNMENT} bytes above 0")
        return packed(dtype, dims)
    return tuple(found)


def _fits(reader: Reader, path: str, made: TensorMap, given: dict[str, Any], buffer: Buffer) -> None:
    size = DTYPES[made.dtype][0]
    inner = made.box[0] * size
    if len(made.box) != len(made.dims):
        reader.problem(f"{path}.box", given["box"], f"must have as many numbers as dims, {len(made.dims)}")
    if inner % ALIGNMENT:
        reader.problem(f"{path}.box", given["box"], f"has rows of {inner} bytes: must be a multiple of {ALIGNMENT}")
    if made.swizzle and inner > made.swizzle:
        reader.problem(f"{path}.box", given["box"], f"has rows of {inner} bytes: at most the {made.swizzle} of the swizzle")
    if made.offset % ALIGNMENT:
        reader.problem(f"{path}.offset", made.offset, f"must be a multiple of {ALIGNMENT} bytes")
    if made.offset + made.span > buffer.size:
        text = f"reach {made.offset + made.span} bytes into `{buffer.name}`, which has {buffer.size}"
        reader.problem(f"{path}.dims", given["dims"], text)
    if made.outside == "nan" and made.dtype[0] in "iu":
        reader.problem(f"{path}.outside", made.outside, f"goes with floating-point types, not {made.dtype}")
