"""The end of a search: the front as a table, and beside the rows as `pareto.csv` and `pareto.png`.

In: what a run found, where its rows are. Out: what is printed; nothing for a run that searched for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType

from archex.records import files
from archex.records.trials import Found, front, table
from archex.reports.trials import best, summary

TABLE, PICTURE = "pareto.csv", "pareto.png"


def closing(found: Found | None, path: Path) -> Iterator[RenderableType]:
    """The front; a folder of rows gets it as a file and as a picture."""
    if found is None:
        return
    trials, goals = found.trials, found.goals
    yield best(trials, goals)
    yield from summary(trials, goals)
    yield from found.notes
    if path.suffix == ".parquet":
        return
    files.replace(path / TABLE, table(front(trials, goals), goals).encode())
    try:
        from archex.reports.trials_plot import draw

        draw(trials, goals, path / PICTURE)
    except ImportError:
        yield f"the front is {path / TABLE}; a picture needs matplotlib: pip install 'archex-sim[plots]'"
        return
    yield f"the front is {path / TABLE}, and {PICTURE} beside it"
