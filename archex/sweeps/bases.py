"""Composed configs as plain dicts, and whether a value may be set on one without OmegaConf.

In: what Hydra composed. Out: a `Base`, made once a combination of group choices. A config whose values refer to each other (`${...}`) is
resolved once; a value that such a reference reads, or that stands where one is, needs the whole resolved again (`resolved`).
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import attrs
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from archex.base.errors import ABSENT, Problem, RequestError
from archex.sweeps.values import apply

_REFERENCE = re.compile(r"\$\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}")
#: Slots' configs, each kept once: many combinations of choices share them, and `describe` knows them again.
_slots: dict[bytes, Any] = {}
_MOST_SLOTS = 4096


@attrs.frozen(eq=False)
class Base:
    """config: resolved. raw: with its references, where it has any. links: the keys that references stand at or read; None: unclear."""

    config: dict[str, Any]
    choices: dict[str, str]
    raw: dict[str, Any] | None = None
    links: frozenset[str] | None = frozenset()
    broken: bool = False  # a reference leads nowhere; a value may mend it

    def takes(self, key: str, value: Any) -> bool:
        """Whether a value may be set on `config` as it is."""
        if self.links is None or _refers(value):
            return False
        return not any(link == key or link.startswith(f"{key}.") or key.startswith(f"{link}.") for link in self.links)


def base_of(composed: DictConfig, choices: dict[str, str]) -> Base:
    """What Hydra composed, as a base."""
    raw: Any = OmegaConf.to_container(composed)
    found = list(_references(raw))
    if not found:
        return Base(_interned(raw), choices)
    links = frozenset(key for keys in found for key in keys or ()) if all(keys is not None for keys in found) else None
    try:
        return Base(_interned(_resolved(raw)), choices, raw, links)
    except RequestError:
        return Base(raw, choices, raw, None, broken=True)


def resolved(base: Base, values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The config with values that refer, or are referred to; RequestError for a reference that leads nowhere."""
    return _resolved(apply(base.raw if base.raw is not None else base.config, values))


def _resolved(raw: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found: Any = OmegaConf.to_container(OmegaConf.create(dict(raw)), resolve=True)
    except OmegaConfBaseException as error:
        raise RequestError([Problem(str(error.full_key or "config"), ABSENT, first_line(error))]) from None
    return {str(key): value for key, value in found.items()}


def _interned(config: Mapping[str, Any]) -> dict[str, Any]:
    if len(_slots) > _MOST_SLOTS:
        _slots.clear()
    found = {}
    for key, value in config.items():
        with suppress(ValueError):  # something that marshal doesn't know: kept as it is
            value = _slots.setdefault(marshal.dumps(value, 2), value) if isinstance(value, dict) else value
        found[str(key)] = value
    return found


def _refers(value: Any) -> bool:
    if isinstance(value, str):
        return "${" in value
    if isinstance(value, Mapping):
        return any(_refers(item) for pair in value.items() for item in pair)
    return isinstance(value, (list, tuple)) and any(map(_refers, value))


def _references(node: Any, path: str = "") -> Iterator[list[str] | None]:
    """For each reference below a node: its own key and the key that it reads; None where that isn't a plain absolute key."""
    if isinstance(node, Mapping):
        for key, item in node.items():
            yield from _references(item, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list):
        for item in node:
            yield from _references(item, path)
    elif isinstance(node, str) and "${" in node:
        read = _REFERENCE.findall(node)
        yield [path, *read] if node.count("${") == len(read) else None


def first_line(error: Exception) -> str:
    """What an error of Hydra's says, without its hints."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__
