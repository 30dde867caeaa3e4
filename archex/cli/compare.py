"""archex compare RUN [RUN ...] [baseline=DEVICE or point] [top=N] [--html FILE] [--markdown FILE]: who wins, by how much, and why.

RUN is a Parquet file or the folder of a run. One run with several designs compares its designs. baseline= names a design by its device, its
overrides, its label, its fingerprint or its run; without it the first one is the baseline. Where it names a run of several designs, each
design of the other runs is held against the same design of that run. top=N lists the N fastest and the N slowest
designs (10). --html writes one page that needs no network, to sort, filter and ask further; --markdown writes the tables as text, `-` to
standard output instead of the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from archex.base.errors import ABSENT, Problem, RequestError, closest
from archex.cli.arguments import operands, take
from archex.records import files as files_of
from archex.records import store
from archex.reports.compare import page, render
from archex.reports.compare.findings import find
from archex.reports.compare.grid import grid, pick, several
from archex.reports.compare.sections import sections
from archex.reports.text import console

if TYPE_CHECKING:
    import polars

KEYS = ("baseline", "top")
FLAGS = ("--html", "--markdown")
TOP = 10
STANDARD_OUTPUT = Path("-")


@attrs.frozen
class Asked:
    """A checked command line."""

    runs: list[Path]
    baseline: str | None
    top: int
    files: dict[str, Path]


def main(arguments: Sequence[str]) -> int:
    """Print the comparison, and write it where asked."""
    asked = parse(arguments)
    runs = _read(asked.runs)
    by_run = any(name == asked.baseline and several(frame) for name, frame in runs) and len(runs) > 1
    rows = grid(runs, by_run)
    if len(rows.designs) < 2:
        held = f"one design only ({rows.designs[0].label})" if rows.designs else "no row"
        raise RequestError([Problem(" ".join(map(str, asked.runs)), ABSENT, f"holds {held}; there is nothing to compare")])
    baseline = pick(rows, asked.baseline)
    found = find(rows, baseline, asked.top)
    tables = sections(found)
    title = f"Designs against {found.label(baseline)}"
    out = console()
    if asked.files.get("--markdown") == STANDARD_OUTPUT:
        out.file.write(render.markdown(tables, title))
    else:
        for table in render.terminal(tables):
            out.print(table)
    written = []
    if (file := asked.files.get("--markdown", STANDARD_OUTPUT)) != STANDARD_OUTPUT:
        files_of.replace(file, render.markdown(tables, title).encode())
        written.append(str(file))
    if html := asked.files.get("--html"):
        content = page.html(found, tables, title).encode()
        files_of.replace(html, content)
        written.append(f"{html} ({page.size_text(len(content))})")
    if written:  # not into a Markdown page on standard output
        said = console(sys.stderr) if asked.files.get("--markdown") == STANDARD_OUTPUT else out
        said.print(f"also in {', '.join(written)}")
    return 0


def parse(arguments: Sequence[str]) -> Asked:
    """Check the command line; RequestError holds everything that is wrong with it."""
    problems: list[Problem] = []
    files, rest = _files(list(arguments), problems)
    keys, rest = take(rest, KEYS)
    names, overrides = operands(rest)
    unknown = [argument for argument in overrides if not Path(argument).exists()]
    names = [argument for argument in rest if argument not in unknown]
    for argument in unknown:
        name = argument.partition("=")[0]
        if name.startswith("-"):
            problems.append(Problem(name, ABSENT, "is not a flag of compare", [f"{flag} FILE" for flag in FLAGS], closest(name, FLAGS)))
        else:
            problems.append(Problem(name, ABSENT, "is not a key of compare", KEYS, closest(name, KEYS)))
    if not names:
        problems.append(Problem("RUN", ABSENT, "is missing: give the folder or the Parquet file of a run"))
    runs = [Path(name) for name in names]
    known: set[Path] = set()
    for run in runs:
        if run.resolve() in known:
            problems.append(Problem(str(run), ABSENT, "is given twice"))
        known.add(run.resolve())
    for flag, file in files.items():
        if file.resolve() in known:
            problems.append(Problem(flag, str(file), "is one of the runs; it would be overwritten"))
    top = keys.get("top", str(TOP))
    if not top.isdecimal() or not int(top):
        problems.append(Problem("top", top, "expected a whole number from 1: designs to list of each end"))
    if keys.get("baseline", "x").strip() == "":
        problems.append(Problem("baseline", keys["baseline"], "needs the name of a design"))
    if problems:
        raise RequestError(problems)
    return Asked(runs, keys.get("baseline"), int(top), files)


def _files(arguments: list[str], problems: list[Problem]) -> tuple[dict[str, Path], list[str]]:
    """The flags' files, `--html FILE` or `--html=FILE`, and the other arguments."""
    files: dict[str, Path] = {}
    rest: list[str] = []
    while arguments:
        flag, equals, value = arguments.pop(0).partition("=")
        if flag not in FLAGS:
            rest.append(flag + equals + value)
            continue
        if not equals and arguments and (arguments[0] == "-" or not arguments[0].startswith("-")):
            value = arguments.pop(0)
        if not value:
            problems.append(Problem(flag, ABSENT, "needs a file name"))
            continue
        file = Path(value)
        if flag in files:
            problems.append(Problem(flag, value, "is given twice"))
        elif file in files.values():
            problems.append(Problem(flag, value, "is the file of another flag too"))
        elif file == STANDARD_OUTPUT and flag != "--markdown":
            problems.append(Problem(flag, value, "needs a file name; only --markdown may go to standard output"))
        elif file.is_dir():
            problems.append(Problem(flag, value, "is a folder; expected the name of a file"))
        elif file.parent.exists() and not file.parent.is_dir():
            problems.append(Problem(flag, value, f"cannot be written: {file.parent} is no folder"))
        elif file != STANDARD_OUTPUT and (problem := files_of.check_writable(file.parent)):
            problems.append(Problem(flag, value, problem.rule))
        files[flag] = file
    return files, rest


def _read(runs: Sequence[Path]) -> list[tuple[str, polars.DataFrame]]:
    """Every run by its name; all that do not read are reported together."""
    frames, problems = [], []
    for run in runs:
        try:
            frames.append(store.read(run))
        except RequestError as error:
            problems += error.problems
    if problems:
        raise RequestError(problems)
    return list(zip(_names(runs), frames, strict=True))


def _names(runs: Sequence[Path]) -> list[str]:
    """A run's name: its file or folder, without what all have; with the folder above where that alone does not tell them apart."""
    for parts in range(1, 1 + max(len(run.resolve().parts) for run in runs)):
        names = ["/".join(run.resolve().parts[-parts:]).removesuffix(".parquet") for run in runs]
        if len(set(names)) == len(names):
            break
    return names
