"""Sections in a terminal and in Markdown.

In: sections. Out: rich tables; one text.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from archex.reports.compare.sections import Section
from archex.reports.text import table


def terminal(sections: Sequence[Section]) -> list[RenderableType]:
    """What a console prints."""
    found: list[RenderableType] = []
    for section in sections:
        found.append(table(section.title, section.columns, section.rows))
        found += [section.note] if section.note else []
    return found


def markdown(sections: Sequence[Section], title: str) -> str:
    """A page; bars are left out of no table, as text they read the same."""
    return "\n\n".join([f"# {title}", *(_section(section) for section in sections)]) + "\n"


def _section(section: Section) -> str:
    left = [not place or column.endswith("<") for place, column in enumerate(section.columns)]
    lines = [_line([column.removesuffix("<") for column in section.columns]), _line([":--" if side else "--:" for side in left])]
    lines += [_line(row) for row in section.rows]
    return "\n\n".join([f"## {_plain(section.title)}", "\n".join(lines), *([_plain(section.note)] if section.note else [])])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_plain(cell).strip() for cell in cells)} |"


def _plain(text: str) -> str:
    """Without what Markdown would read as its own."""
    for special in "\\|*_`<>[]~":
        text = text.replace(special, f"\\{special}")
    return text.replace("\n", " ")
