"""archex compare RUN [RUN ...] [baseline=DEVICE] [--html FILE]: who wins, by how much, and what moved.

RUN is a Parquet file or the folder of a run. One run with several designs compares its designs. baseline= names a design by its device, its
overrides, its fingerprint or its run; without it the first one is the baseline. --html also writes the tables as one self-contained page.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, RenderableType

from archex.base.errors import ABSENT, Problem, RequestError
from archex.cli.arguments import take
from archex.records import files, store
from archex.reports.compare import per_launch, pick_baseline, standings, what_moved
from archex.reports.designs import designs
from archex.reports.text import console

#: Designs that are explained launch by launch.
EXPLAINED = 6


def main(arguments: Sequence[str]) -> int:
    """Print the comparison."""
    page, rest = _html(list(arguments))
    keys, names = take(rest, ("baseline",))
    problems = [Problem(name, ABSENT, "is not a flag of compare (flags: --html FILE)") for name in names if name.startswith("-")]
    if not names:
        problems.append(Problem("RUN", ABSENT, "is missing: give the folder or the Parquet file of a run"))
    if problems:
        raise RequestError(problems)
    found = designs([(_label(name), store.read(Path(name))) for name in names])
    if len(found) < 2:
        raise RequestError([Problem(" ".join(names), ABSENT, f"holds one design only ({found[0].label}); there is nothing to compare")])
    baseline = pick_baseline(found, keys.get("baseline"))
    tables: list[RenderableType] = [standings(found, baseline), *per_launch(found, baseline)]
    others = [design for design in found if design is not baseline]
    tables += [moved for design in others[:EXPLAINED] if (moved := what_moved(design, baseline))]
    if len(others) > EXPLAINED:
        tables.append(f"What moved is shown for the first {EXPLAINED} designs; baseline= and fewer runs show the others.")
    out = console()
    for table in tables:
        out.print(table)
    if page is not None:
        _write_html(tables, page)
        out.print(f"also in {page}")
    return 0


def _html(arguments: list[str]) -> tuple[Path | None, list[str]]:
    if "--html" not in arguments:
        return None, arguments
    at = arguments.index("--html")
    if at + 1 == len(arguments):
        raise RequestError([Problem("--html", ABSENT, "needs a file name")])
    return Path(arguments[at + 1]), arguments[:at] + arguments[at + 2 :]


def _label(name: str) -> str:
    """A run's name: its file or folder, without what all have."""
    return Path(name).resolve().name.removesuffix(".parquet")


def _write_html(tables: Sequence[RenderableType], page: Path) -> None:
    recorder = Console(record=True, width=240, file=io.StringIO(), markup=False, highlight=False)
    for table in tables:
        recorder.print(table)
    files.replace(page, recorder.export_html(inline_styles=True).encode())
