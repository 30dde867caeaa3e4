"""Rows of one point and launch that stand more than once.

In: a frame of rows as they stand in files. Out: how many are copies, how many are failures that a later try made good, and which disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from archex.records import schema, store, words

if TYPE_CHECKING:
    import polars

#: What a row is known by: one program may have several ids in a folder.
KEY = ("point_id", "launch")
#: The columns of a result: what the run itself cost may differ.
_RESULT = tuple(name for name in schema.BY_NAME if name not in schema.COSTS)


@attrs.frozen
class Conflict:
    """Two results of one point: `row` as a person knows it, and the columns that differ."""

    row: str
    columns: tuple[str, ...]


@attrs.frozen
class Twice:
    """copies: rows that say what another says; replaced: failures beside a result or a later failure."""

    copies: int = 0
    replaced: int = 0
    conflicts: tuple[Conflict, ...] = ()


def twice(found: polars.DataFrame) -> Twice:
    """What is there more than once."""
    import polars

    again = found.filter(polars.col("point_id").is_not_null() & polars.struct(KEY).is_duplicated())
    if again.is_empty():
        return Twice()
    distinct = again.unique(_RESULT, maintain_order=True)
    rows = distinct.filter(polars.col("status").is_in(store.GOOD))
    unlike = rows.filter(polars.struct(KEY).is_duplicated())
    replaced = distinct.height - rows.height - _points(distinct.join(rows, on=KEY, how="anti"))
    conflicts = []
    if not unlike.is_empty():
        differ = unlike.group_by(KEY, maintain_order=True).agg(
            polars.first("device", "overrides"), *(polars.col(name).n_unique().gt(1).alias(f"differ {name}") for name in _RESULT)
        )
        for row in differ.iter_rows(named=True):
            columns = tuple(name for name in _RESULT if row[f"differ {name}"])
            conflicts.append(Conflict(words.row(row["launch"], row["device"], row["overrides"]), columns))
    return Twice(again.height - distinct.height, replaced, tuple(conflicts))


def _points(found: polars.DataFrame) -> int:
    import polars

    return found.select(polars.struct(KEY).n_unique()).item() if found.height else 0
