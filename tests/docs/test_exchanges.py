"""The table of docs/links.md is what `python tests/docs/exchanges.py` writes now."""

from __future__ import annotations

from exchanges import PAGE, page


def test_the_table_is_of_now() -> None:
    assert PAGE.read_text() == page()
