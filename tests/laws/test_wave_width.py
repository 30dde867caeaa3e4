"""Waves of 64 against waves of 32 on the same lanes: half the instructions of a uniform kernel, more steps of a divergent one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from archex.assembly import Device, assemble
from archex.base import folders
from archex.describe.provenance import leaves
from archex.testing.devices import described
from tests.laws.launches import launch, run

#: 64 rounds of a chain of multiply-adds.
_ROUNDS = 64
UNIFORM = "cvt.rn.f32.u32 %f0, %r1;\n" + "fma.rn.f32 %f0, %f0, %f0, 0f3F000000;\n" * _ROUNDS
#: Halves of 32 lanes go apart: one multiplies, the other adds.
DIVERGENT = f"""cvt.rn.f32.u32 %f0, %r1;
and.b32 %r20, %r1, 32;
setp.eq.s32 %p0, %r20, 0;
@%p0 bra NEAR;
{"fma.rn.f32 %f0, %f0, %f0, 0f3F000000;" * _ROUNDS}
bra.uni DONE;
NEAR:
{"fma.rn.f32 %f0, %f0, 0f3F800001, 0f3F000000;" * _ROUNDS}
DONE:
"""


@cache
def narrow() -> Device:
    """mi300x with the preset wave32_cdna."""
    preset: dict[str, Any] = yaml.safe_load((folders.experiments() / "wave32_cdna.yaml").read_text())
    values = {path: value for path, value in leaves({k: v for k, v in preset.items() if k != "defaults"}) if ".sources." not in path}
    return assemble(described("mi300x", {"simd": "mi300a_wave32"} | values))


@cache
def wide() -> Device:
    return assemble(described("mi300x"))


def test_a_uniform_kernel_takes_half_the_instructions(tmp_path: Path) -> None:
    work = launch(tmp_path, UNIFORM, 1024, 304 * 2)
    two, one = run(narrow(), work), run(wide(), work)
    assert two["wave_instructions"] == 2 * one["wave_instructions"]
    assert two["lane_instructions"] == one["lane_instructions"]
    assert two["cycles"] == pytest.approx(one["cycles"], rel=0.25)


def test_a_kernel_whose_halves_part_wants_waves_of_32(tmp_path: Path) -> None:
    work = launch(tmp_path, DIVERGENT, 1024, 304 * 2)
    uniform = launch(tmp_path, UNIFORM, 1024, 304 * 2)
    lost = [run(on, work)["cycles"] / run(on, uniform)["cycles"] for on in (wide(), narrow())]
    assert lost[0] > 1.3 * lost[1]
    assert run(narrow(), work)["cycles"] < run(wide(), work)["cycles"]
