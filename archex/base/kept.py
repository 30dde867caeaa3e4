"""Files that processes keep for each other: put in place whole, thrown away when there are too many.

In: a name of a folder, contents. Out: paths in the user's cache folder (`$ARCHEX_CACHE`), the state of the sources that a result depends
on. Nothing here says what a file holds or whether it is still right: whoever reads one checks it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
#: Share of the bytes allowed that is left once the oldest files had to go.
LEFT = 0.8


def root() -> Path:
    """`$ARCHEX_CACHE`, or archex's place in the user's cache folder."""
    base = os.environ.get("ARCHEX_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "archex")
    return Path(base)


@functools.cache
def sources(*folders: str) -> bytes:
    """Hash of archex's sources in these folders, and of the Python that runs them."""
    digest = hashlib.sha256(sys.version.encode())
    for name in folders:
        for path in sorted((_ROOT / name).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.digest()


def put(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Put a file in place: readers see the old one or the whole new one. OSError if it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def make_room(where: Path, most: int, spared: float = 0.0) -> bool:
    """Delete the oldest files once all together pass `most` bytes; whether they fit now. None used in the last `spared` seconds goes."""
    files = []
    for path in where.iterdir():
        with contextlib.suppress(OSError):  # another process deletes too
            stat = path.stat()
            files.append((stat.st_mtime_ns, stat.st_size, path))
    total = sum(size for _, size, _ in files)
    if total <= most:
        return True
    newest = time.time_ns() - int(spared * 1e9)
    for changed, size, path in sorted(files):
        if spared and changed > newest:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
        if total <= LEFT * most:
            break
    return total <= most
