"""How jobs get to workers: what every launcher keeps, and what it is given.

A launcher runs `archex.sweeps.work.do` on each job in some other process, whatever happens to that process. It never tries again: the
loop in `sweeps.run` does, with the same rules for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import attrs

from archex.sweeps.jobs import Job
from archex.sweeps.shelf import Shelf


@attrs.frozen
class Limits:
    """What a row may take. timeout: seconds a row (a job of n rows has n times that); memory: bytes a worker."""

    timeout: float | None = None
    memory: int | None = None


@attrs.frozen
class Done:
    """A job's end: (seq, row) of each of its rows, or why its worker died, as a phrase: `ended by SIGKILL`, `longer than 60 s`."""

    job: Job
    rows: list[tuple[int, dict[str, Any]]] | None = None
    failed: str | None = None


class Launcher(Protocol):
    """Workers. `name` is the choice of `hydra/launcher`; `notes` are what a person should know when it is closed."""

    name: str
    notes: Sequence[str]

    @property
    def workers(self) -> int:
        """How many jobs run at a time."""

    def run(self, jobs: Iterator[Job], shelf: Shelf, limits: Limits) -> Iterator[Done]:
        """Do every job, in the order of finishing. Pulls a job only when there is room for it: at most 2 x workers are in flight, and
        each `Done` is yielded before the next job is pulled if it is there by then (a pull may depend on it: retries, search)."""

    def close(self, at_once: bool) -> None:
        """No more jobs: wait for the workers' end, or end them (`at_once`)."""
