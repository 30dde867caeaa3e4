"""Ways to other devices, as the engine takes them: links by number, rates and latencies in cycles of the compute units.

In: a `DeviceSpec` with a `link`, how many devices there are, which of them a launch uses (how many places further on each is). Out: the
fields of `engine.tables.DeviceTables` that are about them. Of a link only this device's own traffic is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from archex.assembly.links import network
from archex.base.errors import UnsupportedError
from archex.base.layout import PEERS
from archex.describe import DeviceSpec
from archex.engine import tables as t


def peer_tables(spec: DeviceSpec, clock: float, devices: int, distances: Sequence[int]) -> dict[str, Any]:
    """The ways of device 0 to those at some distances and back; UnsupportedError where there are none."""
    if spec.get("link") is None:
        raise UnsupportedError(f"has buffers on other devices: {spec.name} has no links to any")
    if len(distances) > PEERS:
        raise UnsupportedError(f"has buffers on {len(distances)} other devices, at most {PEERS} are possible")
    net, link = network(spec, devices), spec["link"]
    if any(net.far_ns(0, distance) for distance in distances):
        raise UnsupportedError("has buffers on devices of other machines: loads and stores reach those of one's own")
    ways = [(net.way(0, distance), net.way(distance, 0)) for distance in distances]
    found = np.full((len(ways), 2, max(len(way) for pair in ways for way in pair)), -1, dtype=np.int64)
    for row, pair in zip(found, ways, strict=True):
        for direction, way in zip(row, pair, strict=True):
            direction[: len(way)] = way
    numbers = np.zeros(t.LINK_COLUMNS)
    numbers[[t.LINK_PAYLOAD, t.LINK_HEADER, t.LINK_MASK, t.LINK_PORT]] = link.payload, link.header, link.mask, link.port
    numbers[t.LINK_ATOMIC] = link.atomic * clock
    hops = [max(len(way) for way in pair) for pair in ways]
    return {
        "link": numbers,
        "peer_ways": found,
        "peer_latency": np.array(hops) * net.hop_ns * clock * 1e-9,
        "peer_links": net.capacity() / clock,
    }
