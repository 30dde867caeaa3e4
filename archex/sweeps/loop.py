"""The loop of a run: designs become jobs as workers have room, jobs become rows, rows are kept and told.

In: a plan's designs, lazily. Out: every row that isn't there yet, kept by an `Output`. What fails is a row: a design that cannot be built,
and after a second try a row whose worker died or was too slow. In memory are the designs under way, and a number for each row.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, RequestError
from archex.records import schema
from archex.sweeps.interrupts import Interrupts
from archex.sweeps.jobs import Job, RowTask, Steps
from archex.sweeps.launchers import Done, Limits
from archex.sweeps.output import Output, key
from archex.sweeps.protocols import Listener, Planned
from archex.sweeps.rows import Program, Rows
from archex.sweeps.same import Same

#: With fewer designs than this a worker, rows are sent one by one, the largest first, so that no core is idle at the end.
_FEW = 8
#: Rows of a job at most: what a lost worker costs.
_MOST = 16
Row = dict[str, Any]
#: Different problems that are listed where no design can be built.
_LISTED = 50


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
        self._rows = Rows(plan)
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
        rows = sum(len(self._rows.programs(suite, self._plan.settings.options.seed)) for suite in self._plan.launches)
        return designs * rows // max(len(self._plan.launches), 1)

    # ------------------------------------------------------------------ designs -> jobs

    def _sorted(self, designs: Sequence[Any]) -> Iterator[Job]:
        """A row a job, the largest first, of all designs together."""
        if self._plan.total is not None:
            asked = {key(identity) for design in designs for _, identity in self._rows.of(design)}
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

    def _expand(self, design: Any) -> list[tuple[Program, RowTask]]:
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

    def _opened(self, design: Any) -> tuple[_Open, list[tuple[int, Program, Row]]]:
        """A design with the rows that are there from an earlier run or an equal design, and those that are not."""
        label = f"{design.device} {design.overrides}".strip()
        identities = self._rows.of(design)
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


def _all_different(designs: Sequence[Any]) -> list[Problem]:
    """What is wrong with all designs, each thing once, as many as anybody reads."""
    found = list({str(problem): problem for design in designs for problem in design.problems}.values())
    if len(found) <= _LISTED:
        return found
    more = Problem("...", ABSENT, f"{len(found) - _LISTED:,} more problems; none of {len(designs):,} designs can be built")
    return [*found[:_LISTED], more]
