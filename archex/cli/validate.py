"""archex validate device=D [reference=DIR] [rows=RUN] [bound=PERCENT] [KEY=VALUE ...]: the model against silicon.

Runs the launches of the reference (by default the one that comes with archex for the device) and prints the error of cycles or of
time: as a whole, the worst ten, by family, by counter. rows=RUN compares the rows of an earlier run instead. With bound=12 the exit
code is 1 if the mean error is above 12 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from archex.base import folders
from archex.base.errors import ABSENT, Problem, RequestError
from archex.cli.arguments import take
from archex.records import store
from archex.reports import reference, validate
from archex.reports.text import console
from archex.sweeps.work import Steps

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
    errors = validate.compare(rows, measured)
    if not errors.errors:
        left_out = ", ".join(f"{number} {why}" for why, number in sorted(errors.left_out.items()))
        raise RequestError([Problem("rows", ABSENT, f"hold nothing to compare with {measured.folder} ({left_out or 'no rows'})")])
    out = console()
    tables = (validate.overview(errors), validate.worst(errors), validate.by_family(errors), validate.by_counter(rows, measured))
    for table in tables:
        if table is not None:
            out.print(table)
    if bound is not None:
        passed = errors.mape > bound
        out.print(f"mean error {errors.mape:.1f} % is {'above' if passed else 'within'} the bound of {bound:g} %")
        return int(passed or code)
    return code


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
