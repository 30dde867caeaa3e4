"""Wrong requests, programs and launches through the real path, on `tiny`: the whole message of each, the status, the exit code."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from archex.cli.main import main
from archex.records import store
from archex.sweeps.settings import KERNELS

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
SMOKE = KERNELS / "smoke"
REGISTERS = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;"
PRODUCT = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
STORE = "st.global.u32 [%rd1], %r0;\nret;"
#: Bodies of `k`; the first line is line 8 of the file.
BODIES = {
    "fine": f"mad.wide.u32 %rd1, %r0, 4, %rd0;\n{STORE}",
    "beyond": f"mad.wide.u32 %rd1, %r0, 64, %rd0;\n{STORE}",
    "apart": "setp.lt.u32 %p0, %r0, 16;\n@!%p0 bra D;\nbar.sync 0;\nD: st.global.u32 [%rd0], %r0;\nret;",
    "endless": "L: add.u32 %r0, %r0, 1;\nst.global.u32 [%rd0], %r0;\nbra L;",
    "matrix": f".reg .f64 %d<4>;\n{PRODUCT} {{%d0,%d1}}, {{%d2}}, {{%d3}}, {{%d0,%d1}};\nst.global.f64 [%rd0], %d0;\nret;",
    "texture": "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd0, {%f0,%f1}];\nret;",
    "unknown": "frobnicate.u32 %r0, %r1;\nret;",
    "undeclared": "add.u32 %r0, %q1, 2;\nret;",
    "greedy": ".shared .b8 s[300000]; mov.u32 %r1, s; st.shared.u32 [%r1], %r0;\nret;",
}
OUTSIDE = "`st.global.u32`: accesses 4 bytes at 0x10000000100, which lie in no buffer"
APART = "`bar.sync`: barrier reached by 16 of 32 live lanes of a wave: the others never reach it"
#: launch -> (its file, what differs from the others, status, message)
LAUNCHES: dict[str, tuple[str, dict[str, Any], str, str | None]] = {
    "fine": ("fine", {}, "ok", None),
    "beyond": ("beyond", {}, "error", f"k/beyond.ptx:9: {OUTSIDE}"),
    "short": (
        "fine",
        {"block": [128]},
        "error",
        "k/fine.ptx:9: `st.global.u32`: accesses 4 bytes at 0x10000000100, which lie in no buffer",
    ),
    "apart": (
        "apart",
        {},
        "error",
        f"k/apart.ptx:10: {APART}",
    ),
    "endless": ("endless", {}, "error", "k/endless.ptx:8: `add.u32`: a wave runs past the instruction limit of 4096: does this loop end?"),
    "unknown": ("unknown", {}, "error", "k/unknown.ptx:8:1: unknown instruction `frobnicate.u32`"),
    "undeclared": ("undeclared", {}, "error", "k/undeclared.ptx:8:14: unknown register `%q1`"),
    "no PTX": ("c", {}, "error", "k/c.ptx:1:1: expected `.version` at the start of a PTX file, found `int`"),
    "no entry": ("fine", {"entry": "kk"}, "error", "k/fine.ptx: no entry `kk`; did you mean `k`? (entries: k)"),
    "no arguments": ("fine", {"args": []}, "error", "k/fine.ptx:4: `k` takes 1 arguments, the launch gives 0"),
    "no grid": ("fine", {"grid": [0, 1, 1]}, "error", "k/fine.ptx:4: grid is [0, 1, 1]: every extent must be at least 1"),
    "matrix": ("matrix", {}, "unsupported", f"{PRODUCT} (line 9): the matrix unit has no shape for f64 with f64 accumulators (has: none)"),
    "texture": ("texture", {}, "unsupported", "tex.2d.v4.f32.f32 (line 8)"),
    "greedy": ("greedy", {}, "unsupported", "300000 B of local memory: a workgroup can have 32768 B"),
    "crowd": ("fine", {"block": [2048]}, "unsupported", "a workgroup of 2048 threads: the device's largest has 512"),
    "registers": ("fine", {"registers_per_thread": 300}, "unsupported", "300 registers a thread: the device has 255"),
}


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A launch folder `k` with every launch of LAUNCHES, and an empty place to run in."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "k"
    folder.mkdir()
    for name, body in BODIES.items():
        code = f"ld.param.u64 %rd0, [o]; mov.u32 %r0, %tid.x;\n{body}"
        (folder / f"{name}.ptx").write_text(f"{HEAD}.visible .entry k(.param .u64 o)\n{{\n{REGISTERS}\n{code}\n}}\n")
    (folder / "c.ptx").write_text("int main() { return 0; }\n")
    buffer = {"buffer": "O", "dtype": "u32", "bytes": 256, "fill": {"kind": "zero"}}
    usual = {"entry": "k", "grid": [1, 1, 1], "block": [64], "args": [buffer]}
    found = {name: usual | {"ptx": f"{file}.ptx"} | other for name, (file, other, _, _) in LAUNCHES.items()}
    (folder / "launches.json").write_text(json.dumps(found))
    return folder


def test_launches_that_are_wrong(kernels: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("archex.programs.trace.TraceSource.__init__.__kwdefaults__", limited())
    monkeypatch.setenv("ARCHEX_JIT", "0")  # which is too late to compile nothing, but keeps the rows in this process
    assert main(["run", "device=tiny", "suite.path=k", "output=rows.parquet", "workers=1"]) == 1
    rows = store.read(Path("rows.parquet")).to_dicts()
    assert {row["launch"]: (row["status"], row["error"]) for row in rows} == {
        name: (status, message) for name, (_, _, status, message) in LAUNCHES.items()
    }
    printed = capsys.readouterr().out.splitlines()
    assert "no grid: error: k/fine.ptx:4: grid is [0, 1, 1]: every extent must be at least 1" in printed
    assert printed[-1] == "16 rows: 1 ok, 5 unsupported, 10 error, in rows.parquet"


def limited() -> dict[str, Any]:
    """The source's usual options with a limit that a test can wait for."""
    from archex.programs.trace import TraceSource

    return dict(TraceSource.__init__.__kwdefaults__ or {}) | {"limit": 4096}


