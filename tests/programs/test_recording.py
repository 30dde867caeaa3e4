"""Recordings: what is read back is what interpreting gives, whoever asks; a recording is of one launch only, whole, and ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import archex.simulate
import attrs
import numpy as np
import pytest
from archex.assembly import Device, assemble
from archex.base import layout
from archex.base.errors import ProgramError
from archex.base.options import Options
from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer, Fill
from archex.programs.recording import kept, recorded
from archex.programs.recording.kept import LaunchTraces
from archex.programs.recording.record import record
from archex.programs.recording.replay import ReplaySource
from archex.programs.trace import TraceSource
from archex.suite.launch import Launch, read_folder
from archex.sweeps.settings import KERNELS
from archex.testing.devices import described
from draining import Step, drain, records_of
from running import Work, floats, reference, source, whole, work

COSTS = ("simulate_seconds", "trace_seconds", "compile_seconds")
KEPT = Options(keep_traces=True)
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)
{
 .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
 ld.param.u64 %rd1, [p]; ld.param.u64 %rd4, [q]; ld.param.u32 %r5, [n];
 mov.u32 %r1, %tid.x; mov.u32 %r6, %ctaid.x; mad.lo.u32 %r1, %r6, 64, %r1;
 mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r2, [%rd2]; and.b32 %r2, %r2, 63;
L: mad.wide.u32 %rd3, %r2, 4, %rd1; ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r4, %r3;
 sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra L;
 BARRIER mad.wide.u32 %rd4, %r1, 4, %rd4; st.global.u32 [%rd4], %r4; ret;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ARCHEX_CACHE", str(tmp_path / "cache"))
    kept._known.clear()
    yield tmp_path / "cache" / "traces"
    kept._known.clear()


def other_process() -> None:
    """Forget what this process knows of recordings."""
    kept._known.clear()


def launch(tmp_path: Path, count: int = 3, fill: Fill | None = None, barrier: bool = False, grid: int = 5, out: str = "Q") -> Launch:
    """Loads that hang on loads; `out`: where results go, "P" for where they come from."""
    path = tmp_path / "k.ptx"
    path.write_text(PTX.replace("BARRIER", "bar.sync 0;" if barrier else ""))
    buffers = (Buffer("P", "u32", 16384, fill or Fill("uniform_int", 0, 1 << 20)), Buffer("Q", "u32", 16384))
    arguments = (Argument("buffer", "P"), Argument("buffer", out), Argument("u32", count))
    return Launch("k", path, "k", (grid, 1, 1), (64, 1, 1), arguments=arguments, buffers=buffers)


def device(name: str = "tiny", values: dict[str, Any] | None = None) -> Device:
    return assemble(described(name, values))


def row(on: Device, what: Launch, options: Options) -> dict[str, Any]:
    found = archex.simulate.simulate(on, what, options)
    return {name: value for name, value in found.items() if name not in COSTS}


def steps(traces: TraceSource, workgroups: int) -> dict[tuple[int, int], list[Step]]:
    """What a recording of a source holds, as `drain` has it."""
    found: dict[tuple[int, int], list[Step]] = {}
    taken = record(traces, 1 << 30)
    assert taken is not None
    for wave, cursor in enumerate(taken.cursors[: workgroups * taken.waves]):
        trace, at = [], int(cursor[layout.RECORD_HEAD])
        for block, lanes in taken.blocks[cursor[layout.BLOCK_HEAD] : cursor[layout.BLOCK_TAIL]].tolist():
            records = []
            for kind, base, stride, mask in taken.records[at : at + records_of(traces.function, block)].tolist():
                scattered = kind in (layout.SCATTERED, layout.BULK, layout.SIGNALS)
                row = tuple(taken.pool[base].tolist()) if scattered else ()
                records.append((kind, 0 if scattered else base, stride, mask, row))
            at += len(records)
            trace.append((block, lanes, tuple(records)))
        assert at == cursor[layout.RECORD_TAIL]
        found[divmod(wave, taken.waves)] = trace
    return found


def kernels() -> dict[str, Work]:
    n = 300
    return {
        "k_copy_f4": work(3, 128, floats("A", 4 * n), floats("C", 4 * n, Fill()), n),
        "k_gather": work(3, 128, floats("A", 1000), whole("I", n, Fill("uniform_int", 0, 1000)), floats("C", n, Fill()), n),
        "k_transpose_smemILi1E": work((2, 2), (32, 8), floats("A", 64 * 64), floats("C", 64 * 64, Fill()), 64),
        "k_sgemm_tiledILi16E": work((2, 1), (16, 16), floats("A", 512), floats("B", 1024), floats("C", 512, Fill()), 16, 32, 32),
        "k_histogram": work(2, 128, whole("A", 4 * n, Fill("uniform_int", 0, 1 << 24), "u32"), whole("C", 256, Fill(), "u32"), n, 255),
        "k_diverge": work(1, 64, floats("C", 4, Fill()), 3, 4),
        "k_scan_block": work(2, 256, floats("A", 512), floats("C", 512, Fill()), 500),
    }


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("name", kernels())
def test_a_recording_holds_what_interpreting_gives(name: str, width: int) -> None:
    what = kernels()[name]
    groups, waves = int(np.prod(what.grid)), -(-int(np.prod(what.block)) // width)
    live = drain(TraceSource(reference(name), what, width, waves), groups)
    assert steps(TraceSource(reference(name), what, width, waves, block_ring=2), groups) == live
    assert steps(TraceSource(reference(name), what, width, 40 * waves), groups) == live
    interpreted = TraceSource(reference(name), what, width, waves)
    taken = record(TraceSource(reference(name), what, width, waves), 1 << 30)
    assert taken is not None
    replayed = ReplaySource(taken, waves)
    some = np.arange(groups)[::-1]
    for mine, theirs in zip(replayed.count(some), interpreted.count(some), strict=True):
        assert np.array_equal(mine, theirs)


def test_clusters_lie_in_slots_as_they_are_started() -> None:
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %ctaid.x; mov.u32 r1, %cluster_ctarank; mad.lo.u32 r0, r0, 64, r1;
      mad.wide.u32 rd1, r0, 4, rd0; st.global.u32 [rd1], r1; ret;"""
    what = work((4, 2), 64, whole("O", 4096), cluster=(2, 2))
    live = drain(TraceSource(source(body), what, 32, 8), 8)
    assert steps(TraceSource(source(body), what, 32, 64), 8) == live


