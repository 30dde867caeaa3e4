"""Several devices of one description as a timeline takes them: links that are shared, exchanges and copies that share them.

In: a `DeviceSpec` with a `link`, how many devices. Out: capacities of links by name, and functions from an exchange to what it takes. A
link's capacity is bytes a nanosecond, headers included; what an exchange takes is the mean over its time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import permutations

import attrs

from archex.assembly.links import network
from archex.base.errors import Problem, RequestError
from archex.describe import DeviceSpec
from archex.links import Network, peer_copy, plan
from archex.timeline import Shared

#: Devices up to which all links are resources; beyond, exchanges don't meet each other on links.
_MOST = 64


@attrs.frozen(eq=False)
class Exchanges:
    """links: capacity of each, bytes a nanosecond. memory_rate: of a device, bytes a nanosecond."""

    network: Network
    links: Mapping[str, float]
    memory_rate: float
    _known: dict[tuple[Hashable, ...], Shared] = attrs.field(factory=dict)  # the same exchange comes again and again

    def collective(self, kind: str, ranks: Sequence[int], size: int, root: int = 0) -> Shared:
        """What an exchange takes alone, and of links, compute units and memory meanwhile. root: a position among the ranks."""
        key = (kind, tuple(ranks), size, root)
        if key not in self._known:
            self._known[key] = self._exchange(kind, ranks, size, root)
        return self._known[key]

    def _exchange(self, kind: str, ranks: Sequence[int], size: int, root: int) -> Shared:
        found = plan(self.network, kind, ranks, size, root=root)
        about = f"{found.algorithm}, {found.protocol}".replace("_", " ")
        memory = min(1.0, found.demands.memory_bytes / found.alone_ns / self.memory_rate) if found.alone_ns else 0.0
        return Shared(found.alone_ns, self._shares(found.demands.links, found.alone_ns), found.demands.units, memory, about, found.call_ns)

    def peer(self, source: int, target: int, size: int) -> Shared:
        """The same of a copy by an engine: what it reads on one side it writes on the other."""
        if self.network.far_ns(source, target):
            said = f"is in another machine than device {source}: engines copy within one, send_receive goes from one to the other"
            raise RequestError([Problem("copy.target", target, said)])
        found = peer_copy(self.network, source, target, size)
        memory = min(1.0, size / found.alone_ns / self.memory_rate)
        return Shared(found.alone_ns, self._shares(found.links, found.alone_ns), 0.0, memory, "copy engine", found.call_ns)

    def way(self, source: int, target: int) -> list[str]:
        """Names of the links between two devices that are resources."""
        names = [_name(*self.network.links[number]) for number in self.network.way(source, target)]
        return [name for name in names if name in self.links]

    def _shares(self, bytes_of: Mapping[tuple[Hashable, Hashable], float], time_ns: float) -> dict[str, float]:
        if not time_ns:
            return {}
        named = {_name(start, end): sent / time_ns for (start, end), sent in bytes_of.items()}
        return {name: rate for name, rate in named.items() if name in self.links}


def exchanges(spec: DeviceSpec, devices: int) -> Exchanges:
    """The links of `devices` devices; RequestError where the device has none."""
    net = network(spec, devices)
    if devices <= _MOST:
        for source, target in permutations(range(devices), 2):
            net.way(source, target)
    memory = spec["memory"]
    links = {_name(start, end): rate * 1e-9 for (start, end), rate in zip(net.links, net.capacity().tolist(), strict=True)}
    return Exchanges(net, links, memory.bandwidth * memory.efficiency * 1e-9)


def _name(start: Hashable, end: Hashable) -> str:
    return f"{start} to {end}"
