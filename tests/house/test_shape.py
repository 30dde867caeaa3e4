"""The shape of the code: modules open with what they are, and none grows without being noticed."""

from __future__ import annotations

import ast
import statistics

from sources import sources

#: Past this a file is split, whatever it is; past 300 ask which two things it is.
HARD_LIMIT = 500


def test_modules_open_with_what_they_are() -> None:
    silent = [source.relative for source in sources() if source.lines > 3 and not ast.get_docstring(source.tree)]
    assert not silent


def test_files_stay_short() -> None:
    lengths = sorted(((source.lines, source.relative) for source in sources()), reverse=True)
    long = [f"{lines} {name}" for lines, name in lengths if lines > 300]
    print(f"{len(lengths)} files, median {statistics.median(lines for lines, _ in lengths):.0f} lines; past 300:", *long, sep="\n  ")
    assert statistics.median(lines for lines, _ in lengths) <= 120
    assert not [f"{lines} {name}" for lines, name in lengths if lines > HARD_LIMIT]


def test_no_bare_exceptions() -> None:
    """`except:` and `except Exception: pass` hide what went wrong."""
    found = []
    for source in sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ExceptHandler) and (
                node.type is None
                or (len(node.body) == 1 and isinstance(node.body[0], ast.Pass) and ast.unparse(node.type).endswith("Exception"))
            ):
                found.append(f"{source.relative}:{node.lineno}")
    assert not found
