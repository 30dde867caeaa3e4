"""Calls of ranks that belong together: whether they agree, and what to say when they don't."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, RequestError


@attrs.frozen
class Call:
    """What one rank asks for. bytes: as in `plan`; root: of a broadcast."""

    kind: str
    bytes: int
    root: int = 0


def match(calls: Mapping[int, Call], ranks: Sequence[int], path: str = "collective") -> Call:
    """The one call that all ranks made; RequestError names those that lack it or disagree."""
    problems = [Problem(f"{path}.rank {rank}", ABSENT, "calls nothing while the others wait for it") for rank in ranks if rank not in calls]
    problems += [
        Problem(f"{path}.rank {rank}", rank, f"calls, but isn't one of the ranks, {_listed(ranks)}") for rank in calls if rank not in ranks
    ]
    for field in ("kind", "bytes", "root"):
        by_value: dict[Any, list[int]] = defaultdict(list)
        for rank in ranks:
            if rank in calls:
                by_value[getattr(calls[rank], field)].append(rank)
        if len(by_value) > 1:
            usual = max(by_value, key=lambda value: len(by_value[value]))
            said = f"must be {usual}, as rank{'s' * (len(by_value[usual]) > 1)} {_listed(by_value[usual])} call it"
            problems += [
                Problem(f"{path}.rank {rank}.{field}", value, said) for value, those in by_value.items() if value != usual for rank in those
            ]
    if problems:
        raise RequestError(problems)
    return next(iter(calls.values()))


def _listed(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:8]))
    return shown if len(ranks) <= 8 else f"{shown} and {len(ranks) - 8} more"
