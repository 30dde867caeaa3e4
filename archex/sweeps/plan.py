"""From a command line to designs and launches, everything checked before anything runs.

In: the arguments behind `run`. Out: a `Plan`, or one `RequestError` with everything wrong in the request. In a sweep, a design whose
values are right by themselves and wrong together does not stop the others: it carries its problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from archex.base.errors import ArchexError, Problem, RequestError
from archex.base.options import Options
from archex.sweeps import grammar
from archex.sweeps.compose import Composer
from archex.sweeps.grammar import Assignment
from archex.sweeps.jobs import resolve
from archex.sweeps.settings import KEYS, Settings, Suite, split
from archex.sweeps.work import Steps


@attrs.frozen
class Design:
    """One point of a sweep: a device as described, or the problems that kept it from being one."""

    assignments: tuple[Assignment, ...]
    device: str
    config: Mapping[str, Any]
    settings: Settings
    spec: Any = None
    problems: tuple[Problem, ...] = ()

    @property
    def overrides(self) -> str:
        """What the command line set on the device, as text."""
        kept = [a.shown for a in self.assignments if a.key != "device" and a.key.split(".")[0] not in (*KEYS, "hydra")]
        return ", ".join(kept)


@attrs.frozen
class Plan:
    """Designs in the order of the sweep, and the launches of each suite they name."""

    designs: tuple[Design, ...]
    launches: Mapping[Suite, Mapping[str, Any]]
    settings: Settings  # of the run: output, retry, workers


def plan(arguments: Sequence[str], multirun: bool, steps: Steps, folders: Sequence[str] = ()) -> Plan:
    """Parse, compose (`folders`: further config folders), describe, read the suites."""
    axes, problems = grammar.parse(arguments, multirun)
    with Composer(folders) as composer:
        problems += composer.check(assignment for axis in axes for assignment in axis)
        problems += _swept(axes)
        broken = {problem.path for problem in problems}
        # The rest of the request is checked too, without what is already known to be wrong.
        sound = [axis for axis in axes if axis[0].key not in broken]
        designs = [_design(point, composer, steps) for point in grammar.points(sound)]
    launches, unreadable = _launches(designs, steps)
    problems += _standing(designs) + unreadable
    problems += [problem for design in designs if design.settings is _NO_SETTINGS for problem in design.problems]
    if not problems and all(design.problems for design in designs):
        problems = [problem for design in designs for problem in design.problems]
    if problems:
        raise RequestError(_unique(problems))
    return Plan(tuple(designs), launches, designs[0].settings)


def _swept(axes: list[list[Assignment]]) -> list[Problem]:
    """Sweeps over what a run has only one of."""
    return [
        Problem(axis[0].key, ",".join(grammar.show_value(a.value) for a in axis), "can't be swept: a run has one")
        for axis in axes
        if len(axis) > 1 and axis[0].key in ("output", "retry", "workers")
    ]


def _design(point: tuple[Assignment, ...], composer: Composer, steps: Steps) -> Design:
    try:
        composed = composer.compose(point)
    except RequestError as error:
        return Design(point, _device(point), {}, _settings(point, composer), problems=tuple(error.problems))
    settings, config, problems = split(composed.config)
    problems = [*composed.problems, *problems]
    spec = None
    try:
        spec = resolve(steps.describe)(config, composed.overridden, composed.choices)
    except RequestError as error:
        problems += error.problems
    except ArchexError as error:
        problems.append(Problem("device", composed.choices.get("device", ""), str(error)))
    return Design(point, composed.choices.get("device", ""), config, settings or _settings(point, composer), spec, tuple(problems))


_NO_SETTINGS = Settings(Suite("", Path()), Options())


def _settings(point: Sequence[Assignment], composer: Composer) -> Settings:
    """The settings of a point whose config is wrong: those of what it says about settings alone, so that its rows name its launches."""
    try:
        composed = composer.compose([a for a in point if a.key.split(".")[0] in KEYS])
    except RequestError:
        return _NO_SETTINGS
    return split(composed.config)[0] or _NO_SETTINGS


def _device(point: Sequence[Assignment]) -> str:
    """The device that a point names."""
    return next((str(a.value) for a in point if a.key == "device"), "")


def _standing(designs: Sequence[Design]) -> list[Problem]:
    """The problems that belong to one override by itself: those that every design with that override has."""
    found = []
    for design in designs:
        for problem in design.problems:
            blamed = _blamed(problem, design.assignments)
            if problem.combined:
                continue
            sharing = [other for other in designs if blamed is None or blamed in other.assignments]
            if all(problem in other.problems for other in sharing):
                found.append(problem)
    return found


def _blamed(problem: Problem, assignments: Sequence[Assignment]) -> Assignment | None:
    """The override that a problem's path points at: the longest key that the path starts with."""
    named = [a for a in assignments if problem.path == a.key or problem.path.startswith((f"{a.key}.", f"{a.key}["))]
    return max(named, key=lambda a: len(a.key), default=None)


def _unique(problems: Sequence[Problem]) -> list[Problem]:
    kept: dict[str, Problem] = {}
    for problem in problems:
        kept.setdefault(str(problem), problem)
    return list(kept.values())


def _launches(designs: Sequence[Design], steps: Steps) -> tuple[dict[Suite, Mapping[str, Any]], list[Problem]]:
    read_folder = resolve(steps.read_folder)
    found: dict[Suite, Mapping[str, Any]] = {}
    problems: list[Problem] = []
    for suite in dict.fromkeys(design.settings.suite for design in designs if design.settings is not _NO_SETTINGS):
        try:
            found[suite] = read_folder(suite.folder, suite.only)
        except RequestError as error:
            problems += error.problems
    return found, problems


def describe_one(arguments: Sequence[str], steps: Steps, folders: Sequence[str] = ()) -> Design:
    """The one design of a request that runs nothing; every problem of its device and settings at once."""
    axes, problems = grammar.parse(arguments, multirun=False)
    with Composer(folders) as composer:
        problems += composer.check(assignment for axis in axes for assignment in axis)
        broken = {problem.path for problem in problems}
        design = _design(tuple(axis[0] for axis in axes if axis[0].key not in broken), composer, steps)
    if problems or design.problems:
        raise RequestError(_unique([*problems, *design.problems]))
    return design
