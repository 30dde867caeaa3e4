"""What launches and graphs of small kernels cost on devices of which only that is published: y = a x again and again."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean

import pytest
from archex.assembly import assemble
from archex.base import folders
from archex.base.options import Options
from archex.suite.launch import read_folder
from archex.sweeps.settings import KERNELS
from archex.testing.devices import described
from archex.timeline import Builder
from archex.workloads import timeline

DEVICES = {"a100": "A100_SXM_80GB", "mi210": "MI210"}
TIMES = 30
#: Workgroups of the copy of the smoke suite (256 threads, 16 bytes a thread each way) that read and write so many kB.
GRIDS = {65: 8, 1045: 128, 4176: 512}


def published(device: str) -> Iterator[tuple[str, int, float]]:
    """(stream or graph, kB, microseconds) of each."""
    with open(folders.reference() / "facts/published_facts.csv", newline="") as file:
        for line in csv.reader(file):
            found = re.fullmatch(r"small_kernel_(stream|graph)_us_per_iter_(\d+)kB", line[2]) if line[0] == DEVICES[device] else None
            if found and int(found[2]) in GRIDS:
                yield found[1], int(found[2]), float(line[3])


@cache
def modelled(device: str, size: int, folder: Path) -> dict[str, float]:
    content = json.loads((KERNELS / "smoke/launches.json").read_text())["copy"]
    content["ptx"], content["grid"] = str(KERNELS / "smoke" / content["ptx"]), [GRIDS[size], 1, 1]
    content["args"][-1] = {"i32": 256 * GRIDS[size]}
    (folder / "launches.json").write_text(json.dumps({"scale": content}))
    launch = read_folder(folder)["scale"]
    work = Builder().kernel("scale", launch="scale").repeat(TIMES, lambda b: b.launch("scale")).sync("main")
    work.capture("g", lambda b: b.repeat(TIMES, lambda c: c.launch("scale"))).replay("g").sync("main")
    found = timeline(work.done(), assemble(described(device)), Options(), lambda kernel: launch)
    kernels = [c for c in found.commands if c.kind == "kernel"]
    stream, graph = ([c.ended for c in kernels if (c.graph is None) == plain] for plain in (True, False))
    return {name: (ends[-1] - ends[0]) / (TIMES - 1) / 1e3 for name, ends in (("stream", stream), ("graph", graph))}


@pytest.mark.parametrize("device", DEVICES)
def test_small_kernels_take_what_is_published(device: str, tmp_path: Path) -> None:
    errors = {(kind, size): 100 * (modelled(device, size, tmp_path)[kind] / us - 1) for kind, size, us in published(device)}
    assert len(errors) >= 5
    assert mean(map(abs, errors.values())) <= 25, errors
    print(device, {key: round(e) for key, e in errors.items()})
