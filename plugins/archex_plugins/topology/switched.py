"""All links of every device end in one switch that can give each of them its full rate."""

from __future__ import annotations

from typing import Any

from archex.parts.link import Hop, Link


class Switched(Link):
    """A switch joins all devices: one hop into it, one out of it, at the rate of all of a device's links."""

    name = "switched"

    @staticmethod
    def route(source: int, target: int, devices: int, params: Any) -> list[Hop]:
        return [Hop(source, "switch", params[0]), Hop("switch", target, params[0])]

    @staticmethod
    def rotates(devices: int, params: Any) -> bool:
        return True
