"""A tree of switches, as of an expansion bus."""

from __future__ import annotations

from typing import Any

import attrs
from archex.parts.link import Hop, Link, LinkSpec
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class TreeSpec(LinkSpec):
    """How many devices a switch has below it."""

    fanout: int = number("count", "devices below a switch, and switches below the root", low=1, high=256)
    up_links: int = number("count", "links from a switch to the next level", low=1, high=256)


class TreeOfSwitches(Link):
    """Devices hang below switches, switches below further ones up to the root: neighbours below a switch share nothing with others."""

    name = "pcie_tree"
    Spec = TreeSpec

    @staticmethod
    def route(source: int, target: int, devices: int, params: Any) -> list[Hop]:
        links, fanout, above = params[0], max(int(params[1]), 2), params[2]
        up, down = [Hop(source, (1, source // fanout), links)], [Hop((1, target // fanout), target, links)]
        here, there, level = source // fanout, target // fanout, 1
        while here != there:
            up.append(Hop((level, here), (level + 1, here // fanout), above))
            down.insert(0, Hop((level + 1, there // fanout), (level, there), above))
            here, there, level = here // fanout, there // fanout, level + 1
        return up + down
