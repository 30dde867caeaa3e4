"""Rows of several runs in one dataset."""

from __future__ import annotations

import resource
from pathlib import Path

import polars
import pytest
from archex.base.errors import RequestError
from archex.records import store
from archex.records.files import OutputError
from archex.records.merge import merge
from run_folders import ABOUT, a_row, failed, journal_of, names, plain, rows_of, shard, tear


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SHARD_ROWS", 4)


@pytest.mark.parametrize("name", ["all", "all.parquet"])
def test_two_machines_of_one_sweep(tmp_path: Path, name: str) -> None:
    shard(tmp_path / "a", 0, rows_of([0, 2]))
    journal_of(tmp_path / "a", rows_of([4]))
    shard(tmp_path / "b", 0, rows_of([1, 3]))
    store.write_file(rows_of([5]), tmp_path / "c.parquet", ABOUT)
    done = merge([tmp_path / "a", tmp_path / "b", tmp_path / "c.parquet"], tmp_path / name)
    assert (done.each, done.rows, done.conflicts, done.torn, done.versions) == ((6, 4, 2), 12, (), (), 1)
    assert plain(store.read(tmp_path / name)).equals(plain(store.frame(rows_of(range(6)))))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a", "b", "c.parquet", name])
    assert names(tmp_path / "a") == ["journal.jsonl", "part.parquet"]
    if name == "all":
        assert [polars.read_parquet(path).height for path in store.shards(tmp_path / name)] == [4, 4, 4]


def test_a_result_beats_a_failure_whichever_comes_first(tmp_path: Path) -> None:
    shard(tmp_path / "a", 0, [failed(0, "copy"), a_row(1, "copy"), failed(2, "copy", "once")])
    shard(tmp_path / "b", 0, [a_row(0, "copy"), failed(1, "copy"), failed(2, "copy", "twice")])
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    found = store.read(tmp_path / "all").sort("overrides")
    assert found["status"].to_list() == ["ok", "ok", "error"]
    assert found["error"].to_list()[2] == "twice"
    assert done.conflicts == ()


def test_two_results_are_a_conflict(tmp_path: Path) -> None:
    shard(tmp_path / "a", 0, [*rows_of([0]), a_row(1, "copy")])
    shard(tmp_path / "b", 0, [a_row(0, "copy", cycles=7, limiter="issue", simulate_seconds=5.0), a_row(1, "copy", simulate_seconds=7.0)])
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all.parquet")
    assert [(conflict.row, conflict.columns) for conflict in done.conflicts] == [("copy on tiny l2.ways=0", ("cycles", "limiter"))]
    assert store.read(tmp_path / "all.parquet").filter(polars.col("launch") == "copy")["cycles"].to_list() == [7, 1]


def test_torn_files_are_left_out_and_named(tmp_path: Path) -> None:
    shard(tmp_path / "a", 0, rows_of([0]))
    torn = tear(shard(tmp_path / "a", 1, rows_of([1])))
    shard(tmp_path / "b", 0, rows_of([2]))
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert done.rows == 4
    assert done.torn[0].startswith(f"{torn} is torn: ")
    assert torn.exists()


def test_versions_stay_apart(tmp_path: Path) -> None:
    shard(tmp_path / "a", 0, rows_of([0]))
    shard(tmp_path / "b", 0, rows_of([0], point_id=None), ABOUT | {"archex_sources": "bbbb"})
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert (done.rows, done.versions) == (4, 2)
    assert [polars.read_parquet_metadata(path)["archex_sources"] for path in store.shards(tmp_path / "all")] == ["aaaa", "bbbb"]


def test_a_run_of_no_rows_adds_none(tmp_path: Path) -> None:
    shard(tmp_path / "a", 0, rows_of([0]))
    store.write_file([], tmp_path / "none.parquet")
    assert merge([tmp_path / "a", tmp_path / "none.parquet"], tmp_path / "all").rows == 2


def test_all_or_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        shard(tmp_path / name, 0, rows_of(range(8), error=name * 9000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for output in ("all", "all.parquet"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))
        try:
            with pytest.raises(OutputError, match="cannot be written: File too large"):
                merge([tmp_path / "a", tmp_path / "b"], tmp_path / output)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_newer_archex_is_not_cut_down(tmp_path: Path) -> None:
    shard(tmp_path / "a", 0, rows_of([0]))
    path = shard(tmp_path / "b", 0, rows_of([1]))
    polars.read_parquet(path).with_columns(wings=polars.lit(2)).write_parquet(path)
    with pytest.raises(RequestError, match="wings"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert not (tmp_path / "all").exists()
