"""All streams of a process share one queue."""

from __future__ import annotations

from typing import Any

from archex.parts.host import Host


class SingleQueue(Host):
    """One queue for all: what waits at its head holds up everybody."""

    name = "single_queue"

    @staticmethod
    def pick_queue(stream: int, queues: int, waiting: Any, state: Any, params: Any) -> int:
        return 0
