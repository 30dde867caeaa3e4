"""In which order a launch's workgroups start, and how many are there at a time: one by one, or a cluster of them together.

In: workgroups in the order of their start, a row a cluster, how many a compute unit holds, the group of each unit. Out: a `Placing`,
or an error that names the limit.
"""

from __future__ import annotations

import attrs
import numpy as np

from archex.base.errors import UnsupportedError
from archex.describe.device import DeviceSpec

#: Workgroups traced ahead of their dispatch, beside those resident.
AHEAD = 256


@attrs.frozen(eq=False)
class Placing:
    """order: linear workgroup numbers, a row a cluster. resident: clusters at a time. slots: workgroups that have a place in the traces."""

    order: np.ndarray
    resident: int
    slots: int

    @property
    def size(self) -> int:
        """Workgroups of a cluster."""
        return int(self.order.shape[1])


def placing(spec: DeviceSpec, unit_group: np.ndarray, held: int, order: np.ndarray) -> Placing:
    """The placing of a launch whose workgroups fit `held` at a time on a compute unit."""
    clusters, size = order.shape
    if size == 1:
        resident = min(held * len(unit_group), clusters)
        return Placing(order, resident, min(resident + AHEAD, clusters))
    most = spec["compute_unit"].cluster_workgroups
    if size > most:
        raise UnsupportedError(f"clusters of {size} workgroups: the device starts {most} together")
    room = int((np.bincount(unit_group) * held // size).sum())
    if not room:
        raise UnsupportedError(f"clusters of {size} workgroups, {held} of which fit on a compute unit: no group of compute units holds one")
    resident = min(room, clusters)
    # Workgroups of a cluster may end one by one, so more clusters than fit can have some left.
    return Placing(order, resident, min(2 * resident + -(-AHEAD // size), clusters) * size)
