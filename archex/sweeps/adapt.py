"""A plan that has all its designs at hand, as the loop wants one: designs one after another, configs on the shelf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from archex.sweeps.launchers.local import Local
from archex.sweeps.plan import Design, Plan
from archex.sweeps.shelf import Shelf


class Adapted:
    """`loop.Planned` over a `Plan`."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.settings, self.launches = plan.settings, plan.launches
        self.shelf, self.launcher = Shelf(), Local(plan.settings.workers)
        self.total: int | None = len(plan.designs)

    def rounds(self) -> Iterator[Iterable[Any]]:
        """All designs."""
        yield (self._design(design) for design in self._plan.designs)

    def _design(self, design: Design) -> Any:
        return _Based(design, "" if design.problems else self.shelf.put(dict(design.config)))

    def tell(self, design: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        """Nobody asks."""


@attrs.frozen
class _Based:
    design: Design
    base: str
    values: tuple[tuple[str, Any], ...] = ()

    @property
    def fingerprint(self) -> str | None:
        return self.design.spec.fingerprint if self.design.spec is not None and not self.design.problems else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.design, name)
