"""What joins the devices of a machine: links of a device, the topology they form, and the library that exchanges data over them.

`route(source, target, devices, params) -> hops`, plain Python, asked once for each pair of devices that exchange something: the `Hop`s of
the way between them, in order. `rings(devices, params) -> orders`, optional: orders of the devices in which a ring library sends, each a
ring of its own that runs beside the others; without it one ring by number. `rotates(devices, params) -> count`, optional: every device sees
the same when all are renumbered by so many, true or 1: by one, false or 0: never; then symmetric ranks can be folded. Nodes of a way are
devices by number, and anything else by name; a number beside a name is that of a device there. `params` are the links of a device and the
part's own numbers.

Data travel in packets, each with a header: what a link carries of data is payload / (payload + header) of its rate. A load from another
device sends a header of its own the other way.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import attrs

from archex.parts.part import Part, PolicyFunction, flag, nested, number


@attrs.frozen(kw_only=True)
class ProtocolSpec:
    """How a library tells a neighbour that data have arrived."""

    base: float = number("s", "an operation on the device before its first step")
    step: float = number("s", "handshake with a neighbour of a ring, beside the links' latency")
    tree_step: float = number("s", "the same with a neighbour of a tree")
    share: float = number("ratio", "of the bytes that it sends, data", low=0.01, high=1)
    rate: float | None = number("B/s", "data that a device sends at most; none: what links give", low=1, default=None)
    claimed: float | None = number("B/s", "what the library's table has for it; none: that rate", low=1, default=None)
    chunk: int = number("B", "data of a step on one channel at most: what does not fit goes round again", low=256)
    slices: int = number("count", "parts of a chunk, each with a handshake of its own", low=1, default=1)
    slice_least: int = number("B", "a smaller part is not split off", low=1, default=1)
    between: float = number("s", "of a ring's handshake, where the way leaves a machine", default=0.0)
    tree_between: float = number("s", "the same of a tree's", default=0.0)


@attrs.frozen(kw_only=True)
class SwitchedSpec:
    """Operations that the switch does: it adds what devices hold, and hands one store to all."""

    base: float = number("s", "an operation on the device before its first data")
    channels: int = number("count", "channels, each on a compute unit", low=1)
    stages: int = number("count", "passes over a chunk, one after the other: into a buffer, through the switch, out of it", low=1)
    chunk: int = number("B", "data of a channel and device in a pass at most", low=256)
    chunk_least: int = number("B", "in short operations at least", low=256)
    request: int = number("B", "with which the switch asks a device for a line to add", default=32)
    claimed: float = number("ratio", "of the links' rate, what the library's table has for it", low=0.01, high=1, default=1.0)


@attrs.frozen(kw_only=True)
class LibrarySpec:
    """The software that moves data between devices with compute units: channels, protocols, what a call costs."""

    call: float = number("s", "on the processor, from one call of a collective to the next")
    call_group: float = number("s", "on the processor beside that, where sends and receives go as a group: an all-to-all, a send")
    call_each: float = number("s", "on the processor beside that, for each of them")
    channels: int = number("count", "channels, each on a compute unit", low=1)
    peer_channels: int = number("count", "channels of sends and receives between pairs", low=1)
    peer_rate: float = number("B/s", "data that a channel of a pair sends while it receives as much; with one of them twice that", low=1)
    peer_most: int = number("B", "data of a pair's channel at most, while there are more that it can take", low=256)
    peer_chunk: int = number("B", "data that a pair's channel receives before it moves them to their place, at most", low=256)
    copy_rate: float = number("B/s", "data that a channel moves within its device, while it sends nothing", low=1)
    drift: float = number(
        "count", "chunks after which channels that begin in step have moved apart, so that one sends while others don't", low=0.1
    )
    chain: int = number("count", "devices in a row that a tree passes one after the other", low=1)
    tree_share: float = number("ratio", "of the links' rate that trees reach", low=0.01, high=1)
    direct: bool = flag("reduces by exchange between all pairs, too", default=False)
    protocols: dict[str, ProtocolSpec] = nested(ProtocolSpec, "how arrival is told", each="map")
    switched: SwitchedSpec | None = nested(SwitchedSpec, "operations in the switch; none: the library has none", default=None)


@attrs.frozen(kw_only=True)
class LinkSpec:
    """Links of one device, what a packet costs, the library."""

    links: int = number("count", "links of a device", low=1, high=1024)
    rate: float = number("B/s", "one link, each way, headers included", low=1)
    efficiency: float = number("ratio", "of that rate, what is left of checks and acknowledgements", low=0.01, high=1, default=1.0)
    hop: float = number("s", "latency of a hop, one way, with what stands at its end")
    payload: int = number("B", "data of a packet of a kernel's loads and stores", low=1)
    copy_payload: int = number("B", "data of a packet of a copy engine", low=1)
    header: int = number("B", "of a packet beside its data")
    mask: int = number("B", "of a packet that writes several sectors, some in part: which bytes are written")
    port: int = number("B", "that a packet with data takes beside them on a compute unit's way out")
    atomic: float = number("s", "that an atomic from another device holds a slice for each sector, at least")
    copy_setup: float = number("s", "a copy between devices by an engine, before its first byte")
    copy_call: float = number("s", "on the processor, from one such copy to the next")
    reduces: bool = flag("what joins the devices adds and multiplies data", default=False)
    library: LibrarySpec = nested(LibrarySpec, "the software that exchanges data")


class Hop(NamedTuple):
    """From node to node, how many of a device's links lie there side by side, and seconds beside a hop's latency: between machines."""

    start: Hashable
    end: Hashable
    links: float
    far: float = 0.0


class Link(Part):
    """Devices reach each other over hops of links with a rate and a latency."""

    kind = "link"
    Spec = LinkSpec
    functions = (
        PolicyFunction("route", ("source", "target", "devices", "params"), "the hops of the way", "once a pair of devices, at assembly"),
        PolicyFunction("rings", ("devices", "params"), "orders of the devices", "once for a count of devices", required=False),
        PolicyFunction("rotates", ("devices", "params"), "a count, 0: never", "once for a count of devices", required=False),
    )

    @classmethod
    def parameters(cls, spec: Any) -> tuple[float, ...]:
        """The links of a device, then what a part's own Spec adds to the kind's."""
        return (float(spec.links), *cls.numbers(spec, LinkSpec))

    @classmethod
    def check(cls, spec: Any) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        if not spec.library.protocols:
            found.append(("library", "protocols", "must have a protocol"))
        if spec.library.switched is not None and not spec.reduces:
            found.append(("reduces", spec.reduces, "must be true where the library works in the switch"))
        return found
