"""archex run [-m] KEY=VALUE ...: launches on a device, or on every device of a sweep."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from archex.cli import search
from archex.cli.arguments import hang_up
from archex.cli.progress import Reporter
from archex.reports import sweep
from archex.reports.launches import failures, launches, summary
from archex.reports.text import console
from archex.sweeps import flags
from archex.sweeps.execute import execute as carry_out
from archex.sweeps.run import Result
from archex.sweeps.work import Steps

#: Rows of a run up to which each has its line at the end.
SMALL = 60


def main(arguments: Sequence[str], steps: Steps | None = None) -> int:
    """Run and print the table; 1 if a row failed."""
    asked = flags.parse(arguments)
    if asked.informing:
        flags.inform(asked)
        return 0
    result = execute(asked, steps or Steps(), ["archex", "run", *arguments])
    out = console()
    try:
        for part in (*closing(result), *search.closing(result.found, result.path)):
            out.print(part)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read us has seen enough; how the run went is another matter
        hang_up()
    return failed(result)


def closing(result: Result) -> Iterator[RenderableType]:
    """What is said at the end: a table of all rows of a small run, of a large one what stands out."""
    if sum(result.counts.values()) <= SMALL:
        rows = result.frame().to_dicts()
        yield launches(rows)
        yield from failures(rows)
    else:
        yield from sweep.overview(result.frame())
    yield from result.notes
    yield f"{summary(result.counts)}, in {result.path}"


def execute(asked: flags.Flags, steps: Steps, command: Sequence[str]) -> Result:
    """Plan and run, telling how it goes."""
    with Reporter() as reporter:
        return carry_out(asked, steps, reporter, command)


def failed(result: Result) -> int:
    """The exit code of a run."""
    return int(result.failed)
