"""The path of a workload: a file, its kernels simulated once, rows and a trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import archex.workloads
import polars
import pytest
from archex.base.errors import RequestError
from archex.cli.main import main
from archex.cli.timeline import load
from archex.records.timelines import COLUMNS
from archex.suite.launch import Launch, Variant
from archex.testing.devices import described
from archex.workloads import machine

FILE = """
streams: [a, b]
kernels:
  spin: {us: 20, units: 1}
  copy: {suite: smoke, launch: copy}
steps:
  - {copy: h2d, bytes: 1 MiB, stream: a}
  - {launch: copy, stream: a}
  - {record: e, stream: a}
  - {wait: e, stream: b}
  - {launch: spin, stream: b}
  - {sync: all}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARCHEX_CACHE", str(tmp_path / "cache"))
    calls: list[Any] = []

    def simulate(device: Any, launch: Any, options: Any) -> dict[str, float]:
        calls.append(launch.id)
        return {"cycles": 12_000, "launch_drain_cycles": 2_000, "clock_hz": 1e9, "bandwidth_pct": 50.0, "issue_active_pct": 10.0}

    monkeypatch.setattr(archex.workloads, "simulate", simulate)
    monkeypatch.setattr(archex.workloads, "_units", lambda device, launch: 2.0)
    (tmp_path / "work.yaml").write_text(FILE)
    (tmp_path / "calls").mkdir()
    simulate.calls = calls  # type: ignore[attr-defined]
    return tmp_path


def simulated() -> list[str]:
    return archex.workloads.simulate.calls  # type: ignore[attr-defined]


def test_rows_and_a_trace_are_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "work.yaml", "device=tiny"]) == 0
    said = capsys.readouterr().out
    assert "work on tiny" in said
    assert "idle: packet under way" in said
    rows = polars.read_parquet(here / "work-tiny.parquet")
    assert rows.columns == [column.name for column in COLUMNS]
    assert rows["kind"].to_list().count("call") == 6
    kernel = rows.filter(kind="kernel", name="copy").to_dicts()[0]
    drain = described("tiny")["dispatcher"]
    assert kernel["alone_ns"] == pytest.approx(10_000 + sum(int(d.cycles(1e9)) for d in (drain.launch, drain.drain)), rel=0.2)
    spin = rows.filter(kind="kernel", name="spin").to_dicts()[0]
    assert rows.filter(event=spin["waited_for"])["kind"].to_list() == ["wait"]
    trace = json.loads((here / "work-tiny.json").read_text())
    assert {event["name"] for event in trace["traceEvents"] if event["ph"] == "X"} >= {"launch copy", "kernel copy", "copy h2d", "sync all"}


def test_the_same_file_gives_the_same_bytes(here: Path) -> None:
    for name in ("one", "two"):
        assert main(["timeline", "work.yaml", "device=tiny", f"output={name}.parquet"]) == 0
    assert (here / "one.json").read_bytes() == (here / "two.json").read_bytes()
    assert polars.read_parquet("one.parquet").equals(polars.read_parquet("two.parquet"))


def test_a_kernel_is_simulated_once_whatever_is_around_the_device(here: Path) -> None:
    assert main(["timeline", "work.yaml", "device=tiny", "-m", "host.latency=1us,2us"]) == 0
    assert main(["timeline", "work.yaml", "device=tiny", "copy_engine.setup=5us", "host=h200"]) == 0
    assert simulated() == ["copy"]
    assert main(["timeline", "work.yaml", "device=tiny", "l2.size=32KiB"]) == 0
    assert simulated() == ["copy", "copy"]
    assert (here / "work-tiny-1.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "FILE: must be one workload"),
        (["none.yaml"], "can't be read"),
        (["work.yaml", "devices=none"], "devices: none must be a whole number"),
        (["work.yaml", "output=rows.csv"], "ends in .parquet"),
        (["work.yaml", "host=null"], "host: is missing"),
        (["work.yaml", "host.latency=5 bytes"], "host.latency"),
        (["work.yaml", "device=tiny", "host.queues=0"], "host.queues"),
    ],
)
def test_a_wrong_request_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    extra = [] if any(a.startswith("device=") for a in arguments) else ["device=tiny"]
    assert main(["timeline", *arguments, *extra]) == 2
    assert said in capsys.readouterr().err
    assert not list(here.glob("*.parquet"))


def test_a_launch_that_is_not_there(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("work.yaml").write_text(FILE.replace("launch: copy}", "launch: copi}"))
    assert main(["timeline", "work.yaml", "device=tiny"]) == 2
    assert "kernels.copy.launch: copi is no launch of smoke; did you mean copy?" in capsys.readouterr().err


def test_a_deadlock_is_a_failure_and_names_its_members(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("work.yaml").write_text("streams: [a]\nsteps: [{wait: e}, {sync: a}]\n")
    assert main(["timeline", "work.yaml", "device=tiny"]) == 1
    assert "event e, which is never recorded" in capsys.readouterr().out


def test_buffers_must_fit_the_memory(here: Path) -> None:
    Path("large.yaml").write_text("buffers: {x: {bytes: 900 GiB}}\nsteps: [{work: 1 us}]\n")
    with pytest.raises(RequestError, match="buffers of device 0 have together"):
        machine(described("h200"), load(Path("large.yaml"), None))


DESCRIBED = """
parameters: {rows: 4, wide: 256, twice: false}
kernels:
  norm:
    suite: standard
    launch:
      ptx: rows.ptx
      entry: rmsnorm
      grid: ["${rows}"]
      block: [256]
      args:
        - {buffer: A, dtype: f16, bytes: "${rows * wide * 2}"}
        - {buffer: G, dtype: f16, bytes: "${wide * 2}"}
        - {buffer: C, dtype: f16, bytes: "${rows * wide * 2}"}
        - {i32: "${wide / 8}"}
  unused: {suite: standard, launch: attention}
  product: {suite: standard, launch: tensor_gemm_2, caches: warm}
steps:
  - {launch: norm}
  - {if: "${twice}", launch: product}
  - {sync: all}
"""


def test_parameters_are_set_and_swept(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("work.yaml").write_text(DESCRIBED)
    assert (
        main(["timeline", "-m", "work.yaml", "device=tiny", "timeline.rows=4,8", "timeline.twice=false,true", "host.latency=1us,2us"]) == 0
    )
    said = capsys.readouterr().out
    assert "(host.latency=1us, timeline.rows=8, timeline.twice=true)" in said
    assert simulated() == ["norm", "tensor_gemm_2", "norm"], "what nobody launches is not simulated"
    assert len(list(here.glob("work-tiny-*.parquet"))) == 8
    for wrong, about in (
        ("rowz=3", "timeline.rowz: is no parameter"),
        ("rows=4,8", "sweeps need -m"),
        ("rows=few", "must be a number"),
        ("rows=1.5", "kernels.norm"),
    ):
        assert main(["timeline", "work.yaml", "device=tiny", f"timeline.{wrong}"]) == 2
        assert about in capsys.readouterr().err


def test_of_a_launch_with_variants_the_one_that_ran_fills_units() -> None:
    one, other = Launch("one", grid=(2, 1, 1)), Launch("other", grid=(3, 1, 1))
    whole = Launch("x", variants=(Variant("one", {}, one), Variant("other", {}, Launch("both", sequence=(other, one)))))
    assert archex.workloads._chosen(whole, "one") is one
    assert archex.workloads._chosen(whole, "other") is other
    assert archex.workloads._chosen(one, "") is one