def test_a_started_workgroup_has_its_cursors() -> None:
    what = kernels()["k_gather"]
    taken = record(TraceSource(reference("k_gather"), what, 32, 12), 1 << 30)
    assert taken is not None
    replayed = ReplaySource(taken, 8)
    assert replayed.blocks.shape[0] == replayed.records.shape[0] == replayed.pool.shape[0] == 1
    replayed.start(np.array([2, 0]), np.array([1, 0]))
    assert np.array_equal(replayed.cursor[4:], taken.cursors[8:])
    assert np.array_equal(replayed.cursor[:4], taken.cursors[:4])
    assert (replayed.cursor[:, layout.FINISHED] == 1).all()


@pytest.mark.parametrize("name", ["h200", "mi300x"])
def test_a_row_does_not_depend_on_where_its_trace_comes_from(name: str) -> None:
    on = device(name)
    for launch_id, what in read_folder(KERNELS / "smoke").items():
        live = row(on, what, Options())
        assert row(on, what, KEPT) == live, launch_id
        assert list(kept._known.values())[-1] is not None, launch_id  # each of them is kept
        other_process()
        assert row(on, what, KEPT) == live, launch_id


def test_what_depends_on_the_order_of_waves_is_interpreted(tmp_path: Path, folder: Path) -> None:
    on, what = device(), launch(tmp_path, out="P")  # others read what is written
    assert row(on, what, KEPT) == row(on, what, Options()) == row(on, what, KEPT)
    assert not folder.exists()


