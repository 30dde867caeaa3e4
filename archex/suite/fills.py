"""What a buffer holds at the start: the fills of `launches.json`.

In: a fill object, the buffer's type and bytes. Out: a `Fill`, and the bytes of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from archex.base.errors import ABSENT, closest
from archex.programs.buffers import DTYPES, Fill

if TYPE_CHECKING:
    from archex.suite.reading import Reader

#: Fill kind -> its keys (`seed` goes with all that are random).
KINDS: dict[str, tuple[str, ...]] = {
    "zero": (),
    "uniform": ("low", "high", "seed"),
    "uniform_int": ("low", "high", "seed"),
    "arange": ("step",),
    "random_cycle": ("stride_bytes", "seed"),
    "banded": ("row_length", "columns"),
    "file": ("file",),
}
_WHOLE = ("seed", "stride_bytes", "row_length", "columns")


def read_fill(reader: Reader, path: str, given: Any, dtype: str, size: int) -> tuple[Fill, bytes]:
    """The fill, zero when left out; a file's bytes beside it."""
    if given is None:
        return Fill(), b""
    if not isinstance(given, dict) or "kind" not in given:
        reader.problem(path, given, "must be an object with a kind", tuple(KINDS))
        return Fill(), b""
    kind = given["kind"]
    if kind not in KINDS:
        reader.problem(f"{path}.kind", kind, "is not a known fill", tuple(KINDS), closest(kind, KINDS))
        return Fill(), b""
    reader.known(path, given, ("kind", *KINDS[kind]))
    if kind == "file":
        return _file(reader, path, given.get("file", ABSENT), dtype, size)
    values: dict[str, Any] = {}
    for key in KINDS[kind]:
        value = given.get(key)
        if value is None:
            continue
        whole = key in _WHOLE or kind == "uniform_int"
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            reader.problem(f"{path}.{key}", value, f"must be a {'whole ' if whole else ''}number")
        elif key in ("stride_bytes", "row_length", "columns") and value < 1:
            reader.problem(f"{path}.{key}", value, "must be at least 1")
        else:
            values[key] = value
    fill = Fill(kind, **values)
    if kind == "uniform_int" and fill.high <= fill.low:
        reader.problem(path, given, "needs high above low (high is excluded)")
    if kind == "random_cycle" and fill.stride_bytes % DTYPES[dtype][0]:
        reader.problem(f"{path}.stride_bytes", fill.stride_bytes, f"must be a multiple of the {DTYPES[dtype][0]} bytes of {dtype}")
    return fill, b""


def _file(reader: Reader, path: str, name: Any, dtype: str, size: int) -> tuple[Fill, bytes]:
    """An array beside `launches.json`, as large as the buffer or smaller (the rest is zero)."""
    if not isinstance(name, str):
        reader.problem(f"{path}.file", name, "must name an .npy file")
        return Fill(), b""
    found = reader.folder / name
    try:
        array = np.load(found, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reader.problem(f"{path}.file", name, f"is no readable .npy file: {error}")
        return Fill(), b""
    element, _, kind = DTYPES[dtype]
    if array.dtype != np.dtype(kind) and array.dtype.itemsize != element:
        reader.problem(f"{path}.file", name, f"holds {array.dtype}, the buffer is {dtype}")
    data = array.tobytes()
    if len(data) > size:
        reader.problem(f"{path}.file", name, f"holds {len(data)} bytes, the buffer has {size}")
    return Fill("file", file=found), data[:size].ljust(size, b"\0")
