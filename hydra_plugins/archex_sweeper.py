"""`hydra/sweeper=archex`: every combination of the values given, the last key fastest."""

from __future__ import annotations

from collections.abc import Sequence

from archex.sweeps import backends, sweepers
from archex.sweeps.grammar import Axis
from archex.sweeps.settings import Settings


class ArchexSweeper(backends.SweeperPlugin):
    """Found by Hydra by its base class."""

    def make(self, axes: Sequence[Axis], settings: Settings) -> sweepers.Sweeper:
        """All points, in order."""
        from archex.sweeps.sweepers.grid import Grid

        return Grid(axes)


backends.offer("hydra/sweeper", "archex", ArchexSweeper)
__all__ = ["ArchexSweeper"]
