"""`archex results`: what it prints, its exit codes, what it refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from archex.base.errors import RequestError
from archex.cli.main import main
from archex.cli.results import main as results
from archex.cli.watch import Watched
from archex.records import lock, provenance, store
from archex.records.journal import Journal
from archex.records.lock import Lock
from run_folders import ABOUT, a_row, failed, journal_of, rows_of, shard, tear
from terminals import Terminal

HERE = ABOUT | {"archex_sources": provenance.sources()}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`a` and `b`: two clean runs; `none`: an empty folder."""
    monkeypatch.chdir(tmp_path)
    shard(Path("a"), 0, rows_of([1, 2]), HERE)
    shard(Path("b"), 0, rows_of([3]), HERE)
    Path("none").mkdir()


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert results(["check", "a", "b"]) == 0
    assert lines(capsys) == [
        "a: 4 rows of 2 designs and 2 launches, in 1 file",
        "b: 2 rows of 1 design and 2 launches, in 1 file",
        "clean",
    ]
    torn = tear(shard(Path("a"), 1, rows_of([4]), HERE))
    journal_of(Path("a"), [a_row(1, "copy"), failed(5, "copy")], HERE)
    assert results(["check", "a", "b"]) == 1
    said = lines(capsys)
    assert said[0] == "a: 5 rows of 3 designs and 2 launches, in 2 files and 1 journal"
    assert said[1].startswith(f"  torn: {torn.name}: ")
    assert said[2:5] == [
        "  twice: 1 row too many: copies of others",
        "  failed: 1 row: error: l2.ways: 5 must divide 64",
        "  incomplete: tiny l2.ways=5 lacks gather",
    ]
    assert said[5].startswith("  left over: journal-")
    assert said[6:] == ["b: 2 rows of 1 design and 2 launches, in 1 file", "not clean: 1 of 2 runs"]


def test_compact(capsys: pytest.CaptureFixture[str]) -> None:
    journal_of(Path("a"), rows_of([2, 3]), HERE)
    assert results(["compact", "a", "output=all.parquet"]) == 0
    assert results(["compact", "a"]) == 0
    assert lines(capsys) == [
        "all.parquet: 6 rows in 1 file; was 8 rows in 2 files",
        "a: 6 rows in 1 file; was 8 rows in 2 files",
    ]
    assert store.read(Path("a")).equals(store.read(Path("all.parquet")))
    assert results(["check", "a", "all.parquet"]) == 0
    tear(shard(Path("a"), 1, rows_of([4]), HERE))
    assert results(["compact", "a"]) == 1
    assert "; moved to a/torn/part-00001-x.parquet" in lines(capsys)[-2]


def test_merge(capsys: pytest.CaptureFixture[str]) -> None:
    assert results(["merge", "a", "b", "output=all"]) == 0
    assert lines(capsys) == ["a: 4 rows", "b: 2 rows", "all: 6 rows"]
    shard(Path("c"), 0, [a_row(1, "copy", cycles=9)], ABOUT)
    assert results(["merge", "all", "c", "output=more.parquet"]) == 1
    assert lines(capsys) == [
        "all: 6 rows",
        "c: 1 row",
        "conflict: copy on tiny l2.ways=1: cycles differ; the later run's is kept",
        "the rows are of 2 versions of archex: archex results check more.parquet",
        "more.parquet: 6 rows",
    ]


def test_a_run_under_way_is_taken_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    writer = Lock(Path("a"))
    assert results(["merge", "a", "b", "output=all"]) == 0
    assert results(["compact", "a", "output=a.parquet"]) == 0
    writer.release()
    said = lines(capsys)
    assert [line for line in said if "written" in line] == [
        f"a: is being written by process {os.getpid()}; the rows of this moment are taken"
    ] * 2


def test_watch_a_finished_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert results(["watch", "a"]) == 0
    assert lines(capsys) == [
        "4 rows; 2 designs",
        "best so far, times faster than tiny l2.ways=1",
        "     1x l2.ways=1",
        "  0.99x l2.ways=2",
        "newest",
        "  gather on tiny l2.ways=1: 1 cycles",
        "  copy on tiny l2.ways=2: 2 cycles",
        "  gather on tiny l2.ways=2: 2 cycles",
        "a: nobody writes here",
    ]


