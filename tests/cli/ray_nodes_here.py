"""A Ray cluster on this machine: nodes that are processes of their own, and can be ended as a power cut ends them."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
from ray._private import utils
from ray.cluster_utils import Cluster

_STORE = 80 << 20  # bytes of a node's object store


@contextmanager
def cluster(environment: dict[str, str]) -> Iterator[Nodes]:
    """A head without CPUs, so that every other node may be lost."""
    with tempfile.TemporaryDirectory(prefix="nodes-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        before = dict(os.environ)
        handler = signal.getsignal(signal.SIGTERM)
        os.environ.update(environment, RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0")
        utils.write_ray_address = lambda *_, **__: None  # this cluster isn't the machine's own
        logging.getLogger("ray").setLevel(logging.CRITICAL)
        made = Cluster(True, head_node_args={"num_cpus": 0, "object_store_memory": _STORE, "include_dashboard": False, "temp_dir": folder})
        try:
            yield Nodes(made)
        finally:
            ray.shutdown()
            made.shutdown()
            os.environ.clear()
            os.environ.update(before)
            signal.signal(signal.SIGTERM, handler)


class Nodes:
    def __init__(self, made: Cluster) -> None:
        self._made = made
        self.address: str = made.address

    def add(self, cpus: int, **environment: str) -> Any:
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            return self._made.add_node(num_cpus=cpus, object_store_memory=_STORE)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def lose(self, node: Any) -> None:
        """End everything that runs on a node at once."""
        for process in _tree(node.all_processes["raylet"][0].process.pid):
            os.kill(process, signal.SIGKILL)


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found
