"""Launch folders: what they hold becomes launches; everything wrong in them is said at once, with path and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archex.base.errors import RequestError
from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer, Fill, place
from archex.programs.build import load_function
from archex.programs.trace import run_functional
from archex.suite.launch import Launch, matches, read_folder
from running import REFERENCE

PTX = REFERENCE / "h200" / "cuda_ptx" / "_Z9k_copy_f1PKfPfi.ptx"
COPY = {"ptx": "copy.ptx", "entry": "_Z9k_copy_f1PKfPfi", "grid": [2], "block": 64}


def folder(path: Path, launches: Any) -> Path:
    (path / "copy.ptx").write_text(PTX.read_text())
    (path / "launches.json").write_text(launches if isinstance(launches, str) else json.dumps(launches))
    return path


def problems(path: Path, launches: Any, only: tuple[str, ...] = ("*",)) -> list[str]:
    with pytest.raises(RequestError) as raised:
        read_folder(folder(path, launches), only)
    return [f"{p.path}: {p.rule}" + (f"; {p.suggestion}" if p.suggestion else "") for p in raised.value.problems]


@pytest.mark.parametrize(("name", "count"), [("h200", 305), ("mi300a", 80)])
def test_the_reference_folders_read(name: str, count: int) -> None:
    if not (REFERENCE / name / "launches.json").is_file():
        pytest.skip(f"results/reference/{name} has no launches.json")
    found = read_folder(REFERENCE / name)
    assert len(found) == count
    assert all(launch.id == key and launch.steps == (launch,) for key, launch in found.items())


def test_a_launch_holds_what_its_object_says(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.arange(10, dtype=np.float32))
    item = COPY | {
        "dynamic_shared_bytes": 16, "caches": "warm", "registers_per_thread": {"sass": 10, "cdna": {"vgpr": 12, "sgpr": 30}}, "flops": 5,
        "args": [{"buffer": "A", "dtype": "f32", "bytes": 512, "fill": {"kind": "file", "file": "data.npy"}}, {"buffer": "C",
        "dtype": "f32", "bytes": 512, "offset": 0},
                 {"i32": 100}],
    }  # fmt: skip
    found = read_folder(folder(tmp_path, {"copy": item}))["copy"]
    assert (found.grid, found.block, found.cluster, found.dynamic_local_bytes, found.caches, found.flops) == (
        (2, 1, 1),
        (64, 1, 1),
        (1, 1, 1),
        16,
        "warm",
        5,
    )
    assert found.arguments == (Argument("buffer", "A"), Argument("buffer", "C"), Argument("i32", 100))
    assert found.buffers[1] == Buffer("C", "f32", 512, Fill())
    assert (found.registers("sass"), found.registers("cdna"), found.registers("other", 40), Launch("x").registers("sass")) == (
        10,
        12,
        40,
        255,
    )
    run = run_functional(load_function(found.ptx, found.entry), found)
    assert np.array_equal(run.read("C")[:10], np.arange(10))
    assert not run.read("C")[10:].any()


def test_one_name_is_one_memory(tmp_path: Path) -> None:
    first = {"buffer": "A", "dtype": "f32", "bytes": 512}
    item = COPY | {"args": [first, first | {"offset": 256, "bytes": 1024}, {"i32": 1}]}
    found = read_folder(folder(tmp_path, {"copy": item}))["copy"]
    assert found.buffers == (Buffer("A", "f32", 1024),)
    assert found.arguments[1] == Argument("buffer", "A", 256)
    other = first | {"fill": {"kind": "uniform", "low": 0, "high": 1}}
    assert problems(tmp_path, {"copy": COPY | {"args": [first, other]}}) == [
        "copy.args[1]: is named before with another type or fill: one name is one memory"
    ]


def test_buffers_of_other_devices(tmp_path: Path) -> None:
    far = {"buffer": "A", "dtype": "f32", "bytes": 512, "peer": 2}
    own = {"buffer": "B", "dtype": "f32", "bytes": 512}
    found = read_folder(folder(tmp_path, {"copy": COPY | {"args": [far, own, {"buffer": "A", "offset": 4}]}}))["copy"]
    assert found.buffers == (Buffer("A", "f32", 512, peer=2), Buffer("B", "f32", 512))
    assert found.devices == 3
    addresses = place(found.buffers)
    assert addresses["A"] >> 40 == 1 << 6
    assert addresses["B"] < 1 << 45
    assert read_folder(folder(tmp_path, {"copy": COPY | {"args": [far], "devices": 8}}))["copy"].devices == 8


@pytest.mark.parametrize(
    ("args", "more", "said"),
    [
        ([{"peer": -1}], {}, "copy.args[0].peer: must be a whole number of at least 0"),
        ([{"peer": "1"}], {}, "copy.args[0].peer: must be a whole number of at least 0"),
        ([{"peer": True}], {}, "copy.args[0].peer: must be a whole number of at least 0"),
        ([{"peer": 1.5}], {}, "copy.args[0].peer: must be a whole number of at least 0"),
        ([{"peers": 1}], {}, "copy.args[0].peers: is not a known key; peer"),
        ([{"peer": 1}, {"peer": 2}], {}, "copy.args[1].peer: is 1 where A is named before: one name is one memory"),
        ([{"peer": 1, "bytes": (1 << 40) + 4}], {}, "copy.args[0].bytes: must be at most 1099511627776 on a peer"),
        ([{"peer": 3}], {"devices": 3}, "copy.devices: must be at least 4: a buffer lies on peer 3"),
        ([{}], {"devices": 0}, "copy.devices: must be a whole number above 0"),
        ([{}], {"devices": "two"}, "copy.devices: must be a whole number above 0"),
    ],
)
def test_wrong_peers_are_named(tmp_path: Path, args: list[dict[str, Any]], more: dict[str, Any], said: str) -> None:
    buffers = [{"buffer": "A", "dtype": "f32", "bytes": 512} | one for one in args]
    found = problems(tmp_path, {"copy": COPY | {"args": buffers} | more})
    assert [line for line in found if line.startswith(said)], found
    assert len(found) == 1


def test_sequences_and_variants(tmp_path: Path) -> None:
    args = {"args": [{"i32": 1}], "flops": 3}
    variants = [{"requires": {"wave": 64, "local_memory": 65536}, "block": [32]}, {"name": "fast", "requires": {"matrix": ["f16"]}}]
    launches = {
        "a": COPY | args,
        "both": {"sequence": ["a", COPY | args | {"grid": 7}], "caches": "warm"},
        "v": COPY | {"variants": variants},
    }
    found = read_folder(folder(tmp_path, launches))
    assert [step.grid[0] for step in found["both"].steps] == [2, 7]
    assert found["both"].flops == 6
    assert found["both"].caches == "warm"
    first, second = found["v"].variants
    assert first.launch.block == (32, 1, 1)
    assert first.launch.grid == (2, 1, 1)
    assert first.requires == {"wave": 64, "local_memory": 65536}
    assert second.name == "fast"


def test_globs(tmp_path: Path) -> None:
    assert matches("copy[n=4,m=1]", "copy[n=4,m=1]")
    assert matches("copy[n=4]", "copy[n=?]")
    assert matches("copy[n=4]", "*]")
    assert not matches("copyn", "copy[n]")
    launches = {"copy[n=1]": COPY, "copy[n=2]": COPY, "other": COPY}
    assert list(read_folder(folder(tmp_path, launches), ("copy[n=*", "other"))) == list(launches)
    assert problems(tmp_path, launches, ("copi[n=1]",)) == ["suite.only: fits no launch of " + str(tmp_path) + "; copy[n=1]"]


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    bad = {
        "ptx": "cpoy.ptx", "gird": [1], "grid": [1, 2, 3, 4], "block": [1.5], "dynamic_shared_bytes": -1, "caches": "warn",
        "registers_per_thread": 0, "flops": "x",
        "args": [{"i32": 2**31}, {"u8": 1}, {"f32": "x"}, {"f16": 1e6}, {"bytes": "0g"}, {"buffer": "A", "dtype": "f31", "bytes": 4},
                 {"buffer": "B", "dtype": "f32", "bytes": 0}, {"buffer": "C", "dtype": "f32", "bytes": 64, "fill": {"kind": "unifrom"}},
                 {"buffer": "D", "dtype": "i32", "bytes": 64, "fill": {"kind": "uniform_int", "low": 5, "high": 5}},
                 {"buffer": "E", "dtype": "f64", "bytes": 64, "fill": {"kind": "random_cycle", "stride_bytes": 12, "sed": 1}},
                 {"buffer": "F", "dtype": "f32", "bytes": 64, "fill": {"kind": "file", "file": "none.npy"}}],
    }  # fmt: skip
    found = problems(tmp_path, {"a": bad, "s": {"sequence": ["a", "b", "s"]}, "n": 3})
    assert found[:3] == [
        "a.gird: is not a known key; grid",
        "a.args[0].i32: does not fit i32",
        "a.args[1]: must hold one of i32, u32, i64, u64, f16, f32, f64, bytes, buffer, tensor_map",
    ]
    assert found[3:11] == [
        "a.args[2].f32: must be a number",
        "a.args[3].f16: does not fit f16",
        "a.args[4].bytes: must be bytes in hexadecimal, such as 0000803f",
        "a.args[5].dtype: is not a known type; f32",
        "a.args[6].bytes: must be a whole number above 0",
        "a.args[7].fill.kind: is not a known fill; uniform",
        "a.args[8].fill: needs high above low (high is excluded)",
        "a.args[9].fill.sed: is not a known key; seed",
    ]
    assert found[11] == "a.args[9].fill.stride_bytes: must be a multiple of the 8 bytes of f64"
    assert found[12].startswith("a.args[10].fill.file: is no readable .npy file")
    assert found[13:] == [
        f"a.ptx: is no file in {tmp_path}",
        "a.grid: must be one to three whole numbers, such as [128, 1, 1]",
        "a.block: must be one to three whole numbers, such as [128, 1, 1]",
        "a.dynamic_shared_bytes: must be a whole number of at least 0",
        "a.caches: must be cold or warm; warm",
        "a.registers_per_thread: must be a whole number above 0",
        "a.flops: must be a number",
        "s.sequence[1]: is no id of this file; a" if found[-3].endswith("; a") else "s.sequence[1]: is no id of this file",
        "s.sequence[2]: leads back to itself",
        "n: must be an object",
    ]


def test_torn_and_missing_files(tmp_path: Path) -> None:
    assert problems(tmp_path, '{"a": {')[0].startswith("suite.path: is not valid JSON: ")
    assert problems(tmp_path, "[1]") == ["suite.path: must be an object: id -> launch"]
    with pytest.raises(RequestError, match=r"has no readable launches\.json: No such file"):
        read_folder(tmp_path / "nowhere")
