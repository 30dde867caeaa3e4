"""Exchanges and copies between devices against silicon: the rows of p2p.csv, collectives.csv and the published all-reduces of 8 devices.

A row is the time from one call to the next: of the processor or of the devices, whichever is longer.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from archex.assembly.links import network
from archex.base.folders import reference
from archex.links import Network, peer_access_rate, peer_copy, plan
from archex.testing.devices import described

DEVICES = {"A100_SXM_80GB": "a100", "H100_SXM": "h100_sxm", "H200_SXM": "h200", "MI300X": "mi300x"}
MIB = 1 << 20


class Row(NamedTuple):
    name: str
    bytes: int
    measured: float  # microseconds
    modelled: float

    @property
    def error(self) -> float:
        return abs(self.modelled / self.measured - 1)


def rows(name: str) -> list[dict[str, str]]:
    with open(reference() / name, newline="") as file:
        return list(csv.DictReader(file))


@cache
def net(device: str, devices: int) -> Network:
    return network(described(device), devices)


def exchanged(device: str, devices: int, kind: str, size: int) -> float:
    way = plan(net(device, devices), kind, range(devices), size)
    return max(way.alone_ns, way.call_ns) / 1e3


def copies() -> list[Row]:
    found = []
    for row in rows("h200/p2p.csv"):
        copy = peer_copy(net("h200", 2), 0, 1, int(row["bytes"]))
        found.append(Row(row["name"], int(row["bytes"]), float(row["us"]), max(copy.alone_ns, copy.call_ns) / 1e3))
    return found


def collectives() -> list[Row]:
    return [
        Row(
            row["name"],
            size := int(row["bytes"]),
            float(row["us"]),
            exchanged("h200", 2, row["name"].removesuffix("_alone").replace("recv", "receive"), size),
        )
        for row in rows("h200/collectives.csv")
        if not row["name"].startswith("gemm")
    ]


def published(device: str) -> list[Row]:
    found = []
    for row in rows("facts/published_facts.csv"):
        size = re.fullmatch(r"allreduce_8gpu_busbw_(\d+)B", row["name"])
        if size and DEVICES.get(row["device"]) == device and int(size[1]) >= 1 << 16:
            us = int(size[1]) * 1.75 / float(row["value"]) / 1e3
            found.append(Row(row["name"], int(size[1]), us, exchanged(device, 8, "all_reduce", int(size[1]))))
    return found


def between() -> list[tuple[str, Row]]:
    """The exchanges of h200_links, at sizes of its own: `back`, one call behind the other, and `device`, the devices alone."""
    found = []
    for row in rows("h200_links/exchanges.csv"):
        name, _, mode = row["name"].rpartition("_")
        if mode in ("back", "device") and name != "swap" and "bytes=" in row["params"]:
            size, kind = int(row["params"].split()[0].removeprefix("bytes=")), name.replace("recv", "receive")
            way = plan(net("h200", 2), kind, range(2), size)
            # `back`: some calls between two events; the devices begin after the first call, or end after the last one
            calls = 20 if size <= 64 * MIB * (2 if kind == "all_gather" else 1) else 5
            behind = max(way.alone_ns, way.call_ns) + min(way.alone_ns, way.call_ns) / calls
            modelled = (way.alone_ns if mode == "device" else behind) / 1e3
            found.append((mode, Row(kind, size, float(row["value"]), modelled)))
    return found


def mean_error(some: list[Row]) -> float:
    for row in some:
        print(f"{row.name:32s}{row.bytes:12d}{row.measured:10.1f}{row.modelled:10.1f}{100 * row.error:7.1f} %")
    return float(np.mean([row.error for row in some]))


@pytest.mark.parametrize("measure", [copies, collectives], ids=["copies", "collectives"])
def test_two_devices(measure) -> None:  # type: ignore[no-untyped-def]
    found = measure()
    assert mean_error([row for row in found if row.bytes >= MIB]) <= 0.15
    assert mean_error([row for row in found if row.bytes < MIB]) <= 0.30


@pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "send_receive"])
def test_each_exchange_of_two_at_other_sizes(kind: str) -> None:
    found = [(mode, row) for mode, row in between() if row.name == kind]
    assert len(found) >= 36
    assert mean_error([row for mode, row in found if mode == "back" and row.bytes >= MIB]) <= 0.08
    assert mean_error([row for mode, row in found if mode == "back" and row.bytes < MIB]) <= 0.12
    assert mean_error([row for mode, row in found if mode == "device" and row.bytes >= 12 * MIB]) <= 0.06


def test_pairs_on_the_devices() -> None:
    """What a send and both ways at once take from a few MiB up, to a few per cent at every size."""
    least = {"send_receive": MIB, "all_to_all": 6 * MIB}
    found = [row for mode, row in between() if mode == "device" and row.bytes >= least.get(row.name, row.bytes + 1)]
    assert len(found) == 18
    assert all(row.error < 0.035 for row in found), found


@pytest.mark.parametrize("device", DEVICES.values())
def test_eight_devices(device: str) -> None:
    found = published(device)
    assert len(found) >= 8
    assert mean_error(found) <= 0.12


def test_loads_and_stores_of_a_kernel() -> None:
    for row in rows("h200/p2p_kernel.csv"):
        if row["GBps"]:
            rate = peer_access_rate(net("h200", 2), 0, 1, 132, 32 * 1024, 373 / 1.98) / 1e9
            assert abs(rate / float(row["GBps"]) - 1) < 0.05


def test_loads_of_a_few_compute_units() -> None:
    """256 threads with four loads of 16 bytes each on their way: a round trip for 16 KiB, up to what the links give; and the launch."""
    count, launch_us = 0, 7.0  # of a kernel that reads 4 KiB of its own device, in the same file
    for row in rows("h200_links/peer.csv"):
        said = dict(part.split("=") for part in row["params"].split() if "=" in part)
        if row["name"] == "peer_read" and (said["threads"], said["width"]) == ("256", "16"):
            units = min(int(said["blocks"]), 132)
            rate = peer_access_rate(net("h200", 2), 0, 1, units, 16 * 1024 * int(said["blocks"]) / units, 281 / 1.98)
            size = int(said["bytes"])
            assert abs((size / rate * 1e6 + launch_us) / (size / float(row["value"]) / 1e3) - 1) < 0.1, row
            count += 1
    assert count == 10


def test_large_exchanges_of_eight() -> None:
    """16 GiB on h200, as others measured them: in the switch, by rings, what a ring gathers and scatters; two and eight of mi300x."""
    size = 16 << 30
    for device, n, kind, algorithm, rate in (
        ("h200", 8, "all_reduce", "in_switch", 482.3), ("h200", 8, "all_reduce", "ring", 367.6), ("h200", 8, "all_gather", "ring", 361.4),
        ("h200", 8, "reduce_scatter", "ring", 362.9), ("a100", 8, "all_reduce", "ring", 235), ("mi300x", 2, "all_reduce", "ring", 47.7),
    ):  # fmt: skip
        links = net(device, n)
        if device == "mi300x":  # two of eight: one link between them
            way = plan(net(device, 8), kind, [0, 1], size, algorithm=algorithm)
        else:
            way = plan(links, kind, range(n), size, algorithm=algorithm)
        bound = 0.02 if (device, algorithm) == ("h200", "ring") else 0.1
        assert abs(way.bus_rate / 1e9 / rate - 1) < bound, (device, kind, algorithm, way.bus_rate)
