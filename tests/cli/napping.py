"""The small steps of `cli_fakes`, so that a node can be lost in the middle of one; each start is a line in `$NAPS`.

Once `hold` was called, what begins on a node that has `$HELD` goes on until it is ended: how loaded the machine is decides nothing.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import attrs
import cli_fakes

#: Seconds after which nobody ends it any more.
_LONGEST = 100.0
STEPS = attrs.evolve(cli_fakes.STEPS, simulate="napping:simulate")


def simulate(device: Any, launch: Any, options: Any) -> dict[str, Any]:
    with open(os.environ["NAPS"], "a") as naps:
        naps.write(f"{launch.name}\n")
    if "HELD" in os.environ and _file("hold").exists():
        _file("held").touch()
        time.sleep(_LONGEST)
    time.sleep(0.1)
    return cli_fakes.simulate(device, launch, options)


def begun() -> list[str]:
    return Path(os.environ["NAPS"]).read_text().split()


def hold() -> None:
    """Let nothing end that begins from now on where `$HELD` is set."""
    _file("hold").touch()


def held() -> bool:
    """Whether something has begun there since."""
    return _file("held").exists()


def _file(name: str) -> Path:
    return Path(f"{os.environ['NAPS']}.{name}")
