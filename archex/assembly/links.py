"""The network of several devices of one description.

In: a `DeviceSpec` with a `link`, how many of it there are. Out: an `archex.links.Network`, whose ways are the part's own, checked as they
are first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, RequestError
from archex.describe import DeviceSpec
from archex.links import Library, Network, Protocol, Switched
from archex.parts.link import Hop, LibrarySpec, Link, ProtocolSpec, SwitchedSpec

_NS = 1e9


def network(spec: DeviceSpec, devices: int) -> Network:
    """The links of `devices` devices alike; RequestError where the device has none."""
    slot = spec.slots.get("link")
    if slot is None:
        raise RequestError([Problem("link", ABSENT, f"is missing: {spec.name} has no links to other devices")])
    if devices < 1:
        raise RequestError([Problem("devices", devices, "must be at least 1")])
    part: Any = slot.part
    found, params = slot.spec, part.parameters(slot.spec)
    rotates = part.function("rotates")
    return Network(
        devices=devices,
        route=partial(_route, part, params, devices, found.links),
        rate=float(found.rate) * found.efficiency,
        hop_ns=found.hop * _NS,
        payload=found.payload,
        copy_payload=found.copy_payload,
        header=found.header,
        copy_setup_ns=found.copy_setup * _NS,
        copy_call_ns=found.copy_call * _NS,
        reduces=found.reduces,
        library=_library(found.library),
        rings=partial(_rings, part, params),
        rotates=int(rotates(devices, params)) if rotates is not None else 0,
    )


def _route(part: type[Link], params: Any, devices: int, links: int, source: int, target: int) -> list[Hop]:
    """The hops of a way, checked; what is wrong with them names the part."""
    path, way = f"link.{part.name}.route", f"from device {source} to device {target}"
    function = part.function("route")
    assert function is not None
    try:
        hops = [Hop(*hop) for hop in function(source, target, devices, params)]
    except Exception as error:
        raise RequestError([Problem(path, ABSENT, f"raised {type(error).__name__}: {error} ({way})")]) from error
    nodes = [source, *(hop.end for hop in hops)]
    if not hops or hops[0].start != source or nodes[-1] != target or any(a.end != b.start for a, b in pairwise(hops)):
        raise RequestError([Problem(path, [tuple(hop) for hop in hops], f"must lead hop by hop {way}")])
    if len(set(nodes)) != len(nodes):
        raise RequestError([Problem(path, nodes, f"passes a node twice ({way})")])
    if not all(hop.links > 0 for hop in hops) or max(hops[0].links, hops[-1].links) > links:
        raise RequestError([Problem(path, [hop.links for hop in hops], f"must use links, at a device at most its {links} ({way})")])
    if not all(hop.far >= 0 for hop in hops):
        raise RequestError([Problem(path, [hop.far for hop in hops], f"must take no less than a hop does ({way})")])
    return hops


def _rings(part: type[Link], params: Any, devices: int) -> Sequence[Sequence[int]]:
    function = part.function("rings")
    orders = [list(range(devices))] if function is None else [list(order) for order in function(devices, params)]
    wrong = [order for order in orders if sorted(order) != list(range(devices))]
    if wrong or not orders:
        raise RequestError([Problem(f"link.{part.name}.rings", wrong or orders, f"must name each of {devices} devices once")])
    return orders


def _library(spec: LibrarySpec) -> Library:
    return Library(
        call_ns=spec.call * _NS,
        call_group_ns=spec.call_group * _NS,
        call_each_ns=spec.call_each * _NS,
        channels=spec.channels,
        peer_channels=spec.peer_channels,
        peer_rate=float(spec.peer_rate),
        peer_most=spec.peer_most,
        peer_chunk=spec.peer_chunk,
        copy_rate=float(spec.copy_rate),
        drift=spec.drift,
        chain=spec.chain,
        tree_share=spec.tree_share,
        direct=spec.direct,
        protocols={name: _protocol(one) for name, one in spec.protocols.items()},
        switched=None if spec.switched is None else _switched(spec.switched),
    )


def _protocol(spec: ProtocolSpec) -> Protocol:
    rate = None if spec.rate is None else float(spec.rate)
    claimed = rate if spec.claimed is None else float(spec.claimed)
    times = (spec.base * _NS, spec.step * _NS, spec.tree_step * _NS)
    between = (spec.between * _NS, spec.tree_between * _NS)
    return Protocol(*times, spec.share, rate, claimed, spec.chunk, spec.slices, spec.slice_least, *between)


def _switched(spec: SwitchedSpec) -> Switched:
    return Switched(**(attrs.asdict(spec, filter=lambda field, _: field.name != "base") | {"base_ns": spec.base * _NS}))
