"""Streams are dealt out to the queues in turn, in the order in which they are made."""

from __future__ import annotations

from typing import Any

from archex.parts.host import Host


class RoundRobinQueues(Host):
    """The next queue for each new stream; streams beyond the queues share, and wait for each other's heads."""

    name = "round_robin_queues"

    @staticmethod
    def pick_queue(stream: int, queues: int, waiting: Any, state: Any, params: Any) -> int:
        return stream % queues
