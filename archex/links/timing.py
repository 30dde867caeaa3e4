"""The time of an exchange by one algorithm and protocol, and what it leaves on links, compute units and memory.

A ring's steps take what their fullest link takes, and a handshake for each part of a chunk; what does not fit into a chunk of every channel
goes round again. A channel does one thing at a time: what it receives last in a round it moves within its device while it sends nothing.
Channels begin in step, so that their links stand idle then and while they tell each other, and move apart from chunk to chunk, until one
sends while another doesn't. Pairs get a part of the channels, each of which sends and receives at the same time. Chains and trees hand on
while they receive: their depth costs once, the data once. In the switch a chunk passes some stages; the first and last are not covered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np

from archex.links.network import Library, Network, Protocol, Switched, add
from archex.links.phases import Phase, Stage


@attrs.frozen
class Exchange:
    """An estimate: nanoseconds, as they are and as the library reckons, bytes by link, compute units and bytes of memory of a rank."""

    algorithm: str
    protocol: str
    ns: float
    reckoned_ns: float
    loads: np.ndarray
    units: int
    memory: float
    folded: bool
    stages: Sequence[Stage]


def exchange(
    network: Network, ranks: Sequence[int], size: int, algorithm: str, stages: Sequence[Stage], protocol: str, fold: bool
) -> Exchange:
    """`size` bytes by the stages of an algorithm."""
    at = np.array(ranks)
    fold = fold and all(_alike(phase, len(ranks), network.rotates) for stage in stages for phase in stage)
    if algorithm == "in_switch":
        assert network.library.switched is not None
        ns, reckoned, loads = _in_switch(network, at, size, stages, network.library.switched)
        units = network.library.switched.channels
    else:
        chosen = network.library.protocols[protocol]
        if algorithm == "tree":
            ns, reckoned, loads, units = _tree(network, at, size, stages, chosen, fold)
        elif algorithm == "ring":
            ns, reckoned, loads, units = _steps(network, at, size, stages, chosen, fold)
        else:
            ns, loads, units = _pairs(network, at, size, stages, chosen, fold)
            reckoned = ns
    return Exchange(algorithm, protocol, ns, reckoned, loads, units, _memory(size, stages, len(ranks)), fold, stages)


def _alike(phase: Phase, n: int, period: int) -> bool:
    """Whether all ranks send as far as the first ones, again and again: only then those stand for all."""
    far = np.bincount(phase.sources % period * n + (phase.targets - phase.sources) % n)
    return not phase.switched and bool(np.all((far == 0) | (far == n // period)))


def _stage_loads(network: Network, at: np.ndarray, size: float, stage: Stage, wire: float, fold: bool) -> np.ndarray:
    """Bytes by link of one step of a stage."""
    loads = np.zeros(0)
    for phase in stage:
        of = network.folded_loads if fold else network.loads
        loads = add(loads, of(at[phase.sources], at[phase.targets], size * phase.share * wire))
    return loads


def _latency(network: Network, at: np.ndarray, stage: Stage, fold: bool) -> float:
    return max(network.latency_ns(*pairs) for pairs in _flows(network, at, stage, fold))


def _flows(network: Network, at: np.ndarray, stage: Stage, fold: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Who sends to whom in each phase; folded, the first ones alone."""
    found = [(at[phase.sources], at[phase.targets]) for phase in stage]
    return [(sources[sources < network.rotates], targets[sources < network.rotates]) for sources, targets in found] if fold else found


def _around(network: Network, at: np.ndarray, stage: Stage, fold: bool) -> tuple[float, float]:
    """Of a step of rings: mean latency of its flows, for what passes a ring passes them in turn, and the part that leaves a machine."""
    latency, leaves = 0.0, 0.0
    for sources, targets in _flows(network, at, stage, fold):
        pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
        latency = max(latency, sum(network.way_ns(*pair) for pair in pairs) / len(pairs))
        leaves = max(leaves, sum(network.far_ns(*pair) > 0 for pair in pairs) / len(pairs))
    return latency, leaves


