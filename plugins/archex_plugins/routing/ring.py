"""A ring: stops in a circle, data in both directions."""

from __future__ import annotations

from typing import Any

import attrs
from archex.base.units import Duration, Rate
from archex.parts.interconnect import Interconnect, InterconnectSpec, Link, LinkKind, Place
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class RingSpec(InterconnectSpec):
    """How many stops, and what the way between two costs."""

    stops: int = number("count", "stops of the ring", low=1, high=1024)
    hop: Duration = number("duration", "latency from a stop to the next, there and back")
    width: Rate | None = number("rate", "data from a stop to the next, each way; none: no limit", default=None)


class Ring(Interconnect):
    """Compute units and slices are spread evenly over the stops; a request goes the shorter way round, from even stops upwards on a tie."""

    name = "ring"
    Spec = RingSpec

    @classmethod
    def link_kinds(cls, spec: Any) -> tuple[LinkKind, ...]:
        return (LinkKind(spec.hop, spec.width),)

    @staticmethod
    def route(place: Place, params: Any) -> list[Link]:
        stops = int(params[0])
        at, there = place.unit * stops // place.units, place.slice * stops // place.slices
        up = (there - at) % stops
        step = 1 if 2 * up < stops or (2 * up == stops and at % 2 == 0) else -1
        path = []
        while at != there:
            path.append(Link(at, (at + step) % stops, 0))
            at = (at + step) % stops
        return path
