"""archex results check RUN [RUN ...]: is every file whole, every row there once and with a result? 1 if anything is not as it should be.
archex results compact RUN [output=FILE.parquet]: full shards and no journals, in place; or all rows as one file.
archex results merge RUN RUN ... output=FOLDER|FILE.parquet: the rows of several runs as one dataset; the runs stay.
archex results watch RUN [--once]: how a run goes, from its folder alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from archex.base.errors import ABSENT, Problem, RequestError, closest, unknown
from archex.cli.arguments import take
from archex.records.contents import look
from archex.records.files import check_writable
from archex.records.lock import holder
from archex.records.words import counted
from archex.reports.text import console

ACTIONS = ("check", "compact", "merge", "watch")
_FORMS = {
    "check": "archex results check RUN [RUN ...]",
    "compact": "archex results compact RUN [output=FILE.parquet]",
    "merge": "archex results merge RUN RUN ... output=FOLDER|FILE.parquet",
    "watch": "archex results watch RUN [--once]",
}
_CONFLICTS = 10


def main(arguments: Sequence[str]) -> int:
    """Do what the first argument says."""
    if not arguments:
        raise RequestError([Problem("results", ABSENT, "needs an action", ACTIONS)])
    action, rest = arguments[0], list(arguments[1:])
    if action not in ACTIONS:
        raise RequestError([unknown("results", action, ACTIONS, "action")])
    return _DO[action](rest)


def _check(rest: list[str]) -> int:
    """Say what is wrong with each run."""
    runs, _, problems = _asked("check", rest, most=None)
    _refuse(problems)
    from archex.records.check import check

    out = console()
    wrong = 0
    for run in runs:
        report = check(run)
        files = " and ".join([counted(report.shards, "file"), *([counted(report.journals, "journal")] if report.journals else [])])
        of = f"{counted(report.designs, 'design')} and {counted(report.launches, 'launch')}"
        out.print(f"{run}: {counted(report.rows, 'row')} of {of}, in {files}")
        for what, where in report.found:
            out.print(f"  {what}: {where}")
        for note in report.notes:
            out.print(f"  ({note})")
        wrong += bool(report.found)
    out.print(f"not clean: {wrong} of {counted(len(runs), 'run')}" if wrong else "clean")
    return int(wrong > 0)


def _compact(rest: list[str]) -> int:
    """Put a folder in order, or write it as one file."""
    runs, keys, problems = _asked("compact", rest, most=1, keys=("output",))
    output = Path(keys["output"]) if "output" in keys else None
    if output is None:
        problems += [Problem(str(run), ABSENT, "is one file already; compact takes the folder of a run") for run in runs if run.is_file()]
    elif output.suffix != ".parquet":
        problems.append(
            Problem("output", keys["output"], "must be a name that ends in .parquet; without output= the folder itself is compacted")
        )
    else:
        problems += _output(output, runs)
    _refuse(problems)
    from archex.records.compact import compact, compact_into

    out = console()
    if output is not None:
        _under_way(runs, out)
    done = compact(runs[0]) if output is None else compact_into(runs[0], output)
    for note in done.notes:
        out.print(note)
    now = f"{output or runs[0]}: {counted(done.rows, 'row')} in {counted(done.files, 'file')}"
    before = f"was {counted(done.rows_before, 'row')} in {counted(done.files_before, 'file')}" if done.written else "was in order already"
    out.print(f"{now}; {before}")
    return int(bool(done.notes))


def _merge(rest: list[str]) -> int:
    """Write the rows of several runs together."""
    runs, keys, problems = _asked("merge", rest, most=None, keys=("output",))
    resolved = [run.resolve() for run in runs]
    twice = [run for number, run in enumerate(runs) if resolved[number] in resolved[:number]]
    problems += [Problem(str(run), ABSENT, "is given twice") for run in twice]
    if len(runs) == 1:
        problems.append(Problem("RUN", str(runs[0]), "is one run only; merge takes several"))
    if not keys.get("output"):
        problems.append(Problem("output", ABSENT, "is missing: a folder, or a name that ends in .parquet"))
    else:
        problems += _output(Path(keys["output"]), runs)
    _refuse(problems)
    from archex.records.merge import merge

    output, out = Path(keys["output"]), console()
    _under_way(runs, out)
    done = merge(runs, output)
    for run, rows in zip(runs, done.each, strict=True):
        out.print(f"{run}: {counted(rows, 'row')}")
    for line in done.torn:
        out.print(f"{line}; left out")
    for conflict in done.conflicts[:_CONFLICTS]:
        out.print(f"conflict: {conflict.row}: {', '.join(conflict.columns)} differ; the later run's is kept")
    if len(done.conflicts) > _CONFLICTS:
        out.print(f"and {counted(len(done.conflicts) - _CONFLICTS, 'more conflict')}")
    if done.versions > 1:
        out.print(f"the rows are of {done.versions} versions of archex: archex results check {output}")
    out.print(f"{output}: {counted(done.rows, 'row')}")
    return int(bool(done.torn or done.conflicts))


def _under_way(runs: Sequence[Path], out: Console) -> None:
    """Say of which runs more may come."""
    for run in runs:
        if run.is_dir() and (writer := holder(run)):
            out.print(f"{run}: is being written by {writer}; the rows of this moment are taken")


def _watch(rest: list[str]) -> int:
    """Show how it goes."""
    once = "--once" in rest
    runs, _, problems = _asked("watch", [word for word in rest if word != "--once"], most=1, empty=True)
    problems += [Problem(str(run), ABSENT, "is a file; watch takes the folder of a run") for run in runs if run.is_file()]
    idle = [run for run in runs if run.is_dir() and look(run) and holder(run) is None]
    problems += [Problem(str(run), ABSENT, "holds no rows, and nobody writes there") for run in idle]
    _refuse(problems)
    from archex.cli.watch import watch

    return watch(runs[0], once)


def _asked(
    action: str, rest: Sequence[str], most: int | None, keys: Sequence[str] = (), empty: bool = False
) -> tuple[list[Path], dict[str, str], list[Problem]]:
    """(runs, values of `keys`, what is wrong). `empty`: a folder without rows will do."""
    taken, words = take(rest, keys)
    problems: list[Problem] = []
    runs: list[Path] = []
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            problems.append(Problem(word, ABSENT, f"is not a flag of results {action}: {_FORMS[action]}"))
        elif equals and name.isidentifier() and not Path(word).exists():
            problems.append(Problem(name, value, f"is not a key of results {action}: {_FORMS[action]}", (), closest(name, keys)))
        else:
            runs.append(Path(word))
    if not runs and not problems:
        problems.append(Problem("RUN", ABSENT, f"is missing: {_FORMS[action]}"))
    if most is not None and len(runs) > most:
        problems.append(Problem("RUN", " ".join(map(str, runs)), f"must be one: {_FORMS[action]}"))
    problems += [wrong for run in dict.fromkeys(runs) if (wrong := look(run)) and not (empty and run.is_dir())]
    return runs, taken, problems


def _output(output: Path, runs: Sequence[Path]) -> list[Problem]:
    """Where rows may not go: over something, or into a run that would then read them as its own."""
    if output.exists():
        return [Problem("output", str(output), "is there already; nothing is overwritten")]
    inside = [run for run in runs if run.is_dir() and run.resolve() in output.resolve().parents]
    if inside:
        return [Problem("output", str(output), f"lies in {inside[0]}, which would read it as its own")]
    unwritable = check_writable(output)
    return [unwritable] if unwritable else []


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise RequestError(problems)


_DO: dict[str, Callable[[list[str]], int]] = {"check": _check, "compact": _compact, "merge": _merge, "watch": _watch}
