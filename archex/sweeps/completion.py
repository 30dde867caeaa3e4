"""What may stand at the end of a half-typed command line.

In: the overrides before the word, and the word. Out: whole words to put in its place. Keys end in `=` (a value follows) or `.` (more of the
key follows); several choices of a sweep are completed one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import Any

from archex.base.errors import RequestError
from archex.sweeps import backends, grammar
from archex.sweeps.compose import Composer
from archex.sweeps.quoting import quote_arguments
from archex.sweeps.settings import split

FLAGS = ("-m", "--cfg", "--info", "--help", "--package", "--resolve", "--config-dir")
_PATHS = ("suite.path", "output", "reference", "rows")


def suggest(before: Sequence[str], word: str) -> list[str]:
    """Sorted completions of `word`."""
    if word.startswith("-"):
        return [flag for flag in FLAGS if flag.startswith(word)]
    key, equals, value = word.partition("=")
    if equals and key in _PATHS:
        return sorted(f"{key}={path}" for path in _paths(value))
    with Composer() as composer:
        if equals and composer.is_group(key):
            done, comma, part = value.rpartition(",")
            return [f"{key}={done}{comma}{choice}" for choice in composer.options(key) if choice.startswith(part)]
        if equals and key in backends.GROUPS:
            return [f"{key}={choice}" for choice in backends.offered(key) if choice.startswith(value)]
        if key.startswith("hydra"):
            return [] if equals else [name for name in _plugins(before, composer) if name.startswith(word)]
        config = _composed(before, composer)
        if equals:
            return [f"suite.only={name}" for name in _ids(config) if name.startswith(value)] if key == "suite.only" else []
        groups = [f"{group}=" for group in composer.slots if composer.options(group)]
    return sorted({name for name in [*groups, *_keys(config, word)] if name.startswith(word)})


def _composed(before: Sequence[str], composer: Composer) -> dict[str, Any]:
    """The config so far; what doesn't parse or fit yet is left out."""
    axes, _ = grammar.parse(quote_arguments(text for text in before if not text.startswith("-")), multirun=True, groups=composer)
    point = [axis[0] for axis in axes if not composer.check(axis[:1])]
    try:
        return composer.compose(point).config
    except RequestError:
        return {}


def _plugins(before: Sequence[str], composer: Composer) -> list[str]:
    """The groups of the launcher and the sweeper, and the fields of those chosen so far."""
    said = dict(text.split("=", 1) for text in before if "=" in text)
    fields = []
    for group, path in backends.GROUPS.items():
        chosen = said.get(group, composer.plugins.get(group))
        fields += [f"{path}.{field}=" for name, field, _ in backends.documented(group) if name == chosen]
    return [*(f"{group}=" for group in backends.GROUPS), *fields]


def _keys(config: Mapping[str, Any], word: str) -> list[str]:
    """The keys one step beyond the dots of `word`."""
    head, dot, _ = word.rpartition(".")
    node: Any = config
    for part in head.split(".") if head else []:
        node = node.get(part) if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping):
        return []
    return [f"{head}{dot}{key}{'.' if isinstance(value, Mapping) else '='}" for key, value in node.items() if key != "sources"]


def _ids(config: dict[str, Any]) -> list[str]:
    """The launches of the suite chosen so far."""
    settings, _, _ = split(config)
    with suppress(OSError, ValueError):
        if settings is not None:
            return sorted(json.loads((settings.suite.folder / "launches.json").read_text()))
    return []


def _paths(start: str) -> list[str]:
    return [path + ("/" if Path(path).is_dir() else "") for path in glob(f"{start}*")]
