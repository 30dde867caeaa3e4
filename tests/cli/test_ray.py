"""Rows of a Ray cluster of two nodes are those of one machine, whatever becomes of a node."""

from __future__ import annotations

import os
import pickle
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import cli_fakes
import napping
import pytest
from archex.base.errors import RequestError
from archex.base.options import Options
from archex.cli import run
from archex.records import schema, store
from archex.suite.launch import Launch
from archex.sweeps.jobs import Job, RowTask, Steps
from archex.sweeps.launchers import Done, Launcher, Limits, parcels, ray_cluster
from archex.sweeps.launchers.local import Local
from archex.sweeps.launchers.ray import Ray
from archex.sweeps.shelf import Shelf

pytest.importorskip("ray")
from ray_nodes_here import Nodes, cluster

ROOT = Path(__file__).resolve().parents[2]
PATH = os.pathsep.join(str(ROOT / place) for place in (".", "plugins", "tests/cli"))
COSTS = ("simulate_seconds", "trace_seconds", "compile_seconds", "peak_memory_bytes")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    naps = str(tmp_path_factory.mktemp("naps") / "naps")
    with cluster({"PYTHONPATH": PATH, "NAPS": naps}) as made:
        made.add(1)
        yield made


@pytest.mark.slow
def test_a_run_begun_here_is_ended_there(nodes: Nodes, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sweep = ["-m", "device=h200,tiny", "l2.ways=4,2,3", "suite.path=kernels"]
    there = ["hydra/launcher=ray", f"hydra.launcher.address={nodes.address}"]
    assert run.main([*sweep, "suite.only=gather", "output=both"], cli_fakes.STEPS) == 1, "64 is no multiple of 3"
    assert run.main([*sweep, "output=both", *there], cli_fakes.STEPS) == 1
    assert run.main([*sweep, "output=here"], cli_fakes.STEPS) == 1
    assert rows("both").equals(rows("here"))
    assert rows("both").height == 12
    capfd.readouterr()
    assert run.main(["-m", "l2.ways=1,2", "suite.path=kernels", "output=there.parquet", *there], cli_fakes.STEPS) == 0
    said = capfd.readouterr()
    assert said.out.splitlines()[-1] == "4 rows: 4 ok, in there.parquet"
    assert "ray" not in (said.out + said.err).lower().replace("hydra/launcher=ray", ""), "Ray itself says nothing"
    assert sorted(path.name for path in place.iterdir()) == ["both", "conf", "experiments", "here", "kernels", "there.parquet"]


def rows(run: str) -> Any:
    return store.read(Path(run)).drop(COSTS).sort("point_id", "launch")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("address=127.0.0.1:1", "hydra.launcher.address: 127.0.0.1:1 nobody answers there: Connection refused"),
        ("address=nowhere", "hydra.launcher.address: nowhere is not HOST:PORT of a cluster's head, such as 10.0.0.1:6379"),
        ("address=h:99999", "hydra.launcher.address: h:99999 is not HOST:PORT"),
        ("address=12", "hydra.launcher.address: 12 must be a name"),
        ("adress=h:1", "hydra.launcher.adress: is not a known key; did you mean address?"),
        ("workers=0", "hydra.launcher.workers: 0 must be at least 1"),
        ("environment=PATH", "hydra.launcher.environment: PATH must be a map of names"),
        ("environment={A:1}", "hydra.launcher.environment.A: 1 must be a name"),
        ("workers=1,2", "hydra.launcher.workers: 1,2 can't be swept: a run has one"),
        ("deaf", "nobody answers there: timed out"),
        ("web", "what answers there is no Ray head"),
    ],
)
def test_what_is_no_cluster(place: Path, given: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "_PATIENCE", 1.0)
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as server:
        if given in ("deaf", "web"):
            if given == "web":
                Thread(target=lambda: server.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), daemon=True).start()
            given = f"address=127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(RequestError) as caught:
            run.main(["-m", "suite.path=kernels", "output=x", "hydra/launcher=ray", f"hydra.launcher.{given}"], cli_fakes.STEPS)
    assert said in str(caught.value)
    assert time.monotonic() - began < 15
    assert not Path("x").exists()


def test_without_ray_it_says_what_to_install(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RequestError, match=r"^hydra/launcher: ray needs Ray, which is not installed: pip install 'archex-sim\[ray\]'$"):
        run.main(["-m", "suite.path=kernels", "output=x", "hydra/launcher=ray"], cli_fakes.STEPS)
    assert not Path("x").exists()


