"""Routes between compute units and the slices of the level that the fabric serves, as finished numbers.

In: a `DeviceSpec`, where its compute units lie. Out: the latency that each way adds, and the rates that the links leave to a group of
compute units and to all of them when traffic is spread evenly over the slices: a link that carries a share s of the bytes limits all of
them to its width / s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from archex.assembly.topology import Topology
from archex.base.errors import ABSENT, Problem, RequestError
from archex.base.memo import by_identity
from archex.describe import DeviceSpec
from archex.describe.device import SlotSpec
from archex.describe.fit import instances
from archex.parts.compute_unit import ComputeUnitSpec
from archex.parts.interconnect import Link, LinkKind, Place


@attrs.frozen(eq=False)
class Routes:
    """latency: cycles added, by compute unit and slice. group_rate, total_rate: bytes a cycle; 0: no limit."""

    latency: np.ndarray
    group_rate: float
    total_rate: float


def routes(spec: DeviceSpec, place: Topology, clock: float) -> Routes | None:
    """The routes of a device; None where its interconnect has no links."""
    fabric = spec.slots["fabric"]
    serves = fabric.spec.serves
    return _routes(fabric, spec[serves], instances(spec, serves), spec["compute_unit"], place, clock)


@by_identity(16)  # asking for every way takes some 100 ms
def _routes(fabric: SlotSpec, level: Any, count: int, unit_spec: ComputeUnitSpec, place: Topology, clock: float) -> Routes | None:
    route = fabric.part.function("route")
    if route is None:
        return None
    kinds: tuple[LinkKind, ...] = fabric.part.link_kinds(fabric.spec)  # type: ignore[attr-defined]
    costs = [kind.hop.cycles(clock) for kind in kinds]
    params = fabric.part.parameters(fabric.spec)
    units, each = len(place.group), level.slices
    mine = place.instance(level.shared_by)
    latency = np.zeros((units, each * count))
    sharing = [Counter[Link]() for _ in range(count)]  # how many ways of an instance's units to its slices pass a link
    within = [Counter[Link]() for _ in range(int(place.group.max()) + 1)]
    for unit in range(units):
        for k in range(each):
            which = int(mine[unit]) * each + k
            group, die = int(place.group[unit]), int(place.die[unit])
            at = Place(unit, units, group, unit_spec.groups, die, unit_spec.dies, which, each * count)
            links = _asked(route, at, params, len(kinds), f"interconnect.{fabric.part.name}.route")
            latency[unit, which] = sum(costs[link.kind] for link in links)
            sharing[mine[unit]].update(links)
            within[group].update(links)
    members = np.bincount(mine, minlength=count) * each
    grouped = np.bincount(place.group) * each
    return Routes(latency, _rate(within, grouped, kinds, clock), _rate(sharing, members, kinds, clock))


def _asked(route: Callable[..., Any], place: Place, params: Any, kinds: int, path: str) -> list[Link]:
    """The links of a way, checked; what is wrong with them names the part."""
    way = f"from compute unit {place.unit} to slice {place.slice}"
    try:
        links = [Link(*link) for link in route(place, params)]
    except Exception as error:
        raise RequestError([Problem(path, ABSENT, f"raised {type(error).__name__}: {error} ({way})")]) from error
    for link in links:
        if not 0 <= link.kind < kinds:
            raise RequestError([Problem(path, link.kind, f"must be a kind of link, 0 to {kinds - 1} ({way})")])
    for before, after in pairwise(links):
        if before.end != after.start:
            raise RequestError([Problem(path, after.start, f"must be where the link before ends, {before.end} ({way})")])
    ends = [link.end for link in links]
    if len({*ends, *(link.start for link in links[:1])}) != len(ends) + bool(ends):
        raise RequestError([Problem(path, ABSENT, f"passes a node twice ({way})")])
    return links


def _rate(loads: list[Counter[Link]], ways: Any, kinds: tuple[LinkKind, ...], clock: float) -> float:
    """The least rate to which a link limits one of several sets of ways, all of a set taken equally often; 0: none does."""
    found = [
        width.bytes_per_cycle(clock) * int(total) / passing
        for load, total in zip(loads, ways, strict=True)
        for link, passing in load.items()
        if (width := kinds[link.kind].width) is not None
    ]
    return min(found, default=0.0)
