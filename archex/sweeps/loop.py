"""The loop of a run: designs become jobs as workers have room, jobs become rows, rows are kept and told.

In: a plan's designs, lazily. Out: every row that isn't there yet, kept by an `Output`. What fails is a row: a design that cannot be built,
and after a second try a row whose worker died or was too slow. In memory are the designs under way, and a number for each row.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Protocol

import attrs

from archex.base.errors import ABSENT, Problem, RequestError
from archex.records import provenance, schema
from archex.records.trials import Found
from archex.sweeps.interrupts import Interrupts
from archex.sweeps.jobs import Job, RowTask, Steps
from archex.sweeps.launchers import Done, Launcher, Limits
from archex.sweeps.output import Output, key
from archex.sweeps.settings import Settings
from archex.sweeps.shelf import Shelf

#: With fewer designs than this a worker, rows are sent one by one, the largest first, so that no core is idle at the end.
_FEW = 8
#: Rows of a job at most: what a lost worker costs.
_MOST = 16
Row = dict[str, Any]
#: Designs whose names are remembered, to say which one another equals; and such notes that are written out.
_NAMED, _NOTED = 10_000, 10
#: Different problems that are listed where no design can be built.
_LISTED = 50


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


class Planned(Protocol):
    """What the loop asks of a plan (`sweeps.plan`)."""

    @property
    def settings(self) -> Settings:
        """Of the run."""

    @property
    def launches(self) -> Mapping[Any, Mapping[str, Any]]:
        """Of each suite."""

    @property
    def shelf(self) -> Shelf:
        """Where base configs lie."""

    @property
    def launcher(self) -> Launcher:
        """What jobs are given to."""

    @property
    def total(self) -> int | None:
        """Designs; None where a search decides."""

    @property
    def found(self) -> Found | None:
        """What a search came to so far."""

    def begin(self, path: Path) -> None:
        """Where rows will be."""

    def rounds(self) -> Iterator[Iterable[Any]]:
        """Designs; a round is asked for when all rows of the one before were told."""

    def tell(self, design: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design."""


@attrs.frozen
class _Program:
    """A row of every design: a launch, or one variant of it."""

    launch: str
    variant: str | None
    key: str  # on the shelf
    fingerprint: str
    lanes: int


@attrs.define
class _Open:
    """A design some of whose rows are not there yet."""

    design: Any
    label: str
    rows: list[dict[str, Any] | None]

    @property
    def complete(self) -> bool:
        """Whether they are."""
        return None not in self.rows


