"""Tensor maps in launch folders: what they hold becomes an argument; each broken rule is said with its path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.programs.arguments import Argument
from archex.programs.tensor_map import SIZE, TensorMap
from archex.suite.launch import Launch, read_folder

GOOD: dict[str, Any] = {"buffer": "A", "dtype": "f16", "bytes": 65536, "dims": [128, 64], "box": [64, 32], "swizzle": 128}


def read(path: Path, *arguments: Any) -> Launch:
    (path / "k.ptx").write_text("")
    (path / "launches.json").write_text(json.dumps({"k": {"ptx": "k.ptx", "grid": 1, "block": 32, "args": arguments}}))
    return read_folder(path)["k"]


def test_a_map_names_its_buffer_and_strides_follow_from_the_extents(tmp_path: Path) -> None:
    found = read(tmp_path, {"tensor_map": GOOD}, {"buffer": "A"})
    made = TensorMap("A", "f16", (128, 64), (256,), (64, 32), 128, "zero", 0)
    assert found.arguments == (Argument("tensor_map", made), Argument("buffer", "A"))
    assert [(buffer.name, buffer.dtype, buffer.size) for buffer in found.buffers] == [("A", "f16", 65536)]
    assert len(found.arguments[0].encode({"A": 1 << 40})) == SIZE
    known = {"buffer": "A", "dims": [8, 4, 2], "strides": [64, 512], "box": [8, 2, 1], "outside": "nan", "offset": 32}
    again = read(tmp_path, {"buffer": "A", "dtype": "f32", "bytes": 4096}, {"tensor_map": known}).arguments[1]
    assert again.value == TensorMap("A", "f32", (8, 4, 2), (64, 512), (8, 2, 1), 0, "nan", 32)


WRONG = [
    ([], "k.args[0].tensor_map: [] must be an object with buffer, dims and box"),
    ({"buffer": None}, "k.args[0].tensor_map.buffer: None must be a name"),
    ({"dtype": "f8"}, "k.args[0].tensor_map.dtype: f8 is not a known type (choices: i8,"),
    ({"dims": [1, 2, 3, 4, 5, 6]}, "k.args[0].tensor_map.dims: [1, 2, 3, 4, 5, 6] must be 1 to 5 whole numbers from 1 to 4294967296"),
    ({"dims": [128, 1024]}, "k.args[0].tensor_map.dims: [128, 1024] reach 262144 bytes into `A`, which has 65536"),
    ({"box": [512, 2]}, "k.args[0].tensor_map.box: [512, 2] must be 1 to 5 whole numbers from 1 to 256, the innermost dimension's first"),
    ({"box": [12, 2]}, "k.args[0].tensor_map.box: [12, 2] has rows of 24 bytes: must be a multiple of 16"),
    ({"box": [128, 2]}, "k.args[0].tensor_map.box: [128, 2] has rows of 256 bytes: at most the 128 of the swizzle"),
    ({"box": [64]}, "k.args[0].tensor_map.box: [64] must have as many numbers as dims, 2"),
    ({"strides": [250]}, "k.args[0].tensor_map.strides: [250] must be multiples of 16 bytes above 0"),
    ({"strides": [256, 512]}, "k.args[0].tensor_map.strides: [256, 512] must hold bytes for each dimension but the innermost: 1 numbers"),
    ({"swizzle": 96}, "k.args[0].tensor_map.swizzle: 96 must be 0 or 32 or 64 or 128"),
    ({"interleave": 16}, "k.args[0].tensor_map.interleave: 16 must be 0"),
    ({"outside": "nans"}, "k.args[0].tensor_map.outside: nans must be zero or nan; did you mean nan?"),
    ({"dtype": "i16", "outside": "nan"}, "k.args[0].tensor_map.outside: nan goes with floating-point types, not i16"),
    ({"offset": 8}, "k.args[0].tensor_map.offset: 8 must be a multiple of 16 bytes"),
    ({"swizle": 64}, "k.args[0].tensor_map.swizle: is not a known key; did you mean swizzle?"),
]


@pytest.mark.parametrize(("changed", "words"), WRONG)
def test_each_broken_rule_is_said(tmp_path: Path, changed: Any, words: str) -> None:
    given = GOOD | changed if isinstance(changed, dict) else changed
    with pytest.raises(RequestError) as raised:
        read(tmp_path, {"tensor_map": given})
    assert len(raised.value.problems) == 1
    assert str(raised.value.problems[0]).startswith(words)
    assert str(tmp_path / "launches.json") in str(raised.value)


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as raised:
        read(tmp_path, {"tensor_map": GOOD | {"box": [24, 4], "strides": [8], "swizzle": 7}}, {"tensor_map": {}})
    assert [problem.path for problem in raised.value.problems] == [
        "k.args[0].tensor_map.swizzle",
        "k.args[1].tensor_map.buffer",
        "k.args[1].tensor_map.dims",
        "k.args[1].tensor_map.box",
    ]
