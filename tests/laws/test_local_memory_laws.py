"""Conflicts of local memory: a wave takes as many passes as its busiest bank has words, by stride and width (the gcd rule)."""

from __future__ import annotations

from math import gcd
from pathlib import Path

import pytest
from archex.assembly import Device
from tests.laws.launches import device, launch, run

DEVICES = ("tiny", "h200", "mi300a")
BANKS = 32
SHAPES = {4: ("f32", "%f0"), 8: ("v2.f32", "{%f0, %f2}"), 16: ("v4.f32", "{%f0, %f2, %f3, %f4}")}
USED = {4: "", 8: "add.f32 %f0, %f0, %f2;\n", 16: "add.f32 %f0, %f0, %f2;\nadd.f32 %f0, %f0, %f3;\nadd.f32 %f0, %f0, %f4;\n"}
LOCAL = ".shared .align 16 .b8 lds[32768];\n"


def passes(on: Device, folder: Path, bytes_of: int, stride: int, what: str) -> tuple[int, int]:
    """(passes, passes beyond those that the bytes need) of one access of one wave, its lanes `stride` bytes apart."""
    kind, registers = SHAPES[bytes_of]
    body = f"mul.lo.s32 %r10, %r1, {stride};\nmov.u32 %r11, lds;\nadd.s32 %r12, %r10, %r11;\n"
    if what == "load":
        body += f"ld.shared.{kind} {registers}, [%r12];\n" + USED[bytes_of]
    else:
        body = "cvt.rn.f32.u32 %f0, %r2;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\nmov.f32 %f4, %f0;\n" + body
        body += f"st.shared.{kind} [%r12], {registers};\n"
    row, without = (run(on, launch(folder, text, on.wave_width, local=LOCAL)) for text in (body, "cvt.rn.f32.u32 %f0, %r1;\n"))
    # Reading a lane's place in its workgroup may take the same way.
    return int(row["local_memory_wavefronts"] - without["local_memory_wavefronts"]), int(row["local_memory_conflicts"])


@pytest.mark.parametrize("bytes_of", [4, 8, 16])
@pytest.mark.parametrize("name", DEVICES)
def test_every_stride_takes_what_the_gcd_rule_says(tmp_path: Path, name: str, bytes_of: int) -> None:
    """Words of `bytes_of` fill the banks by groups of lanes; of a group, gcd(stride, lanes in it) meet in one bank."""
    on = device(name)
    words = bytes_of // 4
    group = BANKS // words
    phases = on.wave_width * words // BANKS
    most = 32768 // (on.wave_width * bytes_of)
    for stride in range(1, min(33, most) + 1):
        expected = phases * gcd(stride, group)
        assert passes(on, tmp_path, bytes_of, stride * bytes_of, "load") == (expected, expected - phases), stride


@pytest.mark.parametrize("bytes_of", [4, 8, 16])
def test_stores_follow_the_rule_of_loads(tmp_path: Path, bytes_of: int) -> None:
    on = device("h200")
    for stride in (1, 2, 3, 8, 9, 16, 32, 33):
        load, store = (passes(on, tmp_path, bytes_of, stride * bytes_of, what) for what in ("load", "store"))
        assert load == store, stride


@pytest.mark.parametrize("name", DEVICES)
def test_lanes_that_read_one_word_share_a_pass(tmp_path: Path, name: str) -> None:
    on = device(name)
    halves = on.wave_width // BANKS
    assert passes(on, tmp_path, 4, 0, "load")[0] == halves


def test_more_banks_never_conflict_more(tmp_path: Path) -> None:
    few, many = device("tiny"), device("tiny", local_memory__banks=64)
    for stride in range(1, 34):
        assert passes(many, tmp_path, 4, 4 * stride, "load")[0] <= passes(few, tmp_path, 4, 4 * stride, "load")[0], stride
