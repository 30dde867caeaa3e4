"""What the loop of a run asks of others: a plan, and somebody who is told how it goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from archex.records.trials import Found
from archex.sweeps.launchers import Launcher
from archex.sweeps.settings import Settings
from archex.sweeps.shelf import Shelf


class Listener(Protocol):
    """Who is told how a run goes."""

    def start(self, total_rows: int | None, total_designs: int | None, kept: int, workers: int) -> None:
        """So many rows of so many designs will come (None: nobody knows yet), `kept` of them from an earlier run."""

    def row(self, row: Mapping[str, Any]) -> None:
        """A row is finished."""

    def design(self, label: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design are there; `label` is its device and overrides."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


class Planned(Protocol):
    """What the loop asks of a plan (`sweeps.plan`)."""

    @property
    def settings(self) -> Settings:
        """Of the run."""

    @property
    def launches(self) -> Mapping[Any, Mapping[str, Any]]:
        """Of each suite."""

    @property
    def shelf(self) -> Shelf:
        """Where base configs lie."""

    @property
    def launcher(self) -> Launcher:
        """What jobs are given to."""

    @property
    def total(self) -> int | None:
        """Designs; None where a search decides."""

    @property
    def found(self) -> Found | None:
        """What a search came to so far."""

    def begin(self, path: Path) -> None:
        """Where rows will be."""

    def rounds(self) -> Iterator[Iterable[Any]]:
        """Designs; a round is asked for when all rows of the one before were told."""

    def tell(self, design: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design."""
