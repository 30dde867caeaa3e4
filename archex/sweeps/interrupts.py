"""Interrupts where they do no harm.

In: Ctrl-C, or SIGTERM, at any moment of a run. Out: KeyboardInterrupt in the main thread, but never while rows are being put away.
"""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts(AbstractContextManager["Interrupts"]):
    """Both signals are ours while the context is open. Within `with interrupts.held:` they wait until its end."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._depth = 0
        self._came = False
        self.held = _Held(self)

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():  # only there may handlers be set, and only there do they run
            self._before = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def ignore(self) -> None:
        """From now on the run is ending anyway."""
        self._depth += 1

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._depth:
            self._came = True
        else:
            raise KeyboardInterrupt

    def hold(self, change: int) -> None:
        """Enter or leave a stretch without interrupts."""
        self._depth += change
        if self._came and not self._depth:
            self._came = False
            raise KeyboardInterrupt


class _Held(AbstractContextManager[None]):
    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def __enter__(self) -> None:
        self._interrupts.hold(1)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._interrupts.hold(-1)
