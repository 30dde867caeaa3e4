"""What `check` finds in a run, and that it changes nothing."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from archex.records import lock, provenance, schema
from archex.records.check import check
from archex.records.compact import compact_into
from archex.records.lock import Lock
from run_folders import ABOUT, a_row, failed, journal_of, rows_of, shard, tear


def found(folder: Path, what: str) -> list[str]:
    return [where for kind, where in check(folder).found if kind == what]


def test_a_clean_run(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of(range(4)), ABOUT | {"archex_sources": provenance.sources()})
    report = check(tmp_path)
    assert (report.rows, report.designs, report.launches, report.shards, report.journals) == (8, 4, 2, 1, 0)
    assert report.found == ()
    assert report.notes == ()


def test_one_file_too(tmp_path: Path) -> None:
    assert check(shard(tmp_path, 0, [*rows_of([1]), failed(2, "copy")])).found == (
        ("failed", "1 row: error: l2.ways: 5 must divide 64"),
        ("incomplete", "tiny l2.ways=2 lacks gather"),
    )


def test_torn_files_are_named_and_stay(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1]))
    tear(shard(tmp_path, 1, rows_of([2])))
    journal = journal_of(tmp_path, rows_of([3]))
    journal.write_bytes(journal.read_bytes().replace(b'"tiny"', b'"tiny', 1))
    before = sorted(tmp_path.iterdir())
    torn = found(tmp_path, "torn")
    assert torn[0].startswith("part-00001-x.parquet: ")
    assert torn[1].startswith(f"{journal.name}: line 2: ")
    assert sorted(tmp_path.iterdir()) == before


def test_a_foreign_parquet_file_is_torn(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1]))
    polars.DataFrame({"x": [1]}).write_parquet(tmp_path / "mine.parquet")
    assert found(tmp_path, "torn") == ["mine.parquet: it lacks the columns launch, device, status"]


def test_rows_that_stand_twice(tmp_path: Path) -> None:
    shard(tmp_path, 0, [*rows_of([1, 2]), failed(3, "copy"), failed(3, "gather"), failed(4, "copy"), a_row(4, "gather")])
    shard(tmp_path, 1, [*rows_of([1], simulate_seconds=9.0), a_row(2, "copy", cycles=7, limiter="issue"), a_row(3, "copy")])
    shard(tmp_path, 2, [failed(4, "copy", "another reason"), a_row(3, "gather")])
    assert found(tmp_path, "twice") == [
        "2 rows too many: copies of others",
        "3 failed rows run again later; the later is read",
        "copy on tiny l2.ways=2 has two results, which differ in cycles, limiter",
    ]
    assert found(tmp_path, "failed") == ["1 row: error: another reason"]
    assert check(tmp_path).rows == 8


def test_failures_are_grouped_by_reason(tmp_path: Path) -> None:
    rows = [failed(n, "copy", f"l2.ways: {n} must divide 64\nand more") for n in range(9)]
    rows += [a_row(n, "copy", status="killed", error="ended by SIGKILL") for n in range(20, 22)]
    shard(tmp_path, 0, rows)
    assert found(tmp_path, "failed") == ["9 rows: error: l2.ways: N must divide N", "2 rows: killed: ended by SIGKILL"]


def test_designs_that_lack_launches(tmp_path: Path) -> None:
    shard(tmp_path, 0, [*rows_of([1]), *rows_of(range(2, 10), ["copy"]), *rows_of([20], ["other"], suite="t")])
    assert found(tmp_path, "incomplete") == [
        *(f"tiny l2.ways={design} lacks gather" for design in range(2, 7)),
        "and 3 more designs",
    ]


def test_columns_of_another_archex(tmp_path: Path) -> None:
    for number in range(3):
        path = shard(tmp_path, number, rows_of([number]))
        if number:
            polars.read_parquet(path).drop("limiter", "cycles").with_columns(wings=polars.lit(2)).write_parquet(path, metadata=ABOUT)
    assert found(tmp_path, "columns") == ["2 files (part-00001-x.parquet) without cycles, limiter and with unknown wings"]


def test_rows_of_two_versions(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1, 2]))
    shard(tmp_path, 1, rows_of([3]), ABOUT | {"archex_sources": "bbbb"})
    shard(tmp_path, 2, [a_row(1, "copy", point_id="other")], {})
    assert found(tmp_path, "versions") == [
        "4 rows of archex 1.0, sources aaaa",
        "2 rows of archex 1.0, sources bbbb",
        "1 row of an unknown archex (no metadata)",
        "1 row beside another of the same design and launch, of other sources",
    ]


def test_one_file_of_two_versions(tmp_path: Path) -> None:
    shard(tmp_path / "run", 0, rows_of([1]))
    shard(tmp_path / "run", 1, rows_of([2]), ABOUT | {"archex_sources": "bbbb"})
    compact_into(tmp_path / "run", tmp_path / "one.parquet")
    assert found(tmp_path / "one.parquet", "versions") == ["4 rows of archex 1.0, sources aaaa or archex 1.0, sources bbbb"]


def test_what_a_killed_run_leaves(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1]))
    left = journal_of(tmp_path, rows_of([2]))
    (tmp_path / ".part-00001-y.parquet.abc.tmp").write_bytes(b"x")
    (tmp_path / lock.NAME).write_text("12\n")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "part-00007-z.parquet").write_text("")
    assert found(tmp_path, "left over") == [
        f"{left.name}: 2 rows of a run that was cut short",
        ".part-00001-y.parquet.abc.tmp: half-written, holds nothing",
        ".lock: its writer is gone",
        "torn/part-00007-z.parquet: set aside, as torn",
    ]


def test_a_run_under_way_is_not_called_wrong(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1]), ABOUT | {"archex_sources": provenance.sources()})
    journal_of(tmp_path, rows_of([2], ["copy"]), ABOUT | {"archex_sources": provenance.sources()})
    writer = Lock(tmp_path)
    report = check(tmp_path)
    writer.release()
    assert report.found == ()
    assert report.notes[0].startswith("is being written by process ")
    assert [what for what, _ in check(tmp_path).found] == ["incomplete", "left over"]


def test_rows_of_other_sources_are_mentioned(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1]))
    assert check(tmp_path).notes == ("the rows are of other sources than those of this archex: a run that resumes here runs them again",)


@pytest.mark.parametrize("lacking", ["point_id", "overrides"])
def test_an_older_file_without_a_key_column(tmp_path: Path, lacking: str) -> None:
    path = shard(tmp_path, 0, rows_of([1, 2]))
    polars.read_parquet(path).drop(lacking).write_parquet(path)
    report = check(tmp_path)
    assert report.rows == 4, "rows that nobody can tell apart by their point are all there"
    assert [what for what, _ in report.found] == ["columns"]
    assert len(schema.COLUMNS) > 60
