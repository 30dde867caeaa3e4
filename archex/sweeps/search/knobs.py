"""What a search is told beside its space: `hydra.sweeper.KEY`.

In: what the command line says. Out: `Knobs`, as far as they are right, and everything that isn't.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from archex.base.errors import Problem, RequestError
from archex.describe.structure import Structurer
from archex.parts.part import choice, number, text
from archex.registry import Registry
from archex.sweeps.search import goals
from archex.sweeps.search.goals import Constraint, Objective
from archex.sweeps.search.sampling import SAMPLERS, Choice
from archex.sweeps.search.storage import check_storage

PATH = "hydra.sweeper"
_ONLY = {"startup": ("tpe",), "population": ("nsga2", "nsga3")}


@attrs.frozen
class Fields:
    """The keys, as a part states its numbers."""

    objectives: list[str] = text("what to make small, or with max: large", each="list", default=["time"])
    constraints: list[str] = text("what a solution keeps to, such as 'l2.size <= 60MiB'", each="list", default=[])
    n_trials: int = number("count", "different designs", low=1, default=100)
    batch: int = number("count", "designs chosen together, and run at the same time", low=1, default=8)
    sampler: str = choice("how designs are chosen", SAMPLERS, default="tpe")
    startup: int | None = number("count", "random designs before tpe learns; null: 10", low=1, default=None)
    population: int | None = number("count", "designs of a generation of nsga2 and nsga3; null: 24", low=2, default=None)
    seed: int | None = number("count", "of the sampler; null: the run's", high=2**32 - 1, default=None)
    storage: str | None = text("where a copy of the trials goes: a path, an address, off; null: the run's folder", default=None)


@attrs.frozen
class Knobs:
    """objectives and constraints; how many designs, how many asked together; the sampler; where a copy of the trials goes."""

    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    n_trials: int
    batch: int
    sampler: Choice
    storage: str | None


def read(given: Mapping[str, Any], seed: int = 0) -> tuple[Knobs, list[Problem]]:
    """What is right of it, and what is wrong. `seed`: the run's, for a search without one of its own."""
    fields, problems = _structured(given)
    wanted, wrong = goals.objectives(fields.objectives)
    kept, unkept = goals.constraints(fields.constraints)
    problems += [*wrong, *unkept, *check_storage(fields.storage, f"{PATH}.storage")]
    for key, samplers in _ONLY.items():
        if getattr(fields, key) is not None and fields.sampler not in samplers:
            problems.append(
                Problem(f"{PATH}.{key}", getattr(fields, key), f"belongs to sampler={' or '.join(samplers)}, not {fields.sampler}")
            )
    options = {"n_startup_trials": fields.startup, "population_size": fields.population}
    known = {key: value for key, value in options.items() if value is not None}
    sampler = Choice(fields.sampler, known, seed if fields.seed is None else fields.seed)
    return Knobs(tuple(wanted), tuple(kept), fields.n_trials, fields.batch, sampler, fields.storage), problems


def _structured(given: Mapping[str, Any]) -> tuple[Fields, list[Problem]]:
    """The fields; of wrong ones the defaults."""
    structurer = Structurer(Registry({}))
    try:
        found: Fields = structurer.structure(Fields, given, PATH)
        return found, []
    except RequestError as error:
        wrong = {problem.path.removeprefix(f"{PATH}.").partition(".")[0].partition("[")[0] for problem in error.problems}
        found = structurer.structure(Fields, {key: value for key, value in given.items() if key not in wrong}, PATH)
        return found, error.problems
