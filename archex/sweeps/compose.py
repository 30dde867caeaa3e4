"""Configs composed by Hydra: once a combination of group choices, values applied afterwards.

In: assignments (`grammar`). Out: a plain dict a design, still unchecked beyond its groups and root keys: what a part's keys may hold is
`describe`'s to say. Hydra's composition costs 30 ms, so a sweep over values composes once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import attrs
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from archex.base import folders
from archex.base.errors import ABSENT, Problem, RequestError, closest, unknown
from archex.sweeps import search_path
from archex.sweeps.grammar import Assignment

CONFIG = "config"
#: Root keys that a device may have and configs need not hold.
_ABSENT_KEYS = ("clock",)


@attrs.frozen
class Composed:
    """A composed design: its plain config, the choice made in each group, the keys that values overrode, those that could not be."""

    config: dict[str, Any]
    choices: dict[str, str]
    overridden: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


class Composer(AbstractContextManager["Composer"]):
    """Hydra, initialised on archex's config folder (and what plugins and `folders` add) for as long as the context is open."""

    def __init__(self, folders: Sequence[str] = ()) -> None:
        self._folders = tuple(folders)

    def __enter__(self) -> Composer:
        GlobalHydra.instance().clear()
        search_path.given = self._folders
        self._context = initialize_config_dir(config_dir=str(folders.conf()), version_base="1.3", job_name="archex")
        self._context.__enter__()
        self._loader = GlobalHydra.instance().config_loader()
        self._cache: dict[tuple[str, ...], DictConfig] = {}
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
        return "." not in key and key in self.slots()

    def slots(self) -> list[str]:
        """Every group that the root config has a line for, in its order."""
        if not hasattr(self, "_slots"):
            defaults = OmegaConf.load(folders.conf() / f"{CONFIG}.yaml").defaults
            self._slots = [str(next(iter(line))) for line in defaults if isinstance(line, DictConfig)]
        return self._slots

    def check(self, assignments: Iterable[Assignment]) -> list[Problem]:
        """What is wrong with assignments by themselves: groups and choices that don't exist."""
        return [problem for assignment in assignments if (problem := self._check(assignment))]

    def _check(self, assignment: Assignment) -> Problem | None:
        key, value = assignment.key, assignment.value
        if not self.is_group(key) or assignment.deletes:
            return None
        if value is None or (isinstance(value, str) and value in self.options(key)):
            return Problem(key, "null", "is required", tuple(self.options(key))) if value is None and key in ("device", "suite") else None
        if not isinstance(value, str):
            return Problem(key, value, "must be one of its choices; a value of a part has a dotted key", tuple(self.options(key)))
        return unknown(key, value, self.options(key), "choice")

    def compose(self, assignments: Sequence[Assignment]) -> Composed:
        """One design; keys that don't exist are left out and reported. RequestError for configs that Hydra cannot compose."""
        grouped = [a for a in assignments if self.is_group(a.key) or a.key.split(".")[0] == "hydra"]
        values = [a for a in assignments if a not in grouped]
        base = self._base(tuple(_choice(a) for a in grouped))
        made = base.hydra.runtime.choices.items()
        choices = {str(key): str(value) for key, value in made if value is not None and "hydra/" not in str(key)}
        config = copy.deepcopy(base)
        OmegaConf.set_struct(config, False)
        del config["hydra"]
        problems = [problem for a in values if (problem := self._apply(config, a))]
        try:
            plain = OmegaConf.to_container(config, resolve=True)
        except OmegaConfBaseException as error:
            raise RequestError([Problem(str(error.full_key or CONFIG), ABSENT, _first_line(error))]) from None
        assert isinstance(plain, dict)
        return Composed({str(key): value for key, value in plain.items()}, choices, tuple(a.key for a in values), tuple(problems))

    def _base(self, choices: tuple[str, ...]) -> DictConfig:
        if choices not in self._cache:
            try:
                self._cache[choices] = compose(CONFIG, overrides=list(choices), return_hydra_config=True)
            except (HydraException, OmegaConfBaseException, YAMLError) as error:
                raise RequestError([self._blame(choices, _first_line(error))]) from None
        return self._cache[choices]

    def _blame(self, choices: tuple[str, ...], said: str) -> Problem:
        """The choice that cannot be composed by itself, or all of them together."""
        for choice in choices if len(choices) > 1 else ():
            try:
                self._base((choice,))
            except RequestError as error:
                return error.problems[0]
        if len(choices) != 1:
            return Problem(" ".join(choices) or CONFIG, ABSENT, f"cannot be composed: {said}", combined=bool(choices))
        key, _, value = choices[0].partition("=")
        return Problem(key.lstrip("~"), value or "null", f"cannot be composed: {said}")

    def _apply(self, config: DictConfig, assignment: Assignment) -> Problem | None:
        root, _, rest = assignment.key.partition(".")
        added = assignment.key in _ABSENT_KEYS or assignment.text.startswith("+")  # what may be added is for `describe` to say
        if root not in config and not added:
            if root in self.slots():
                return Problem(
                    assignment.key,
                    ABSENT if assignment.deletes else assignment.value,
                    f"overrides a part that this design lacks; choose one first: {root}=...",
                    tuple(self.options(root)),
                    combined=True,
                )
            keys = sorted({str(key) for key in config} | set(self.slots()) | set(_ABSENT_KEYS))
            return Problem(assignment.key, assignment.value, "is not a known key", tuple(keys), closest(root, keys))
        if assignment.deletes:
            parent = OmegaConf.select(config, ".".join(assignment.key.split(".")[:-1])) if rest else config
            leaf = assignment.key.split(".")[-1]
            if not isinstance(parent, DictConfig) or leaf not in parent:
                return Problem(f"~{assignment.key}", ABSENT, "deletes a key that isn't there")
            del parent[leaf]
            return None
        node = config
        for part in assignment.key.split(".")[:-1]:
            node = node.get(part)
            if node is None:
                break
            if not isinstance(node, DictConfig):
                return Problem(assignment.key, assignment.value, f"is not a known key: {part} is a value, not a group of keys")
        OmegaConf.update(config, assignment.key, assignment.value, merge=False, force_add=True)
        return None


def _choice(assignment: Assignment) -> str:
    """A group choice as Hydra wants it: `~l2` for `l2=null`, and no `+`, as every group has its line in the root config."""
    if assignment.value is None and "." not in assignment.key:
        return f"~{assignment.key}"
    return assignment.text.lstrip("+")


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__