def test_unsupported_alone_is_a_success(kernels: Path) -> None:
    assert main(["run", "device=tiny", "suite.path=k", "suite.only=greedy", "output=rows.parquet"]) == 0


def test_a_trace_that_cannot_be(kernels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "beyond", "device=tiny", "suite.path=k"]) == 1
    assert capsys.readouterr().out == (
        "beyond on tiny: k/beyond.ptx:9: `st.global.u32`: accesses 4 bytes at 0x10000000100, which lie in no buffer\n"
    )
    assert main(["trace", "fine", "device=tiny", "suite.path=k", "wave=2"]) == 2
    assert capsys.readouterr().err == "archex: wave: 2 must be below 2, the number of waves of this launch on this device\n"


def test_a_program_makes_do_with_the_registers_there_are(kernels: Path) -> None:
    shutil.copy(SMOKE / "sgemm.ptx", kernels)
    launch = json.loads((SMOKE / "launches.json").read_text())["sgemm"] | {"grid": [1, 1, 1]}
    del launch["registers_per_thread"]
    (kernels / "launches.json").write_text(json.dumps({"sgemm": launch}))
    run = ["run", "-m", "suite.path=k", "output=rows.parquet", "workers=1"]
    assert main([*run, "device=tiny", "register_file.most=24,255", "register_file.size=32KiB,256KiB"]) == 0
    found = store.read(Path("rows.parquet")).to_dicts()
    assert [row["status"] for row in found] == ["ok"] * 4
    # Two schedulers with 4 K registers each and four of the eight waves: 32 a thread.
    assert [row["registers_per_thread"] for row in found[:3]] == [24, 24, 32]
    assert 32 < found[3]["registers_per_thread"] < 255


RUN = (sys.executable, "-m", "archex.cli.main", "run", "device=tiny", "suite.path=k", "output=rows", "workers=1")
REQUESTS = [
    (
        "device=h300",
        "device: h300 is not a known choice; did you mean h200? "
        "(choices: a100, cdna3_like, h100_sxm, h200, hopper_like, mi210, mi300a, mi300x, tiny)",
    ),
    ("suite.path=nowhere", "suite.path: nowhere has no readable launches.json: No such file or directory"),
    ("suite.path=torn", "suite.path: torn/launches.json is not valid JSON: Expecting value: line 1 column 7 (char 6)"),
    ("sampling=yes", "sampling: yes is not a known choice (choices: auto, off)"),
    ("repeat=0", "repeat: 0 must be a whole number of at least 1"),
    ("suite.only=gater", "suite.only: gater fits no launch of k"),
    ("l2.wais=3", "l2.wais: is not a known key; did you mean ways?"),
    ("l2.size=3parsec", "l2.size: 3parsec has the unit parsec; expected one of B, KiB, MiB, GiB, TiB, kB, KB, MB, GB, TB, such as 64 MiB"),
    ("compute_unit.count=0", "compute_unit.count: 0 must be at least 1"),
    ("l2.ways=7", "l2.ways: 7 must divide "),
    ("output=/proc/x", "output: /proc/x cannot be written: /proc: No such file or directory"),
]


@pytest.mark.parametrize(("override", "said"), REQUESTS, ids=lambda value: value.partition(" ")[0])
def test_requests_that_are_wrong(kernels: Path, override: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (kernels.parent / "torn").mkdir()
    (kernels.parent / "torn/launches.json").write_text('{"a": ')
    assert main(["run", *([] if override.startswith("device") else ["device=tiny"]), "suite.path=k", override]) == 2
    first, *others = capsys.readouterr().err.splitlines()
    assert not others
    assert first.startswith(f"archex: {said}")
    assert sorted(path.name for path in kernels.parent.iterdir()) == ["k", "torn"]


SWEEPS = [
    (
        ["clock=2GHz,2GB", "l2.ways=4,-1"],  # a key of the root that is a part's
        ["l2.ways: -1 must be at least 1", "compute_unit.clock: 2GB has the unit GB; expected one of Hz, kHz, MHz, GHz, THz"],
    ),
    (["l2.size=range(1MiB,2GHz,1MiB)"], ["l2.size: range(1MiB,2GHz,1MiB) has units of different things: GHz, MiB"]),
    (["l2.latency=range(10ns,20parsec)"], ["l2.latency: range(10ns,20parsec) has the unit parsec; expected one of s, ms, us, ns, ps"]),
    (["suite.only=[fine,none]"], ["suite.only: none fits no launch of k (choices: fine, beyond, "]),
]


@pytest.mark.parametrize(("overrides", "said"), SWEEPS, ids=lambda value: value[0])
def test_sweeps_that_are_wrong(kernels: Path, overrides: list[str], said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-m", "device=tiny", "suite.path=k", "output=rows", *overrides]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(f"archex: {start}") for line, start in zip(lines, said, strict=True)] == [True] * len(said), lines
    assert not Path("rows").exists()


def test_an_interrupt_in_the_midst_of_a_simulation(kernels: Path) -> None:
    command = [*RUN, "suite.only=[fine,endless]"]
    process = subprocess.Popen(
        command, cwd=kernels.parent, env=os.environ | {"ARCHEX_JIT": "0"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("[1/2] fine on tiny: ")
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "archex: interrupted: 1 of 2 rows kept in rows\n")
    assert store.read(kernels.parent / "rows")["launch"].to_list() == ["fine"]
