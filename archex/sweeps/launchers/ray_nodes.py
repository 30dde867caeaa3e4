"""The nodes of a cluster that jobs may go to: those that are there and have this archex.

In: what Ray says of its nodes, a look a second. Out: `Node`s with the room they have. Jobs are placed here and not by Ray, which lets the
whole queue wait (half a minute) for a node that is gone.
"""

from __future__ import annotations

import time
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, RequestError
from archex.sweeps.launchers import ray_node

ADDRESS = "hydra.launcher.address"
_STARTING = 120.0  # seconds in which a node starts a worker
_LOOK = 1.0  # seconds between two looks
#: Seconds in which a node that seemed lost gets nothing: Ray itself knows after that time.
_AVOIDED = 60.0


@attrs.define
class Node:
    """busy: jobs that it was given. avoided: until when it gets no more."""

    id: str
    name: str
    cpus: int
    busy: int = 0
    avoided: float = 0.0


class Nodes:
    """Every node there is now, of those that were examined."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._look = ray.remote(num_cpus=0, max_retries=0)(_look())
        self._looks: dict[Any, tuple[Node, float]] = {}  # under way
        self._known: dict[str, Node] = {}  # and good
        self._asked: set[str] = set()
        self._there: set[str] = set()
        self._seen = 0.0
        self.refused: list[Problem] = []

    def examine(self) -> None:
        """Every node that is there. RequestError names those that have not what it takes, with the reason."""
        problems = self._see(wait=True)
        if problems:
            raise RequestError(sorted(set(problems), key=str))
        if not self.cpus:
            raise RequestError([Problem(ADDRESS, ABSENT, "the cluster has no CPU: start a node with ray start --address=HEAD:PORT")])

    def current(self) -> list[Node]:
        """Those that jobs may go to now. One that came and has another archex is none of them: rows are never mixed."""
        if time.monotonic() - self._seen > _LOOK:
            self.refused += self._see(wait=False)
        return [node for key, node in self._known.items() if key in self._there and node.avoided <= time.monotonic()]

    @property
    def cpus(self) -> int:
        """Of all of them."""
        return sum(node.cpus for node in self.current())

    def avoid(self, node: Node) -> None:
        """A job was lost with it."""
        node.avoided = time.monotonic() + _AVOIDED

    def _see(self, wait: bool) -> list[Problem]:
        """Look who is there, and hear what new ones say of their archex."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = {one["NodeID"]: one for one in self._ray.nodes() if one["Alive"] and one["Resources"].get("CPU", 0) >= 1}
        self._there, self._seen = set(there), time.monotonic()
        for key in self._there - self._asked:
            self._asked.add(key)
            node = Node(key, there[key]["NodeManagerHostname"], int(there[key]["Resources"]["CPU"]))
            here = NodeAffinitySchedulingStrategy(key, soft=False)
            self._looks[self._look.options(scheduling_strategy=here).remote()] = (node, time.monotonic())
        if not self._looks:
            return []
        waiting = list(self._looks)
        done, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=_STARTING if wait else 0)
        heard = [problem for look in done if (problem := self._heard(look, *self._looks.pop(look)))]
        late = [look for look, (_, since) in self._looks.items() if time.monotonic() - since >= _STARTING]
        return heard + [_wrong(self._looks.pop(look)[0], f"starts no worker within {_STARTING:g} s") for look in late]

    def _heard(self, look: Any, node: Node, since: float) -> Problem | None:
        exceptions = self._ray.exceptions
        try:
            found = self._ray.get(look)
        except (exceptions.NodeDiedError, exceptions.WorkerCrashedError, exceptions.TaskUnschedulableError):
            return None  # gone again
        except exceptions.RayError as error:
            return _wrong(node, f"runs nothing: {str(error).strip().splitlines()[-1][:400]}")
        if found != ray_node.sources():
            other = f"has another archex, or other plugins (sources {found}, here {ray_node.sources()})"
            return _wrong(node, f"{other}: install the same everywhere")
        self._known[node.id] = node
        return None


def _wrong(node: Node, rule: str) -> Problem:
    return Problem(ADDRESS, ABSENT, f"node {node.name} {rule}")


def _look() -> Any:
    """What a node says of its archex; goes there by value, so that it can say that there is none."""

    def look() -> str:
        try:
            from archex.sweeps.launchers.ray_node import sources
        except ImportError as error:
            return f"none: {error}"
        return sources()

    return look
