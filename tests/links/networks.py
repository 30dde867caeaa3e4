"""Networks for tests: devices of the shipped config with any choice of links."""

from __future__ import annotations

from functools import cache
from typing import Any

from archex.assembly.links import network
from archex.describe import DeviceSpec, describe
from archex.links import Network
from archex.testing.devices import compose, installed, slot_file


@cache
def device(name: str, links: str | None = None) -> DeviceSpec:
    config: dict[str, Any] = compose(name)
    return describe(config | ({"link": slot_file("link", links)} if links else {}), installed())


@cache
def net(name: str, devices: int, links: str | None = None) -> Network:
    return network(device(name, links), devices)
