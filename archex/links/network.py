"""Links between devices: the ways of pairs, and what flows along them leave on each link.

In: a route for each pair, rates, latencies, what a packet costs. Out: bytes by link, and the time of the one that takes longest. Ways are
asked for when a pair first exchanges something and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import attrs
import numpy as np

#: The hops of a way: (start, end, links side by side, seconds beside a hop's latency where it lies between machines).
Way = Sequence[tuple[Hashable, Hashable, float, float]]


@attrs.frozen
class Protocol:
    """How arrival is told: nanoseconds of an operation and a step, share of data in what is sent, bytes a second at most, as they are and
    as the library reckons, bytes a step. between_ns, tree_between_ns: of a step, too, whose way leaves a machine."""

    base_ns: float
    step_ns: float
    tree_step_ns: float
    share: float
    rate: float | None
    claimed: float | None
    chunk: int
    slices: int
    slice_least: int
    between_ns: float = 0.0
    tree_between_ns: float = 0.0

    def parts(self, size: float) -> int:
        """Into how many parts a chunk of so many bytes is split."""
        return int(min(self.slices, max(1.0, np.ceil(size / self.slice_least))))


@attrs.frozen
class Switched:
    """Operations in the switch: nanoseconds before the first data, channels, passes over a chunk, bytes of a channel and device a pass,
    bytes with which a device is asked for a packet of data, share of the links' rate by which the library reckons."""

    base_ns: float
    channels: int
    stages: int
    chunk: int
    chunk_least: int
    request: int
    claimed: float


@attrs.frozen
class Library:
    """What moves data between devices with compute units. call_ns, call_group_ns, call_each_ns: on the processor."""

    call_ns: float
    call_group_ns: float
    call_each_ns: float
    channels: int
    peer_channels: int
    peer_rate: float
    peer_most: int
    peer_chunk: int
    copy_rate: float
    drift: float
    chain: int
    tree_share: float
    direct: bool
    protocols: Mapping[str, Protocol]
    switched: Switched | None


@attrs.frozen(eq=False)
class Network:
    """The links of `devices` devices. rate: of one link each way, bytes a second with headers; hop_ns: of a hop, one way.

    payload, copy_payload, header: bytes of a packet of a kernel, of a copy engine, and beside them. rings: orders for as many devices.
    rotates: after how many devices ways look the same again, 1 where from each, so that symmetric ranks can be folded; 0: never.
    """

    devices: int
    route: Callable[[int, int], Way]
    rate: float
    hop_ns: float
    payload: int
    copy_payload: int
    header: int
    copy_setup_ns: float
    copy_call_ns: float
    reduces: bool
    library: Library
    rings: Callable[[int], Sequence[Sequence[int]]]
    rotates: int = 0
    _ways: dict[tuple[int, int], np.ndarray] = attrs.field(factory=dict)
    _numbers: dict[tuple[Hashable, Hashable], int] = attrs.field(factory=dict)
    _capacity: list[float] = attrs.field(factory=list)
    _far: list[float] = attrs.field(factory=list)  # nanoseconds beside a hop's, by link

    def way(self, source: int, target: int) -> np.ndarray:
        """Numbers of the links between two devices, in order."""
        found = self._ways.get((source, target))
        if found is None:
            found = np.array([self._number(*hop) for hop in self.route(source, target)], dtype=np.int64)
            self._ways[source, target] = found
        return found

    def _number(self, start: Hashable, end: Hashable, links: float, far: float) -> int:
        number = self._numbers.setdefault((start, end), len(self._numbers))
        if number == len(self._capacity):
            self._capacity.append(links * self.rate)
            self._far.append(far * 1e9)
        return number

    def far_ns(self, source: int, target: int) -> float:
        """What the way takes beside its hops' latency; 0 within a machine."""
        far = 0.0
        for number in self.way(source, target).tolist():
            far += self._far[number]
        return far

    @property
    def links(self) -> list[tuple[Hashable, Hashable]]:
        """Start and end of every link passed so far, by number."""
        return list(self._numbers)

    def capacity(self) -> np.ndarray:
        """Bytes a second of every link passed so far, headers included."""
        return np.array(self._capacity, dtype=np.float64)

    def wire(self, payload: int | None = None) -> float:
        """Bytes on a link for a byte of data."""
        payload = self.payload if payload is None else payload
        return (payload + self.header) / payload

    def latency_ns(self, sources: np.ndarray, targets: np.ndarray) -> float:
        """The longest of some ways, one way."""
        pairs = zip(sources.tolist(), targets.tolist(), strict=True)
        return max((self.way_ns(*pair) for pair in pairs), default=0.0)

    def way_ns(self, source: int, target: int) -> float:
        """The latency of a way."""
        return self.hop_ns * len(self.way(source, target)) + self.far_ns(source, target)

    def loads(self, sources: np.ndarray, targets: np.ndarray, data: float) -> np.ndarray:
        """Bytes on each link when every source sends `data` bytes of packets to its target."""
        ways = [self.way(int(a), int(b)) for a, b in zip(sources, targets, strict=True)]
        passed = np.concatenate(ways) if ways else np.zeros(0, dtype=np.int64)
        times: np.ndarray = np.bincount(passed, minlength=len(self._capacity))
        return times * data

    def folded_loads(self, sources: np.ndarray, targets: np.ndarray, data: float) -> np.ndarray:
        """The same for flows that all look like those of the first devices, on a network that rotates.

        Links that a rotation maps onto each other carry the same; each stands for its class with what the first devices' flows leave on it.
        """
        first = sources < self.rotates
        passed = self.loads(sources[first], targets[first], data)
        total = np.zeros(len(passed))
        classes: dict[Hashable, int] = {}
        links = self.links
        for number in np.nonzero(passed)[0].tolist():
            total[classes.setdefault(self._class(*links[number]), number)] += passed[number]
        return total

    def _class(self, start: Hashable, end: Hashable) -> Hashable:
        """What a link has in common with those that it is turned onto."""
        apart = (end - start) % self.devices if isinstance(start, int) and isinstance(end, int) else None
        return self._turned(start), self._turned(end), apart

    def _turned(self, node: Hashable) -> Hashable:
        if isinstance(node, int):
            return node % self.rotates
        if isinstance(node, tuple):
            return tuple(part % self.rotates if isinstance(part, int) else part for part in node)
        return node

    def time_ns(self, loads: np.ndarray) -> float:
        """How long the link that takes longest needs for its bytes."""
        if not loads.size:
            return 0.0
        return float(np.max(loads / self.capacity()[: len(loads)])) * 1e9


def _grown(values: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate([values, np.zeros(max(size - len(values), 0))])


def add(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sum of bytes by link; links that one does not know yet carry nothing there."""
    size = max(len(first), len(second))
    total: np.ndarray = _grown(first, size) + _grown(second, size)
    return total
