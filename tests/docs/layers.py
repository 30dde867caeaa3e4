"""Writes the tables of results/reports/transformer_layer.md: `python tests/docs/layers.py`.

In: `experiments/timelines/transformer_layer.yaml`, two devices. Out: the time of a layer in the last pass, by how it is launched, fused and
linked, below the answer written by hand. Kernels are simulated the first time (a quarter of an hour) and kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from archex import workloads
from archex.assembly import assemble
from archex.base.options import Options
from archex.describe import DeviceSpec
from archex.suite.launch import read_folder
from archex.sweeps.settings import KERNELS
from archex.testing.devices import described
from archex.timeline import Timeline, Workload, read, run

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "experiments/timelines/transformer_layer.yaml"
PAGE = ROOT / "results/reports/transformer_layer.md"
COMMAND = "python tests/docs/layers.py"
TABLES = "<!-- tables -->\n"
DEVICES = ("h200", "mi300x")
MODES = ("decode", "prefill")
RANKS = (1, 2, 4, 8)
LAYERS = 4
#: Ways to run it: parameters of the workload, what is changed of the device.
WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "calls": ({}, ""),
    "a graph": ({"graph": True}, ""),
    "calls, unfused": ({"fused": False}, ""),
    "a graph, unfused": ({"graph": True, "fused": False}, ""),
    "a graph, one more link": ({"graph": True}, "more"),
    "a graph, links half as fast": ({"graph": True}, "slow"),
}


def workload(mode: str, ranks: int, given: dict[str, Any]) -> Workload:
    """The shipped file with these parameters."""
    return read(yaml.safe_load(FILE.read_text()), None, {"mode": mode, "tensor_parallel": ranks, "layers": LAYERS, **given})


def linked(device: str, change: str) -> DeviceSpec:
    """A device, with one more link (which a mesh deals evenly to the others) or links half as fast."""
    link = described(device)["link"]
    return described(device, {"more": {"link.links": link.links + 1}, "slow": {"link.rate": f"{link.rate / 2:g} B/s"}}.get(change))


def last_pass(found: Timeline) -> tuple[float, float]:
    """From the end of the wait before the last pass to its own, in nanoseconds."""
    ends = [call.ended for call in found.calls if call.what == "sync" and call.thread == "rank0"]
    return ends[-2], ends[-1]


def layer_ns(found: Timeline) -> float:
    """Nanoseconds a layer in the last pass."""
    begun, ended = last_pass(found)
    return (ended - begun) / LAYERS


def exchanging(found: Timeline) -> float:
    """Part of the last pass in which device 0 exchanges."""
    begun, ended = last_pass(found)
    parts = [c.ended - c.started for c in found.commands if c.kind == "collective" and c.device == 0 and c.started >= begun]
    return sum(parts) / (ended - begun)


class Timed:
    """Workloads on a device, each kernel simulated once."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._assembled = assemble(described(device))
        self._find = workloads.from_folders(read_folder, KERNELS, KERNELS / "standard", FILE.parent)

    def run(self, mode: str, ranks: int, given: dict[str, Any], change: str) -> Timeline:
        """A way to run it."""
        work = workload(mode, ranks, given)
        timed = workloads.timed(work, self._assembled, Options(), self._find)
        return run(timed, workloads.machine(linked(self._device, change), work))


def tables() -> str:
    """A table a mode: a device and a number of devices a line."""
    timed = {device: Timed(device) for device in DEVICES}
    text = ""
    for mode in MODES:
        text += f"## {mode.capitalize()}: microseconds a layer\n\n"
        text += f"| device | devices | {' | '.join(WAYS)} | exchanging |\n| :-- | --: |{' --: |' * (len(WAYS) + 1)}\n"
        for device in DEVICES:
            for ranks in RANKS:
                found = [timed[device].run(mode, ranks, *way) for way in WAYS.values()]
                times = [
                    f"{layer_ns(one) / 1e3:.1f}" if ranks > 1 or not way[1] else "-" for one, way in zip(found, WAYS.values(), strict=True)
                ]
                text += f"| `{device}` | {ranks} | {' | '.join(times)} | {100 * exchanging(found[1]):.0f} % |\n"
        text += "\n"
    return text.rstrip("\n") + "\n"


def main() -> None:
    PAGE.write_text(PAGE.read_text().partition(TABLES)[0] + TABLES + tables())


if __name__ == "__main__":
    main()
