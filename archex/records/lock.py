"""One writer a folder.

In: a run's folder. Out: a lock held until it is released or the process ends, however it ends (`flock` on `.lock`); RequestError names the
process that holds it. Whoever only looks on can ask who writes (`holder`) and how many rows there will be (`expected`).
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

from archex.base.errors import Problem, RequestError
from archex.records.files import OutputError

NAME = ".lock"
#: Somebody who asks for the holder has the lock for an instant (longer where cores are short): tries, and seconds between them.
_TRIES = 25
_BETWEEN = 0.02


_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class Lock:
    """Held from the start; `release` leaves no file behind."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            self._file = self._take(folder)
        except OSError as error:
            raise OutputError.of(self.path, error) from None

    def _take(self, folder: Path) -> int:
        import fcntl

        tries = 0
        while True:
            tries += 1
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno in _HELD:
                    by = _said(file)[0]
                    os.close(file)
                    if tries < _TRIES:
                        time.sleep(_BETWEEN)
                        continue
                    raise RequestError([Problem("output", str(folder), f"is being written by {by}")]) from None
                # A file system without locks: nothing to be done, and no reason to run nothing.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(self.path)):  # else its holder deleted it between our open and our lock
                    try:
                        os.ftruncate(file, 0)
                        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
                    except OSError:  # a disk that is full already: nothing stays that says somebody writes here
                        self.path.unlink(missing_ok=True)
                        os.close(file)
                        raise
                    return file
            os.close(file)

    def expect(self, rows: int) -> None:
        """Tell those who look on how many rows there will be."""
        if self._file >= 0:
            with suppress(OSError):
                os.pwrite(self._file, f"{os.getpid()}\n{rows}\n".encode(), 0)

    def release(self) -> None:
        """Let others write."""
        if self._file >= 0:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def holder(folder: Path) -> str | None:
    """Who writes there, such as `process 12`; None if nobody does."""
    import fcntl

    try:
        file = os.open(folder / NAME, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # held, or a file system without locks, where the file alone says so
        return _said(file)[0]
    finally:
        os.close(file)
    return None


def expected(folder: Path) -> int | None:
    """How many rows its writer said there will be."""
    try:
        file = os.open(folder / NAME, os.O_RDONLY)
    except OSError:
        return None
    try:
        return _said(file)[1]
    finally:
        os.close(file)


def _said(file: int) -> tuple[str, int | None]:
    """(who, how many rows) of an open lock."""
    process, _, rows = os.pread(file, 100, 0).decode(errors="replace").partition("\n")
    return f"process {process}" if process else "another process", int(rows) if rows.strip().isdigit() else None
