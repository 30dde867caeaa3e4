"""The search itself: rounds of points, each a design that the sampler proposed from what the rounds before came to.

In: axes and `Knobs`. Out: points for the run's loop, and `Trial`s. Designs of a round are
told in the order they were asked in, so that a search doesn't depend on how fast its workers are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import attrs

from archex.base.errors import Problem
from archex.base.names import content_hash
from archex.records.trials import Found, Goal, Trial
from archex.sweeps.grammar import Axis
from archex.sweeps.points import Design, Point
from archex.sweeps.search import goals
from archex.sweeps.search.goals import Constraint, Objective
from archex.sweeps.search.knobs import Knobs
from archex.sweeps.search.quantities import Missing, Row, fastest
from archex.sweeps.search.sampling import Sampler, Told
from archex.sweeps.search.space import Dimension
from archex.sweeps.search.storage import OFF, Copy
from archex.sweeps.settings import Suite
from archex.sweeps.sweepers import Sweeper

#: The constraint that every search has: each launch that counts gives a number.
WORKS = "works"


@attrs.define
class _Tried:
    """A proposed design: its place in the space, and what its points came to so far (they finish in any order)."""

    values: tuple[float, ...]
    designs: dict[int, Design] = attrs.field(factory=dict)
    rows: dict[int, list[Row]] = attrs.field(factory=dict)


class Search(Sweeper):
    """A sweeper whose points depend on the rows of the points before."""

    name = "archex_optuna"

    def __init__(self, axes: Sequence[Dimension | Axis], knobs: Knobs) -> None:
        self._axes, self._knobs = tuple(axes), knobs
        self._space = [axis for axis in axes if isinstance(axis, Dimension)]
        self._crossed = list(product(*(axis for axis in axes if not isinstance(axis, Dimension))))
        self._trials: list[Trial] = []
        self._round: dict[int, _Tried] = {}
        self._worst: dict[int, float] = {}
        self._config: Mapping[str, Any] = {}
        self._where: Path | None = None  # of the copy
        self._copy: Copy | None = None
        self._uncopied: list[tuple[Trial, _Tried, dict[str, float]]] = []
        self.notes: list[str] = []

    @property
    def total(self) -> None:
        """Nobody knows beforehand which designs there will be."""
        return None

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial that is finished, in order."""
        return tuple(self._trials)

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What is searched for; the units of a design's own values are known with the first design."""
        return tuple(objective.goal(self._config) for objective in self._knobs.objectives)

    @property
    def found(self) -> Found:
        """What it came to so far."""
        return Found(self.trials, self.goals, tuple(self.notes))

    def check(self, designs: Iterable[Design], launches: Mapping[Suite, Mapping[str, Any]]) -> list[Problem]:
        """Objectives and constraints beside what will run: launches that no suite has, values that a design lacks."""
        named: list[Objective | Constraint] = [*self._knobs.objectives, *self._knobs.constraints]
        problems = goals.check(named, {suite.name: list(ids) for suite, ids in launches.items()})
        sound = next((design for design in designs if not design.problems), None)
        return problems + (goals.check_design(named, sound.config) if sound else [])

    def begin(self, path: Path) -> None:
        """Where rows will be: beside them, in a folder, stands the copy of the trials."""
        if self._knobs.storage != OFF and not (self._knobs.storage is None and path.suffix == ".parquet"):
            self._where = path

    def rounds(self) -> Iterator[Iterable[Point]]:
        """The points of a round at a time; the next round is asked for when all of them were told."""
        sampler = Sampler(self._knobs.sampler, self._space, [objective.maximize for objective in self._knobs.objectives])
        asked = 0
        while asked < self._knobs.n_trials:
            wanted = min(self._knobs.batch, self._knobs.n_trials - asked)
            proposed = [values for _ in range(wanted) if (values := sampler.ask()) is not None]
            self._round = {asked + place: _Tried(values) for place, values in enumerate(proposed)}
            yield (point for number, tried in self._round.items() for point in self._points(number, tried))
            for number, tried in self._round.items():
                self._finish(number, tried, sampler)
            asked += len(proposed)
            if len(proposed) < wanted:
                self.notes.append(f"the space has {asked} designs, and all were tried")
                return

    def tell(self, design: Design, rows: Sequence[Row]) -> None:
        """The rows of a point."""
        number, place = divmod(design.index, len(self._crossed))
        if number < len(
            self._trials
        ):  # it could not be built, and neither could any before: its rows come with those of the first that can
            found = attrs.evolve(self._trials[number], device=design.device, overrides=design.overrides)
            self._trials[number] = attrs.evolve(found, broken=tuple(map(str, design.problems)) or found.broken)
            return
        self._round[number].designs[place] = design
        self._round[number].rows[place] = fastest(rows)

    def _points(self, number: int, tried: _Tried) -> Iterator[Point]:
        for place, run in enumerate(self._crossed):
            values, given = iter(tried.values), iter(run)
            chosen = [axis.at(next(values)) if isinstance(axis, Dimension) else next(given) for axis in self._axes]
            yield Point(number * len(self._crossed) + place, tuple(chosen))

    def _finish(self, number: int, tried: _Tried, sampler: Sampler) -> None:
        """A trial from all that its points came to, to the sampler and to the copy."""
        rows = [row for place in sorted(tried.rows) for row in tried.rows[place]]
        designs = [tried.designs[place] for place in sorted(tried.designs)]
        config = designs[0].config if designs else {}
        self._config = self._config or config
        broken = dict.fromkeys(str(problem) for design in designs for problem in design.problems)
        values: list[float | None] = []
        for objective in self._knobs.objectives:
            try:
                values.append(objective.quantity.of(rows, config))
            except Missing as missing:
                values.append(None)
                broken[str(missing)] = None
        excesses = {}
        for constraint in self._knobs.constraints:
            try:
                excesses[constraint.text] = constraint.excess(rows, config)
            except Missing as missing:
                broken[str(missing)] = None
        # A failure weighs more than a bound passed by as much again, and more with every launch that fails.
        failed = sum(row["status"] != "ok" for row in rows) / len(rows) if rows else 1.0
        excesses[WORKS] = 1.0 + failed if broken else 0.0
        passed = [text for text, excess in excesses.items() if excess > 0 and text != WORKS]
        device, overrides = (designs[0].device, designs[0].overrides) if designs else ("", "")
        trial = Trial(number, device, overrides, tuple(values), (*broken, *passed))
        sampler.tell(number, Told(self._stood_in(values), excesses))
        self._trials.append(trial)
        if self._where is not None:
            self._uncopied.append((trial, tried, excesses))
            if rows:  # else none is there yet: a run without a sound design writes nothing
                self._copy_trials(self._where)

    def _stood_in(self, values: Sequence[float | None]) -> tuple[float, ...]:
        """Values for the sampler, which wants numbers: where there is none the worst so far. What it goes by is that the trial fails."""
        for place, (value, objective) in enumerate(zip(values, self._knobs.objectives, strict=True)):
            if value is not None:
                worse = min if objective.maximize else max
                self._worst[place] = worse(self._worst.get(place, value), value)
        return tuple(self._worst.get(place, 0.0) if value is None else value for place, value in enumerate(values))

    def _copy_trials(self, where: Path) -> None:
        """Those that are not there yet. The copy is for other tools: a search goes on without it."""
        try:
            if self._copy is None:
                said = [str((axis.axis if isinstance(axis, Dimension) else axis).override.input_line) for axis in self._axes]
                name = f"archex-{content_hash([*said, str(attrs.evolve(self._knobs, n_trials=1, storage=None))])[:8]}"
                self._copy = Copy(self._knobs.storage, where, name, self.goals, self._space)
            for trial, tried, excesses in self._uncopied:
                self._copy.add(trial, tried.values, excesses)
            self._uncopied.clear()
        except Exception as error:  # a full disk, a database that went away: as many kinds as there are storages
            self._where = None
            self.notes.append(f"the copy of the trials ends early: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