def test_a_large_recording_is_not_kept(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_OF_ONE", 2000)
    on, what = device(), launch(tmp_path)
    assert row(on, what, KEPT) == row(on, what, Options())
    assert not folder.exists()


def test_a_launch_that_fails_fails_alike(tmp_path: Path, folder: Path) -> None:
    what = attrs.evolve(launch(tmp_path), buffers=(Buffer("P", "u32", 16384), Buffer("Q", "u32", 256)))
    on, said = device(), []
    for options in (Options(), KEPT, KEPT):
        with pytest.raises(ProgramError) as raised:
            archex.simulate.simulate(on, what, options)
        said.append(str(raised.value))
    assert said[0] == said[1] == said[2]
    assert not folder.exists()


def test_a_single_run_neither_writes_nor_reads(tmp_path: Path, folder: Path) -> None:
    on, what = device(), launch(tmp_path)
    row(on, what, Options())
    assert not folder.exists()


DAMAGE: tuple[Callable[[bytes], bytes], ...] = (
    lambda b: b"",
    lambda b: b[:20],
    lambda b: b[:-4096],
    lambda b: b + bytes(4096),
    lambda b: b[:4096] + bytes(len(b) - 4096),
    lambda b: b[:-4096] + b[-4095:] + b"\1",
    lambda b: b[:60] + bytes([b[60] ^ 1]) + b[61:],
    lambda b: b[:4096] + b[8192:12288] + b[4096:8192] + b[12288:],
    lambda b: b"foreign" * 2000,
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_torn_or_foreign_file_is_made_again(tmp_path: Path, folder: Path, damage: Callable[[bytes], bytes]) -> None:
    on, what = device(), launch(tmp_path, grid=40)
    live = row(on, what, KEPT)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    assert len(good) > 12288
    other_process()
    path.write_bytes(damage(good))
    assert recorded.read(path) is None
    assert row(on, what, KEPT) == live
    assert path.read_bytes() == good
    assert list(folder.iterdir()) == [path]  # no temporary left


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path, folder: Path) -> None:
    on, what = device(), launch(tmp_path)
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    assert row(on, what, KEPT) == row(on, what, Options())


def test_a_recording_is_of_one_launch(tmp_path: Path, folder: Path) -> None:
    on = device()
    base = launch(tmp_path)
    seen = 0
    for options, what in (
        (KEPT, base),
        (attrs.evolve(KEPT, seed=1), base),
        (KEPT, launch(tmp_path, count=4)),
        (KEPT, launch(tmp_path, fill=Fill("arange"))),
        (KEPT, launch(tmp_path, grid=6)),
        (KEPT, launch(tmp_path, barrier=True)),
    ):
        assert row(on, what, options) == row(on, what, attrs.evolve(options, keep_traces=False))
        seen += 1
        assert len(list(folder.iterdir())) == seen
        launch(tmp_path)  # the text as it was
    row(device("mi300a"), base, KEPT)  # another width
    assert len(list(folder.iterdir())) == seen + 1


def test_a_change_of_timing_is_the_same_launch(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what = launch(tmp_path)
    row(device(), what, KEPT)
    monkeypatch.setattr(LaunchTraces, "_interpreted", None)  # nothing may be interpreted from here on
    slower = device(values={"vector_cache.latency": 200})
    assert row(slower, what, KEPT)["cycles"] > row(device(), what, KEPT)["cycles"]
    assert len(list(folder.iterdir())) == 1


def test_the_oldest_go_unless_they_are_in_use(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on = device()
    row(on, launch(tmp_path), KEPT)
    (first,) = folder.iterdir()
    monkeypatch.setattr(kept, "MOST", 3 * first.stat().st_size)
    for count in (4, 5, 6):
        row(on, launch(tmp_path, count=count), KEPT)
    assert first.exists()
    assert len(list(folder.iterdir())) == 3  # all younger than an hour: what does not fit is interpreted
    stat = first.stat()
    os.utime(first, ns=(stat.st_atime_ns, stat.st_mtime_ns - 7200 * 10**9))
    other_process()
    row(on, launch(tmp_path, count=6), KEPT)
    assert not first.exists()
    assert len(list(folder.iterdir())) == 3
