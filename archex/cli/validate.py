"""archex validate device=D [reference=DIR] [rows=RUN] [bound=PERCENT] [bounds=stated|held|FILE] [png=FILE] [html=FILE] [KEY=VALUE ...]:
the model against silicon.

Runs the launches of the reference (by default the one that comes with archex for the device) and prints the error of cycles or of
time: as a whole, with the share of launches whose largest stall the model has too; the worst ten, each with what it points at; by family;
by counter. rows=RUN compares the rows of an earlier run instead. With repeat=N each launch runs N times back to back, and its time is held
against the warm time of the reference, for launches that take over 20 us. A device of which no launch was measured is held against
published figures (latencies, streams, caches, matrix products); reference=published does that for every device.

The exit code is 1 if a bound is passed: bound=12 is one on the mean error; bounds=stated are those that archex promises, bounds=held those
that it keeps today (results/reference/bounds.yaml), bounds=FILE your own. png=FILE draws measured against modelled; html=FILE writes one
page that needs no network, with every launch and its counters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs
from rich.table import Table

from archex.base import folders
from archex.base.errors import ABSENT, Problem, RequestError
from archex.cli.arguments import take
from archex.cli.figures import figures_only, published_figures
from archex.records import files, store
from archex.reports import reference
from archex.reports.reference import Reference
from archex.reports.text import console
from archex.reports.validate import bounds as bounds_of
from archex.reports.validate.blame import blame
from archex.reports.validate.bounds import Judged, bounds_table, figures, judge
from archex.reports.validate.errors import Errors, compare, warm
from archex.reports.validate.explained import Explained, explained
from archex.reports.validate.tables import by_counter, by_family, overview, overview_lines, worst
from archex.sweeps.work import Steps

#: Launches that are named.
WORST = 10
#: Where a picture has its lines, in percent, if no bound says it.
BAND = 15.0
OWN = ("reference", "rows", "bound", "bounds", "png", "html")
#: What may stand beside rows=RUN: everything else would have been the run's.
BESIDE_ROWS = ("device", "repeat")


@attrs.frozen
class Asked:
    """A checked command line. `rest` goes to the run."""

    device: str
    measured: Reference
    rows: Path | None
    bound: float | None
    bounds: dict[str, float]
    files: dict[str, Path]
    repeated: bool
    rest: list[str]


@attrs.frozen
class Found:
    """Rows held against a reference."""

    rows: list[dict[str, Any]]
    measured: Reference
    errors: Errors
    why: Explained | None
    blamed: Mapping[str, str]


def main(arguments: Sequence[str], steps: Steps | None = None) -> int:
    """Print the errors; 1 if a row failed or a bound is passed."""
    keys, rest = take(arguments, OWN)
    if figures_only(keys, _given(rest, "device")):
        return published_figures(keys, rest, steps or Steps())
    asked = parse(arguments)
    rows, code = _rows(asked, steps or Steps())
    found = find(rows, asked.measured, asked.repeated)
    judged = judge(asked.bounds, figures(found.errors, found.why))
    out = console()
    for table in _tables(found):
        if table is not None:
            out.print(table)
    if judged:
        out.print(bounds_table(judged))
    written = _write(asked, found, judged)
    if written:
        out.print(f"also in {', '.join(written)}")
    for one in judged:
        if one.passed:
            out.print(str(one))
    if asked.bound is not None:
        passed = found.errors.mape > asked.bound
        out.print(f"mean error {found.errors.mape:.1f} % is {'above' if passed else 'within'} the bound of {asked.bound:g} %")
        code = int(passed or code)
    return int(code or any(one.passed for one in judged))


def parse(arguments: Sequence[str]) -> Asked:
    """Check the command line; RequestError holds what is wrong with it."""
    keys, rest = take(arguments, OWN)
    device = _given(rest, "device")
    if not device and not ("reference" in keys and "rows" in keys):
        raise RequestError([Problem("device", ABSENT, "is needed: archex validate device=h200")])
    problems = [Problem(key, ABSENT, "needs a value") for key, value in keys.items() if not value.strip()]
    wanted = {key: Path(keys[key]) for key in ("png", "html") if keys.get(key, "").strip()}
    problems += [problem for key, file in wanted.items() if (problem := _no_file(key, file))]
    if len(set(wanted.values())) < len(wanted):
        problems.append(Problem("html", str(wanted["html"]), "is the file of png too"))
    if "rows" in keys:
        problems += [
            Problem(a.partition("=")[0], a.partition("=")[2] or ABSENT, "says how to run, and rows=RUN has been run already")
            for a in rest
            if a.partition("=")[0] not in BESIDE_ROWS
        ]
    bound = _bound(keys.get("bound"), problems)
    if problems:
        raise RequestError(problems)
    measured = reference.read(Path(keys["reference"]) if "reference" in keys else reference.tracked(device, folders.reference()))
    limits = bounds_of.read(keys["bounds"], measured.folder.resolve().name, folders.reference()) if "bounds" in keys else {}
    repeat = _given(rest, "repeat").strip()  # what isn't a number is the run's to refuse
    repeated = repeat.isdecimal() and int(repeat) > 1
    if repeated and not any(one.warm_us for one in measured.launches.values()):
        raise RequestError([Problem("repeat", repeat, f"has nothing to be held against: {measured.folder} holds no warm times")])
    return Asked(device, measured, Path(keys["rows"]) if "rows" in keys else None, bound, limits, wanted, repeated, rest)


def find(rows: list[dict[str, Any]], measured: Reference, repeated: bool) -> Found:
    """Compare. Of repeated launches only times are: counters and waits were measured with cold caches."""
    errors = warm(rows, measured) if repeated else compare(rows, measured)
    if not errors.errors:
        left_out = ", ".join(f"{number} {why}" for why, number in sorted(errors.left_out.items()))
        raise RequestError([Problem("rows", ABSENT, f"hold nothing to compare with {measured.folder} ({left_out or 'no rows'})")])
    if repeated:
        return Found(rows, measured, errors, None, {})
    by_launch = {row["launch"]: row for row in rows}
    blamed = {error.launch: blame(by_launch[error.launch], measured.launches[error.launch], measured) for error in errors.errors}
    return Found(rows, measured, errors, explained(rows, measured), blamed)


def _tables(found: Found) -> list[Table | None]:
    errors = found.errors
    tables = [overview(errors, found.why), worst(errors, WORST, found.blamed or None), by_family(errors)]
    return [*tables, by_counter(found.rows, found.measured) if found.blamed else None]


def _write(asked: Asked, found: Found, judged: Sequence[Judged]) -> list[str]:
    """The files that were asked for, written."""
    band = asked.bounds.get("p90") or asked.bound or BAND
    if path := asked.files.get("png"):
        from archex.reports.validate.plot import png

        files.replace(path, png(found.errors, band, f"{asked.device or found.measured.folder.name}: {found.errors.what}"))
    if path := asked.files.get("html"):
        from archex.reports.validate.page import html

        lines = overview_lines(found.errors, found.why)
        files.replace(path, html(found.errors, found.rows, found.measured, found.blamed, lines, judged, band).encode())
    return [str(path) for path in asked.files.values()]


def _rows(asked: Asked, steps: Steps) -> tuple[list[dict[str, Any]], int]:
    """The rows to judge and the exit code they mean."""
    if asked.rows is not None:
        found = store.read(asked.rows).to_dicts()
        return [row for row in found if not asked.device or row["device"] == asked.device], 0
    from archex.cli.run import execute, failed
    from archex.sweeps import flags

    folder = asked.measured.folder
    taken = [a for a in asked.rest if a.startswith(("suite=", "suite.path="))]
    run = flags.parse([*asked.rest, f"suite.path={folder}"])
    problems = [Problem(a.partition("=")[0], a.partition("=")[2], "can't be chosen: validate runs the reference's launches") for a in taken]
    if run.multirun:
        problems.append(Problem("-m", ABSENT, "isn't offered: validate takes one device"))
    if problems:
        raise RequestError(problems)
    result = execute(run, steps, ["archex", "validate", *asked.rest, f"reference={folder}"])
    console().print(f"rows in {result.path}")
    return result.frame().to_dicts(), failed(result)


def _given(rest: Sequence[str], key: str) -> str:
    """The last value given to a key of the run."""
    return next((a.partition("=")[2] for a in reversed(rest) if a.startswith(f"{key}=")), "")


def _bound(text: str | None, problems: list[Problem]) -> float | None:
    if text is None or not text.strip():
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        problems.append(Problem("bound", text, "must be a percentage, such as 12"))
    return value


def _no_file(key: str, file: Path) -> Problem | None:
    """Why a file can't be written, before anything is run for it."""
    if file.is_dir():
        return Problem(key, str(file), "is a folder; expected the name of a file")
    if file.parent.exists() and not file.parent.is_dir():
        return Problem(key, str(file), f"cannot be written: {file.parent} is no folder")
    if problem := files.check_writable(file.parent):
        return Problem(key, str(file), problem.rule)
    if key == "png" and find_spec("matplotlib") is None:
        return Problem(key, str(file), "needs matplotlib: pip install 'archex-sim[plots]'")
    return None
