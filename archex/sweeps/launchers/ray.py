"""Jobs on many machines: the nodes of a Ray cluster, one job at a time a CPU.

In: jobs, the shelf, limits. Out: `Done` as jobs end. What the shelf holds goes through Ray's object store once, files with it, so that no
folder has to be shared. A job that was lost with its node is not to blame: it is given out again here, unlike one that failed.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, RequestError
from archex.sweeps.jobs import Job
from archex.sweeps.launchers import Done, Limits, parcels, ray_node
from archex.sweeps.launchers.ray_cluster import Cluster
from archex.sweeps.launchers.ray_nodes import ADDRESS, Node, Nodes
from archex.sweeps.shelf import Shelf

#: Jobs that a node has beside one a CPU, so that none of them waits for us.
_AHEAD = 1
#: Nodes that a job may lose before it is taken for what ends them.
_LOSSES = 3
#: Seconds that a cluster may be without any CPU.
_PATIENCE = 120.0


@attrs.define
class _Given:
    """A job, how many nodes were lost under it, and the one it is on."""

    job: Job
    lost: int = 0
    node: Node | None = None


class Ray:
    """The launcher `ray`. address: the head's, or null for the cluster that runs here, else one of this machine alone. workers: jobs at
    a time, else as many as the cluster has CPUs, while it grows and shrinks. environment: variables of the workers."""

    name = "ray"

    def __init__(self, address: str | None = None, workers: int | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._address, self._asked, self._environment = address, workers, dict(environment or {})
        self._cluster: Cluster | None = None
        self._contents: dict[str, dict[str, Any]] = {}
        self._under_way: dict[Any, _Given] = {}
        self._again: deque[_Given] = deque()
        self.notes: Sequence[str] = ()

    @property
    def workers(self) -> int:
        """How many jobs run at a time, as far as is known now."""
        cpus = self._nodes().cpus
        return min(self._asked or cpus, cpus)

    def _nodes(self) -> Nodes:
        if self._cluster is None:
            self._cluster = Cluster(self._address, self._asked, self._environment)
        return self._cluster.nodes

    def run(self, jobs: Iterator[Job], shelf: Shelf, limits: Limits) -> Iterator[Done]:
        """Do every job."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = self._nodes()
        do = ray.remote(num_cpus=1, max_retries=0)(ray_node.do)
        more, alive = True, time.monotonic()
        while True:
            for ended in self._ended(ray, wait=0.0):
                if (given := self._under_way.pop(ended, None)) and (found := self._found(ray, given, ended)):
                    yield found
            node = self._room(current := nodes.current())
            if current:
                alive = time.monotonic()
            elif time.monotonic() - alive > _PATIENCE:
                raise RequestError([Problem(ADDRESS, ABSENT, f"the cluster has had no CPU for {_PATIENCE:g} s")])
            if node and (self._again or more):
                following = self._again.popleft() if self._again else _Given(job) if (job := next(jobs, None)) else None
                if following is None:
                    more = False
                    continue
                sent = ray_node.Sent(following.job, self._references(ray, following.job, shelf), limits)
                there = NodeAffinitySchedulingStrategy(node.id, soft=False)
                self._under_way[do.options(scheduling_strategy=there).remote(sent)] = following
                following.node = node
                node.busy += 1
            elif self._under_way:
                self._ended(ray, wait=1.0)
            elif self._again:
                time.sleep(0.1)
            elif not more:
                return

    def _room(self, current: list[Node]) -> Node | None:
        """The node with most room for a job."""
        cpus = sum(node.cpus for node in current)
        few = self._asked is not None and self._asked < cpus
        if not current or (few and len(self._under_way) >= (self._asked or 0)):
            return None
        node = max(current, key=lambda node: node.cpus - node.busy)
        return node if node.busy < node.cpus + (0 if few else _AHEAD) else None

    def _ended(self, ray: Any, wait: float) -> list[Any]:
        if not self._under_way:
            return []
        waiting = list(self._under_way)
        ended: list[Any] = ray.wait(waiting, num_returns=1 if wait else len(waiting), timeout=wait)[0]
        return ended

    def _found(self, ray: Any, given: _Given, ended: Any) -> Done | None:
        """What became of a job; None if it is to be given out again."""
        node = given.node
        assert node is not None
        node.busy -= 1
        try:
            answer: ray_node.Answer = ray.get(ended)
        except ray.exceptions.OutOfMemoryError:
            return Done(given.job, failed="was ended for its node's memory")
        except ray.exceptions.WorkerCrashedError:
            return self._lost(given)
        except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
            self._leave(node)
            return self._lost(given)
        except ray.exceptions.RayError as error:
            said = str(error).strip().splitlines()[-1]
            raise RequestError([Problem(ADDRESS, ABSENT, f"node {node.name} does no job: {said[:400]}")]) from None
        return Done(given.job, rows=answer.rows, failed=answer.failed)

    def _lost(self, given: _Given) -> Done | None:
        given.lost += 1
        if given.lost == _LOSSES:
            return Done(given.job, failed=f"its node was lost, {_LOSSES} times")
        self._again.append(given)
        return None

    def _leave(self, node: Node) -> None:
        """Nothing comes back from a node: what else it was given goes to others at once, without waiting for Ray to hear of it."""
        assert self._cluster is not None
        self._cluster.nodes.avoid(node)
        self._contents.clear()  # put down again: other nodes would ask this one for what it had a copy of, and wait as long
        for reference, given in list(self._under_way.items()):
            if given.node is node:
                del self._under_way[reference]
                node.busy -= 1
                self._again.append(given)

    def _references(self, ray: Any, job: Job, shelf: Shelf) -> dict[str, Any]:
        """Everything that a job needs by name, in the object store."""
        needed: dict[str, Any] = {}
        for key in dict.fromkeys((job.base, *(task.launch for task in job.rows))):
            if key not in self._contents:
                pickled, files = parcels.pack(pickle.loads(shelf.read(key)))
                self._contents[key] = {name: ray.put(content) for name, content in {key: pickled, **files}.items()}
            needed |= self._contents[key]
        return needed

    def close(self, at_once: bool) -> None:
        """Disconnect, which ends what still runs for us."""
        self._under_way.clear()
        self._again.clear()
        self._contents.clear()
        if self._cluster is not None:
            self.notes = [*self.notes, *(f"{problem.rule}; it did nothing" for problem in self._cluster.nodes.refused)]
            self._cluster.close()
            self._cluster = None