def _steps(
    network: Network, at: np.ndarray, size: float, stages: Sequence[Stage], protocol: Protocol, fold: bool
) -> tuple[float, float, np.ndarray, int]:
    """Of rings. The library reckons a handshake a step, and the data at what it takes the links and the protocol for."""
    library, n = network.library, len(at)
    channels = library.channels
    total, ns, reckoned, told = np.zeros(0), protocol.base_ns, protocol.base_ns, 0.0
    for stage in stages:
        piped = stage[0].pipelined
        once = _stage_loads(network, at, size, stage, network.wire() / protocol.share, fold)
        sent = sum(phase.share for phase in stage) * size  # of a rank in a step
        steps = stage[0].steps
        loads = once if piped else once * steps
        total = add(total, loads)
        own = sent / channels
        parts, rounds = protocol.parts(min(protocol.chunk, own)), max(1, math.ceil(own / protocol.chunk))
        latency, leaves = _around(network, at, stage, fold)
        shakes = protocol.step_ns + latency
        data = _data_ns(network, loads, sent * (1 if piped else steps), protocol.rate)
        ns += data
        if piped:  # one after the other for the first part, then all at once
            ns += (steps - 1) * (_fill(data, sent, channels, protocol) + shakes) + steps * leaves * protocol.between_ns
            told += parts * max(1.0, own / protocol.chunk) * shakes * _in_step(own / library.peer_chunk, library.drift)
        else:  # what a handshake between machines takes beside others goes on while other parts are sent
            between = max(0.0, protocol.between_ns - data * (parts - 1) / (steps * rounds * parts))
            told += steps * rounds * (parts * shakes + leaves * between)
        reckoned += _data_ns(network, loads, sent * (1 if piped else steps), protocol.claimed)
        reckoned += steps * (shakes + leaves * protocol.between_ns)
    if not stages[-1][0].pipelined:
        apart = max(1.0, own / protocol.chunk)
        told += shakes * apart + size / n / (channels * library.copy_rate) * 1e9  # the last receive of each round
        told *= _in_step(apart * len(stages), library.drift)
    return ns + told, reckoned, total, channels


def _pairs(
    network: Network, at: np.ndarray, size: float, stages: Sequence[Stage], protocol: Protocol, fold: bool
) -> tuple[float, np.ndarray, int]:
    """Of everybody with everybody, and of a send: what a pair has to send, its channels send without waiting for who receives."""
    library, n = network.library, len(at)
    total, ns = np.zeros(0), protocol.base_ns
    for stage in stages:
        loads = _stage_loads(network, at, size, stage, network.wire() / protocol.share, fold)
        total = add(total, loads)
        latency = _latency(network, at, stage, fold)
        shakes = protocol.step_ns + latency
        if protocol.between_ns and any(network.far_ns(int(at[0]), other) for other in at[1:].tolist()):
            ns += protocol.between_ns
        message = stage[0].share * size
        links = _data_ns(network, loads, message * (n - 1), protocol.rate)
        ns += latency + _pair_ns(library, protocol, message, n, len(stage[0].sources) > 1, links, shakes)
    return ns, total, library.peer_channels


def _pair_ns(library: Library, protocol: Protocol, message: float, n: int, both: bool, links: float, shakes: float) -> float:
    """What the channels of a pair of `n` ranks need for a message, whose links need `links`: all are dealt to the pairs, in powers of two.

    Long messages get twice as many, and take no less than before. A channel that sends and receives has half of its waves for each; what
    it receives last, it moves to its place when there is nothing left to send.
    """

    def of(data: float, count: int) -> float:
        own = max(data / count, data * (n - 1) / library.peer_channels)
        rounds, turns = own / protocol.chunk, math.ceil((n - 1) * count / library.peer_channels)
        shaken = shakes * max(turns - 1, protocol.slices * rounds * _in_step(own / library.peer_chunk, library.drift))
        moved = own / (library.peer_rate * (1 if both else 2)) * 1e9
        last = min(data / count, library.peer_chunk) / library.copy_rate * 1e9 if both else 0.0
        return max(links * data / message + shaken, moved) + last

    count, least = library.peer_channels, 0.0
    while count * n > library.peer_channels and count > 1:
        count //= 2
    while message > count * library.peer_most and 2 * count <= library.peer_channels:
        least, count = max(least, of(count * library.peer_most, count)), 2 * count
    return max(least, of(message, count)) if message else 0.0


def _in_step(chunks: float, drift: float) -> float:
    """Of the time in which channels send nothing, the part in which none of them sends: all in the first chunk, ever less later."""
    if chunks <= 1:
        return 1.0
    return (1 - math.exp(-chunks / drift)) / (1 - math.exp(-1 / drift)) / chunks


def _fill(data_ns: float, sent: float, channels: int, protocol: Protocol) -> float:
    """The least part of a channel's chunk, before it can be handed on."""
    return data_ns * min(1.0, channels * protocol.slice_least / sent) if sent else 0.0


def _data_ns(network: Network, loads: np.ndarray, sent: float, rate: float | None) -> float:
    """Of the fullest link, or of the protocol at a rate."""
    return max(network.time_ns(loads), sent / rate * 1e9 if rate else 0.0)


