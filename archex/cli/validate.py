"""archex validate device=D [reference=DIR] [rows=RUN] [bound=PERCENT] [KEY=VALUE ...]: the model against silicon.

Runs the launches of the reference (by default the one that comes with archex for the device) and prints the error of cycles or of
time: as a whole, with the share of launches whose largest stall the model has too; the worst ten, each with what it points at; by family;
by counter. rows=RUN compares the rows of an earlier run instead. With repeat=N each launch runs N times back to back, and its time is held
against the warm time of the reference, for launches that take over 20 us. With bound=12 the exit code is 1 if the mean error is above 12 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from archex.base import folders
from archex.base.errors import ABSENT, Problem, RequestError
from archex.cli.arguments import take
from archex.records import store
from archex.reports import reference
from archex.reports.reference import Reference
from archex.reports.text import console
from archex.reports.validate.blame import blame
from archex.reports.validate.errors import Errors, compare, warm
from archex.reports.validate.explained import explained
from archex.reports.validate.tables import by_counter, by_family, overview, ranked, worst
from archex.sweeps.work import Steps

#: Launches that are named.
WORST = 10
OWN = ("reference", "rows", "bound")


def main(arguments: Sequence[str], steps: Steps | None = None) -> int:
    """Print the errors; 1 if a row failed or the bound is passed."""
    keys, rest = take(arguments, OWN)
    bound = _bound(keys.get("bound"))
    device = next((a.partition("=")[2] for a in reversed(rest) if a.startswith("device=")), "")
    if not device and not ("reference" in keys and "rows" in keys):
        raise RequestError([Problem("device", ABSENT, "is needed: archex validate device=h200")])
    measured = reference.read(Path(keys["reference"]) if "reference" in keys else reference.tracked(device, folders.reference()))
    rows, code = _rows(keys, rest, measured.folder, steps or Steps())
    repeated = _repeated(rest)
    errors = warm(rows, measured) if repeated else compare(rows, measured)
    if not errors.errors:
        left_out = ", ".join(f"{number} {why}" for why, number in sorted(errors.left_out.items()))
        raise RequestError([Problem("rows", ABSENT, f"hold nothing to compare with {measured.folder} ({left_out or 'no rows'})")])
    out = console()
    for table in _tables(errors, rows, measured, repeated):
        if table is not None:
            out.print(table)
    if bound is not None:
        passed = errors.mape > bound
        out.print(f"mean error {errors.mape:.1f} % is {'above' if passed else 'within'} the bound of {bound:g} %")
        return int(passed or code)
    return code


def _tables(errors: Errors, rows: list[dict[str, Any]], measured: Reference, repeated: bool) -> list[Table | None]:
    """Warm times stand alone: counters and waits were measured with cold caches."""
    if repeated:
        return [overview(errors), worst(errors), by_family(errors)]
    found = {row["launch"]: row for row in rows}
    blamed = {e.launch: blame(found[e.launch], measured.launches[e.launch], measured) for e in ranked(errors, WORST)}
    return [overview(errors, explained(rows, measured)), worst(errors, WORST, blamed), by_family(errors), by_counter(rows, measured)]


def _repeated(rest: Sequence[str]) -> bool:
    """Whether the rows are of launches that were repeated; what isn't a number is the run's to refuse."""
    given = next((a.partition("=")[2] for a in reversed(rest) if a.startswith("repeat=")), "1")
    return given.strip().isdecimal() and int(given) > 1


def _rows(keys: dict[str, str], rest: list[str], folder: Path, steps: Steps) -> tuple[list[dict[str, Any]], int]:
    """The rows to judge and the exit code they mean."""
    if "rows" in keys:
        found = store.read(Path(keys["rows"])).to_dicts()
        wanted = next((a.partition("=")[2] for a in rest if a.startswith("device=")), None)
        rows = [row for row in found if wanted is None or row["device"] == wanted]
        return rows, 0
    from archex.cli.run import execute, failed
    from archex.sweeps import flags

    taken = [a for a in rest if a.startswith(("suite=", "suite.path="))]
    asked = flags.parse([*rest, f"suite.path={folder}"])
    problems = [Problem(a.partition("=")[0], a.partition("=")[2], "can't be chosen: validate runs the reference's launches") for a in taken]
    if asked.multirun:
        problems.append(Problem("-m", ABSENT, "isn't offered: validate takes one device"))
    if problems:
        raise RequestError(problems)
    result = execute(asked, steps, ["archex", "validate", *rest, f"reference={folder}"])
    console().print(f"rows in {result.path}")
    return result.frame().to_dicts(), failed(result)


def _bound(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        raise RequestError([Problem("bound", text, "must be a percentage, such as 12")]) from None
