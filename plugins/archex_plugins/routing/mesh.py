"""A mesh: nodes in rows and columns, each joined with its neighbours."""

from __future__ import annotations

from typing import Any

import attrs
from archex.base.units import Duration, Rate
from archex.parts.interconnect import Interconnect, InterconnectSpec, Link, LinkKind, Place
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class MeshSpec(InterconnectSpec):
    """Extents, and what each link costs."""

    columns: int = number("count", "nodes of a row", low=1, high=256)
    rows: int = number("count", "nodes of a column", low=1, high=256)
    hop: Duration = number("duration", "latency of a link and the router behind it, there and back")
    width: Rate | None = number("rate", "data over one link, each way; none: no limit", default=None)


class Mesh(Interconnect):
    """Compute units and slices are spread evenly over the nodes, row by row; a request goes along its row first, then along the column."""

    name = "mesh"
    Spec = MeshSpec

    @classmethod
    def link_kinds(cls, spec: Any) -> tuple[LinkKind, ...]:
        return (LinkKind(spec.hop, spec.width),)

    @staticmethod
    def route(place: Place, params: Any) -> list[Link]:
        columns, nodes = int(params[0]), int(params[0]) * int(params[1])
        here, there = place.unit * nodes // place.units, place.slice * nodes // place.slices
        row, column = divmod(here, columns)
        last_row, last_column = divmod(there, columns)
        path = []
        while (row, column) != (last_row, last_column):
            before = (row, column)
            if column != last_column:
                column += 1 if last_column > column else -1
            else:
                row += 1 if last_row > row else -1
            path.append(Link(before, (row, column), 0))
        return path
