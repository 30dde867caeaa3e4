"""Values set on a composed config, without Hydra.

In: a base config of plain dicts and (dotted key, value) pairs. Out: a config that shares with the base what no value touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final


class _Mark(Enum):
    """Not a value of any config; one and the same in every process."""

    DELETED = "deleted"


DELETED: Final = _Mark.DELETED


def apply(base: Mapping[str, Any], values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """`base` with the values set, in order; `DELETED` takes a key away. The base stays as it is."""
    config = dict(base)
    for key, value in values:
        node = config
        *path, leaf = key.split(".")
        for part in path:
            child = node.get(part)
            node[part] = dict(child) if isinstance(child, Mapping) else {}
            node = node[part]
        if value is DELETED:
            node.pop(leaf, None)
        else:
            node[leaf] = value
    return config
