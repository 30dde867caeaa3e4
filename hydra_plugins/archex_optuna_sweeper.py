"""`hydra/sweeper=archex_optuna`: designs that a sampler of Optuna's chooses, from what those before came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from archex.base.errors import Problem
from archex.sweeps import backends, sweepers
from archex.sweeps.grammar import Axis
from archex.sweeps.search import build, knobs
from archex.sweeps.search.search import Search
from archex.sweeps.settings import Settings


class ArchexOptunaSweeper(backends.SweeperPlugin):
    """Found by Hydra by its base class."""

    Fields = knobs.Fields
    intervals = True

    @classmethod
    def wrong(cls, given: Mapping[str, Any], axes: Sequence[Axis]) -> list[Problem]:
        """Fields, objectives, constraints, the space."""
        return build.problems(given, axes)

    def make(self, axes: Sequence[Axis], settings: Settings) -> sweepers.Sweeper:
        """The search."""
        return build.search(attrs.asdict(self.fields), axes, settings)


backends.offer("hydra/sweeper", Search.name, ArchexOptunaSweeper)
__all__ = ["ArchexOptunaSweeper"]