def test_watch_a_run_under_way(tmp_path: Path) -> None:
    """A writer here, somebody who watches in another process; it sees rows as they come and ends with the writer."""
    writer = Lock(tmp_path / "none")
    writer.expect(200)
    journal = Journal(tmp_path / "none", HERE)
    code = "import sys; from pathlib import Path; from archex.cli.watch import watch; sys.exit(watch(Path('none'), False, seconds=0.02))"
    watching = subprocess.Popen([sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert watching.stdout is not None
    assert watching.stdout.readline() == "0 of 200 rows\n"
    journal.append(rows_of(range(40)))
    seen = watching.stdout.readline()
    assert seen.startswith("80 of 200 rows; ")
    journal.append([failed(100, "copy")])
    assert watching.stdout.readline().startswith("81 of 200 rows, 1 error; ")
    shard(tmp_path / "none", 0, [*rows_of(range(40)), failed(100, "copy"), *rows_of([50])], HERE)
    journal.remove()
    writer.release()
    rest, _ = watching.communicate(timeout=20)
    assert rest.splitlines()[-1] == "none: nobody writes here"
    assert re.search(r"^83 of 200 rows, 1 error; 41 designs$", rest, re.MULTILINE)
    assert watching.returncode == 1, "a row failed"


def test_watch_in_a_terminal(tmp_path: Path) -> None:
    writer = Lock(tmp_path / "none")
    writer.expect(100)
    journal = Journal(tmp_path / "none", HERE)
    code = "from pathlib import Path; from archex.cli.watch import watch; watch(Path('none'), False, seconds=0.05)"
    terminal = Terminal(code)
    terminal.until("0 of 100 rows")
    journal.append(rows_of(range(10)))
    terminal.until("20 of 100 rows; 10 designs")
    journal.append(rows_of([10]))
    writer.release()
    shown = terminal.rest()
    assert terminal.process.wait(20) == 0
    assert "\x1b[2K" in shown, "drawn in place"
    assert "22 of 100 rows; 11 designs" in shown.rpartition("\x1b[2K")[2], "the last block stays"
    assert shown.endswith("none: nobody writes here\r\n")


def test_a_failure_that_was_run_again_is_none_any_more() -> None:
    writer = Lock(Path("b"))
    watched = Watched(Path("b"))
    shard(Path("b"), 1, [failed(4, "copy"), a_row(4, "gather"), failed(5, "copy", "x"), a_row(5, "gather")], HERE)
    watched.look()
    standing = watched.standing
    assert (standing.counted(), standing.designs_done, [label for label, _ in standing.best.ranked]) == (
        "6 rows, 2 error",
        3,
        ["tiny l2.ways=3"],
    )
    shard(Path("b"), 2, [a_row(4, "copy", time_ns=1.0)], HERE)
    watched.look()
    writer.release()
    assert (standing.counted(), standing.designs_done) == ("6 rows, 1 error", 3)
    assert [label for label, _ in standing.best.ranked] == ["tiny l2.ways=4", "tiny l2.ways=3"]
    assert standing.reasons.most() == [("error: x", 1)]


def test_to_look_on_never_keeps_a_writer_out(tmp_path: Path) -> None:
    code = f"from pathlib import Path\nfrom archex.records.lock import holder\nwhile True: holder(Path({str(tmp_path / 'a')!r}))"
    asking = subprocess.Popen([sys.executable, "-c", code])
    try:
        time.sleep(1.0)
        for _ in range(100):
            Lock(tmp_path / "a").release()
    finally:
        asking.kill()
        asking.wait()
    assert lock.holder(tmp_path / "a") is None


def test_once_while_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    writer = Lock(Path("a"))
    assert results(["watch", "a", "--once"]) == 0
    writer.release()
    assert lines(capsys)[-1] == f"a: is being written by process {os.getpid()}"


REFUSED = {
    "": "results: needs an action (choices: check, compact, merge, watch)",
    "chek a": "results: chek is not a known action; did you mean check? (choices: check, compact, merge, watch)",
    "check": "RUN: is missing: archex results check RUN [RUN ...]",
    "check nowhere none": "nowhere: does not exist; expected a Parquet file or the folder of a run\n"
    "none: holds no rows (no *.parquet file and no journal)",
    "check --fix a": "--fix: is not a flag of results check: archex results check RUN [RUN ...]",
    "check a ouput=x": "ouput: x is not a key of results check: archex results check RUN [RUN ...]",
    "compact": "RUN: is missing: archex results compact RUN [output=FILE.parquet]",
    "compact a b": "RUN: a b must be one: archex results compact RUN [output=FILE.parquet]",
    "compact x.parquet": "x.parquet: is one file already; compact takes the folder of a run",
    "compact a output=x.parquet": "output: x.parquet is there already; nothing is overwritten",
    "compact a output=y": "output: y must be a name that ends in .parquet; without output= the folder itself is compacted",
    "compact a output=a/y.parquet": "output: a/y.parquet lies in a, which would read it as its own",
    "compact a ouput=y.parquet": "ouput: y.parquet is not a key of results compact: archex results compact RUN "
    "[output=FILE.parquet]; did you mean output?",
    "compact a output=": "output: '' must be a name that ends in .parquet; without output= the folder itself is compacted",
    "compact a output=text/y.parquet": "output: text/y.parquet cannot be written: text is no folder",
    "compact none": "none: holds no rows (no *.parquet file and no journal)",
    "merge a b": "output: is missing: a folder, or a name that ends in .parquet",
    "merge a output=y": "RUN: a is one run only; merge takes several",
    "merge a ./a output=y": "a: is given twice",
    "merge a b output=b": "output: b is there already; nothing is overwritten",
    "merge a b output=none": "output: none is there already; nothing is overwritten",
    "merge a b output=b/c": "output: b/c lies in b, which would read it as its own",
    "merge a nowhere output=x.parquet": "nowhere: does not exist; expected a Parquet file or the folder of a run\n"
    "output: x.parquet is there already; nothing is overwritten",
    "merge output=y": "RUN: is missing: archex results merge RUN RUN ... output=FOLDER|FILE.parquet",
    "watch nowhere": "nowhere: does not exist; expected a Parquet file or the folder of a run",
    "watch x.parquet": "x.parquet: is a file; watch takes the folder of a run",
    "watch a b": "RUN: a b must be one: archex results watch RUN [--once]",
    "watch a --twice": "--twice: is not a flag of results watch: archex results watch RUN [--once]",
    "watch a seconds=3": "seconds: 3 is not a key of results watch: archex results watch RUN [--once]",
    "watch": "RUN: is missing: archex results watch RUN [--once]",
    "watch none": "none: holds no rows, and nobody writes there",
    "merge text text2 output=y": "text: is torn: parquet: File out of specification: A Parquet file must contain a header and footer with "
    "at least 12 bytes\ntext2: is torn: parquet: File out of specification: A Parquet file must contain a header and footer with at least "
    "12 bytes",
    "merge a b output=": "output: is missing: a folder, or a name that ends in .parquet",
}


@pytest.mark.parametrize("asked", REFUSED)
def test_wrong_requests(asked: str) -> None:
    store.write_file(rows_of([1]), Path("x.parquet"))
    for name in ("text", "text2"):
        Path(name).write_text("no rows")
    before = sorted(Path().rglob("*"))
    with pytest.raises(RequestError) as caught:
        results(asked.split())
    assert str(caught.value) == REFUSED[asked]
    assert sorted(Path().rglob("*")) == before


def test_the_code_of_a_wrong_request_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "check", "nowhere"]) == 2
    assert capsys.readouterr().err == "archex: nowhere: does not exist; expected a Parquet file or the folder of a run\n"
    assert main(["results", "--help"]) == 0
    assert lines(capsys)[0].startswith("archex results check RUN [RUN ...]: ")


def test_a_writer_at_work_keeps_compact_away(capsys: pytest.CaptureFixture[str]) -> None:
    writer = Lock(Path("a"))
    assert main(["results", "compact", "a"]) == 2
    writer.release()
    assert capsys.readouterr().err == f"archex: output: a is being written by process {os.getpid()}\n"
