"""Ten thousand designs: 80,000 rows are compared in seconds, within a gigabyte, and all of them fit into a page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
from archex.records import schema

DESIGNS, LAUNCHES = 10_000, 8
#: The command, and its own peak of memory in kB: what `wait4` tells counts the process that started it too.
PROGRAM = """
import re, sys
from pathlib import Path
from archex.cli.main import main
code = main()
Path("peak").write_text(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
sys.exit(code)
"""


def test_eighty_thousand_rows(tmp_path: Path) -> None:
    count = DESIGNS * LAUNCHES
    draw = np.random.default_rng(0)
    design, launch = np.divmod(np.arange(count), LAUNCHES)
    cycles = 3000.0 + 1000.0 * launch + 1e6 / (1 + design)  # the last is the fastest
    columns = {name: draw.random(count) for name in schema.STALLS} | {"cycles": cycles, "time_ns": cycles}
    numbers = {"clock_hz": 1e9, "wave_instructions": 1e5, "lane_instructions": 3.2e6, "error_bound": 0.01}
    frame = pl.DataFrame(columns).with_columns(
        pl.Series("launch", [f"launch_{k}" for k in launch]),
        pl.Series("overrides", [f"l2.ways={d % 16 + 1}, l2.latency={d}" for d in design]),
        *(pl.lit(value).alias(name) for name, value in numbers.items()),
        device=pl.lit("h200"),
        status=pl.lit("ok"),
    )
    frame.write_parquet(tmp_path / "many.parquet")
    command = [sys.executable, "-c", PROGRAM, "compare", "many.parquet", "--html", "many.html"]
    with open(tmp_path / "printed", "w") as printed:
        started = subprocess.Popen(command, cwd=tmp_path, stdout=printed)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    text = (tmp_path / "printed").read_text()
    assert started.returncode == 0
    assert " l2.ways=16 l2.latency=9999 " in text
    assert "9,979 of 10,000 designs are not listed" in text
    assert usage.ru_utime + usage.ru_stime < 6, "seconds; 2 where nothing else runs"
    assert int((tmp_path / "peak").read_text()) < 1e6, "kB"
    assert (tmp_path / "many.html").stat().st_size < 12e6
