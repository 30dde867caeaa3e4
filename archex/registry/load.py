"""Finds plugins, checks what they hand over, and keeps it by kind and name.

In: the entry points of `archex.plugins`, and plugins given directly (tests). Out: a `Registry`, or one `RequestError` with everything
that is wrong in all of them. Names are unique: a duplicate names both packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import attrs
import pluggy

from archex.base.errors import ABSENT, Problem, RequestError, closest, unknown
from archex.base.hooks import PROJECT
from archex.base.names import source_hash
from archex.parts.part import Part
from archex.registry import hooks
from archex.registry.check import check_part

GROUP = "archex.plugins"


@attrs.frozen
class Registered:
    """A part and where it came from."""

    part: type[Part]
    package: str
    version: str

    @property
    def source_hash(self) -> str:
        """Hash of the source of the part and of the classes it derives from."""
        return _part_source_hash(self.part)  # type: ignore[arg-type]


@attrs.frozen(eq=False)
class Registry:
    """Every installed part by (kind, name), and the plugins' config folders."""

    parts: Mapping[tuple[str, str], Registered]
    config_dirs: tuple[str, ...] = ()

    def names(self, kind: str) -> list[str]:
        """The installed parts of a kind."""
        return sorted(name for k, name in self.parts if k == kind)

    def find(self, kind: str, name: Any, path: str) -> Registered | Problem:
        """The part, or the problem that stands at `path`."""
        found = self.parts.get((kind, name)) if isinstance(name, str) else None
        return found or unknown(path, name, self.names(kind), kind.replace("_", " "))


@cache
def _part_source_hash(part: Any) -> str:
    """Hash of the files that define the part and its bases (a helper imported from elsewhere in the plugin counts by its package)."""
    files: set[str] = set()
    for cls in part.__mro__[:-1]:
        module = sys.modules.get(cls.__module__)
        if module is not None and getattr(module, "__file__", None):
            files.add(str(module.__file__))
    ordered = sorted(files, key=lambda file: file.rsplit("/", 2)[-2:])
    return source_hash(ordered)


def load(given: Mapping[str, Any] | None = None, blocked: Iterable[str] = ()) -> Registry:
    """Discover, check, register. `given`: further plugin modules by name. `blocked`: plugin names left out."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hooks)
    problems: list[Problem] = []
    origins: dict[int, tuple[str, str]] = {}
    for name in blocked:
        manager.set_blocked(name)
    for name, package, version, opener in _candidates(given or {}):
        if name not in blocked:
            plugin = _open(name, package, opener, problems)
            if plugin is not None and _register(manager, plugin, name, package, problems):
                origins[id(plugin)] = (package, version)
    parts: dict[tuple[str, str], Registered] = {}
    for implementation in manager.hook.archex_parts.get_hookimpls():
        package, version = origins[id(implementation.plugin)]
        for part in _call(implementation, package, problems):
            _add(parts, part, package, version, problems)
    directories: list[str] = []
    for implementation in manager.hook.archex_config_dirs.get_hookimpls():
        directories += _call(implementation, origins[id(implementation.plugin)][0], problems)
    if problems:
        raise RequestError(sorted(problems, key=lambda problem: problem.path))
    return Registry(parts, tuple(directories))


def _candidates(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str, Callable[[], Any]]]:
    """(name, package, version, opener) of each plugin, archex's own first, so that a clash is reported against the newcomer."""

    def order(point: EntryPoint) -> tuple[bool, str]:
        return (point.name != "archex_plugins", point.name)

    for point in sorted(entry_points(group=GROUP), key=order):
        yield point.name, point.dist.name if point.dist else point.value, point.dist.version if point.dist else "", point.load
    for name, plugin in given.items():
        yield name, name, "", partial(_given, plugin)


def _given(plugin: Any) -> Any:
    return plugin


def _open(name: str, package: str, opener: Callable[[], Any], problems: list[Problem]) -> Any:
    try:
        return opener()
    except Exception as error:
        problems.append(Problem(f"plugins.{name}", ABSENT, f"(package {package}) can't be imported: {type(error).__name__}: {error}"))
        return None


def _register(manager: pluggy.PluginManager, plugin: Any, name: str, package: str, problems: list[Problem]) -> bool:
    """Register, unless a hook is misspelt, unmarked or takes arguments it doesn't have."""
    known = [hook for hook in vars(hooks) if hook.startswith(f"{PROJECT}_")]
    found = []
    for attribute, value in vars(plugin).items():
        marked = hasattr(value, f"{PROJECT}_impl")
        if marked and attribute not in known:
            found.append(unknown(f"plugins.{name}.{attribute}", ABSENT, known, f"hook (package {package})"))
        elif not marked and callable(value) and (attribute in known or attribute.startswith(f"{PROJECT}_")):
            nearest = closest(attribute, known)
            if attribute in known or nearest:
                found.append(
                    Problem(f"plugins.{name}.{attribute}", ABSENT, f"(package {package}) isn't marked with @hookimpl", (), nearest)
                )
    if not found:
        try:
            manager.register(plugin, name)
        except (pluggy.PluginValidationError, ValueError) as error:
            found.append(Problem(f"plugins.{name}", ABSENT, f"(package {package}) {str(error).strip().splitlines()[-1]}"))
    problems += found
    return not found


def _call(implementation: Any, package: str, problems: list[Problem]) -> list[Any]:
    path = f"plugins.{implementation.plugin_name}.{implementation.function.__name__}"
    try:
        return list(implementation.function())
    except Exception as error:
        problems.append(Problem(path, ABSENT, f"(package {package}) failed: {type(error).__name__}: {error}"))
        return []


def _add(parts: dict[tuple[str, str], Registered], part: Any, package: str, version: str, problems: list[Problem]) -> None:
    wrong = check_part(part, package)
    problems += wrong
    if wrong:
        return
    other = parts.get((part.kind, part.name))
    if other is None:
        parts[part.kind, part.name] = Registered(part, package, version)
    else:
        rule = f"is given by two packages, {other.package} ({other.part.__module__}) and {package} ({part.__module__})"
        problems.append(Problem(f"{part.kind}.{part.name}", ABSENT, rule))
