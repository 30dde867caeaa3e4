"""Steps of the path for sweeps: those of `cli_fakes`, and launches that nap, eat, or end their process when a file says so.

Run as a script it is `archex run` on these steps, with the configs of the folder it is started in and shards of `SHARD_ROWS` rows.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import cli_fakes
from archex.base.options import Options

STEPS = attrs.evolve(cli_fakes.STEPS, simulate="sweep_fakes:simulate")


def simulate(device: cli_fakes.Spec, launch: cli_fakes.Launch, options: Options) -> dict[str, Any]:
    does, _, of = launch.does.partition(" ")
    if does == "naps":
        time.sleep(float(of))
    if does == "hungry":
        bytearray(int(of))
    if does == "poison" and device.ways == int(of):
        os.kill(os.getpid(), signal.SIGKILL)
    if does == "dies_once" and not Path(of).exists():
        Path(of).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if does == "late" and device.ways == int(of):
        while True:
            time.sleep(1.0)
    return cli_fakes.simulate(device, launch, options)


def main() -> int:
    """`python -m sweep_fakes OVERRIDE...`: exit code and messages as `archex run` has them."""
    from archex.base import folders
    from archex.cli import main as command
    from archex.cli import run
    from archex.records import store

    here = Path.cwd()
    folders.conf, folders.experiments = (lambda: here / "conf"), (lambda: here / "experiments")  # type: ignore[assignment]
    store.SHARD_ROWS = int(os.environ.get("SHARD_ROWS", "1000"))
    real = run.main
    run.main = lambda arguments: real(arguments, STEPS)  # type: ignore[assignment]
    return command.main(["run", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
