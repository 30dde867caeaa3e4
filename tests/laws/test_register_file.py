"""Operands from the register file: conflicts delay results, collectors let other instructions overtake them, accumulators of their own."""

from __future__ import annotations

from pathlib import Path

import attrs
import numpy as np
import pytest
from archex.describe.occupancy import residence
from archex.testing.devices import described
from tests.laws.launches import device, launch, run

from archex_plugins.registers.banked import BankedFile
from archex_plugins.registers.ported import PortedFile


@pytest.mark.parametrize(
    ("registers", "banks", "cycles"), [([0, 4, 8], 4, 3), ([0, 1, 2], 4, 1), ([0, 4, 1], 4, 2), ([5, 5, 5], 4, 1), ([0, 2], 0, 1)]
)
def test_banks(registers: list[int], banks: int, cycles: int) -> None:
    assert BankedFile.read_cycles(np.array(registers), len(registers), np.array([float(banks)])) == cycles


def test_ports_count_operands_only() -> None:
    assert [PortedFile.read_cycles(np.zeros(6, np.int64), count, np.array([2.0])) for count in range(1, 7)] == [1, 1, 2, 2, 3, 3]


def cycles(folder: Path, banks: int, collectors: int, threads: int) -> int:
    on = device("tiny", **{"register_file.banks": banks, "register_file.collectors": collectors})
    body = "".join(f"fma.rn.f32 %f{k}, %f{k}, %f4, %f5;\n" for k in range(4)) * 64
    start = "".join(f"mov.f32 %f{k}, 0f3F8{k}0000;\n" for k in range(6)) + "cvt.rn.f32.u32 %f4, %tid.x;\nadd.f32 %f5, %f4, %f4;\n"
    start += "".join(f"add.f32 %f{k}, %f4, 0f3F8{k}0000;\n" for k in range(4))
    end = "".join(f"add.f32 %f0, %f0, %f{k};\n" for k in range(1, 4))
    return int(run(on, launch(folder, start + body + end, threads=threads))["cycles"])


def test_fewer_banks_are_never_faster_and_collectors_give_the_rate_back(tmp_path: Path) -> None:
    alone = {banks: cycles(tmp_path, banks, 1, 512) for banks in (0, 4, 2, 1)}
    assert alone[0] <= alone[4] <= alone[2] <= alone[1]
    assert alone[1] > 1.5 * alone[0], "three operands through one port take three cycles"
    assert cycles(tmp_path, 1, 3, 512) < 1.1 * alone[0], "with enough waves, three collectors hide it"


@pytest.mark.parametrize(("registers", "accumulators", "waves"), [(64, 0, 8), (64, 64, 8), (64, 128, 4), (128, 64, 4)])
def test_accumulators_in_a_file_of_their_own_limit_by_themselves(registers: int, accumulators: int, waves: int) -> None:
    """Two schedulers, each with 256 registers of a 64-wide wave in either file."""
    spec = described("mi300a")
    unit = attrs.evolve(spec["compute_unit"], schedulers=2, waves=64, workgroups=64)
    file = attrs.evolve(spec["register_file"], size=128 << 10, accumulators="split", accumulator_size=128 << 10)
    held = residence(unit, file, spec["local_memory"], 64, registers, 0, accumulators)
    assert held.workgroups == waves
