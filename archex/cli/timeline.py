"""archex timeline FILE device=D [devices=N] [timeline.NAME=V] [output=FILE.parquet] [-m] [KEY=VALUE ...]: a workload of host and devices.

Runs the workload of a YAML file (docs/timeline.md): kernels are simulated, each once, and what the host's calls, queues, copies and
dependencies cost is added as the device's `host`, `command_processor` and `copy_engine` say. Prints the total and where it went; writes
a row a command and a call (FILE.parquet), and beside it FILE.json, which the Perfetto viewer (ui.perfetto.dev) opens. devices=N beats
the file's own number, timeline.NAME=V a parameter's default. With -m each design of the sweep has files of its own, numbered, and a line in
one table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from archex import workloads
from archex.base.errors import ABSENT, ArchexError, Problem, RequestError
from archex.cli.arguments import operands, take
from archex.records import files, provenance, timelines
from archex.reports.text import console, time
from archex.reports.timelines import as_perfetto, host_calls, summary, where_it_went
from archex.suite.launch import read_folder
from archex.sweeps import flags, grammar
from archex.sweeps.plan import plan
from archex.sweeps.points import Design, Point
from archex.sweeps.quoting import quote_arguments
from archex.sweeps.settings import KERNELS
from archex.sweeps.sweepers.grid import Grid
from archex.sweeps.work import Steps, device
from archex.timeline import Timeline, Workload, read
from archex.timeline.parameters import PREFIX


def main(arguments: Sequence[str], steps: Steps | None = None) -> int:
    """Print and write the timeline; 1 if a workload comes to a stop or a kernel can't run."""
    keys, rest = take(arguments, ("devices", "output"))
    named, overrides = operands(rest)
    problems = []
    if len(named) != 1:
        shown = " ".join(named) or ABSENT
        problems.append(Problem("FILE", shown, "must be one workload: archex timeline workload.yaml device=h200"))
    if "devices" in keys and not (keys["devices"].isdigit() and int(keys["devices"])):
        problems.append(Problem("devices", keys["devices"], "must be a whole number of at least 1"))
    if "output" in keys and not keys["output"].endswith(".parquet"):
        problems.append(Problem("output", keys["output"], "must be the name of a file that ends in .parquet"))
    if problems:
        raise RequestError(problems)
    file = Path(named[0]).expanduser()
    asked = flags.parse([given for given in overrides if not given.startswith(PREFIX)])
    used = steps or Steps()
    points = parameters([given for given in overrides if given.startswith(PREFIX)], asked.multirun)
    devices = int(keys["devices"]) if "devices" in keys else None
    works = [(point, load(file, devices, point)) for point in points]
    designs = plan(asked.overrides, asked.multirun, used, asked.folders).designs
    output = Path(keys.get("output") or f"{file.stem}-{designs[0].device}.parquet")
    if unwritable := files.check_writable(output):
        raise RequestError([unwritable])
    out, names, found = console(), [], []
    failed = False
    runs = [(design, *work) for design in designs for work in works]
    for place, (design, point, workload) in enumerate(runs):
        changed = ", ".join([*([design.overrides] if design.overrides else []), *(assignment.shown for assignment in point.assignments)])
        title = f"{workload.name or file.stem} on {design.device}" + (f" ({changed})" if changed else "")
        try:
            if design.problems:
                raise RequestError(design.problems)
            one = _run(workload, design, used, file.parent)
        except RequestError as error:
            if len(runs) == 1:
                raise
            out.print(f"{title}: {error}")
            failed = True
            continue
        except ArchexError as error:
            out.print(f"{title}: {error}")
            failed = True
            continue
        page = output if len(runs) == 1 else output.with_name(f"{output.stem}-{place}.parquet")
        timelines.write(timelines.rows(one), page, provenance.of_run(["timeline", *arguments]) | {"design": title})
        files.replace(page.with_suffix(".json"), as_perfetto(one, title).encode())
        names.append(title)
        found.append(one)
        if len(runs) == 1:
            out.print(where_it_went(one, f"{title}: {time(one.total_ns)}"))
            out.print(host_calls(one))
        out.print(
            f"{len(one.commands)} commands, {len(one.calls)} calls in {page}; {page.with_suffix('.json').name} opens in ui.perfetto.dev"
        )
    if len(runs) > 1 and found:
        out.print(summary(names, found))
    return 1 if failed else 0


def parameters(given: Sequence[str], multirun: bool) -> Sequence[Point]:
    """Every combination of the values that `timeline.NAME=...` gives to a workload's parameters."""
    axes, problems = grammar.parse(quote_arguments(given), multirun)
    if problems:
        raise RequestError(problems)
    grid = Grid(axes)
    return [grid.at(place) for place in range(grid.total)]


def load(file: Path, devices: int | None, point: Point | None = None) -> Workload:
    """The workload of a file; RequestError with everything that is wrong in it. point: values of its parameters."""
    try:
        content = yaml.safe_load(file.read_text())
    except OSError as error:
        raise RequestError([Problem("FILE", str(file), f"can't be read: {error.strerror}")]) from None
    except yaml.YAMLError as error:
        said = re.sub(r"\s+", " ", str(error))
        raise RequestError([Problem("FILE", str(file), f"is no YAML: {said}")]) from None
    try:
        return read(content, devices, {one.key.removeprefix(PREFIX): one.value for one in (point.assignments if point else ())})
    except RequestError as error:
        raise RequestError([problem._replace(source=problem.source or str(file)) for problem in error.problems]) from None


def _run(workload: Workload, design: Design, steps: Steps, beside: Path) -> Timeline:
    assembled: Any = device(steps, str(design.fingerprint), dict(design.config))
    launches = workloads.from_folders(read_folder, KERNELS, design.settings.suite.folder, beside)
    return workloads.timeline(workload, assembled, design.settings.options, launches)
