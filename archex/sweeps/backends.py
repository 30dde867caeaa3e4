"""Hydra's launchers and sweepers that are archex's: what such a plugin is made of, and whether what is asked of one is right.

A plugin derives from `LauncherPlugin` or `SweeperPlugin` in a module of `hydra_plugins`, states its fields (`Fields`, as a part states its
numbers), makes the object that does the work, and calls `offer`. Hydra finds it there, composes its node (`hydra/launcher=NAME`,
`hydra.launcher.FIELD=VALUE`) and instantiates it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from omegaconf import DictConfig, OmegaConf

from archex.base.errors import Problem, RequestError, unknown
from archex.describe.structure import Structurer
from archex.parts.part import META, NoNumbers, meta
from archex.parts.part import choice as choice  # what a plugin states its fields with
from archex.parts.part import flag as flag
from archex.parts.part import number as number
from archex.parts.part import text as text
from archex.registry import Registry
from archex.sweeps import launchers, sweepers
from archex.sweeps.grammar import Axis
from archex.sweeps.settings import Settings

#: Group -> where its node lies in a composed config.
GROUPS = {"hydra/launcher": "hydra.launcher", "hydra/sweeper": "hydra.sweeper"}
_TARGET = "_target_"
#: Of a sweeper's node, what is no field of its own: a preset's overrides (`presets`).
PARAMS = "params"
_structurer = Structurer(Registry({}))


class LauncherPlugin(Launcher):
    """A launcher of Hydra's that runs archex's jobs."""

    Fields: ClassVar[type] = NoNumbers

    def __init__(self, **fields: Any) -> None:
        self._given = fields

    @classmethod
    def wrong(cls, given: Mapping[str, Any], axes: Sequence[Axis]) -> list[Problem]:
        """What is wrong with what is said of its fields."""
        return _misread(cls, given, GROUPS["hydra/launcher"])

    def setup(self, *, hydra_context: Any, task_function: Any, config: DictConfig) -> None:
        """`task_function`: the request (`execute.Request`) that this is a part of."""
        self.request = task_function
        self.fields = read(type(self), self._given, GROUPS["hydra/launcher"])

    @abstractmethod
    def make(self, settings: Settings) -> launchers.Launcher:
        """What jobs are given to."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """A run for each list of overrides, as without `-m`."""
        results = [(list(overrides), self.request.run(overrides, self)) for overrides in job_overrides]
        return [JobReturn(overrides, status=JobStatus.COMPLETED, _return_value=result) for overrides, result in results]


class SweeperPlugin(Sweeper):
    """A sweeper of Hydra's that says which of archex's points are run."""

    Fields: ClassVar[type] = NoNumbers
    #: Whether an axis may be an interval.
    intervals: ClassVar[bool] = False

    def __init__(self, **fields: Any) -> None:
        self._given = fields

    @classmethod
    def wrong(cls, given: Mapping[str, Any], axes: Sequence[Axis]) -> list[Problem]:
        """What is wrong with what is said of its fields, and with the request's axes beside them."""
        return _misread(cls, given, GROUPS["hydra/sweeper"])

    def setup(self, *, hydra_context: Any, task_function: Any, config: DictConfig) -> None:
        """Make the launcher, too, as every sweeper does."""
        self.request, self.config = task_function, config
        self.fields = read(type(self), self._given, GROUPS["hydra/sweeper"])
        self.launcher = Plugins.instance().instantiate_launcher(hydra_context=hydra_context, task_function=task_function, config=config)

    @abstractmethod
    def make(self, axes: Sequence[Axis], settings: Settings) -> sweepers.Sweeper:
        """The points; RequestError for axes that it can't do."""

    def sweep(self, arguments: list[str]) -> Any:
        """The one run of all points; its `Result`."""
        assert isinstance(self.launcher, LauncherPlugin)
        return self.request.run(arguments, self.launcher, self)


Plugin = type[LauncherPlugin] | type[SweeperPlugin]


def offer(group: str, name: str, plugin: Plugin) -> None:
    """Make a plugin a choice of its group."""
    fields = {field.name: _default(field.default) for field in attrs.fields(plugin.Fields)}
    node = {_TARGET: f"{plugin.__module__}.{plugin.__qualname__}", **fields}
    ConfigStore.instance().store(group=group, name=name, node=node, provider="archex")


def _default(default: Any) -> Any:
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return default.factory()
    return None if default is attrs.NOTHING else default


def offered(group: str) -> dict[str, Plugin]:
    """The choices of a group that are archex's. Hydra's own, and others', run each point in a folder of its own and stop at an error."""
    Plugins.instance()  # which registers them
    nodes = ConfigStore.instance().repo["hydra"][group.partition("/")[2]]
    classes = Plugins.instance().class_name_to_class
    found = {file.removesuffix(".yaml"): classes.get(entry.node.get(_TARGET)) for file, entry in nodes.items()}
    return {name: plugin for name, plugin in sorted(found.items()) if plugin is not None and hasattr(plugin, "Fields")}  # type: ignore[misc]


def read(plugin: Plugin, fields: Mapping[str, Any], path: str) -> Any:
    """A plugin's fields, checked; RequestError with everything wrong in them."""
    plain = {key: OmegaConf.to_container(value) if OmegaConf.is_config(value) else value for key, value in fields.items() if key != PARAMS}
    return _structurer.structure(plugin.Fields, plain, path)


def _misread(plugin: Plugin, fields: Mapping[str, Any], path: str) -> list[Problem]:
    try:
        read(plugin, fields, path)
    except RequestError as error:
        return error.problems
    return []


def documented(group: str) -> list[tuple[str, str, str]]:
    """(choice, field, meaning) of every field of every choice of a group."""
    fields = [(name, field) for name, plugin in offered(group).items() for field in attrs.fields(plugin.Fields) if META in field.metadata]
    return [(name, field.name, meta(field).meaning) for name, field in fields]


def chosen(group: str, axes: Sequence[Axis], default: str) -> Plugin | None:
    """The plugin that a request chooses; None if there is none of that name."""
    name = next((axis[0].value for axis in axes if axis.key == group), default)
    return offered(group).get(name) if isinstance(name, str) else None


def problems(axes: Sequence[Axis], defaults: Mapping[str, str]) -> list[Problem]:
    """What is wrong with what a request says of its launcher and its sweeper. defaults: the choices of one that says nothing."""
    found = []
    for group, path in GROUPS.items():
        choices = tuple(offered(group))
        for axis in axes:
            value = axis[0].value
            if axis.key == path:
                found.append(Problem(path, value, f"is chosen by {group}=NAME", choices))
            elif axis.key == group and value not in choices:
                found.append(Problem(group, "null", "is required", choices) if value is None else unknown(group, value, choices))
        plugin = chosen(group, axes, defaults[group])
        fields = {axis.key.removeprefix(f"{path}."): axis[0] for axis in axes if axis.key.startswith(f"{path}.")}
        if plugin is not None:
            found += plugin.wrong({name: field.value for name, field in fields.items() if not field.deletes}, axes)
    return found
