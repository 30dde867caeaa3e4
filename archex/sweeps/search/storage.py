"""A copy of a search's trials where Optuna's tools look for them.

In: `hydra.sweeper.storage`: null (a journal in the run's folder), a path (`.db` is SQLite, anything else a journal), an address of a
database, or `off`. Out: a study named by what is searched. It is written and never read for the search itself: rows are what it knows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from archex.base.errors import Problem
from archex.base.units import measure
from archex.records.trials import Goal, Trial
from archex.sweeps.search.sampling import directions, quiet
from archex.sweeps.search.space import Dimension

OFF, FILE = "off", "study.log"
_SQLITE = (".db", ".sqlite", ".sqlite3")


def check_storage(storage: str | None, path: str) -> list[Problem]:
    """What keeps a copy from being written there; nothing is made."""
    if storage is None or storage == OFF:
        return []
    if not storage.strip():
        return [Problem(path, storage, "must be off, null, a path or an address such as sqlite:///study.db")]
    if "://" in storage:
        return _check_address(storage, path)
    return _check_file(Path(storage).expanduser(), storage, path)


def _check_address(storage: str, path: str) -> list[Problem]:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        url = make_url(storage)
        url.get_dialect().import_dbapi()
    except (SQLAlchemyError, ImportError) as error:
        return [Problem(path, storage.rpartition("@")[2], f"is no address of a database here: {str(error).splitlines()[0]}")]
    if url.get_backend_name() == "sqlite" and url.database:
        return _check_file(Path(url.database), storage, path)
    return []


def _check_file(file: Path, storage: str, path: str) -> list[Problem]:
    parent = file.parent
    if file.is_dir():
        return [Problem(path, storage, "is a folder")]
    if not parent.is_dir():
        return [Problem(path, storage, f"cannot be written: {parent} is not a folder")]
    if not os.access(file if file.exists() else parent, os.W_OK):
        return [Problem(path, storage, "cannot be written: no permission")]
    return []


class Copy:
    """The study of one search, as far as it has come."""

    def __init__(self, storage: str | None, folder: Path, name: str, goals: Sequence[Goal], space: Sequence[Dimension]) -> None:
        self._name, self._goals = name, tuple(goals)
        self._readers = [_reader(dimension) for dimension in space]
        self._added: list[Any] = []
        with quiet():
            self._storage = _open(storage, folder)
            self._study = self._begin()
            self._there = self._study.get_trials(deepcopy=False)

    def add(self, trial: Trial, values: Sequence[float], excesses: Mapping[str, float]) -> None:
        """The next trial, with its place in the space; one that is there already is left alone."""
        import optuna

        states = optuna.trial.TrialState
        measured = [value for value in trial.values if value is not None]
        complete = len(measured) == len(trial.values)
        with quiet():
            read = [reader(value) for reader, value in zip(self._readers, values, strict=True)]
            made = optuna.trial.create_trial(
                state=states.COMPLETE if complete else states.FAIL,
                values=measured if complete else None,
                params={name: value for name, value, _ in read},
                distributions={name: distribution for name, _, distribution in read},
                user_attrs={"device": trial.device, "overrides": trial.overrides, "broken": list(trial.broken)},
                constraints=dict(excesses),
            )
            at = len(self._added)
            self._added.append(made)
            if at < len(self._there) and _content(self._there[at]) != _content(made):
                self._again()
            elif at >= len(self._there):
                self._study.add_trial(made)

    def _begin(self) -> Any:
        import optuna

        which = directions([goal.maximize for goal in self._goals])
        study = optuna.create_study(storage=self._storage, study_name=self._name, directions=which, load_if_exists=True)
        study.set_metric_names([goal.name for goal in self._goals])
        return study

    def _again(self) -> None:
        """The same search came to something else, of other sources for instance: what is there is not this run's."""
        import optuna

        optuna.delete_study(study_name=self._name, storage=self._storage)
        self._study, self._there = self._begin(), []
        self._study.add_trials(self._added)


def _content(trial: Any) -> tuple[Any, ...]:
    return trial.params, trial.values, trial.user_attrs


def _open(storage: str | None, folder: Path) -> Any:
    from optuna.storages import JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend

    if storage is None:
        file = folder / FILE
        for old in (file, Path(f"{file}.lock")):  # it holds nothing that the rows don't; a killed run leaves its lock
            old.unlink(missing_ok=True)
        return JournalStorage(JournalFileBackend(str(file)))
    if "://" in storage:
        return RDBStorage(storage)
    path = Path(storage).expanduser()
    return RDBStorage(f"sqlite:///{path}") if path.suffix in _SQLITE else JournalStorage(JournalFileBackend(str(path)))


def _reader(dimension: Dimension) -> Callable[[float], tuple[str, Any, Any]]:
    """Turns a place in the space into what Optuna's tools show: a name, a value, what it was chosen from."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    axis = dimension.axis
    if axis.interval:
        name = f"{axis.key} ({axis.unit})" if axis.unit else axis.key
        whole = FloatDistribution(dimension.low, dimension.high, log=dimension.log)
        return lambda value: (name, value, whole)
    shown = [assignment.shown.partition("=")[2] for assignment in axis]
    try:
        numbers = [measure(text)[0] for text in shown]
    except ValueError:
        category = CategoricalDistribution(shown)
        return lambda value: (axis.key, shown[int(value)], category)
    spread = FloatDistribution(min(numbers), max(numbers))
    return lambda value: (axis.key, numbers[int(value)], spread)
