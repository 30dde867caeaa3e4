"""The rows of a timeline: one a command and one a call of a host thread. The one place that says their columns.

In: a `Timeline`. Out: rows as plain maps, in the order in which their calls began; a Parquet file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from archex.records import store
from archex.records.schema import Column, polars_schema, typed
from archex.timeline import Timeline

COLUMNS: tuple[Column, ...] = (
    Column("event", "int", "", "number of the row, in the order in which calls began"),
    Column(
        "kind",
        "text",
        "",
        "call (of a host thread), kernel, copy, collective, prefetch, function, graph, record, wait; faults or migration",
    ),
    Column(
        "name",
        "text",
        "",
        "the kernel, the event, the graph, the buffer, the direction of a copy, the kind of a collective; of a call, what it called",
    ),
    Column("stream", "text", "", "stream of the command"),
    Column("device", "int", "", "device of the command"),
    Column("queue", "int", "", "queue that held its packet; none for a node of a graph"),
    Column("thread", "text", "", "host thread that called"),
    Column("graph", "int", "", "row of the graph whose node this is"),
    Column("bytes", "int", "bytes", "moved by a copy, a collective, a prefetch or a migration"),
    Column("issued_ns", "float", "ns", "the call began"),
    Column("submitted_ns", "float", "ns", "its packet was written and the doorbell rung"),
    Column("arrived_ns", "float", "ns", "the device had fetched the packet"),
    Column("started_ns", "float", "ns", "it began, with what starting costs"),
    Column("ended_ns", "float", "ns", "it was over"),
    Column("alone_ns", "float", "ns", "what it would take alone on the device"),
    Column("waited_for", "int", "", "row of the command that kept it last, or for whose sake pages move; none: only for its own packet"),
    Column("about", "text", "", "answer of a query, algorithm of a collective, why pages move"),
)


def rows(timeline: Timeline) -> list[dict[str, Any]]:
    """Every command and every call."""
    found: list[dict[str, Any]] = []
    for c in timeline.commands:
        found.append(
            {
                "event": c.number, "kind": c.kind, "name": c.name, "stream": c.stream, "device": c.device,
                "queue": c.queue.number if c.queue is not None else None, "thread": c.thread,
                "graph": c.graph.number if c.graph is not None else None, "bytes": c.bytes or None,
                "issued_ns": c.issued, "submitted_ns": c.submitted, "arrived_ns": c.arrived, "started_ns": c.started, "ended_ns": c.ended,
                "alone_ns": c.alone or None, "waited_for": c.waited_for.number if c.waited_for is not None else None,
                "about": c.about if c.kind != "record" else None,
            }
        )  # fmt: skip
    for call in timeline.calls:
        what = f"{call.what} {call.name}".strip()
        own = {"kind": "call", "name": what, "thread": call.thread, "about": call.answer or None}
        found.append({"event": call.number, **own, "issued_ns": call.begun, "started_ns": call.begun, "ended_ns": call.ended})
    found.sort(key=lambda row: row["event"])
    return [{column.name: _typed(column, row.get(column.name)) for column in COLUMNS} for row in found]


def _typed(column: Column, value: Any) -> Any:
    found = typed(column, value)
    return round(found, 3) if isinstance(found, float) else found


def write(found: Sequence[dict[str, Any]], path: Path, provenance: dict[str, str] | None = None) -> None:
    """All rows as one file, whole or not at all."""
    import polars

    store.write_file(polars.DataFrame(list(found), schema=polars_schema(COLUMNS)), path, provenance)
