"""Whatever ends a sweep, what is finished stays, and the next run does the rest: the rows are those of a run that nobody disturbed."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest
from archex.base.errors import RequestError
from archex.cli import run
from archex.records import journal, store
from archex.records.dataset import Dataset
from runs import finish, finished, rows, some, start, wait_for
from sweep_fakes import STEPS

Launches = Callable[[dict[str, dict[str, object]]], None]
SWEEP = ("l2.size=32,64,96,128,160", "l2.ways=1,2,4,8,16,5", "wave_scheduler=greedy_then_oldest,loose_round_robin")
FOUR = {f"nap{i}": {"threads": 10 + i, "does": "naps 0.01"} for i in range(4)}
SLOW = {name: launch | {"does": "naps 0.1"} for name, launch in FOUR.items()}


def go(*overrides: str) -> int:
    return run.main(["-m", "suite.path=kernels", "workers=2", *overrides], STEPS)


@pytest.mark.slow
def test_killed_five_times_and_resumed_equals_undisturbed(launches: Launches) -> None:
    launches(FOUR)
    assert go(*SWEEP, "output=whole") == 1  # 5 does not divide most sizes
    moments = random.Random(20260)
    before, left = 0, frozenset[Path]()
    for _ in range(5):
        process = start(*SWEEP, "output=killed", shard_rows=32)
        wait_for(partial(some, Path("killed"), left), process)
        time.sleep(moments.uniform(0.0, 0.25))
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        seen = len(store.read(Path("killed")))
        left = frozenset(journal.journals(Path("killed")))
        assert before < seen < 240
        before = seen
        _, alive = psutil.wait_procs(workers, timeout=10)
        assert [worker for worker in alive if worker.status() != psutil.STATUS_ZOMBIE] == []
    code, out, err = finish(start(*SWEEP, "output=killed", shard_rows=32))
    assert code == 1
    assert f"{seen} of 240 rows are there already" in err.splitlines()
    assert out.splitlines()[-1] == "240 rows: 208 ok, 32 error, in killed"
    assert rows(Path("killed")).equals(rows(Path("whole")))
    assert {path.suffix for path in Path("killed").iterdir()} == {".parquet"}


def test_two_runs_write_the_same(launches: Launches) -> None:
    launches(FOUR)
    for name in ("one", "two"):
        assert go(*SWEEP[:2], f"output={name}") == 1
        assert go(*SWEEP[:2], f"output={name}.parquet") == 1
    for first, second in zip(store.shards(Path("one")), store.shards(Path("two")), strict=True):
        costs = ["simulate_seconds", "peak_memory_bytes"]
        frames = [store.read(path).drop(costs) for path in (first, second, Path("one.parquet"), Path("two.parquet"))]
        assert all(frames[0].equals(other) for other in frames)  # in the same order, too
        assert frames[0]["overrides"].to_list()[:5] == ["l2.size=32, l2.ways=1"] * 4 + ["l2.size=32, l2.ways=2"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_finished(launches: Launches, number: signal.Signals) -> None:
    launches(SLOW)
    process = start(*SWEEP, "output=kept")
    wait_for(partial(some, Path("kept"), least=5), process)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    code, out, err = finish(process)
    kept = len(store.read(Path("kept")))
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == f"archex: interrupted: {kept} of 240 rows kept in kept"
    assert "Traceback" not in err
    assert [path.suffix for path in Path("kept").iterdir()] == [".parquet"]
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert [worker for worker in alive if worker.status() != psutil.STATUS_ZOMBIE] == []


def test_an_interrupted_file_is_not_written(launches: Launches, place: Path) -> None:
    launches(SLOW)
    process = start(*SWEEP, "output=rows.parquet")
    assert process.stderr is not None
    while " rows" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert (code, err.splitlines()[-1]) == (130, "archex: interrupted: nothing written")
    assert not list(place.glob("*.parquet"))


def test_torn_files_are_named_and_their_rows_run_again(launches: Launches, capsys: pytest.CaptureFixture[str]) -> None:
    launches({"a": {"threads": 1}})
    assert go("l2.ways=1,2,4,8", "output=torn") == 0
    before = rows(Path("torn"))
    (shard,) = store.shards(Path("torn"))
    shard.write_bytes(shard.read_bytes()[:-1])
    (Path("torn") / f"journal-{1:032x}.jsonl").write_text('{"journal": 1}\n{"launch": \n')
    capsys.readouterr()
    assert go("l2.ways=1,2,4,8", "output=torn") == 0
    said = capsys.readouterr()
    notes = [line for line in said.out.splitlines() if "moved to torn/torn/" in line]
    assert [note.partition(" ")[0] for note in notes] == [str(shard), f"torn/journal-{1:032x}.jsonl"]
    assert "already" not in said.err
    assert rows(Path("torn")).equals(before)


def test_a_second_writer_is_refused(launches: Launches) -> None:
    launches({"a": {"threads": 1}})
    first = Dataset(Path("shared"), {})
    with pytest.raises(RequestError) as caught:
        go("l2.ways=1,2", "output=shared")
    assert str(caught.value) == f"output: shared is being written by process {os.getpid()}"
    first.leave()
    assert not Path("shared").exists()


@pytest.mark.parametrize("room", [600, 4000])
def test_a_disk_that_fills_up(launches: Launches, room: int) -> None:
    """What is finished stays in the journal; the next run does the rest."""
    launches({"a": {"threads": 1}})
    sweep = ("l2.ways=1,2,4,8,16", "l2.size=64,128,192,256", "output=full")
    code, _, err = finish(start(*sweep, preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))))
    kept = finished(Path("full"))
    ended = f"{kept} of 20 rows kept in full" if kept else "nothing written"
    assert re.fullmatch(rf"archex: full/journal-\w+\.jsonl: cannot be written: File too large; {ended}", err.splitlines()[-1])
    assert "Traceback" not in err
    assert (code, kept) == ((2, 0) if room == 600 else (1, kept))
    assert kept < 20
    code, out, err = finish(start(*sweep))
    assert (code, out.splitlines()[-1]) == (0, "20 rows: 20 ok, in full")
    assert not kept or f"{kept} of 20 rows are there already" in err.splitlines()


def test_a_folder_deleted_meanwhile(launches: Launches) -> None:
    launches(SLOW)
    process = start(*SWEEP, "output=gone")
    wait_for(partial(some, Path("gone")), process)
    for path in Path("gone").iterdir():
        path.unlink()
    Path("gone").rmdir()
    code, _, err = finish(process)
    assert code == 1
    assert "was deleted while it was being written" in err.splitlines()[-1]
    assert not Path("gone").exists()