class Loop:
    """One run. `places`: key of each row asked for -> its place in the order of designs and launches."""

    def __init__(self, plan: Planned, steps: Steps, listener: Listener, output: Output, interrupts: Interrupts) -> None:
        self._plan, self._steps, self._listener, self._output, self._interrupts = plan, steps, listener, output, interrupts
        self.counts: Counter[str] = Counter()
        self.places: dict[int, int] = {}
        self.total: int | None = None
        self._limits = Limits(plan.settings.timeout, plan.settings.worker_memory)
        self._programs: dict[tuple[Any, int], list[_Program]] = {}
        self._seq = 0
        self._open: dict[int, list[tuple[_Open, int]]] = {}  # key of a row under way -> who waits for it, and where it goes
        self._tried: dict[int, str] = {}  # seq -> why the first try failed
        self._again: deque[Job] = deque()
        # Designs that cannot be built, until the first that can: till then nothing is written. Of a part, others have one that can.
        self._unsound: list[Any] | None = [] if plan.settings.part.whole else None
        self._known: dict[int, Row] | None = {} if plan.total is None else None  # a search comes back to designs
        self._same = Same()

    def carry_out(self) -> None:
        """Everything. RequestError if no design can be built."""
        plan, total = self._plan, self._plan.total
        plan.begin(self._output.path)
        few = total is None or total < _FEW * plan.launcher.workers
        if total is None or not few:
            expected = self._expected(total)
            self._start(expected, len(self._output) if expected is None else min(len(self._output), expected))
        for designs in plan.rounds():
            jobs = self._sorted(list(designs)) if few else self._streamed(designs)
            while True:
                for done in plan.launcher.run(jobs, plan.shelf, self._limits):
                    with self._interrupts.held:
                        self._take(done)
                if not self._again:
                    break
                jobs = self._second_tries()
        if self._unsound:
            raise RequestError(_all_different(self._unsound))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know in the end."""
        return (*self._output.notes, *self._same.notes, *self._plan.launcher.notes)

    def _start(self, total: int | None, kept: int) -> None:
        self.total = total
        self._output.expect(total)
        self._listener.start(total, self._plan.total, kept, self._plan.launcher.workers)

    def _expected(self, designs: int | None) -> int | None:
        """Rows in all; of several suites each has its share of the designs."""
        if designs is None:
            return None
        rows = sum(len(self._programs_of(suite, self._plan.settings.options.seed)) for suite in self._plan.launches)
        return designs * rows // max(len(self._plan.launches), 1)

    # ------------------------------------------------------------------ designs -> jobs

    def _sorted(self, designs: Sequence[Any]) -> Iterator[Job]:
        """A row a job, the largest first, of all designs together."""
        if self._plan.total is not None:
            asked = {key(identity) for design in designs for _, identity in self._identities(design)}
            self._start(len(asked), sum(self._output.has(row) for row in asked))
        found = [(program.lanes, design, task) for design in designs for program, task in self._expand(design)]
        for _, design, task in sorted(found, key=lambda row: -row[0]):
            yield from self._second_tries()
            yield self._job(design, (task,))
        yield from self._second_tries()

    def _streamed(self, designs: Iterable[Any]) -> Iterator[Job]:
        """The rows of a design a job, unless each has limits of its own."""
        size = _MOST if self._limits == Limits() else 1
        for design in designs:
            tasks = tuple(task for _, task in self._expand(design))
            for first in range(0, len(tasks), size):
                yield from self._second_tries()
                yield self._job(design, tasks[first : first + size])
        yield from self._second_tries()

    def _second_tries(self) -> Iterator[Job]:
        while self._again:
            yield self._again.popleft()

    def _job(self, design: Any, tasks: tuple[RowTask, ...]) -> Job:
        # One design traces each launch once anyway; of several, all but the first read what it has recorded.
        options = attrs.evolve(design.settings.options, keep_traces=self._plan.total != 1)
        return Job(design.base, design.values, design.fingerprint, tasks, options, self._steps)

    def _expand(self, design: Any) -> list[tuple[_Program, RowTask]]:
        """What is to be done of a design; what isn't is settled."""
        if design.problems:
            if self._unsound is None:
                self._fail(design)
            else:
                self._unsound.append(design)
            return []
        held, self._unsound = self._unsound or (), None
        for unsound in held:
            self._fail(unsound)
        found = []
        opened, fresh = self._opened(design)
        for at, program, identity in fresh:
            self._open[key(identity)] = [(opened, at)]
            found.append((program, RowTask(self._next(), identity, program.key)))
        return found

    def _fail(self, design: Any) -> None:
        """The rows of a design that cannot be built."""
        why = {"status": "error", "error": "; ".join(map(str, design.problems))}
        with self._interrupts.held:
            opened, fresh = self._opened(design)
            rows = [(self._next(), schema.row(identity | why)) for _, _, identity in fresh]
            for at, _, identity in fresh:
                self._open[key(identity)] = [(opened, at)]
            self._keep(rows)

    def _opened(self, design: Any) -> tuple[_Open, list[tuple[int, _Program, Row]]]:
        """A design with the rows that are there from an earlier run or an equal design, and those that are not."""
        label = f"{design.device} {design.overrides}".strip()
        identities = self._identities(design)
        opened = _Open(design, label, [None] * len(identities))
        fresh = []
        for at, (program, identity) in enumerate(identities):
            known = key(identity)
            if known in self.places:
                self._same.note(identity["device_fingerprint"], label)
                if known in self._open:
                    self._open[known].append((opened, at))
                elif self._known is not None:
                    opened.rows[at] = self._known[known]
                continue
            self.places[known] = len(self.places)
            if (row := self._output.earlier(known)) is None:
                fresh.append((at, program, identity))
            else:
                opened.rows[at] = row
                self._count(known, row)
        self._same.name(design.fingerprint, label)
        if opened.complete:
            self._tell(opened)
        return opened, fresh

    def _next(self) -> int:
        self._seq += 1
        return self._seq - 1

    def _identities(self, design: Any) -> list[tuple[_Program, Row]]:
        """The columns known beforehand of each row of a design."""
        settings: Settings = design.settings
        named = {
            "suite": settings.suite.name,
            "device": design.device,
            "overrides": design.overrides,
            "device_fingerprint": design.fingerprint,
        }
        stand_in = design.fingerprint or provenance.of_config(dict(design.config) or {"device": design.device, "": design.overrides})
        return [
            (
                program,
                named
                | {
                    "launch": program.launch,
                    "variant": program.variant,
                    "program_fingerprint": program.fingerprint,
                    "point_id": provenance.point_id(stand_in, program.fingerprint, settings.options),
                },
            )
            for program in self._programs_of(settings.suite, settings.options.seed)
        ]

    def _programs_of(self, suite: Any, seed: int) -> list[_Program]:
        if (suite, seed) not in self._programs:
            self._programs[suite, seed] = [
                _Program(launch_id, variant, self._plan.shelf.put(launch), provenance.program_fingerprint(launch, seed), _lanes(launch))
                for launch_id, launch, variant in programs(self._plan.launches[suite], suite.variants)
            ]
        return self._programs[suite, seed]

    # ------------------------------------------------------------------ jobs -> rows

    def _take(self, done: Done) -> None:
        """Keep the rows of a job, or have those of one that failed done again, one by one; the second time is the last."""
        if done.rows is not None:
            self._keep(done.rows)
            return
        why = done.failed or "its worker ended"
        lost = []
        for task in done.job.rows:
            if task.seq in self._tried:
                first = self._tried.pop(task.seq)
                said = f"{why}, twice" if first == why else f"{why}; the first time {first}"
                lost.append((task.seq, schema.row(task.identity | {"status": "killed", "error": said})))
            else:
                self._tried[task.seq] = why
                self._again.append(attrs.evolve(done.job, rows=(task,)))
        self._keep(lost)

    def _keep(self, rows: Sequence[tuple[int, Row]]) -> None:
        if rows:
            self._output.put(rows)
        for seq, row in rows:
            self._tried.pop(seq, None)
            known = key(row)
            self._count(known, row)
            self._listener.row(row)
            for opened, at in self._open.pop(known):
                opened.rows[at] = row
                if opened.complete:
                    self._tell(opened)

    def _count(self, known: int, row: Row) -> None:
        self.counts[row["status"]] += 1
        if self._known is not None:
            self._known[known] = row

    def _tell(self, opened: _Open) -> None:
        rows = [row for row in opened.rows if row is not None]
        self._plan.tell(opened.design, rows)
        self._listener.design(opened.label, rows)


