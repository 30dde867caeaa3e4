"""Rows seen as they come into a folder: each once, however it moves, and no file read twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest
from archex.records import store
from archex.records.compact import compact
from archex.records.journal import Journal
from archex.records.tail import Tail
from run_folders import ABOUT, a_row, failed, rows_of, shard, tear


def news(tail: Tail) -> list[tuple[str, tuple[str, str | None] | None]]:
    return [(row["point_id"], before) for row, before in tail.news()]


def test_a_row_is_news_once_however_it_moves(tmp_path: Path) -> None:
    tail = Tail(tmp_path)
    assert news(tail) == []
    journal = Journal(tmp_path, ABOUT)
    journal.append(rows_of([1]))
    assert news(tail) == [("1-copy", None), ("1-gather", None)]
    journal.append([failed(2, "copy")])
    assert news(tail) == [("2-copy", None)]
    assert news(tail) == []
    shard(tmp_path, 0, [*rows_of([1]), failed(2, "copy"), a_row(2, "gather")])
    journal.remove()
    assert news(tail) == [("2-gather", None)]
    compact(tmp_path)
    assert news(tail) == []


def test_a_retried_row_is_news_again(tmp_path: Path) -> None:
    tail = Tail(tmp_path)
    shard(tmp_path, 0, [failed(1, "copy"), a_row(2, "copy", status="killed", error="x")])
    assert news(tail) == [("1-copy", None), ("2-copy", None)]
    shard(tmp_path, 1, [failed(1, "copy", "again"), a_row(2, "copy")])
    assert news(tail) == [("2-copy", ("killed", "x"))]


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    tail, journal = Tail(tmp_path), Journal(tmp_path, ABOUT)
    journal.append(rows_of([1]))
    whole = journal.path.read_bytes()
    for end in range(0, len(whole), 7):
        journal.path.write_bytes(whole[:end])
        assert tail.torn == {}
        found = news(tail)
        if found:
            break
    assert found == [("1-copy", None)]
    journal.path.write_bytes(whole)
    assert news(tail) == [("1-gather", None)]


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        shard(tmp_path, number, rows_of([number]))
    tail = Tail(tmp_path)
    assert len(news(tail)) == 6
    read: list[Any] = []
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or path.open("rb").read())
    shard(tmp_path, 3, rows_of([3]))
    assert len(news(tail)) == 2
    assert news(tail) == []
    assert read == ["part-00003-x.parquet"]


def test_torn_files_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1]))
    torn = tear(shard(tmp_path, 1, rows_of([2])))
    journal = Journal(tmp_path, ABOUT)
    journal.path.write_bytes(journal.path.read_bytes() + b"{nonsense\n")
    journal.append(rows_of([3]))
    tail = Tail(tmp_path)
    assert [point for point, _ in news(tail)] == ["1-copy", "1-gather", "3-copy", "3-gather"]
    assert set(tail.torn) == {torn, journal.path}


def test_older_files(tmp_path: Path) -> None:
    path = shard(tmp_path, 0, rows_of([1, 2]))
    polars.read_parquet(path).drop("point_id", "time_ns").write_parquet(path)
    assert [(row["launch"], row["time_ns"]) for row, _ in Tail(tmp_path).news()] == [("copy", None), ("gather", None)] * 2
    assert store.read(tmp_path).height == 4
