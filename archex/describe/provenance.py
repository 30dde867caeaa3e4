"""Where each number of a slot is from: its `sources:` map, spread over the leaves.

In: the map (path -> {status, from}), the slot's values. Out: a `Provenance` for every leaf, and what is wrong in the map. A path covers
everything below it; the longest one wins. Leaves that the command line set have the status `override`.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import Any

from archex.base.errors import ABSENT, Problem, closest, unknown
from archex.base.names import join
from archex.describe.device import STATUSES, Provenance

OVERRIDE = Provenance("override", "command line")


def leaves(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """(path, value) of every leaf below a value; lists of numbers are one leaf."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves(item, join(path, str(key)))
    elif isinstance(value, (list, tuple)) and any(isinstance(item, Mapping) for item in value):
        for position, item in enumerate(value):
            yield from leaves(item, path + f"[{position}]")
    elif path:
        yield path, value


def _upwards(path: str) -> Iterator[str]:
    """A path and everything above it, the nearest first."""
    while path:
        yield path
        cut = max(path.rfind("."), path.rfind("["))
        path = path[:cut] if cut > 0 else ""


def covering(path: str, sources: Container[str]) -> str | None:
    """The entry that covers a leaf: itself, or the nearest path above it."""
    return next((node for node in _upwards(path) if node in sources), None)


def provenance(
    slot: str, sources: Any, numbers: Mapping[str, Any], overridden: Collection[str]
) -> tuple[dict[str, Provenance], list[Problem]]:
    """The provenance of every leaf of `numbers`, and the problems of the map itself."""
    where = f"{slot}.sources"
    if not isinstance(sources, Mapping):
        return {}, [Problem(where, sources, "must be a map of paths to {status, from}")]
    problems, known = [], {}
    paths = {path for path, _ in leaves(numbers)}
    nodes = {node for path in paths for node in _upwards(path)}
    given = {path.removeprefix(f"{slot}.") if path != slot else "" for path in overridden}
    for path, entry in sources.items():
        if not isinstance(entry, Mapping) or set(entry) != {"status", "from"}:
            problems.append(Problem(f"{where}.{path}", entry, "must have the two keys status and from"))
        elif entry["status"] not in STATUSES:
            problems.append(unknown(f"{where}.{path}.status", entry["status"], STATUSES, "status"))
        elif path not in nodes:
            problems.append(Problem(f"{where}.{path}", ABSENT, "names no number of this slot", (), closest(path, paths)))
        else:
            known[path] = Provenance(entry["status"], str(entry["from"]))
    found = dict(known)  # also covers what a number below it has by default
    for leaf in paths:
        above = covering(leaf, known)
        if given and (covering(leaf, given) is not None or "" in given):
            found[leaf] = OVERRIDE
        elif above is not None:
            found[leaf] = known[above]
    return found, problems


def unsourced(found: Mapping[str, Provenance], numbers: Mapping[str, Any]) -> list[str]:
    """Leaves without a source: an error in shipped conf."""
    return sorted(path for path, _ in leaves(numbers) if path not in found)
