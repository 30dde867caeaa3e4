"""A run's folder: rows are safe when they are finished, shards are whole, what a killed run left is put in order, one writer."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.records import journal, schema, store
from archex.records.dataset import Dataset
from archex.records.files import OutputError
from archex.records.journal import Journal

ABOUT = {"archex": "1"}


def a_row(number: int) -> dict[str, Any]:
    return schema.row({"launch": "copy", "device": "tiny", "status": "ok", "point_id": f"{number:016x}", "cycles": number / 3})


def rows(*numbers: int) -> list[tuple[int, dict[str, Any]]]:
    return [(number, a_row(number)) for number in numbers]


def files(folder: Path) -> list[str]:
    return sorted(path.suffix for path in folder.iterdir() if path.name != ".lock")


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SHARD_ROWS", 4)


def test_rows_are_there_at_once_and_shards_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    dataset = Dataset(folder, ABOUT)
    for number in (5, 3, 0):
        dataset.put(rows(number))
        assert a_row(number) in store.read(folder).to_dicts()
    assert files(folder) == [".jsonl", ".jsonl"]
    dataset.put(rows(2, 1, 4))
    assert files(folder) == [".jsonl", ".parquet"]
    assert store.read(store.shards(folder)[0])["cycles"].to_list() == [0, 1 / 3, 2 / 3, 1]
    dataset.close()
    assert files(folder) == [".parquet", ".parquet"]
    assert store.read(folder).to_dicts() == [a_row(number) for number in range(6)]
    later = Dataset(folder, ABOUT)
    later.put(rows(0))
    later.put([(1, a_row(6))])
    later.close()
    assert [path.name[:10] for path in store.shards(folder)] == ["part-00000", "part-00001", "part-00002"]
    assert len(store.read(folder)) == 7
    assert not (folder / ".lock").exists()


def test_what_a_killed_run_left_becomes_a_shard(tmp_path: Path) -> None:
    killed = Dataset(tmp_path, ABOUT)
    killed.put(rows(0, 1, 2, 3, 4))
    killed.put(rows(6))
    killed.leave()  # as the end of its process does
    (left,) = journal.journals(tmp_path)
    with left.open("ab") as file:
        file.write(b'{"launch":"copy","dev')  # a write that was cut short
    (tmp_path / ".part-00001-x.parquet.1.tmp").write_bytes(b"PAR1")
    assert len(store.read(tmp_path)) == 6
    later = Dataset(tmp_path, ABOUT)
    assert later.notes == []
    assert sorted(path.name[:10] for path in tmp_path.iterdir()) == [".lock", "part-00000", "part-00001"]
    later.close()
    assert store.read(tmp_path).to_dicts() == [a_row(number) for number in (0, 1, 2, 3, 4, 6)]


def test_torn_files_are_set_aside_and_named(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path, ABOUT)
    dataset.put(rows(0, 1, 2, 3, 4, 5, 6, 7))
    dataset.put(rows(8, 9))
    dataset.leave()
    torn_shard, good_shard = store.shards(tmp_path)
    torn_shard.write_bytes(torn_shard.read_bytes()[:-9])
    (torn_journal,) = journal.journals(tmp_path)
    torn_journal.write_bytes(torn_journal.read_bytes().replace(b'{"launch"', b'{"lau', 1))
    later = Dataset(tmp_path, ABOUT)
    assert [note.partition(" ")[0] for note in later.notes] == [str(torn_shard), str(torn_journal)]
    assert later.notes[1].endswith(f": moved to {tmp_path / 'torn' / torn_journal.name}, its rows run again")
    assert sorted(path.name for path in (tmp_path / "torn").iterdir()) == sorted([torn_shard.name, torn_journal.name])
    later.put(rows(0))
    later.close()
    assert [path.name[:10] for path in store.shards(tmp_path)] == ["part-00001", "part-00002"]
    assert sorted(store.read(tmp_path)["cycles"].to_list()) == [0, 4 / 3, 5 / 3, 2, 7 / 3]
    assert good_shard in store.shards(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"journal": 2}\n', "line 1: expected a journal of version 1"),
        (b'{"launch": "a"}\n', "line 1: expected a journal of version 1"),
        (b'{"journal": 1}\n[]\n', "line 2: no JSON object"),
        (b'{"journal": 1}\n{"cycles": "many"}\n', "line 2: could not convert string to float: 'many'"),
        (b'{"journal": 1}\n\xff\n', "line 2: 'utf-8' codec can't decode"),
    ],
)
def test_journals_that_are_torn(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "journal-1.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match="line") as caught:
        journal.read(tmp_path / "journal-1.jsonl")
    assert str(caught.value).startswith(said)


def test_a_journal_gives_back_what_it_got(tmp_path: Path) -> None:
    odd = schema.row(
        {"launch": 'a\nb\u2028"', "status": "ok", "device": "\ud800", "cycles": 0.1 + 0.2, "time_ns": float("inf"), "flops": 1e300}
    )
    book = Journal(tmp_path, ABOUT | {"command": "archex run"})
    book.append([odd, a_row(1)])
    book.append([])
    book.close()
    assert journal.read(book.path) == [odd, a_row(1)]
    assert journal.provenance(book.path)["command"] == "archex run"
    empty = Journal(tmp_path, ABOUT)
    empty.close()
    assert journal.journals(tmp_path) == [book.path]


def test_one_writer(tmp_path: Path) -> None:
    first = Dataset(tmp_path, ABOUT)
    with pytest.raises(RequestError) as caught:
        Dataset(tmp_path, ABOUT)
    assert str(caught.value) == f"output: {tmp_path} is being written by process {os.getpid()}"
    first.leave()
    Dataset(tmp_path, ABOUT).leave()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_made_for_nothing_goes_again(tmp_path: Path) -> None:
    Dataset(tmp_path / "run", ABOUT).close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_deleted_meanwhile(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "run", ABOUT)
    dataset.put(rows(0))
    for path in (tmp_path / "run").iterdir():
        path.unlink()
    (tmp_path / "run").rmdir()
    with pytest.raises(OutputError, match="was deleted while it was being written"):
        dataset.put(rows(1))
    with pytest.raises(OutputError, match="run: was deleted while it was being written"):
        dataset.close()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["mydata.parquet", "part-1.parquet"])
def test_a_folder_of_other_files_is_refused_and_never_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"a user's own")
    with pytest.raises(RequestError, match=f"holds {name}, which is no file of a run: it is torn or no file of rows"):
        Dataset(tmp_path, {})
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_journals_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "journal-mine.jsonl").write_text("a user's own")
    Dataset(tmp_path, {}).close()
    assert (tmp_path / "journal-mine.jsonl").read_text() == "a user's own"


def test_a_disk_that_is_full_before_the_first_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OutputError, match=r"run/\.lock: cannot be written: No space left on device"):
        Dataset(tmp_path / "run", ABOUT)
    assert list(tmp_path.iterdir()) == []
