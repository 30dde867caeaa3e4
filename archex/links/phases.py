"""What is sent in an exchange, step by step: who sends which part of the data to whom, and whether it is added there.

In: a kind of exchange, an algorithm, how many ranks, their rings. Out: stages, one after the other, each of phases that run at the same
time. `perform` does with arrays what the phases say, so that a test can look at the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import numpy as np

#: step -> the part of the data that each flow takes at its source, and where it lands at its target.
Parts = Callable[[int], tuple[np.ndarray, np.ndarray]]


@attrs.frozen(eq=False)
class Phase:
    """Flows that repeat over some steps, each of a `share` of the data.

    sources, targets: positions among the ranks. pipelined: one flow after the other hands on what it got, in as many levels as `steps`;
    data pass in parts, so all flows are under way together. switched: done in the switch, `add` or `spread`. lane, lanes: which of some
    equal shares of the data this phase takes.
    """

    sources: np.ndarray
    targets: np.ndarray
    share: float
    steps: int
    adds: bool
    parts: Parts
    pipelined: bool = False
    switched: str = ""
    lane: int = 0
    lanes: int = 1


Stage = tuple[Phase, ...]


def ring(kind: str, orders: Sequence[Sequence[int]], root: int = 0) -> list[Stage]:
    """All-reduce, reduce-scatter, all-gather, broadcast or reduce over rings; `orders`: the ranks' positions in the order of each ring."""
    adding = [_around(order, k, len(orders), kind, adds=True) for k, order in enumerate(orders)]
    handing = [_around(order, k, len(orders), kind, adds=False) for k, order in enumerate(orders)]
    if kind in ("broadcast", "reduce"):
        return [tuple(_chain(order, k, len(orders), root, kind == "reduce") for k, order in enumerate(orders))]
    return {"all_reduce": [tuple(adding), tuple(handing)], "reduce_scatter": [tuple(adding)], "all_gather": [tuple(handing)]}[kind]


def _around(order: Sequence[int], lane: int, lanes: int, kind: str, adds: bool) -> Phase:
    """n - 1 steps of a ring: each sends on what it got in the step before."""
    ranks, n = np.array(order), len(order)
    at = np.arange(n)
    ahead = -1 if adds else 0  # the last to add to a part is the one whose part it is

    def parts(step: int) -> tuple[np.ndarray, np.ndarray]:
        taken = ranks[(at + ahead - step) % n]
        return taken, taken

    return Phase(ranks, ranks[(at + 1) % n], 1 / n / lanes, n - 1, adds, parts, lane=lane, lanes=lanes)


def _chain(order: Sequence[int], lane: int, lanes: int, root: int, adds: bool) -> Phase:
    """From the root around the ring, or, adding, around the ring to the root."""
    start = list(order).index(root)
    turned = np.array([*order[start + adds :], *order[: start + adds]])
    return Phase(turned[:-1], turned[1:], 1 / lanes, len(order) - 1, adds, _whole(len(order) - 1), True, lane=lane, lanes=lanes)


def _whole(flows: int) -> Parts:
    everything = np.full(flows, -1)
    return lambda step: (everything, everything)


def tree(kind: str, n: int, chain: int, root: int = 0) -> list[Stage]:
    """All-reduce over two trees, the second in reverse order: who hands on in one is mostly an end in the other.

    Broadcast and reduce take one. `chain` ranks in a row pass data one after the other, their first ones stand in a binary tree.
    """
    edges, depth = _parents(n, chain)
    lanes = 2 if kind == "all_reduce" else 1
    up, down = [], []
    for lane in range(lanes):
        numbered = np.array(edges) if lane == 0 else n - 1 - np.array(edges)
        children, parents = (numbered[:, 0] + root) % n, (numbered[:, 1] + root) % n
        whole = _whole(len(edges))
        up.append(Phase(children[::-1], parents[::-1], 1 / lanes, depth, True, whole, True, lane=lane, lanes=lanes))
        down.append(Phase(parents, children, 1 / lanes, depth, False, whole, True, lane=lane, lanes=lanes))
    return {"all_reduce": [tuple(up), tuple(down)], "broadcast": [tuple(down)], "reduce": [tuple(up)]}[kind]


def _parents(n: int, chain: int) -> tuple[list[tuple[int, int]], int]:
    """(child, parent) from the root outwards, and how many levels there are."""
    heads = range(0, n, chain)
    level = {0: 0}
    found = []
    for k, head in enumerate(heads):
        if k:
            parent = heads[(k - 1) // 2]
            found.append((head, parent))
            level[head] = level[parent] + 1
        for member in range(head + 1, min(head + chain, n)):
            found.append((member, member - 1))
            level[member] = level[member - 1] + 1
    found.sort(key=lambda edge: level[edge[0]])
    return found, max(level.values())


def direct(kind: str, n: int) -> list[Stage]:
    """Everybody with everybody at once."""
    sources, targets = (a.ravel() for a in np.nonzero(~np.eye(n, dtype=bool)))
    theirs = Phase(sources, targets, 1 / n, 1, True, lambda step: (targets, targets))
    mine = Phase(sources, targets, 1 / n, 1, False, lambda step: (sources, sources))
    swap = Phase(sources, targets, 1 / n, 1, False, lambda step: (targets, sources))
    phases = {"all_reduce": (theirs, mine), "reduce_scatter": (theirs,), "all_gather": (mine,), "all_to_all": (swap,)}[kind]
    return [(phase,) for phase in phases]


def send(n: int) -> list[Stage]:
    """The first rank sends to the second."""
    if n != 2:
        raise ValueError(f"send_receive is between two ranks, not {n}")
    return [(Phase(np.array([0]), np.array([1]), 1.0, 1, False, _whole(1)),)]


def in_switch(kind: str, n: int, root: int = 0) -> list[Stage]:
    """The switch adds what all hold of a rank's part, and hands a rank's store to all."""
    if kind == "broadcast":
        others = np.array([k for k in range(n) if k != root])
        return [(Phase(np.full(n - 1, root), others, 1.0, 1, False, _whole(n - 1), switched="spread"),)]
    adding, handing = (attrs.evolve(stage[0], switched=how) for stage, how in zip(direct("all_reduce", n), ("add", "spread"), strict=True))
    phases = {"all_reduce": (adding, handing), "reduce_scatter": (adding,), "all_gather": (handing,)}[kind]
    return [(phase,) for phase in phases]


def perform(stages: Sequence[Stage], data: np.ndarray, swaps: bool = False) -> np.ndarray:
    """What every rank holds in the end. data: (ranks, parts, lanes, elements); swaps: parts are read from what was given (all-to-all)."""
    held = data.copy()
    for stage in stages:
        for phase in stage:
            _do(phase, held, data if swaps else None)
    return held


def _do(phase: Phase, held: np.ndarray, given: np.ndarray | None) -> None:
    lanes = slice(phase.lane * held.shape[2] // phase.lanes, (phase.lane + 1) * held.shape[2] // phase.lanes)
    for step in range(1 if phase.pipelined else phase.steps):
        taken, lands = phase.parts(step)
        before = held if phase.pipelined else held.copy() if given is None else given
        for source, target, a, b in zip(phase.sources, phase.targets, taken, lands, strict=True):
            moved, place = _cut(before[source], a, lanes), _cut(held[target], b, lanes)
            place[...] = place + moved if phase.adds else moved


def _cut(of_rank: np.ndarray, part: int, lanes: slice) -> np.ndarray:
    """A view of one part, or of all of them, in some lanes."""
    return of_rank[:, lanes] if part < 0 else of_rank[part, lanes]
