"""Is a request right as a whole? Decided before anything runs, without composing every point.

In: the axes of a request, what makes their designs. Out: everything wrong. A value that is wrong by itself (whatever it stands beside) is
wrong in the request; what is wrong only in combination is that point's own failure. A sweep of a few hundred points is composed whole;
of a larger one every value of every axis (of a very long axis some of them, its ends included), and then, for each value that looks
wrong, some of the points that have it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

from archex.base.errors import ABSENT, Problem
from archex.sweeps import backends
from archex.sweeps.compose import Composer
from archex.sweeps.designer import NO_SETTINGS, Designer
from archex.sweeps.grammar import Axis, Groups
from archex.sweeps.points import Assignment, Design, is_hydra, show_value
from archex.sweeps.settings import RUN_KEYS
from archex.sweeps.sweepers.grid import Grid

#: Points, and combinations of choices among them, of a sweep that is composed whole.
EXACT, COMBINED = 512, 32
#: Values of one axis that are looked at; points that a value which looks wrong is tried in; such points in all.
VALUES, TRIED, TRIED_IN_ALL = 1024, 16, 2048
#: Problems that are listed when every point fails.
LISTED = 50
#: Values of one key that are listed when many are wrong in the same way.
ALIKE = 4


def axes(found: Sequence[Axis], composer: Composer) -> list[Problem]:
    """What is wrong with axes before anything is composed."""
    problems = composer.check(assignment for axis in found if composer.is_group(axis.key) for assignment in axis)
    problems += swept(found) + backends.problems(found, composer.plugins)
    if not getattr(backends.chosen("hydra/sweeper", found, composer.plugins["hydra/sweeper"]), "intervals", False):
        rule = "is an interval; a sweep needs a list of values: choice(a,b), range(1,9) or a,b"
        problems += [Problem(axis.key, axis.given, rule) for axis in found if axis.interval]
    return problems


def swept(axes: Iterable[Axis]) -> list[Problem]:
    """Sweeps over what a run has only one of."""
    return [
        Problem(axis.key, ",".join(show_value(a.value) for a in axis[:8]), "can't be swept: a run has one")
        for axis in axes
        if len(axis) > 1 and (is_hydra(axis.key) or axis.key.partition(".")[0] in RUN_KEYS)
    ]


class Examined:
    """The points of a sweep that were looked at."""

    def __init__(self, axes: Sequence[Axis], designer: Designer, groups: Groups) -> None:
        self._grid, self._designer = Grid(axes), designer
        self._random, self._tried = random.Random(0), 0
        self.designs: dict[int, Design] = {}
        combined = prod(len(axis) for axis in axes if groups.is_group(axis.key))
        self.exact = self._grid.total <= EXACT and combined <= COMBINED
        self._sharing: dict[tuple[int, int], list[Design]] = defaultdict(list)  # (axis, place of the value) -> designs that have it
        for index in range(self._grid.total) if self.exact else self._lattice([0] * len(axes)):
            self._look(index)
        origin = next((index for index, design in self.designs.items() if not design.problems), None)
        if not self.exact and self.designs[0].problems and origin is not None:
            for index in self._lattice(self._grid.places(origin)):
                self._look(index)

    def _look(self, index: int) -> Design:
        if index not in self.designs:
            self.designs[index] = design = self._designer.design(self._grid.at(index))
            for at in enumerate(self._grid.places(index)):
                self._sharing[at].append(design)
        return self.designs[index]

    def _lattice(self, origin: Sequence[int]) -> Iterator[int]:
        """Every value of every axis beside the origin's others; every combination of what says which launches are meant."""
        yield self._grid.index(origin)
        for number, axis in enumerate(self._grid.axes):
            for place in _spread(len(axis), VALUES):
                yield self._grid.index([*origin[:number], place, *origin[number + 1 :]])
        suites = [number for number, axis in enumerate(self._grid.axes) if axis.key.partition(".")[0] == "suite" and len(axis) > 1]
        for _, places in zip(range(EXACT), product(*(range(len(self._grid.axes[number])) for number in suites)), strict=False):
            chosen = dict(zip(suites, places, strict=True))
            yield self._grid.index([chosen.get(number, place) for number, place in enumerate(origin)])

    def standing(self) -> list[Problem]:
        """The problems that belong to one override by itself: those that every design with that override has."""
        found, judged, said = [], {}, set()
        for design in list(self.designs.values()):
            for problem in design.problems:
                blamed = _blamed(problem, design.assignments)
                at = None if blamed is None else (blamed, self._grid.places(design.index)[blamed])
                known = (at, problem.path, str(problem.value))
                if not problem.combined and known not in judged:
                    judged[known] = all(_has(other, problem) for other in self._beside(at))
                words = (problem.path, str(problem.value), problem.rule)  # whatever file it is from
                if not problem.combined and judged[known] and words not in said:
                    said.add(words)
                    found.append(problem)
        return found + [p for design in self.designs.values() if design.settings is NO_SETTINGS for p in design.problems]

    def _beside(self, at: tuple[int, int] | None) -> Iterable[Design]:
        """The designs that have a value, more of them than were looked at so far; all for no value."""
        for _ in range(0 if self.exact or self._tried >= TRIED_IN_ALL else TRIED):
            self._tried += 1
            places = [self._random.randrange(len(axis)) for axis in self._grid.axes]
            if at is not None:
                places[at[0]] = at[1]
            self._look(self._grid.index(places))
        return list(self.designs.values()) if at is None else self._sharing[at]

    def hopeless(self) -> list[Problem]:
        """Why no point at all is a device; nothing if one is. Goes on to look for one where none was seen so far."""
        if any(not design.problems for design in self.designs.values()):
            return []
        found = {str(problem): problem for design in self.designs.values() for problem in design.problems}
        for index in () if self.exact else range(self._grid.total):
            if index not in self.designs:
                design = self._designer.design(self._grid.at(index))
                if not design.problems:
                    return []
                if len(found) <= LISTED:
                    found |= {str(problem): problem for problem in design.problems}
        return list(found.values()) if self.exact else _listed(list(found.values()), self._grid.total)


