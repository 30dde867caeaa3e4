"""Rows of many files put in order: one a point and launch, designs together, in shards that say what computed them.

In: contents of files. Out: `Portion`s: the rows of one version of archex, with what their files said about their runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from archex.base.errors import ABSENT, Problem, RequestError
from archex.records import store
from archex.records.contents import RUNS, Content, runs

if TYPE_CHECKING:
    import polars


@attrs.frozen(eq=False)
class Portion:
    """Rows of one version of archex."""

    rows: polars.DataFrame
    provenance: dict[str, str]


def in_order(read: Sequence[Content]) -> list[Portion]:
    """The rows that stand, a portion a version in the order in which versions appear."""
    import polars

    whole = [content for content in read if not content.torn and content.rows.height]
    if not whole:
        return []
    versions = list(dict.fromkeys(content.versions for content in whole))
    rows = polars.concat([content.rows.with_columns(_version=polars.lit(versions.index(content.versions))) for content in whole])
    first = polars.col("_row").min()
    # Where a row that a later one replaces stood, the later one stands.
    placed = rows.with_row_index("_row").with_columns(_design=first.over("device", "overrides"), _launch=first.over("suite", "launch"))
    ordered = store.latest(placed).sort("_version", "_design", "_launch", maintain_order=True).drop("_row", "_design", "_launch")
    return [
        Portion(
            ordered.filter(polars.col("_version") == number).drop("_version"),
            about([content.provenance for content in whole if content.versions == version]),
        )
        for number, version in enumerate(versions)
    ]


def one(portions: Sequence[Portion]) -> Portion:
    """All rows together."""
    import polars

    return Portion(polars.concat([portion.rows for portion in portions]), about([portion.provenance for portion in portions]))


def about(provenances: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What several runs have in common, and each of them under `runs` (JSON) if they differ."""
    every: list[dict[str, str]] = []
    for provenance in provenances:
        every += [run for run in runs(provenance) if run not in every]
    if len(every) <= 1:
        return every[0] if every else {}
    common = {name: text for name, text in every[0].items() if all(run.get(name) == text for run in every)}
    return common | {RUNS: json.dumps(every)}


def some(runs: Sequence[Path], read: Sequence[Content]) -> None:
    """RequestError where no row reads."""
    if not any(content.rows.height for content in read if not content.torn):
        torn = [Problem(str(content.path), ABSENT, f"is torn: {content.torn}") for content in read if content.torn]
        raise RequestError(torn or [Problem(", ".join(map(str, runs)), ABSENT, "holds no rows")])


def no_loss(read: Sequence[Content]) -> None:
    """RequestError where rows written again would lose columns that this archex doesn't know."""
    newer = [content for content in read if content.unknown]
    if newer:
        rule = "has columns that this archex doesn't know and would lose: {}"
        raise RequestError([Problem(str(content.path), ABSENT, rule.format(", ".join(content.unknown))) for content in newer])
