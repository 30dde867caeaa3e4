"""Files put in place whole or not at all.

In: bytes and a path. Out: the file, or an `OutputError` of one line that leaves neither it nor a temporary one behind (an older file stays
as it was).
"""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path

from archex.base.errors import Problem


class OutputError(Exception):
    """Rows could not be written (a full or read-only disk, a folder gone): one line, ready to print. kept: others were, before."""

    def __init__(self, said: str, kept: bool = False) -> None:
        self.kept = kept
        super().__init__(said)

    @classmethod
    def of(cls, path: Path, error: OSError) -> OutputError:
        """What the system said about a path."""
        return cls(f"{path}: cannot be written: {error.strerror or str(error).splitlines()[0]}")


def replace(path: Path, content: bytes | memoryview) -> None:
    """Put `content` at `path`, whole or not at all."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError.of(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> Problem | None:
    """Whether a file at `path` (or in it, for a folder) could be written; leaves nothing behind."""
    is_file = path.suffix == ".parquet"
    if is_file and path.is_dir():
        return Problem("output", str(path), "is a folder; a name that ends in .parquet is one file")
    if not is_file and path.exists() and not path.is_dir():
        return Problem("output", str(path), "is a file; expected a folder, or a name that ends in .parquet")
    nearest = path.parent if is_file else path
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        return Problem("output", str(path), f"cannot be written: {nearest} is no folder")
    probe = nearest / f".archex-{uuid.uuid4().hex[:8]}.tmp"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        return Problem("output", str(path), f"cannot be written: {nearest}: {error.strerror}")
    return None
