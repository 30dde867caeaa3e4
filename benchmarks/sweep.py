"""How fast a sweep is: points a second on one worker and on two, and what a point costs beyond simulating it.

Run: python -m benchmarks.sweep [points=1000] [suite=smoke] [device=h200] [workers=1,2]. A point is a design with all launches of the suite;
the points are values of four parameters. Processes are watched from outside every tenth of a second (CPU time and resident memory of the
run's process, of the workers, and of what they come of).

overhead a point  CPU seconds of all processes beyond the rows' simulate_seconds, trace_seconds and compile_seconds, from the first row
                  to the end, over the points of that time. Rows count by the clock: on a busy machine the figure is too small, and may be
                  negative.
start             clock from the command to the first row: imports, the check of the request, the first load of compiled code
parent            CPU of the run's own process from the first row to the end, as a share of one core
scaling           points a second from the first row to the end, over those on one worker
memory            the largest sum of resident memory at one time; pages that processes share count once for each
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from archex.records import journal, store

KEYS = {"points": "1000", "suite": "smoke", "device": "h200", "workers": "1,2"}


def sweep(points: int) -> list[str]:
    """Overrides that span at least so many designs."""
    latencies = -(-points // 8)
    return [
        "wave_scheduler=greedy_then_oldest,loose_round_robin",
        "l2.ways=8,16",
        "vector_cache.latency=30,40",
        f"l2.latency={','.join(f'{100 + i}ns' for i in range(latencies))}",
    ]


class Watch:
    """CPU seconds and memory of a process and of all that come of it."""

    def __init__(self, process: int) -> None:
        self.parent = psutil.Process(process)
        self.cpu: dict[int, float] = {}
        self.memory = 0

    def look(self) -> None:
        """Take today's figures; those of a process that ended stay as they were."""
        memory = 0
        try:
            found = [self.parent, *self.parent.children(recursive=True)]
        except psutil.Error:
            return
        for process in found:
            try:
                times = process.cpu_times()
                self.cpu[process.pid] = times.user + times.system
                memory += process.memory_info().rss
            except psutil.Error:
                continue
        self.memory = max(self.memory, memory)

    def spent(self) -> tuple[float, float]:
        """CPU seconds of the run's process, and of all others."""
        own = self.cpu.get(self.parent.pid, 0.0)
        return own, sum(self.cpu.values()) - own


def rows_so_far(folder: Path) -> int:
    """Finished rows, counted cheaply."""
    if not folder.is_dir():
        return 0
    try:
        lines = sum(max(path.read_bytes().count(b"\n") - 1, 0) for path in journal.journals(folder))
    except FileNotFoundError:
        return 1
    return lines + len(store.shards(folder)) * store.SHARD_ROWS


def measure(asked: dict[str, str], workers: int, folder: Path) -> dict[str, float]:
    """One run."""
    points = sweep(int(asked["points"]))
    command = [sys.executable, "-m", "archex.cli.main", "run", "-m", f"device={asked['device']}", f"suite={asked['suite']}"]
    command += [*points, f"workers={workers}", f"output={folder}"]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watch = Watch(process.pid)
    first: tuple[float, float, float, int] | None = None
    while process.poll() is None:
        watch.look()
        if first is None and (there := rows_so_far(folder)):
            first = (time.perf_counter(), *watch.spent(), there)
        time.sleep(0.1)
    ended = time.perf_counter()
    if process.returncode or first is None:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    found = store.read(folder)
    launches = found["launch"].n_unique()
    since, parent, others, before = first
    after = found.tail(found.height - before)  # about: rows of a folder stand in the order of designs, not of their ends
    spent = [now - then for now, then in zip(watch.spent(), (parent, others), strict=True)]
    counted = float(sum(after[f"{cost}_seconds"].sum() for cost in ("simulate", "trace", "compile")))
    done = after.height / launches
    return {
        "points": found.height / launches,
        "start": since - began,
        "rate": done / (ended - since),
        "row": counted / max(after.height, 1),
        "overhead": (sum(spent) - counted) / max(done, 1e-9),
        "parent": spent[0] / (ended - since),
        "a point": spent[0] / max(done, 1e-9),
        "memory": watch.memory / 2**20,
    }


def main(arguments: list[str]) -> int:
    """Measure and print."""
    asked = dict(KEYS)
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in KEYS or not value:
            raise SystemExit(f"{argument}: expected one of {', '.join(f'{key}=...' for key in KEYS)}")
        asked[key] = value
    heads = ("points", "points/s", "scaling", "start", "a row", "overhead a point", "parent", "parent a point", "memory")
    print("workers " + " ".join(f"{head:>{max(len(head), 9)}s}" for head in heads))
    base: dict[str, Any] = {}
    for workers in map(int, asked["workers"].split(",")):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
            found = measure(asked, workers, Path(place) / "run")
        base = base or found
        shown = (
            f"{found['points']:.0f}",
            f"{found['rate']:.2f}",
            f"{found['rate'] / base['rate']:.2f}x",
            f"{found['start']:.1f} s",
            f"{1e3 * found['row']:.1f} ms",
            f"{1e3 * found['overhead']:.1f} ms",
            f"{100 * found['parent']:.1f} %",
            f"{1e3 * found['a point']:.2f} ms",
            f"{found['memory']:.0f} MiB",
        )
        print(f"{workers:7d} " + " ".join(f"{text:>{max(len(head), 9)}s}" for text, head in zip(shown, heads, strict=True)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
