"""One writer a folder.

In: a run's folder. Out: a lock held until it is released or the process ends, however it ends (`flock` on `.lock`); RequestError names the
process that holds it.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from archex.base.errors import Problem, RequestError
from archex.records.files import OutputError

NAME = ".lock"


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

        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    holder = os.pread(file, 20, 0).decode(errors="replace").strip()
                    os.close(file)
                    by = f"process {holder}" if holder else "another process"
                    raise RequestError([Problem("output", str(folder), f"is being written by {by}")]) from None
                # A file system without locks: nothing to be done, and no reason to run nothing.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(self.path)):  # else its holder deleted it between our open and our lock
                    os.ftruncate(file, 0)
                    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
                    return file
            os.close(file)

    def release(self) -> None:
        """Let others write."""
        if self._file >= 0:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1