def _path(network: Network, at: np.ndarray, phase: Phase, protocol: Protocol) -> float:
    """Handshakes one after the other from where data come to where they arrive last."""
    reached = [0.0] * len(at)
    for source, target in zip(phase.sources.tolist(), phase.targets.tolist(), strict=True):
        far = protocol.tree_between_ns if network.far_ns(at[source], at[target]) else 0.0
        shake = protocol.tree_step_ns + network.latency_ns(at[[source]], at[[target]]) + far
        reached[target] = max(reached[target], reached[source] + shake)
    return max(reached)


def _tree(
    network: Network, at: np.ndarray, size: float, stages: Sequence[Stage], protocol: Protocol, fold: bool
) -> tuple[float, float, np.ndarray, int]:
    """All stages hand on at the same time: what is added at the root comes back while more is added.

    The library reckons that each rank sends the data once a stage, as those within a large tree do; at the ends they send less.
    """
    channels = network.library.channels
    loads, shakes, path, depth = np.zeros(0), 0.0, 0.0, 0
    for stage in stages:
        loads = add(loads, _stage_loads(network, at, size, stage, network.wire() / protocol.share, fold))
        shakes = max(shakes, protocol.tree_step_ns + _latency(network, at, stage, fold))
        path += max(_path(network, at, phase, protocol) for phase in stage)
        depth += stage[0].steps
    rounds = max(1, math.ceil(size / channels / protocol.chunk))
    parts = rounds * protocol.parts(min(protocol.chunk, size / channels))
    data = _data_ns(network, loads, size * len(stages), protocol.rate) / network.library.tree_share
    ns = protocol.base_ns + data + (depth - 1) * _fill(data, size, channels, protocol) + path + (parts - 1) * shakes
    one = network.loads(at[:1], at[1:2], size * len(stages) * network.wire() / protocol.share)
    full = _data_ns(network, loads, size * len(stages), protocol.claimed)
    reckoned = protocol.base_ns + path + max(full, network.time_ns(one)) / network.library.tree_share
    return ns, reckoned, loads, channels


def _in_switch(
    network: Network, at: np.ndarray, size: float, stages: Sequence[Stage], library: Switched
) -> tuple[float, float, np.ndarray]:
    """A rank's link carries, of an addition, all it holds towards the switch and its part back; of a store to all, the other way round.

    Each request that the switch hands to all ranks is a packet without data on their way in.
    """
    n, wire = len(at), network.wire()
    asked = library.request / network.payload
    outwards, inwards = 0.0, 0.0  # bytes on a rank's links
    for stage in stages:
        part = size * stage[0].share
        if stage[0].switched == "add":
            outwards, inwards = outwards + size * wire + part * asked, inwards + part * wire + size * asked
        else:
            outwards, inwards = outwards + part * wire, inwards + size * wire
    loads = np.zeros(0)
    for k in range(n):
        there, back = network.way(int(at[k]), int(at[(k + 1) % n])), network.way(int(at[(k + 1) % n]), int(at[k]))
        mine = np.zeros(len(network.links))
        mine[there[0]], mine[back[-1]] = outwards, inwards
        loads = add(loads, mine)
    latency = _latency(network, at, stages[0], False) if n <= 64 else network.latency_ns(at[:1], at[1:2])
    data = network.time_ns(loads)
    round_bytes = _switched_chunk(library, size, n) * library.channels * n
    uncovered = (library.stages - 1) * (min(1.0, round_bytes / size) if size else 0.0)
    begun = library.base_ns + len(stages) * latency
    return begun + data * (1 + uncovered), begun + data / library.claimed, loads


def _switched_chunk(library: Switched, size: float, n: int) -> int:
    """Shorter chunks for shorter operations, so that stages overlap: halves from 64, 8 and 2 rounds downwards."""
    chunk = library.chunk
    for rounds, least in ((64, 4), (8, 2), (2, 1)):
        smaller = library.chunk_least * least
        if size < rounds * library.channels * n * chunk and chunk > smaller:
            chunk = smaller
    return chunk


def _memory(size: float, stages: Sequence[Stage], n: int) -> float:
    """Bytes read and written in a rank's memory: what is sent is read, twice where it is added to; what arrives is written."""

    def of(phase: Phase) -> float:
        flows = len(phase.sources) / n * phase.share * (1 if phase.pipelined else phase.steps)
        return flows * (3 if phase.adds else 2)

    return size * sum(of(phase) for stage in stages for phase in stage)
