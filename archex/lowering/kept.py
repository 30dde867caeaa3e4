"""Results kept between processes, by content: a function's result under a hash of everything it depends on.

In: what the result depends on, and how to make it. Out: the result, from this process's memory, from the user's cache folder, or made and
kept there. A file that is torn or not ours is made again; a folder that cannot be written keeps nothing; past `MOST` bytes the oldest go.
Results are shared by all who ask in a process: they are read, never changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from archex.base.kept import make_room, put, root, sources

#: Folders whose sources decide what is kept.
_SOURCES = ("base", "programs", "lowering", "parts")
#: Bytes kept at most; then the oldest go.
MOST = 256 << 20
#: Bytes of files whose results stay in a process's memory, where they take several times as many.
RECENT = 8 << 20
#: Bytes a process writes between two looks at how much is kept: a look costs a call to the system a file.
EACH = 4 << 20
_SEAL = 32  # bytes of the hash that each file begins with

#: Bytes written since the last look; a process looks at its first.
_written = [EACH]
_recent: OrderedDict[Path, tuple[Any, int]] = OrderedDict()

Result = TypeVar("Result")


def folder() -> Path:
    """Where results are kept: beside compiled code."""
    return root() / "kept"


def key_of(kind: str, depends: tuple[Any, ...]) -> str | None:
    """The hash that a result is kept under; None where a plugin's own class, which has no address, is part of what it depends on."""
    try:
        return hashlib.sha256(sources(*_SOURCES) + pickle.dumps((kind, depends), protocol=5)).hexdigest()[:40]
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def kept(kind: str, depends: tuple[Any, ...] | None, make: Callable[[], Result]) -> Result:
    """The result of `make`, which depends on `depends` (plain data) and the sources of archex alone; not kept where that is None."""
    key = None if depends is None else key_of(kind, depends)
    if key is None:
        return make()
    path = folder() / f"{kind}-{key}"
    result: Result
    if path in _recent:
        _recent.move_to_end(path)
        result, _ = _recent[path]
        return result
    found, size = _read(path)
    if found is None:
        found = (make(),)
        with contextlib.suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
            content = pickle.dumps(found, protocol=5)
            size = len(content)
            _write(path, content)
    (result,) = found
    if size:
        _remember(path, result, size)
    return result


def _remember(path: Path, result: Any, size: int) -> None:
    """Keep a result in memory, in place of the least recently used."""
    _recent[path] = result, size
    held = sum(size for _, size in _recent.values())
    while held > RECENT:
        _, (_, size) = _recent.popitem(last=False)
        held -= size


def _read(path: Path) -> tuple[Any, int]:
    """What a file holds, as a tuple of one, or None; its bytes."""
    try:
        content = path.read_bytes()
        if hashlib.sha256(content[_SEAL:]).digest() != content[:_SEAL]:
            return None, 0
        found = pickle.loads(content[_SEAL:])
    except Exception:  # whatever is wrong with it, it is made again
        return None, 0
    return (found, len(content)) if isinstance(found, tuple) and len(found) == 1 else (None, 0)


def _write(path: Path, content: bytes) -> None:
    put(path, (hashlib.sha256(content).digest(), content))
    _written[0] += len(content)
    if _written[0] >= EACH:
        _written[0] = 0
        make_room(path.parent, MOST)