def test_a_program_goes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHEX_CACHE", str(tmp_path / "cache"))
    own = tmp_path / "own" / "copy.ptx"
    own.parent.mkdir()
    own.write_text(".version 8.0")
    launch = Launch("copy", ptx=own, sequence=(Launch("first", ptx=own),))
    pickled, files = parcels.pack(launch)
    assert pickle.loads(pickled) == launch, "where the file is, it is used as it is"
    own.write_text("another day's")
    parcels.take(files)
    moved = pickle.loads(pickled)
    assert moved.ptx != own
    assert moved.ptx.name == "copy.ptx"
    assert moved.ptx.read_text() == moved.sequence[0].ptx.read_text() == ".version 8.0"
    assert parcels.as_sent(f"{moved.ptx}:3: no entry") == f"{own}:3: no entry"


def jobs(shelf: Shelf, launches: int, does: str, steps: Steps) -> Iterator[Job]:
    base = shelf.put({"l2": {"size": 64, "ways": 4}, "wave_scheduler": {"name": "greedy_then_oldest"}})
    for seq in range(launches):
        launch = shelf.put(cli_fakes.Launch(f"copy{seq}", 100 + seq, does))
        identity = {"launch": f"copy{seq}", "suite": "s", "device": "d", "point_id": str(seq)}
        yield Job(base, (), "design", (RowTask(seq, identity, launch),), Options("auto", 1, 0), steps)


def outcome(
    launcher: Launcher,
    launches: int,
    does: str = "",
    steps: Steps = cli_fakes.STEPS,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    told: Callable[[int], None] = lambda ended: None,
) -> dict[int, Any]:
    """The row of each job without its costs, or why there is none; `told` hears how many have ended."""
    shelf = Shelf()
    found: dict[int, Any] = {}
    for done in launcher.run(jobs(shelf, launches, does, steps), shelf, limits):
        assert isinstance(done, Done)
        ((seq, row),) = done.rows or [(done.job.rows[0].seq, {"failed": done.failed})]
        assert seq not in found
        found[seq] = {name: value for name, value in row.items() if name not in COSTS}
        told(len(found))
    shelf.close()
    return dict(sorted(found.items()))


@pytest.mark.slow
def test_a_node_is_lost_and_another_comes(nodes: Nodes, capfd: pytest.CaptureFixture[str]) -> None:
    lost = nodes.add(2, HELD="yes")
    launcher = Ray(nodes.address)
    assert launcher.workers == 3
    capfd.readouterr()

    done: list[str] = []

    def told(ended: int) -> None:
        if ended == 6:
            napping.hold()
        if not done and napping.held():
            nodes.lose(lost)
            done.append("lost")
        elif done == ["lost"]:
            nodes.add(1)
            done.append("came")

    found = outcome(launcher, 24, steps=napping.STEPS, told=told)
    until = time.monotonic() + 100  # what a node takes until it is there depends on what else the machine does
    while launcher.workers != 2 and time.monotonic() < until:
        time.sleep(0.1)
    assert launcher.workers == 2, "the one that was kept and the one that came"
    local = Local(2)
    assert found == outcome(local, 24)
    assert [row["cycles"] for row in found.values()] == [4 * (100 + seq) for seq in range(24)]
    assert set(found[0]) == set(schema.row({})) - set(COSTS)
    begun = napping.begun()
    assert done == ["lost", "came"]
    assert 24 < len(begun) <= 27, "what the lost node was at was begun a second time, and nothing else"

    # The process that does the jobs of a worker is not the worker: what ends it is known, as on one machine.
    for does, limits in (("dies", Limits()), ("slow", Limits(timeout=0.5)), ("unsupported", Limits()), ("bug", Limits())):
        local.close(at_once=True)
        assert outcome(launcher, 2, does, limits=limits) == outcome(local, 2, does, limits=limits)
    assert capfd.readouterr() == ("", "")
    launcher.close(at_once=False)
    local.close(at_once=False)


@pytest.mark.slow
def test_a_node_with_another_archex_is_named(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # Ray puts the folder of whoever calls on the workers' path
    shutil.copytree(ROOT / "archex", tmp_path / "archex", ignore=shutil.ignore_patterns("__pycache__"))
    with open(tmp_path / "archex/base/units.py", "a") as changed:
        changed.write("# another day\n")
    nodes.add(1, PYTHONPATH=f"{tmp_path}{os.pathsep}{PATH}")
    with pytest.raises(RequestError, match=r"node \S+ has another archex, or other plugins \(sources \w+, here \w+\): install the same"):
        assert Ray(nodes.address).workers
