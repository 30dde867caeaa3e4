"""From a command line to designs and launches, everything checked before anything runs.

In: the arguments behind `run`. Out: a `Plan`, or one `RequestError` with everything wrong in the request. Designs are made one by one, when
they are asked for. In a sweep, a design whose values are right by themselves and wrong together does not stop the others: it carries its
problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

import attrs

from archex.base.errors import Problem, RequestError
from archex.records.trials import Found
from archex.sweeps import check, grammar
from archex.sweeps.compose import Composer
from archex.sweeps.designer import NO_SETTINGS, Designer
from archex.sweeps.grammar import Axis
from archex.sweeps.jobs import Steps, resolve
from archex.sweeps.launchers import Launcher
from archex.sweeps.launchers.local import Local
from archex.sweeps.points import Design, Point
from archex.sweeps.settings import Settings, Suite
from archex.sweeps.shelf import Shelf
from archex.sweeps.sweepers import Sweeper
from archex.sweeps.sweepers.grid import Grid


class Launches(dict[Suite, Mapping[str, Any]]):
    """The launches of each suite by id, read when they are first asked for; RequestError for a suite that can't be read."""

    def __init__(self, steps: Steps, known: Mapping[Suite, Mapping[str, Any]] | None = None) -> None:
        super().__init__(known or {})
        self._read = resolve(steps.read_folder)

    def __missing__(self, suite: Suite) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._read(suite.folder, suite.only)
        self[suite] = found
        return found


@attrs.frozen(eq=False)
class Plan:
    """Designs as they are asked for, and the launches of each suite they name. At least one design is sound."""

    settings: Settings  # of the run: what all designs share
    launches: Mapping[Suite, Mapping[str, Any]]
    sweeper: Sweeper
    make: Callable[[Point], Design]
    shelf: Shelf
    launcher: Launcher

    @property
    def total(self) -> int | None:
        """How many designs there are; None where that isn't known beforehand."""
        return self.settings.part.count(self.sweeper.total)

    def begin(self, path: Path) -> None:
        """Rows will be at `path`."""
        self.sweeper.begin(path)

    def rounds(self) -> Iterator[Iterable[Design]]:
        """The designs, lazily. A round is asked for when all rows of the one before were told."""
        for points in self.sweeper.rounds():
            yield map(self.design, self.settings.part.pick(points))

    def design(self, point: Point) -> Design:
        """A point's design. One that doesn't say which launches are meant is a failure of the run's own."""
        design = self.make(point)
        if design.settings is NO_SETTINGS:
            return attrs.evolve(design, settings=self.settings)
        try:
            self.launches[design.settings.suite]
        except RequestError as error:
            problems = (*design.problems, *error.problems)
            return attrs.evolve(design, settings=self.settings, fingerprint=None, problems=problems)
        return design

    def tell(self, design: Design, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design are finished."""
        self.sweeper.tell(design, rows)

    @property
    def found(self) -> Found | None:
        """What a search came to so far."""
        return self.sweeper.found

    @property
    def designs(self) -> tuple[Design, ...]:
        """Every design at once, where there are few."""
        return tuple(design for designs in self.rounds() for design in designs)


class Makes(Protocol):
    """What makes a sweeper of a request's axes (`backends.SweeperPlugin`)."""

    def make(self, axes: Sequence[Axis], settings: Settings) -> Sweeper:
        """The points; RequestError for axes that it can't do."""


def _local(settings: Settings) -> Launcher:
    return Local(settings.workers)


def plan(
    arguments: Sequence[str],
    multirun: bool,
    steps: Steps,
    folders: Sequence[str] = (),
    *,
    composer: Composer | None = None,
    launcher: Callable[[Settings], Launcher] = _local,
    sweeper: Makes | None = None,
) -> Plan:
    """Parse, compose (`folders`: further config folders), describe, read the suites: what it takes to know that the request is right.

    composer: one that is open. sweeper: every combination, if none is given.
    """
    with Composer(folders) if composer is None else nullcontext(composer) as composer:
        axes, problems = grammar.parse(arguments, multirun, composer)
        problems += check.axes(axes, composer)
        broken = {problem.path for problem in problems}
        # The rest of the request is checked too, without what is already known to be wrong.
        sound = [axis for axis in axes if axis.key not in broken]
        shelf = Shelf()
        designer = Designer(composer, steps, shelf)
        seen = check.Examined(sound, designer, composer)
    launches = Launches(steps)
    problems += seen.standing() + _unreadable(seen.designs.values(), launches)
    settings = seen.designs[0].settings
    points: Sweeper = Grid(sound)
    try:
        points = points if sweeper is None else sweeper.make(sound, settings)
    except RequestError as error:
        problems += error.problems
    problems += points.check(seen.designs.values(), launches)
    problems += settings.part.problems(points.total)
    if problems or (problems := seen.hopeless()):
        raise RequestError(check.unique(problems))

    def make(point: Point) -> Design:
        known = seen.designs.get(point.index)
        return known if known is not None and known.assignments == point.assignments else designer.design(point)

    return Plan(settings, launches, points, make, shelf, launcher(settings))


def _unreadable(designs: Iterable[Design], launches: Launches) -> list[Problem]:
    problems: list[Problem] = []
    for suite in dict.fromkeys(design.settings.suite for design in designs if design.settings is not NO_SETTINGS):
        try:
            launches[suite]
        except RequestError as error:
            problems += error.problems
    return problems


def describe_one(arguments: Sequence[str], steps: Steps, folders: Sequence[str] = ()) -> Design:
    """The one design of a request that runs nothing; every problem of its device and settings at once."""
    shelf = Shelf()
    with Composer(folders) as composer:
        axes, problems = grammar.parse(arguments, False, composer)
        problems += check.axes(axes, composer)
        broken = {problem.path for problem in problems}
        design = Designer(composer, steps, shelf).design(Grid([axis for axis in axes if axis.key not in broken]).at(0))
    if problems or design.problems:
        raise RequestError(check.unique([*problems, *design.problems]))
    return design
