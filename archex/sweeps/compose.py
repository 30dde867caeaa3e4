"""Configs composed by Hydra: once a combination of group choices, values set on plain dicts afterwards.

In: assignments. Out: a plain dict a design, still unchecked beyond its groups and root keys: what a part's keys may hold is `describe`'s to
say. Hydra's composition costs some 100 ms, a value set on what it made some microseconds.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, cast

import attrs
from hydra import initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from archex.base import folders
from archex.base.errors import ABSENT, Problem, RequestError, closest, unknown
from archex.sweeps import search_path
from archex.sweeps.bases import Base, base_of, first_line, resolved
from archex.sweeps.points import Assignment, is_field, is_hydra
from archex.sweeps.sources import Sources
from archex.sweeps.values import DELETED, apply

CONFIG = "config"
#: The group of which several choices may be made together.
PRESETS = "experiments"
#: Root keys that a device may have and configs need not hold.
_ABSENT_KEYS = ("clock",)
#: Combinations of choices whose config is kept.
_KEPT = 1024


@attrs.frozen
class Composed:
    """A composed design. values: what was set on the base, those that could not be left out.

    whole: `config` is the base with the values set; else it was resolved anew, as a reference had to do with a value.
    """

    base: Base
    config: dict[str, Any]
    values: tuple[tuple[str, Any], ...] = ()
    whole: bool = True
    problems: tuple[Problem, ...] = ()

    @property
    def overridden(self) -> tuple[str, ...]:
        """The keys that values set."""
        return tuple(key for key, _ in self.values)


class Composer(AbstractContextManager["Composer"]):
    """Hydra on archex's config folder (and what plugins and `folders` add).

    Hydra's one global instance is this one for as long as the context is open; composing goes on afterwards.
    """

    def __init__(self, folders: Sequence[str] = ()) -> None:
        self._folders = tuple(folders)
        #: How often Hydra composed.
        self.composed = 0

    def __enter__(self) -> Composer:
        GlobalHydra.instance().clear()
        search_path.given = self._folders
        self._context = initialize_config_dir(config_dir=str(folders.conf()), version_base="1.3", job_name="archex")
        self._context.__enter__()
        self._loader = cast(ConfigLoaderImpl, GlobalHydra.instance().config_loader())
        self._loader.repository = Sources(self._loader.get_search_path())
        self._bases: OrderedDict[tuple[str, ...], Base] = OrderedDict()
        self._options: dict[str, list[str]] = {}
        return self

    def __exit__(self, *exception: object) -> None:
        self._context.__exit__(*exception)
        GlobalHydra.instance().clear()

    def options(self, group: str) -> list[str]:
        """The choices of a group, of all config folders on the path."""
        if group not in self._options:
            self._options[group] = sorted(self._loader.get_group_options(group, ObjectType.CONFIG))
        return self._options[group]

    def is_group(self, key: str) -> bool:
        """Whether `key` names a slot or another group of the root config."""
        return key in self.slots

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Every group that the root config has a line for, in its order."""
        return tuple(name for name in self._lines if not name.startswith("override "))

    @cached_property
    def plugins(self) -> dict[str, str]:
        """The launcher and the sweeper that the root config chooses, by group."""
        return {name.removeprefix("override "): value for name, value in self._lines.items() if name.startswith("override ")}

    @cached_property
    def _lines(self) -> dict[str, str]:
        defaults = OmegaConf.load(folders.conf() / f"{CONFIG}.yaml").defaults
        return {str(key): str(value) for line in defaults if isinstance(line, DictConfig) for key, value in line.items()}

    @property
    def loader(self) -> ConfigLoader:
        """Hydra's own."""
        return self._loader

    def check(self, assignments: Iterable[Assignment]) -> list[Problem]:
        """What is wrong with assignments by themselves: groups and choices that don't exist."""
        return [problem for assignment in assignments if (problem := self._check(assignment))]

    def _check(self, assignment: Assignment) -> Problem | None:
        key, value = assignment.key, assignment.value
        if not self.is_group(key) or assignment.deletes:
            return None
        if value is None or (isinstance(value, str) and value in self.options(key)):
            return Problem(key, "null", "is required", tuple(self.options(key))) if value is None and key in ("device", "suite") else None
        if key == PRESETS and isinstance(value, list):  # one on top of the other
            missing = [str(name) for name in value if name not in self.options(key)]
            return unknown(key, missing[0], self.options(key), "choice") if missing else None
        if not isinstance(value, str):
            return Problem(key, value, "must be one of its choices; a value of a part has a dotted key", tuple(self.options(key)))
        return unknown(key, value, self.options(key), "choice")

    def compose(self, assignments: Sequence[Assignment]) -> Composed:
        """One design; keys that don't exist are left out and reported. RequestError for configs that Hydra cannot compose."""
        grouped = [a for a in assignments if self._composes(a)]
        base = self._base(tuple(_choice(a) for a in grouped))
        config, values, problems, whole = base.config, [], [], not base.broken
        for assignment in assignments:
            if self._composes(assignment) or is_field(assignment.key):
                continue
            problem = self._problem(config, assignment)
            if problem is not None:
                problems.append(problem)
                continue
            value = DELETED if assignment.deletes else assignment.value
            whole = whole and base.takes(assignment.key, value)
            values.append((assignment.key, value))
            config = apply(config, values[-1:])
        if not whole:
            config = resolved(base, values)
        return Composed(base, config, tuple(values), whole, tuple(problems))

    def _composes(self, assignment: Assignment) -> bool:
        """Whether an assignment is Hydra's to compose: a choice of a group, or one of its own keys."""
        return assignment.key in self.slots or (is_hydra(assignment.key) and not is_field(assignment.key))

    def master(self, assignments: Sequence[Assignment]) -> DictConfig:
        """Hydra's own node, for making its launcher and its sweeper, with what is said of them."""
        choices = tuple(_choice(a) for a in assignments if self._composes(a))
        self._base(choices)
        hydra = self._last[1] if self._last[0] == choices else self.load(choices).hydra
        config = OmegaConf.create({"hydra": hydra})
        for assignment in assignments:
            if is_field(assignment.key) and not assignment.deletes:
                OmegaConf.update(config, assignment.key, assignment.value, merge=False, force_add=True)
        return config

    def _base(self, choices: tuple[str, ...]) -> Base:
        found = self._bases.get(choices)
        if found is None:
            composed = self.load(choices)
            made = composed.hydra.runtime.choices.items()
            OmegaConf.set_struct(composed, False)
            self._last = (choices, composed.pop("hydra"))
            found = base_of(composed, {str(key): str(value) for key, value in made if value is not None and "hydra/" not in str(key)})
            self._bases[choices] = found
            while len(self._bases) > _KEPT:
                self._bases.popitem(last=False)
        self._bases.move_to_end(choices)
        return found

    def load(self, overrides: Sequence[str]) -> DictConfig:
        """What Hydra composes, its own node included; RequestError names the override that it cannot compose."""
        self.composed += 1
        try:
            with _uncollected():
                found: DictConfig = self._loader.load_configuration(CONFIG, list(overrides), RunMode.RUN, from_shell=False)
        except (HydraException, OmegaConfBaseException, YAMLError) as error:
            raise RequestError([self._blame(tuple(overrides), first_line(error))]) from None
        return found

    def _blame(self, choices: tuple[str, ...], said: str) -> Problem:
        """The choice that cannot be composed by itself, or all of them together."""
        for choice in choices if len(choices) > 1 else ():
            try:
                self.load((choice,))
            except RequestError as error:
                return error.problems[0]
        if len(choices) != 1:
            return Problem(" ".join(choices) or CONFIG, ABSENT, f"cannot be composed: {said}", combined=bool(choices))
        key, _, value = choices[0].partition("=")
        return Problem(key.lstrip("~"), value or "null", f"cannot be composed: {said}")

    def _problem(self, config: Mapping[str, Any], assignment: Assignment) -> Problem | None:
        """What is wrong with setting a value on a config."""
        *above, leaf = assignment.key.split(".")
        root = above[0] if above else leaf
        added = assignment.key in _ABSENT_KEYS or assignment.text.startswith("+")  # what may be added is for `describe` to say
        if root not in config and not added:
            if root in self.slots:
                return Problem(
                    assignment.key,
                    ABSENT if assignment.deletes else assignment.value,
                    f"overrides a part that this design lacks; choose one first: {root}=...",
                    tuple(self.options(root)),
                    combined=True,
                )
            keys = sorted({str(key) for key in config} | set(self.slots) | set(_ABSENT_KEYS))
            return Problem(assignment.key, assignment.value, "is not a known key", tuple(keys), closest(root, keys))
        node: Any = config
        for part in above:
            node = node.get(part)
            if not isinstance(node, Mapping):
                if node is not None and not assignment.deletes:
                    return Problem(assignment.key, assignment.value, f"is not a known key: {part} is a value, not a group of keys")
                break
        if assignment.deletes:
            return _undeletable(assignment, node, leaf)
        return None


@contextmanager
def _uncollected() -> Iterator[None]:
    """No collection of garbage meanwhile: a composition makes some 100,000 objects, and looking through them takes a third of its time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _undeletable(assignment: Assignment, node: Any, leaf: str) -> Problem | None:
    if not isinstance(node, Mapping) or leaf not in node:
        return Problem(f"~{assignment.key}", ABSENT, "deletes a key that isn't there")
    if assignment.value is not None and assignment.value != node[leaf]:
        return Problem(f"~{assignment.key}", assignment.value, f"deletes a value that isn't there: it is {node[leaf]}")
    return None


def _choice(assignment: Assignment) -> str:
    """A group choice as Hydra wants it: `~l2` for `l2=null`, and no `+`, as every group has its line in the root config."""
    if assignment.value is None and "." not in assignment.key:
        return f"~{assignment.key}"
    return assignment.text.lstrip("+")
