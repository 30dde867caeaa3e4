"""archex run [-m] KEY=VALUE ...: launches on a device, or on every device of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from archex.cli.progress import Reporter
from archex.reports.launches import failures, launches, summary
from archex.reports.text import console
from archex.sweeps import flags
from archex.sweeps.plan import plan
from archex.sweeps.run import Result, run
from archex.sweeps.work import Steps


def main(arguments: Sequence[str], steps: Steps | None = None) -> int:
    """Run and print the table; 1 if a row failed."""
    asked = flags.parse(arguments)
    if asked.informing:
        flags.inform(asked)
        return 0
    result = execute(asked, steps or Steps(), ["archex", "run", *arguments])
    out = console()
    out.print(launches(result.rows))
    for line in (*failures(result.rows), *result.notes):
        out.print(line)
    out.print(f"{summary(result.rows)}, in {result.path}")
    return failed(result)


def execute(asked: flags.Flags, steps: Steps, command: Sequence[str]) -> Result:
    """Plan and run, telling how it goes."""
    planned = plan(asked.overrides, asked.multirun, steps, asked.folders)
    with Reporter() as reporter:
        return run(planned, steps, reporter, command)


def failed(result: Result) -> int:
    """The exit code of a run."""
    return int(any(row["status"] in ("error", "killed") for row in result.rows))
