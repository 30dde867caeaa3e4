"""Devices in a circle."""

from __future__ import annotations

from typing import Any

from archex.parts.link import Hop, Link


class RingOfDevices(Link):
    """Half of a device's links lead to the next one, half to the one before; data go the shorter way round, upwards on a tie."""

    name = "ring_of_devices"

    @staticmethod
    def route(source: int, target: int, devices: int, params: Any) -> list[Hop]:
        up = (target - source) % devices
        step, count = (1, up) if 2 * up <= devices else (-1, devices - up)
        return [Hop((source + step * k) % devices, (source + step * (k + 1)) % devices, params[0] / 2) for k in range(count)]

    @staticmethod
    def rings(devices: int, params: Any) -> list[list[int]]:
        order = list(range(devices))
        return [order, order[::-1]] if devices > 2 else [order]

    @staticmethod
    def rotates(devices: int, params: Any) -> bool:
        return True
