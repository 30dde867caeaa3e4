"""A script that has a terminal of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time


class Terminal:
    """Runs `script` in a terminal of 100 columns and 30 lines; what it shows, control codes and all."""

    def __init__(self, script: str, term: str = "xterm-256color") -> None:
        self._outer, inner = pty.openpty()
        environment = os.environ | {"TERM": term, "COLUMNS": "100", "LINES": "30"}
        self.process = subprocess.Popen([sys.executable, "-c", script], stdout=inner, stderr=inner, stdin=inner, env=environment)
        os.close(inner)
        self._shown = b""

    def until(self, text: str, seconds: float = 30.0) -> None:
        """Read until it has shown `text`."""
        end = time.monotonic() + seconds
        while text.encode() not in self._shown and self._read():
            assert time.monotonic() < end, self._shown.decode()

    def rest(self) -> str:
        """All that was shown, when it has ended."""
        while self._read():
            pass
        os.close(self._outer)
        return self._shown.decode()

    def _read(self) -> bool:
        try:
            part = os.read(self._outer, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self._shown += part
        return bool(part)
