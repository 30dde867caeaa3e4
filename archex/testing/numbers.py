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
from archex.parts.kinds import KINDS, SLOTS
from archex.registry import Registry


def config_files(registry: Registry, slot: str) -> Iterator[Path]:
    """Every file of a config group, the group of `tiny` first."""
    for folder in (folders.conf(), *map(_folder, registry.config_dirs)):
        yield from sorted((folder / slot).glob("*.yaml"), key=lambda path: (path.stem != "tiny", path.stem))


def shipped(registry: Registry, kind: str, name: str) -> dict[str, Any]:
    """The numbers of a part in the first file that holds it; none where no file does."""
    for slot in SLOTS.values():
        for path in config_files(registry, slot.name) if slot.kind == kind else ():
            content = yaml.safe_load(path.read_text()) or {}
            if content.get("name", KINDS[kind].name) == name:
                return {key: value for key, value in content.items() if key not in ("name", "sources")}
    return {}


def _folder(place: str) -> Path:
    """A config folder of a plugin: `pkg://package.folder`, or a path."""
    if not place.startswith("pkg://"):
        return Path(place.removeprefix("file://"))
    package, _, inside = place.removeprefix("pkg://").replace("/", ".").partition(".")
    return Path(str(files(package))).joinpath(*inside.split(".")) if inside else Path(str(files(package)))
