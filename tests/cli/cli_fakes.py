"""Small steps of the path in place of the real ones, named to the command as `cli_fakes:function`.

A device of two numbers, launches of a few lines, a cost anyone can check in the head: cycles = threads * ways, 1 GHz.
"""

from __future__ import annotations

import bdb
import json
import os
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import attrs
from archex.base.errors import Problem, ProgramError, RequestError, UnsupportedError
from archex.base.names import content_hash
from archex.base.options import Options
from archex.records.events import WaveEvent
from archex.sweeps.work import Steps

STEPS = Steps("cli_fakes:describe", "cli_fakes:assemble", "cli_fakes:read_folder", "cli_fakes:simulate", "cli_fakes:trace")


@attrs.frozen
class Spec:
    size: int
    ways: int
    policy: str

    @property
    def fingerprint(self) -> str:
        return content_hash(self)


@attrs.frozen
class Launch:
    name: str
    threads: int
    does: str = ""

    @property
    def grid(self) -> tuple[int]:
        return (self.threads,)

    block = (1, 1, 1)


def describe(config: dict[str, Any], overridden: tuple[str, ...] = (), choices: dict[str, str] | None = None) -> Spec:
    l2 = config["l2"]
    problems = [Problem(f"l2.{key}", l2[key], "is not a known key", ("size", "ways")) for key in l2 if key not in ("size", "ways")]
    for key in ("size", "ways"):
        if not isinstance(l2[key], int):
            problems.append(Problem(f"l2.{key}", l2[key], "must be a whole number"))
    if not problems and l2["size"] % l2["ways"]:
        problems.append(Problem("l2.ways", l2["ways"], f"must divide {l2['size']}", combined=True))
    if problems:
        raise RequestError(problems)
    return Spec(l2["size"], l2["ways"], config["wave_scheduler"]["name"])


def assemble(spec: Spec) -> Spec:
    return spec


def read_folder(folder: Path, only: tuple[str, ...]) -> dict[str, Launch]:
    file = Path(folder) / "launches.json"
    if not file.is_file():
        raise RequestError([Problem("suite.path", str(folder), "holds no launches.json")])
    found = {name: Launch(name, **what) for name, what in json.loads(file.read_text()).items()}
    chosen = {name: launch for name, launch in found.items() if any(name == glob or fnmatchcase(name, glob) for glob in only)}
    if not chosen:
        raise RequestError([Problem("suite.only", ",".join(only), "matches no launch", tuple(found))])
    return chosen


def simulate(device: Spec, launch: Launch, options: Options) -> dict[str, Any]:
    if launch.does == "unsupported":
        raise UnsupportedError("wgmma.mma_async is not modelled")
    if launch.does == "wrong":
        raise ProgramError("a grid of 0", "k.ptx", 7)
    if launch.does == "bug":
        raise IndexError("list index out of range")
    if launch.does == "debugged":
        raise bdb.BdbQuit
    if launch.does == "dies":
        os._exit(9)
    if launch.does == "slow":
        time.sleep(60)
    cycles = launch.threads * device.ways
    return {
        "cycles": cycles,
        "time_ns": float(cycles),
        "clock_hz": 1e9,
        "limiter": "memory",
        "occupancy_pct": 50.0,
        "bandwidth_pct": 81.2,
        "wave_instructions": launch.threads,
        "stall_memory": device.ways,
        "registers_per_thread": 16,
    }


def trace(device: Spec, launch: Launch, options: Options, wave: int) -> list[WaveEvent]:
    return [WaveEvent(0, 0, 4, "move", line=3, lanes=32), WaveEvent(1, 10, 300, "load_global", "fetch", line=4, lanes=32)]