def _listed(problems: list[Problem], total: int) -> list[Problem]:
    more = [Problem("-m", f"{total} points", f"all fail; these are {LISTED} of the reasons")] if len(problems) > LISTED else []
    return problems[:LISTED] + more


def _spread(length: int, most: int) -> Iterable[int]:
    """Places of an axis, evenly spread, both ends among them."""
    return range(length) if length <= most else sorted({round(step * (length - 1) / (most - 1)) for step in range(most)})


def _blamed(problem: Problem, assignments: Sequence[Assignment]) -> int | None:
    """Which override a problem's path points at: the one with the longest key that the path starts with, or ends with as it does where
    a key of the root is a part's (`clock`, which is `compute_unit.clock`)."""

    def named_by(key: str) -> bool:
        return problem.path == key or problem.path.startswith((f"{key}.", f"{key}[")) or problem.path.endswith(f".{key}")

    named = [number for number, a in enumerate(assignments) if named_by(a.key)]
    return max(named, key=lambda number: len(assignments[number].key), default=None)


def _has(design: Design, problem: Problem) -> bool:
    """Whether a design fails for the same reason: the words may name another file, or another part's bound."""
    return any(p.path == problem.path and not p.combined and str(p.value) == str(problem.value) for p in design.problems)


def unique(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once; of many values of one key that are wrong in the same way, the first few."""
    kept: dict[str, Problem] = {}
    for problem in problems:
        kept.setdefault(str(problem), problem)
    alike: dict[tuple[str, str, str | None], list[Problem]] = defaultdict(list)
    for problem in kept.values():
        alike[problem.path, problem.rule, problem.source].append(problem)
    return [problem for group in alike.values() for problem in _few(group)]


def _few(alike: list[Problem]) -> list[Problem]:
    more = len(alike) - ALIKE
    if more <= 1:
        return alike
    said = f"has {more} more values like that, the last is {show_value(alike[-1].value)}"
    return [*alike[:ALIKE], Problem(alike[0].path, ABSENT, said, combined=alike[0].combined)]
