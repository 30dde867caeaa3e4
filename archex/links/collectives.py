"""Exchanges between devices: what each algorithm and protocol would take, and the one that the library takes.

In: a network, a kind of exchange, the ranks (devices), bytes. Out: a `Collective`: its time alone, and what it asks of links, compute units
and memory, so that others can share them. `bytes` is the larger of what a rank gives and gets: the vector of an all-reduce, a
broadcast and a reduce, what a rank gives to a reduce-scatter and an all-to-all, what it gets from an all-gather, the message of a send.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from archex.base.errors import Problem, RequestError, unknown
from archex.links import timing
from archex.links.network import Library, Network
from archex.links.phases import Stage, direct, in_switch, ring, send, tree

KINDS = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all", "send_receive")
#: Ranks beyond which alike ones are folded where the network allows it.
FOLD_ABOVE = 64


@attrs.frozen
class Demands:
    """What an exchange takes from others while it runs, over its whole time.

    links: bytes with headers by (start, end); of one link of each class where ranks are folded. units: compute units of each rank.
    memory_bytes: read and written in a rank's memory.
    """

    links: Mapping[tuple[object, object], float]
    units: int
    memory_bytes: float


@attrs.frozen
class Collective:
    """An exchange. alone_ns: on the devices, from the start of its kernels to the last rank's end; call_ns: on the processor.

    bus_rate: bytes a second that each rank sends when the exchange is alone, by the ring's count, as libraries print it.
    """

    kind: str
    ranks: tuple[int, ...]
    bytes: int
    algorithm: str
    protocol: str
    alone_ns: float
    call_ns: float
    bus_rate: float
    demands: Demands
    folded: bool = False
    stages: tuple[Stage, ...] = attrs.field(default=(), eq=False, repr=False)


def plan(
    network: Network,
    kind: str,
    ranks: Sequence[int],
    bytes: int,
    *,
    root: int = 0,
    algorithm: str | None = None,
    protocol: str | None = None,
    folded: bool | None = None,
) -> Collective:
    """The exchange as the library would do it: of what is allowed, the algorithm and protocol that it reckons to be the quickest.

    root: from which a broadcast comes or to which a reduce goes, by position. folded: alike ranks computed once; None: where many are.
    """
    _check(network, kind, ranks, bytes, root)
    n, library = len(ranks), network.library
    grouped = {"all_to_all": 2 * n, "send_receive": 1}.get(kind, 0)  # a rank's sends and receives
    call = library.call_ns + (library.call_group_ns + library.call_each_ns * grouped if grouped else 0.0)
    if n == 1:
        return Collective(kind, tuple(ranks), bytes, "none", "none", 0.0, call, 0.0, Demands({}, 0, 0.0))
    whole = network.rotates > 0 and tuple(ranks) == tuple(range(network.devices))
    fold = whole and (n > FOLD_ABOVE if folded is None else folded)
    found = [
        timing.exchange(network, ranks, bytes, name, stages, chosen, fold)
        for name, stages in _algorithms(network, kind, ranks, root)
        if algorithm in (None, name)
        for chosen in (["switch"] if name == "in_switch" else library.protocols)
        if protocol in (None, chosen)
    ]
    if not found:
        asked = f"{algorithm or 'any algorithm'} with {protocol or 'any protocol'}"
        has = ", ".join(name for name, _ in _algorithms(network, kind, ranks, root))
        said = f"is nothing that this network's library has for {kind}: {has}; {', '.join(library.protocols)}, and switch for in_switch"
        raise RequestError([Problem("collective.algorithm", asked, said)])
    best = min(found, key=lambda one: one.reckoned_ns)
    sent = bytes * {"all_reduce": 2 * (n - 1) / n, "broadcast": 1.0, "reduce": 1.0, "send_receive": 1.0}.get(kind, (n - 1) / n)
    links = {network.links[k]: float(v) for k, v in enumerate(best.loads) if v}
    demands = Demands(links, best.units, best.memory)
    rate = sent / best.ns * 1e9
    return Collective(
        kind, tuple(ranks), bytes, best.algorithm, best.protocol, best.ns, call, rate, demands, fold and best.folded, tuple(best.stages)
    )


def _algorithms(network: Network, kind: str, ranks: Sequence[int], root: int) -> Iterator[tuple[str, list[Stage]]]:
    n, library = len(ranks), network.library
    if kind == "send_receive":
        yield "direct", send(n)
        return
    if kind == "all_to_all":
        yield "direct", direct(kind, n)
        return
    yield "ring", ring(kind, _orders(network, library, n), root)
    if kind in ("all_reduce", "broadcast", "reduce"):
        yield "tree", tree(kind, n, library.chain, root)
    if library.direct and kind not in ("broadcast", "reduce"):
        yield "direct", direct(kind, n)
    if network.reduces and library.switched is not None and kind != "reduce":
        yield "in_switch", in_switch(kind, n, root)


def _orders(network: Network, library: Library, n: int) -> list[Sequence[int]]:
    """Rings side by side, not more than channels; positions among the ranks."""
    return list(network.rings(n))[: library.channels]


def _check(network: Network, kind: str, ranks: Sequence[int], size: int, root: int) -> None:
    problems = []
    if kind not in KINDS:
        problems.append(unknown("collective.kind", kind, KINDS))
    outside = [rank for rank in ranks if not 0 <= rank < network.devices]
    if outside or len(set(ranks)) != len(ranks) or not ranks:
        problems.append(Problem("collective.ranks", list(ranks), f"must be different devices, 0 to {network.devices - 1}"))
    if size < 0:
        problems.append(Problem("collective.bytes", size, "must be at least 0"))
    if kind == "send_receive" and len(ranks) != 2:
        problems.append(Problem("collective.ranks", list(ranks), "must be two: who sends, who receives"))
    if not 0 <= root < max(len(ranks), 1):
        problems.append(Problem("collective.root", root, f"must be a position among the ranks, 0 to {len(ranks) - 1}"))
    if problems:
        raise RequestError(problems)