class Same:
    """Designs that others equal."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._pairs: dict[str, str] = {}
        self._more = 0

    def name(self, fingerprint: str | None, label: str) -> None:
        """The first design with a fingerprint gives it its name."""
        if fingerprint is not None and len(self._names) < _NAMED:
            self._names.setdefault(fingerprint, label)

    def note(self, fingerprint: str | None, label: str) -> None:
        """A row of the design `label` was asked for before."""
        other = self._names.get(fingerprint or "")
        if other in (None, label) or label in self._pairs:
            return
        if len(self._pairs) < _NOTED:
            self._pairs[label] = str(other)
        else:
            self._last, self._more = label, self._more + (label != getattr(self, "_last", ""))

    @property
    def notes(self) -> tuple[str, ...]:
        """A line each, as far as there is room."""
        more = (f"{self._more:,} more designs are the same as others: not run twice",) if self._more else ()
        return (*(f"{name} is the same design as {other}: not run twice" for name, other in self._pairs.items()), *more)


def programs(launches: Mapping[str, Any], variants: str) -> Iterator[tuple[str, Any, str | None]]:
    """(id, launch, the one variant it stands for) of each row; under `suite.variants=all` a launch is a row for each of its variants."""
    for launch_id, launch in launches.items():
        alternatives = getattr(launch, "variants", ())
        if variants == "all" and alternatives:
            yield from ((launch_id, attrs.evolve(launch, variants=(one,)), one.name) for one in alternatives)
        else:
            yield launch_id, launch, None


def _lanes(launch: Any) -> int:
    """A guess at a launch's size: its lanes, over all its programs."""
    variants = getattr(launch, "variants", ())
    if variants:
        return sum(_lanes(variant.launch) for variant in variants)
    parts = getattr(launch, "sequence", None) or (launch,)
    return sum(prod(part.grid) * prod(part.block) for part in parts)


def _all_different(designs: Sequence[Any]) -> list[Problem]:
    """What is wrong with all designs, each thing once, as many as anybody reads."""
    found = list({str(problem): problem for design in designs for problem in design.problems}.values())
    if len(found) <= _LISTED:
        return found
    more = Problem("...", ABSENT, f"{len(found) - _LISTED:,} more problems; none of {len(designs):,} designs can be built")
    return [*found[:_LISTED], more]
