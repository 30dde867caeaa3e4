"""A search from a request: what is chosen, what every design runs, what is searched for.

In: `hydra.sweeper.*` and the axes of the request. Out: a `Search`, or everything wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from archex.base.errors import Problem, RequestError
from archex.sweeps.grammar import Axis
from archex.sweeps.points import is_hydra
from archex.sweeps.search import knobs, sampling
from archex.sweeps.search.search import Search
from archex.sweeps.search.space import Dimension, dimension
from archex.sweeps.settings import KEYS, Settings

_NOTHING = "has nothing to choose: give a key of the device several values, such as l2.size=range(20MiB,80MiB,4MiB)"


def problems(given: Mapping[str, Any], axes: Sequence[Axis]) -> list[Problem]:
    """Everything wrong with a search, as far as that shows before anything is composed."""
    if find_spec("optuna") is None:
        return [Problem("hydra/sweeper", Search.name, "needs Optuna: pip install 'archex-sim[optuna]'")]
    read, wrong = knobs.read(given)
    parts, odd = _parts(axes)
    return [*wrong, *odd, *sampling.check(read.sampler, [part for part in parts if isinstance(part, Dimension)])]


def search(given: Mapping[str, Any], axes: Sequence[Axis], settings: Settings) -> Search:
    """The search; RequestError with everything wrong."""
    if wrong := problems(given, axes):
        raise RequestError(wrong)
    return Search(_parts(axes)[0], knobs.read(given, settings.options.seed)[0])


def _parts(axes: Sequence[Axis]) -> tuple[list[Dimension | Axis], list[Problem]]:
    """What is chosen, and what every design has: one value, or all values of what belongs to the run."""
    parts: list[Dimension | Axis] = []
    wrong: list[Problem] = []
    for axis in axes:
        if is_hydra(axis.key):
            continue
        if axis.key.partition(".")[0] in KEYS:
            if axis.interval:
                wrong.append(Problem(axis.key, axis.given, "is an interval; every design runs all values of it, so it needs a list"))
            parts.append(axis)
        elif len(axis) > 1 or axis.interval:
            found, odd = dimension(axis)
            wrong += odd
            parts += [found] if found else []
        else:
            parts.append(axis)
    if not wrong and not any(isinstance(part, Dimension) for part in parts):
        wrong.append(Problem("hydra/sweeper", Search.name, _NOTHING))
    return parts, wrong
