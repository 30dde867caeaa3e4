"""The sampler: Optuna's, asked for designs and told what they came to.

In: a space, goals, a seed, and per trial a cost or a stand-in. Out: values for the space's dimensions, never the same twice. The state
lives in memory: a search that goes on is told its earlier trials again, so that it draws the same numbers as if it had never stopped.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from archex.base.errors import Problem
from archex.sweeps.search.space import Dimension, combination, size

#: Choice of `hydra.sweeper.sampler` -> Optuna's class. `grid` is every combination in order and needs none.
_CLASSES = {"tpe": "TPESampler", "nsga2": "NSGAIISampler", "nsga3": "NSGAIIISampler", "random": "RandomSampler", "grid": ""}
SAMPLERS = tuple(_CLASSES)
#: Proposals in a row that were there before, after which a sampler is given an untried design.
_REPEATS = 20

#: Options that differ from Optuna's: a simulation costs more than a trial that it has in mind, so generations are small.
_USUAL: dict[str, dict[str, Any]] = {"tpe": {"multivariate": True}, "nsga2": {"population_size": 24}, "nsga3": {"population_size": 24}}

Values = tuple[float, ...]


@attrs.frozen
class Told:
    """What a trial came to. costs: of each goal, in its own direction; excesses: by constraint, at most 0 where it is kept."""

    values: tuple[float, ...]
    excesses: Mapping[str, float]


@attrs.frozen
class Choice:
    """Which sampler, its options, its seed."""

    name: str = "tpe"
    options: Mapping[str, Any] = attrs.field(factory=dict)
    seed: int = 0


def check(choice: Choice, space: Sequence[Dimension]) -> list[Problem]:
    """What is wrong with a sampler beside the space."""
    if choice.name != "grid":
        return []
    endless = [dimension.axis for dimension in space if dimension.size is None]
    return [Problem(axis.key, axis.given, "has no end of values; sampler=grid needs a list or a range") for axis in endless]


def distributions(space: Sequence[Dimension]) -> dict[str, Any]:
    """The space as Optuna has it. What has an order is a number, what has none a category."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    found: dict[str, Any] = {}
    for dimension in space:
        key = dimension.axis.key
        if not dimension.ordered:
            found[key] = CategoricalDistribution([float(place) for place in range(len(dimension.axis))])
        elif dimension.whole:
            found[key] = IntDistribution(int(dimension.low), int(dimension.high), log=dimension.log)
        else:
            found[key] = FloatDistribution(dimension.low, dimension.high, log=dimension.log)
    return found


class Sampler:
    """Proposes designs, each one once."""

    def __init__(self, choice: Choice, space: Sequence[Dimension], maximize: Sequence[bool]) -> None:
        import optuna

        self._space = tuple(space)
        self._grid = choice.name == "grid"
        self._seen: set[Values] = set()
        self._asked: list[Any] = []
        self._random = random.Random(choice.seed)
        self._untried = 0
        self._distributions = distributions(space)
        self._failed = optuna.trial.TrialState.FAIL
        with quiet():
            sampler = None if self._grid else _sampler(choice)
            self._study = optuna.create_study(directions=directions(maximize), sampler=sampler)

    def ask(self) -> Values | None:
        """The next design, known by how many were asked before; None if there is no other."""
        if self._grid:
            return self._first_untried()
        with quiet():
            for _ in range(_REPEATS):
                trial = self._study.ask(self._distributions)
                values = tuple(float(trial.params[dimension.axis.key]) for dimension in self._space)
                if values not in self._seen:
                    return self._accept(trial, values)
                self._study.tell(trial, state=self._failed)  # takes no part in what comes
            return self._beside(values)

    def tell(self, number: int, told: Told) -> None:
        """What the design asked as the `number`th came to."""
        if self._grid:
            return
        with quiet():
            trial = self._asked[number]
            for name, excess in told.excesses.items():
                trial.set_constraint(name, excess)
            self._study.tell(trial, list(told.values))

    def _accept(self, trial: Any, values: Values) -> Values:
        self._seen.add(values)
        self._asked.append(trial)
        return values

    def _beside(self, repeated: Values) -> Values | None:
        """A design that was not there yet, where a sampler keeps proposing the same: one value of that changed, then two, at last any."""
        whole = size(self._space)
        if whole is not None and len(self._seen) >= whole:
            return None
        for changed in range(_REPEATS * len(self._space)):
            drawn = self._random.sample(range(len(self._space)), 1 + changed // _REPEATS)
            values = tuple(self._drawn(self._space[at]) if at in drawn else value for at, value in enumerate(repeated))
            if values not in self._seen:
                break
        else:
            found = self._first_untried(keep=False)
            if found is None:
                return None
            values = found
        self._study.enqueue_trial({d.axis.key: self._native(d, value) for d, value in zip(self._space, values, strict=True)})
        return self._accept(self._study.ask(self._distributions), values)

    def _drawn(self, dimension: Dimension) -> float:
        if dimension.size is None:
            return self._random.uniform(dimension.low, dimension.high)
        return dimension.low + self._random.randrange(dimension.size)

    def _native(self, dimension: Dimension, value: float) -> float | int:
        whole = type(self._distributions[dimension.axis.key]).__name__ == "IntDistribution"
        return int(value) if whole else value

    def _first_untried(self, keep: bool = True) -> Values | None:
        """The first combination, in the order of a sweep, that was not there yet."""
        whole = size(self._space) or 0
        while self._untried < whole:
            values = combination(self._space, self._untried)
            if values not in self._seen:
                if keep:
                    self._seen.add(values)
                return values
            self._untried += 1
        return None


def _sampler(choice: Choice) -> Any:
    import optuna

    made = {"seed": choice.seed, **_USUAL.get(choice.name, {}), **choice.options}
    with quiet():
        return getattr(optuna.samplers, _CLASSES[choice.name])(**made)


def directions(maximize: Sequence[bool]) -> list[Any]:
    """As Optuna wants them."""
    from optuna.study import StudyDirection

    return [StudyDirection.MAXIMIZE if most else StudyDirection.MINIMIZE for most in maximize]


@contextmanager
def quiet() -> Iterator[None]:
    """Optuna without its own log and its warnings of what is experimental."""
    import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        optuna.logging.set_verbosity(level)
