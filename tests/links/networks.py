"""Networks for tests: devices of the shipped config with any choice of links."""

from __future__ import annotations

from functools import cache
from typing import Any

from archex.assembly.links import network
from archex.describe import DeviceSpec, describe
from archex.links import Network
from archex.testing.devices import compose, installed, slot_file


@cache
def device(name: str, links: str | None = None, /, **numbers: float | str) -> DeviceSpec:
    """numbers: of the links, in place of those of the file."""
    config: dict[str, Any] = compose(name)
    joined = slot_file("link", links) if links else config["link"]
    return describe(config | ({"link": joined | numbers | ({"sources": {}} if numbers else {})}), installed())


@cache
def net(name: str, devices: int, links: str | None = None, /, **numbers: float | str) -> Network:
    return network(device(name, links, **numbers), devices)
