"""A folder put in order loses nothing, whenever it is killed."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import polars
import pytest
from archex.base.errors import RequestError
from archex.records import store
from archex.records.compact import compact, compact_into
from archex.records.contents import RUNS
from archex.records.files import OutputError
from archex.records.lock import Lock
from run_folders import ABOUT, a_row, failed, journal_of, names, plain, rows_of, shard, tear

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SHARD_ROWS", 4)


def a_mess(folder: Path) -> None:
    """Two runs' shards and journals: retried failures, copies, a later result that differs."""
    shard(folder, 0, [*rows_of([0, 1]), failed(2, "copy"), failed(2, "gather"), a_row(3, "copy")])
    shard(folder, 1, [a_row(3, "gather"), failed(4, "copy"), a_row(0, "copy", cycles=70)])
    shard(folder, 2, [*rows_of([2]), a_row(1, "copy")])
    journal_of(folder, [*rows_of([4, 5]), a_row(0, "gather", cycles=80)])


def in_order(folder: Path) -> list[tuple[str, str]]:
    found = polars.concat([polars.read_parquet(path) for path in store.shards(folder)])
    return list(zip(found["overrides"].str.strip_prefix("l2.ways="), found["launch"], strict=True))


def test_full_shards_in_order_and_nothing_else(tmp_path: Path) -> None:
    a_mess(tmp_path)
    before = store.read(tmp_path)
    done = compact(tmp_path)
    assert (done.rows_before, done.rows, done.files_before, done.files) == (18, 12, 4, 3)
    assert names(tmp_path) == ["part.parquet"] * 3
    assert [polars.read_parquet(path).height for path in store.shards(tmp_path)] == [4, 4, 4]
    assert in_order(tmp_path) == [(str(design), launch) for design in range(6) for launch in ("copy", "gather")]
    after = store.read(tmp_path)
    assert plain(after).equals(plain(before))
    assert after.filter(polars.col("overrides") == "l2.ways=0")["cycles"].to_list() == [70, 80]
    assert polars.read_parquet_metadata(store.shards(tmp_path)[0])["command"] == "archex run -m"


def test_twice_changes_nothing(tmp_path: Path) -> None:
    a_mess(tmp_path)
    compact(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert not compact(tmp_path).written
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_versions_keep_their_shards(tmp_path: Path) -> None:
    other = ABOUT | {"archex_sources": "bbbb"}
    shard(tmp_path, 0, rows_of([1]))
    shard(tmp_path, 1, rows_of([2]), other)
    shard(tmp_path, 2, rows_of([3]), ABOUT | {"command": "archex run retry=failed"})
    compact(tmp_path)
    found = [
        (polars.read_parquet(path)["overrides"].unique().sort().to_list(), polars.read_parquet_metadata(path))
        for path in store.shards(tmp_path)
    ]
    assert [overrides for overrides, _ in found] == [["l2.ways=1", "l2.ways=3"], ["l2.ways=2"]]
    first, second = ({name: text for name, text in about.items() if name != "ARROW:schema"} for _, about in found)
    assert second == other
    assert "command" not in first
    assert [run["command"] for run in json.loads(first[RUNS])] == ["archex run -m", "archex run retry=failed"]
    assert first["archex_sources"] == "aaaa"
    compact_into(tmp_path, tmp_path.parent / "one.parquet")
    about = polars.read_parquet_metadata(tmp_path.parent / "one.parquet")
    assert len(json.loads(about[RUNS])) == 3
    assert "archex_sources" not in about


def test_one_file_leaves_the_folder(tmp_path: Path) -> None:
    run, output = tmp_path / "run", tmp_path / "x.parquet"
    a_mess(run)
    before = names(run)
    done = compact_into(run, output)
    assert (done.rows, done.files) == (12, 1)
    assert names(run) == before
    assert plain(store.read(output)).equals(plain(store.read(run)))


def test_torn_files_are_set_aside(tmp_path: Path) -> None:
    a_mess(tmp_path)
    torn = tear(shard(tmp_path, 7, rows_of([9])))
    (tmp_path / ".part-00001-y.parquet.abc.tmp").write_bytes(b"x")
    done = compact(tmp_path)
    assert done.notes[0].startswith(f"{torn} is torn: ")
    assert done.notes[0].endswith(f"; moved to {tmp_path / 'torn' / torn.name}")
    assert names(tmp_path) == ["part.parquet"] * 3 + ["torn"]


def test_what_was_set_aside_is_never_overwritten(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1]))
    for text in ("mine", "mine too"):
        (tmp_path / "mine.parquet").write_text(text)
        compact(tmp_path)
    assert sorted(path.read_text() for path in (tmp_path / "torn").iterdir()) == ["mine", "mine too"]


