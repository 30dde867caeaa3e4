"""The small steps of `cli_fakes`, at a pace at which a node can be lost in the middle of one; each start is a line in `$NAPS`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import attrs
import cli_fakes

STEPS = attrs.evolve(cli_fakes.STEPS, simulate="napping:simulate")


def simulate(device: Any, launch: Any, options: Any) -> dict[str, Any]:
    with open(os.environ["NAPS"], "a") as naps:
        naps.write(f"{launch.name}\n")
    time.sleep(0.3)
    return cli_fakes.simulate(device, launch, options)


def begun() -> list[str]:
    return Path(os.environ["NAPS"]).read_text().split()
