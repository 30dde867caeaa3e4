"""A new stream gets the queue in which the fewest commands wait."""

from __future__ import annotations

from typing import Any

from archex.parts.host import Host


class LeastLoadedQueues(Host):
    """Looks where the fewest commands wait; of equal ones, the queue with the fewest streams so far."""

    name = "least_loaded_queues"

    @staticmethod
    def pick_queue(stream: int, queues: int, waiting: Any, state: Any, params: Any) -> int:
        if not state:
            state.extend([0] * queues)
        found = min(range(queues), key=lambda queue: (waiting[queue], state[queue], queue))
        state[found] += 1
        return found
