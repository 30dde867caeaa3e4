"""Numbers of a described part, found and changed by path: `latency`, `operations.*.interval`.

In: a Spec. Out: values, or a new Spec; the old one is frozen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from archex.base.units import Duration, Rate


def numbers(spec: Any, path: str) -> Iterator[Any]:
    """Every number at a path; `*` is any name of a map or entry of a list."""
    first, _, rest = path.partition(".")
    for value in _below(spec, first):
        if rest:
            yield from numbers(value, rest)
        else:
            yield value


def scaled(spec: Any, path: str, factor: float) -> Any:
    """The Spec with every number at a path times `factor`; what is none or 0 (no limit, no cost) stays."""
    first, _, rest = path.partition(".")

    def new(value: Any) -> Any:
        return scaled(value, rest, factor) if rest else _times(value, factor)

    if isinstance(spec, dict):
        return {key: new(value) if first in ("*", key) else value for key, value in spec.items()}
    if isinstance(spec, list):
        return [new(value) for value in spec]
    return attrs.evolve(spec, **{first: new(getattr(spec, first))})


def _below(spec: Any, name: str) -> list[Any]:
    if isinstance(spec, dict):
        return [value for key, value in spec.items() if name in ("*", key)]
    if isinstance(spec, list):
        return spec
    return [getattr(spec, name)] if hasattr(spec, name) else []


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, (Duration, Rate)):
        return value._replace(value=value.value * factor)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return type(value)(value * factor)
