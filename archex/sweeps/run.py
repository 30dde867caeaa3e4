"""A plan carried out: every launch on every design, on all cores, rows kept as they come.

In: a `Plan` and somebody to tell (`Listener`). Out: the rows in the order of designs and launches, and where they are. A folder given as
`output` is resumed: rows that it holds already are not run again. An interrupt keeps what is finished in a folder, and nothing in a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Protocol

import attrs

from archex.base.errors import RequestError
from archex.base.names import content_hash
from archex.records import files, provenance, schema, store
from archex.sweeps import pool
from archex.sweeps.plan import Design, Plan
from archex.sweeps.work import Steps, Task, do, killed

RUNS = Path("results/runs")


class Listener(Protocol):
    """Who is told how a run goes."""

    def start(self, total_rows: int | None, total_designs: int | None, kept: int, workers: int) -> None:
        """So many rows of so many designs will come (None: nobody knows yet), `kept` of them from an earlier run."""

    def row(self, row: Mapping[str, Any]) -> None:
        """A row is finished."""

    def design(self, label: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design are there; `label` is its device and overrides."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


@attrs.frozen
class Result:
    """The rows of a run, in order, and the file or folder they are in."""

    rows: list[dict[str, Any]]
    path: Path
    notes: tuple[str, ...] = ()


def run(plan: Plan, steps: Steps, listener: Listener, command: Sequence[str]) -> Result:
    """Run what isn't there yet, write it, return everything. RequestError before anything runs; OutputError if a write fails."""
    path = plan.settings.output or _new_folder(plan)
    if unwritable := files.check_writable(path):
        raise RequestError([unwritable])
    tasks, notes = _tasks(plan, steps)
    rows = _earlier(path, plan.settings.retry, {_key(task.identity) for task in tasks})
    workers = plan.settings.workers or _processes()
    listener.start(len(tasks), len(plan.designs), len(rows), workers)
    to_do = [task for task in tasks if _key(task.identity) not in rows]
    writer = _Writer(path, provenance.of_run(list(command)))
    try:
        for index, row in _work(to_do, workers):
            rows[_key(row)] = row
            writer.take(index, row)
            listener.row(row)
    except KeyboardInterrupt:
        kept = writer.interrupted()
        raise KeyboardInterrupt(f"{len(rows)} of {len(tasks)} rows kept in {path}" if kept else "nothing written") from None
    except BaseException:
        writer.interrupted()
        raise
    ordered = [rows[_key(task.identity)] for task in tasks]
    writer.finish(ordered)
    return Result(ordered, path, tuple(notes))


def _new_folder(plan: Plan) -> Path:
    """A folder named by time and by what is run."""
    content = [content_hash(dict(design.config)) for design in plan.designs] + [str(design.settings.suite) for design in plan.designs]
    return RUNS / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{content_hash(content)[:8]}"


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    """What a row is known by: one program may have several ids in a folder."""
    return row["point_id"], row["launch"]


def _tasks(plan: Plan, steps: Steps) -> tuple[list[Task], list[str]]:
    """One task a row, in order; a design that another one equals is named in a note and not run again."""
    tasks: dict[tuple[str, str], Task] = {}
    same: dict[str, str] = {}
    names: dict[tuple[str, str], str] = {}
    programs: dict[tuple[int, int], str] = {}
    programs_of = {suite: list(_programs(launches, suite.variants)) for suite, launches in plan.launches.items()}
    for design in plan.designs:
        name = f"{design.device} {design.overrides}".strip()
        for launch_id, launch, variant in programs_of[design.settings.suite]:
            program = (id(launch), design.settings.options.seed)
            if program not in programs:
                programs[program] = provenance.program_fingerprint(launch, program[1])
            task = _task(design, launch_id, launch, programs[program], steps)
            task.identity["variant"] = variant
            key = _key(task.identity)
            if key not in tasks:
                tasks[key], names[key] = task, name
            elif names[key] != name:
                same[name] = names[key]
    return list(tasks.values()), [f"{name} is the same design as {other}: not run twice" for name, other in same.items()]


def _programs(launches: Mapping[str, Any], variants: str) -> Iterator[tuple[str, Any, str | None]]:
    """(id, launch, the one variant it stands for) of each row; under `suite.variants=all` a launch is a row for each of its variants."""
    for launch_id, launch in launches.items():
        alternatives = getattr(launch, "variants", ())
        if variants == "all" and alternatives:
            yield from ((launch_id, attrs.evolve(launch, variants=(one,)), one.name) for one in alternatives)
        else:
            yield launch_id, launch, None


def _task(design: Design, launch_id: str, launch: Any, program: str, steps: Steps) -> Task:
    options = design.settings.options
    fingerprint = design.spec.fingerprint if design.spec is not None else None
    identity = {
        "launch": launch_id,
        "suite": design.settings.suite.name,
        "device": design.device,
        "overrides": design.overrides,
        "device_fingerprint": fingerprint,
        "program_fingerprint": program,
        "point_id": provenance.point_id(fingerprint or provenance.of_config(dict(design.config)), program, options),
    }
    if design.problems:
        identity |= {"status": "error", "error": "; ".join(map(str, design.problems))}
    return Task(identity, dict(design.config), fingerprint or "", launch, options, steps)


def _earlier(path: Path, retry: str, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows that a folder holds already."""
    if path.suffix == ".parquet" or not path.is_dir() or not store.shards(path):
        return {}
    good = ("ok", "unsupported") if retry == "failed" else schema.STATUSES
    return {_key(row): row for row in store.read(path).to_dicts() if _key(row) in wanted and row["status"] in good}


def _work(tasks: Sequence[Task], workers: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """(index, row) as they are finished: failed designs at once, then by shard the largest launches first (no idle core at the end)."""
    for index, task in enumerate(tasks):
        if "status" in task.identity:
            yield index, schema.row(task.identity)
    able = [index for index, task in enumerate(tasks) if "status" not in task.identity]
    able.sort(key=lambda index: (index // store.SHARD_ROWS, -_lanes(tasks[index].launch)))
    work = f"{do.__module__}:{do.__name__}"
    preload = sorted({name.partition(":")[0] for task in tasks[:1] for name in (work, task.steps.assemble, task.steps.simulate)})
    for position, row in pool.run([tasks[index] for index in able], work, workers, killed, preload):
        yield able[position], row


def _lanes(launch: Any) -> int:
    """A guess at a launch's size: its lanes, over all its programs."""
    variants = getattr(launch, "variants", ())
    if variants:
        return sum(_lanes(variant.launch) for variant in variants)
    parts = getattr(launch, "sequence", None) or (launch,)
    return sum(prod(part.grid) * prod(part.block) for part in parts)


def _processes() -> int:
    """One a core; this one alone where the engine runs uncompiled, as that is for debuggers."""
    return 1 if os.environ.get("ARCHEX_JIT") == "0" else pool.cores()


class _Writer:
    """The single writer: shards of a folder as rows come, a file at the end."""

    def __init__(self, path: Path, about: dict[str, str]) -> None:
        self._path, self._about = path, about
        self._dataset = None if path.suffix == ".parquet" else store.Dataset(path, about)

    def take(self, index: int, row: dict[str, Any]) -> None:
        if self._dataset:
            self._dataset.put(index, row)

    def interrupted(self) -> bool:
        """Keep what is finished, if it is a folder."""
        if self._dataset:
            self._dataset.flush()
        return self._dataset is not None

    def finish(self, rows: Sequence[dict[str, Any]]) -> None:
        if self._dataset:
            self._dataset.flush()
        else:
            store.write_file(rows, self._path, self._about)
