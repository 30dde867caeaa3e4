"""The numbers that config files give a part: what a contract is tried with unless told otherwise.

In: a registry, a kind, a name. Out: the content of the first file that holds the part, without `name` and `sources`: archex's own
files, those of the device `tiny` first, then the plugins' in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from archex.base import folders
from archex.describe.provenance import provenance, unsourced
from archex.parts.kinds import KINDS, SLOTS
from archex.registry import Registry
from archex.testing.devices import over


def shipped(registry: Registry, kind: str, name: str) -> dict[str, Any]:
    """The numbers of a part in the first file that holds it; none where no file does."""
    return next((of_file(path) for path in files_of(registry, kind, name)), {})


def files_of(registry: Registry, kind: str, name: str) -> Iterator[Path]:
    """Every file that holds a part."""
    for slot in SLOTS.values():
        for path in config_files(registry, slot.name) if slot.kind == kind else ():
            if whole(path).get("name", KINDS[kind].name) == name:
                yield path


def of_file(path: Path) -> dict[str, Any]:
    """The numbers in a slot's file."""
    return {key: value for key, value in whole(path).items() if key not in ("name", "sources")}


def without_source(path: Path) -> list[str]:
    """What is wrong with the sources of a slot's file: numbers that have none, and sources of nothing."""
    slot, numbers = path.parent.name, of_file(path)
    found, wrong = provenance(slot, whole(path).get("sources", {}), numbers, ())
    return [f"{slot}.{leaf}" for leaf in unsourced(found, numbers)] + [str(problem) for problem in wrong]


def config_files(registry: Registry, slot: str) -> list[Path]:
    """Every file of a config group, the group of `tiny` first."""
    found: list[Path] = []
    for folder in (folders.conf(), *map(_folder, registry.config_dirs)):
        found += sorted((folder / slot).glob("*.yaml"), key=lambda path: (path.stem != "tiny", path.stem))
    return found


def whole(path: Path) -> dict[str, Any]:
    """A slot's file on top of the files that it starts from, which lie beside it or in archex's own group."""
    own: dict[str, Any] = yaml.safe_load(path.read_text()) or {}
    found: dict[str, Any] = {}
    for line in own.pop("defaults", ["_self_"]):
        beside = path.with_name(f"{line}.yaml")
        base = beside if beside.exists() else folders.conf() / path.parent.name / beside.name
        found = over(found, own if line == "_self_" else whole(base))
    return found


def _folder(place: str) -> Path:
    """A config folder of a plugin: `pkg://package.folder`, or a path."""
    if not place.startswith("pkg://"):
        return Path(place.removeprefix("file://"))
    package, _, inside = place.removeprefix("pkg://").replace("/", ".").partition(".")
    return Path(str(files(package))).joinpath(*inside.split(".")) if inside else Path(str(files(package)))