def test_columns_of_a_newer_archex_are_not_lost(tmp_path: Path) -> None:
    path = shard(tmp_path, 0, rows_of([1]))
    polars.read_parquet(path).with_columns(wings=polars.lit(2)).write_parquet(path)
    before = path.read_bytes()
    with pytest.raises(RequestError, match="has columns that this archex doesn't know and would lose: wings"):
        compact(tmp_path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["part.parquet"]


def test_not_beside_a_writer(tmp_path: Path) -> None:
    a_mess(tmp_path)
    before = names(tmp_path)
    writer = Lock(tmp_path)
    with pytest.raises(RequestError, match="is being written by process"):
        compact(tmp_path)
    writer.release()
    assert names(tmp_path) == before


def test_a_full_disk_leaves_everything(tmp_path: Path) -> None:
    shard(tmp_path, 0, rows_of([1, 2, 3], error="x" * 9000))
    journal_of(tmp_path, rows_of(range(10, 30), error="".join(map(str, range(3000)))))
    before, listed = store.read(tmp_path), sorted(tmp_path.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (15_500, hard))
    try:
        with pytest.raises(OutputError, match="cannot be written: File too large"):
            compact(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(tmp_path.iterdir()) == listed
    assert store.read(tmp_path).equals(before)


#: Compacts copies of a folder, the n-th copy killed at its n-th change of the disk. Forks before polars has threads.
KILLER = """
import os, shutil, signal, sys
from pathlib import Path
import polars
from archex.records import compact, store
store.SHARD_ROWS = 4
changes = 0
def deadly(function, at):
    def call(*arguments, **options):
        global changes
        if changes == at:
            os.kill(os.getpid(), signal.SIGKILL)
        changes += 1
        return function(*arguments, **options)
    return call
place = Path(sys.argv[1])
for at in range(200):
    copy = shutil.copytree(place / "run", place / f"killed-{at}", copy_function=shutil.copy2)
    child = os.fork()
    if not child:
        for name in ("replace", "unlink", "fsync", "rename", "mkdir", "ftruncate"):
            setattr(os, name, deadly(getattr(os, name), at))
        compact.compact(copy)
        os._exit(0)
    if not os.waitpid(child, 0)[1]:
        break
print(at)
"""


def test_killed_at_every_step(tmp_path: Path) -> None:
    a_mess(tmp_path / "run")
    tear(shard(tmp_path / "run", 7, rows_of([9])))
    wanted = plain(store.read(tmp_path / "run", lambda note: None))
    command = [sys.executable, "-c", KILLER, str(tmp_path)]
    steps = int(subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"POLARS_MAX_THREADS": "1"}).stdout)
    assert steps >= 12, "three shards written (sync, rename, clean-up), four files removed, a torn one moved, the lock"
    for at in range(steps + 1):
        killed = tmp_path / f"killed-{at}"
        assert plain(store.read(killed, lambda note: None)).equals(wanted), f"killed at change {at}"
        compact(killed)
        assert plain(store.read(killed)).equals(wanted), f"killed at change {at}, compacted again"
        assert names(killed) == ["part.parquet"] * 3 + ["torn"]
        shutil.rmtree(killed)
