"""Which compute unit lies where: cluster, group, die, partition, and the order in which an empty device is filled.

In: a `DeviceSpec`. Out: arrays with a number a compute unit. Clusters are dealt to groups as evenly as they can be, the larger last.
"""

from __future__ import annotations

import attrs
import numpy as np

from archex.base.memo import by_identity
from archex.describe import DeviceSpec
from archex.parts.compute_unit import ComputeUnitSpec


@attrs.frozen(eq=False)
class Topology:
    """Places of compute units."""

    cluster: np.ndarray
    group: np.ndarray
    die: np.ndarray
    order: np.ndarray

    def instance(self, shared_by: str) -> np.ndarray:
        """The instance that each compute unit uses of something shared so far."""
        units = np.arange(len(self.die), dtype=np.int64)
        found = {"compute_unit": units, "cluster": self.cluster, "group": self.group, "die": self.die, "device": np.zeros_like(units)}
        return found[shared_by]

    def owner(self, shared_by: str) -> np.ndarray:
        """The first of the compute units that share something so far, for each of them."""
        return _owners(self, shared_by)

    def partition(self, spec: DeviceSpec) -> np.ndarray:
        """The near partition of each compute unit: groups belong to partitions in turn; with few groups, halves do."""
        count = max((getattr(spec[name], "partitions", 1) for name in spec.memory_path[:-1]), default=1)
        if self.group.max() + 1 >= count:
            return self.group % count
        return np.arange(len(self.group), dtype=np.int64) * count // len(self.group)


@by_identity(256)
def _owners(place: Topology, shared_by: str) -> np.ndarray:
    _, first, which = np.unique(place.instance(shared_by), return_index=True, return_inverse=True)
    return first[which]


def topology(spec: DeviceSpec) -> Topology:
    """Place the compute units: die by die, group by group, cluster by cluster."""
    return _placed(spec["compute_unit"])


@by_identity(64)
def _placed(unit: ComputeUnitSpec) -> Topology:
    per_die = unit.count // unit.dies
    clusters = -(-per_die // unit.cluster)
    groups = unit.groups // unit.dies
    within = np.arange(per_die, dtype=np.int64)
    cluster = within // unit.cluster
    # The first groups have the lower share, the last ones the rest: 66 clusters in 8 groups are 6 x 8 and 2 x 9.
    group = np.searchsorted(_starts(clusters, groups), cluster, side="right") - 1
    die = np.repeat(np.arange(unit.dies, dtype=np.int64), per_die)
    order = np.lexsort((die, np.tile(within, unit.dies)))  # one on each die, then the next on each
    return Topology(
        cluster=np.tile(cluster, unit.dies) + die * clusters,
        group=(np.tile(group, unit.dies) + die * groups).astype(np.int64),
        die=die,
        order=order.astype(np.int64),
    )


def _starts(clusters: int, groups: int) -> list[int]:
    small, larger = divmod(clusters, groups)
    sizes = [small] * (groups - larger) + [small + 1] * larger
    return [sum(sizes[:g]) for g in range(groups)]
