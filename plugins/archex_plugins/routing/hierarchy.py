"""A hierarchy: a switch for each group of compute units, one that joins the groups of a die, one that joins the dies."""

from __future__ import annotations

from typing import Any

import attrs
from archex.base.units import Duration, Rate
from archex.parts.interconnect import Interconnect, InterconnectSpec, Link, LinkKind, Place
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class HierarchySpec(InterconnectSpec):
    """What the links of each step cost."""

    group_hop: Duration = number("duration", "latency between a group's switch and its die's, there and back")
    group_width: Rate | None = number("rate", "data between them, each way; none: no limit", default=None)
    die_hop: Duration = number("duration", "latency between a die's switch and the one that joins dies, there and back")
    die_width: Rate | None = number("rate", "data between them, each way; none: no limit", default=None)


class Hierarchy(Interconnect):
    """Slices are dealt to groups and dies evenly. Nothing is added within a group; another is two links away, another die four."""

    name = "hierarchy"
    Spec = HierarchySpec

    @classmethod
    def link_kinds(cls, spec: Any) -> tuple[LinkKind, ...]:
        return (LinkKind(spec.group_hop, spec.group_width), LinkKind(spec.die_hop, spec.die_width))

    @staticmethod
    def route(place: Place, params: Any) -> list[Link]:
        group = place.slice * place.groups // place.slices
        die = group * place.dies // place.groups
        if group == place.group:
            return []
        above, below = ("die", place.die), ("die", die)
        across = [] if die == place.die else [Link(above, "top", 1), Link("top", below, 1)]
        return [Link(("group", place.group), above, 0), *across, Link(below, ("group", group), 0)]
