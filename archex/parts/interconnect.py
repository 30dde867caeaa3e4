"""What joins compute units and the level of the memory path named by `serves`: rates of a port, of a group, of all."""

from __future__ import annotations

import attrs

from archex.base.units import Rate
from archex.parts.part import Part, number, text


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
    group_write: Rate | None = number("rate", "data from one group of compute units", default=None)
    total_read: Rate | None = number("rate", "data to all compute units of one instance of that level", default=None)
    total_write: Rate | None = number("rate", "data from all compute units of one instance of that level", default=None)


class Interconnect(Part):
    """Every compute unit reaches every slice of its instance; ports, groups and the whole have finite rates."""

    kind = "interconnect"
    Spec = InterconnectSpec
