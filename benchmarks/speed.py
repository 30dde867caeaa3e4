"""How fast simulation is: whole processes on reference launches, medians, CPU seconds.

Run: python -m benchmarks.speed [--folder results/reference/h200] [--repeats 3]. Prints, for five named launches, wave-instructions
simulated in detail a CPU second (tracing apart; what is extrapolated does not count) and traced a second beside it; then what compiling
everything costs on a fresh cache, and `archex --help`. Exit 1 when a target below is missed.

A launch's CPU seconds are shared out by the wall clock of its row; the first launch of a process, which loads the compiled engine, is not
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LAUNCHES = (
    "copy_f1[n=4194304]",
    "gather[n=16777216,table=16777216]",
    "sgemm_tiled16[M=512,N=512,K=512]",
    "softmax_h[rows=8192,cols=2048]",
    "nbody[n=8192]",
)
FIRST = "copy_f1[n=262144]"  # loads what is compiled
MEAN, LEAST, COMPILE, HELP = 4e6, 1.5e6, 25.0, 0.4


def measure(folder: str, device: str, names: list[str]) -> None:
    """In a process of its own: simulate the launches one after another, a line of JSON each."""
    from archex.assembly import assemble
    from archex.base.options import Options
    from archex.simulate import simulate
    from archex.suite.launch import read_folder
    from archex.testing.devices import described

    assembled, launches = assemble(described(device)), read_folder(folder)
    for name in names:
        began = time.process_time()
        row = simulate(assembled, launches[name], Options(sampling="auto"))
        spent = time.process_time() - began
        clock = row["simulate_seconds"] + row["trace_seconds"] + row["compile_seconds"]
        detailed = row["wave_instructions"] * row["sampled_fraction"]
        found = {"name": name, "detailed": detailed, "cycles": row["cycles"]}
        print(json.dumps(found | {part: spent * row[f"{part}_seconds"] / clock for part in ("simulate", "trace", "compile")}), flush=True)


def process(arguments: argparse.Namespace, names: list[str], cache: str | None = None) -> tuple[list[dict[str, Any]], float]:
    """(rows, CPU seconds) of a fresh process over these launches."""
    command = [sys.executable, "-m", "benchmarks.speed", "--folder", arguments.folder, "--device", arguments.device, "--measure", *names]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | ({"ARCHEX_CACHE": cache} if cache else {})
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[1], check=False)
    if done.returncode:
        raise SystemExit(done.stderr.strip().splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [json.loads(line) for line in done.stdout.splitlines()], spent


def help_seconds(repeats: int) -> float:
    """Wall seconds of `archex --help`."""
    command = [str(Path(sys.executable).with_name("archex")), "--help"]
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def main() -> int:
    """Measure, print, compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="results/reference/h200", help="launches to take the five from")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.folder, arguments.device, arguments.measure)
        return 0
    _, warm = process(arguments, [FIRST])  # compiles where nothing is kept
    _, warm = process(arguments, [FIRST])
    with tempfile.TemporaryDirectory() as fresh:
        _, cold = process(arguments, [FIRST], fresh)
    runs = [process(arguments, [FIRST, *LAUNCHES])[0][1:] for _ in range(arguments.repeats)]
    print(f"{'launch':40s} {'in detail':>10s} {'simulated':>11s} {'traced':>11s}")
    rates = []
    for number, name in enumerate(LAUNCHES):
        rows = [run[number] for run in runs]
        rates.append(statistics.median(row["detailed"] / row["simulate"] for row in rows))
        traced = statistics.median(row["detailed"] / max(row["trace"], 1e-9) for row in rows)
        print(f"{name:40s} {rows[0]['detailed'] / 1e6:8.2f} M {rates[-1] / 1e6:7.2f} M/s {traced / 1e6:7.1f} M/s")
    mean, least, compiling, helping = statistics.geometric_mean(rates), min(rates), cold - warm, help_seconds(5)
    print(f"geometric mean {mean / 1e6:.2f} M/s (target {MEAN / 1e6:g}), slowest {least / 1e6:.2f} M/s (target {LEAST / 1e6:g})")
    print(f"compile cold {compiling:.1f} s of CPU (target {COMPILE:g}); a process on kept code, small launch included {warm:.1f} s")
    print(f"archex --help {helping:.2f} s (target {HELP:g})")
    return 0 if mean >= MEAN and least >= LEAST and compiling <= COMPILE and helping <= HELP else 1


if __name__ == "__main__":
    sys.exit(main())
