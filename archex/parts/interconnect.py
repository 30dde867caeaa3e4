"""What joins compute units and the level of the memory path named by `serves`: rates of a port, of a group, of all; for some, links.

`route(place, params) -> links`, optional, plain Python, asked once for each compute unit and slice at assembly: the `Link`s of the way
between them, of which `link_kinds(spec)` says the latency and the width. A way's latency comes on top of the level's, which is then that of
a slice at no distance. Links limit the rates of a group and of all compute units as far as evenly spread traffic meets on them.
`params` are the part's own numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import attrs

from archex.base.units import Duration, Rate
from archex.parts.part import Part, PolicyFunction, number, text


@attrs.frozen(kw_only=True)
class InterconnectSpec:
    """Rates; `none` is no limit. In `B/cycle` they follow the compute units' clock."""

    serves: str = text("the level of memory_path to which it leads")
    port_read: Rate | None = number("rate", "data to one compute unit", default=None)
    port_write: Rate | None = number("rate", "data from one compute unit", default=None)
    port_write_line: float = number("cycles", "a written line holds that port at least so long", default=0)
    pending_writes: int = number(
        "count", "written sectors a compute unit can have on their way before its port stalls; 0: no limit", default=0
    )
    partial_sector: float = number("ratio", "a sector written in part counts as so many on its way (a mask goes along)", low=1, default=1)
    group_read: Rate | None = number("rate", "data to one group of compute units", default=None)
    group_merged: Rate | None = number(
        "rate",
        "data to one group when reads of a line that another of the group has asked for join it; none: they go on their own",
        default=None,
    )
    merged_within: float = number(
        "cycles", "a read that finds its line can be joined for so long, one that misses as long after its data have come", default=0
    )
    merged_most: int = number("count", "reads of a group that are answered at once", low=1, default=1)
    group_write: Rate | None = number("rate", "data from one group of compute units", default=None)
    total_read: Rate | None = number("rate", "data to all compute units of one instance of that level", default=None)
    total_write: Rate | None = number("rate", "data from all compute units of one instance of that level", default=None)


class Place(NamedTuple):
    """A compute unit and a slice (over all instances of the level), each with how many there are."""

    unit: int
    units: int
    group: int  # of the compute unit
    groups: int
    die: int  # of the compute unit
    dies: int
    slice: int
    slices: int


class Link(NamedTuple):
    """A link of a way, from node to node, and which of the part's kinds of link it is."""

    start: Hashable
    end: Hashable
    kind: int


class LinkKind(NamedTuple):
    """What a kind of link costs: latency there and back, and its width each way (none: no limit)."""

    hop: Duration
    width: Rate | None


class Interconnect(Part):
    """Every compute unit reaches every slice of its instance; ports, groups and the whole have finite rates."""

    kind = "interconnect"
    Spec = InterconnectSpec
    functions = (PolicyFunction("route", ("place", "params"), "the links of the way", "once a way, at assembly", required=False),)

    @classmethod
    def link_kinds(cls, spec: Any) -> tuple[LinkKind, ...]:
        """The kinds of link that `route` names by position."""
        return ()

    @classmethod
    def parameters(cls, spec: Any) -> tuple[float, ...]:
        """What a part's own Spec adds to the kind's."""
        return cls.numbers(spec, InterconnectSpec)
