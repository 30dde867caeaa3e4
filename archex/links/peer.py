"""Data of another device: copies by an engine, loads and stores of a kernel.

In: a network, a pair of devices. Out: times in nanoseconds, rates in bytes a second: closed formulas. What a kernel with buffers on other
devices takes, the engine simulates (`engine.peers`).
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from archex.links.network import Network


@attrs.frozen
class PeerCopy:
    """A copy between devices. alone_ns: on the devices; call_ns: on the processor, from one to the next; links: bytes by (start, end)."""

    alone_ns: float
    call_ns: float
    links: Mapping[tuple[object, object], float]


def peer_copy(network: Network, source: int, target: int, size: int) -> PeerCopy:
    """A copy of `size` bytes by an engine: set-up, the way, then the narrowest hop's rate less the packets' headers."""
    pair = np.array([source]), np.array([target])
    loads = network.loads(*pair, size * network.wire(network.copy_payload))
    links = {network.links[k]: float(loads[k]) for k in np.nonzero(loads)[0]}
    alone = network.copy_setup_ns + network.latency_ns(*pair) + network.time_ns(loads)
    return PeerCopy(alone, network.copy_call_ns, links)


def round_trip_ns(network: Network, source: int, target: int, local_ns: float) -> float:
    """A load by `source` of what `target` holds, where one of its own takes `local_ns`."""
    return local_ns + 2 * network.latency_ns(np.array([source]), np.array([target]))


def peer_access_rate(network: Network, source: int, target: int, units: int, in_flight: float, local_ns: float) -> float:
    """Bytes a second that `units` compute units load from another device, or store there: their requests on the way, or the links.

    in_flight: bytes that a compute unit has on their way at most.
    """
    loads = network.loads(np.array([source]), np.array([target]), network.wire())
    return min(1e9 / network.time_ns(loads), units * in_flight / round_trip_ns(network, source, target, local_ns) * 1e9)
