"""Results kept between processes, by content: a function's result under a hash of everything it depends on.

In: what the result depends on, and how to make it. Out: the result, from the user's cache folder or made and kept there. A file that is
torn or not ours is made again; a folder that cannot be written keeps nothing; past `MOST` bytes the oldest go.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_ROOT = Path(__file__).resolve().parents[1]
#: Folders whose sources decide what is kept.
_SOURCES = ("base", "programs", "lowering", "parts")
#: Bytes kept at most; then the oldest go until this share of it is left.
MOST = 256 << 20
LEFT = 0.8
#: Bytes a process writes between two looks at how much is kept: a look costs a call to the system a file.
EACH = 4 << 20
_SEAL = 32  # bytes of the hash that each file begins with

#: Bytes written since the last look; a process looks at its first.
_written = [EACH]

Result = TypeVar("Result")


def folder() -> Path:
    """Where results are kept: beside compiled code, in `$ARCHEX_CACHE` or the user's cache folder."""
    base = os.environ.get("ARCHEX_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "archex")
    return Path(base) / "kept"


@functools.cache
def _sources() -> bytes:
    digest = hashlib.sha256(sys.version.encode())
    for name in _SOURCES:
        for path in sorted((_ROOT / name).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.digest()


def kept(kind: str, depends: tuple[Any, ...], make: Callable[[], Result]) -> Result:
    """The result of `make`, which depends on `depends` (plain data) and the sources of archex alone."""
    try:
        key = hashlib.sha256(_sources() + pickle.dumps((kind, depends), protocol=5)).hexdigest()
    except (pickle.PicklingError, TypeError, AttributeError):  # a plugin's own class that has no address: nothing is kept for it
        return make()
    path = folder() / f"{kind}-{key[:40]}"
    found = _read(path)
    if found is None:
        found = (make(),)
        with contextlib.suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
            _write(path, pickle.dumps(found, protocol=5))
    result: Result = found[0]
    return result


def _read(path: Path) -> Any:
    """What a file holds, as a tuple of one, or None."""
    try:
        content = path.read_bytes()
        if hashlib.sha256(content[_SEAL:]).digest() != content[:_SEAL]:
            return None
        found = pickle.loads(content[_SEAL:])
    except Exception:  # whatever is wrong with it, it is made again
        return None
    return found if isinstance(found, tuple) and len(found) == 1 else None


def _write(path: Path, content: bytes) -> None:
    """Put a whole file in place: readers see the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    _written[0] += len(content)
    if _written[0] >= EACH:
        _written[0] = 0
        make_room(path.parent)


def make_room(where: Path) -> None:
    """Delete the oldest files once all together pass `MOST` bytes."""
    files = []
    for path in where.iterdir():
        with contextlib.suppress(OSError):  # another process deletes too
            stat = path.stat()
            files.append((stat.st_mtime_ns, stat.st_size, path))
    total = sum(size for _, size, _ in files)
    if total <= MOST:
        return
    for _, size, path in sorted(files):
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
        if total <= LEFT * MOST:
            return
