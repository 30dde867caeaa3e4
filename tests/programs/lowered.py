"""Lowering for tests: an instruction set out of its config file, one timing for all machine operations, counts against silicon."""

from __future__ import annotations

import csv
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import yaml
from archex.base.folders import conf
from archex.lowering import WaveProgram, lower, unroll
from archex.parts.abilities import Abilities, abilities_of
from archex.parts.async_copy_unit import AsyncCopyUnitSpec
from archex.parts.instruction_set import InstructionSetSpec, UnrollSpec
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.parts.matrix_unit import OPERATION, MatrixUnitSpec, ShapeSpec
from archex.programs.arguments import cluster_order
from archex.programs.build import load_function
from archex.programs.ir import Function
from archex.programs.trace import TraceSource
from archex.suite.launch import Launch, read_folder
from running import REFERENCE

MATRIX = ("wgmma", "mma.sync", "wmma", "mma.sp", "cp.async", "mbarrier", "ldmatrix", "cluster", "mapa")


class Timing(NamedTuple):
    """One timing for all."""

    pipe: int = 0
    alternative: int = -1
    interval: float = 1
    latency: float = 4


UNITS = {"sm90": ("h200", "h200", 32), "gfx942": ("mi300a", "", 64)}


@cache
def abilities(name: str = "sm90") -> Abilities:
    """What the device of an instruction set has beside plain operations, as shipped."""
    matrix, copies, lanes = UNITS[name]
    data = _shipped("matrix_unit", matrix)
    shapes = {key: ShapeSpec(**shape) for key, shape in data["shapes"].items()}
    return abilities_of(
        lanes, MatrixUnitSpec(pipes={}, shapes=shapes), AsyncCopyUnitSpec(**_shipped("async_copy_unit", copies)) if copies else None
    )


def _shipped(slot: str, name: str) -> dict[str, Any]:
    data = yaml.safe_load((conf() / slot / f"{name}.yaml").read_text())
    return {key: value for key, value in data.items() if key not in ("sources", "name", "defaults")}


TIMINGS = dict.fromkeys([*MACHINE_OPERATIONS, *(OPERATION + shape for name in UNITS for shape in abilities(name).shapes)], Timing())


@cache
def instruction_set(name: str = "sm90") -> InstructionSetSpec:
    """An instruction set as shipped."""
    data = _shipped("instruction_set", name)
    data["unroll"] = UnrollSpec(**data["unroll"])
    return InstructionSetSpec(**data)


def lowered(function: Function, registers: int | None = None, name: str = "sm90", width: int = 32) -> tuple[Function, WaveProgram]:
    """The function as the assembler changes it, and its machine code."""
    del width
    final = unroll(function, instruction_set(name), abilities(name))
    return final, lower(final, instruction_set(name), TIMINGS, registers, abilities(name))


@cache
def launches(matrix: bool = False) -> dict[str, Launch]:
    """The reference launches without matrix, asynchronous and cluster instructions, or those with them."""
    found = read_folder(REFERENCE / "h200")
    with_them: dict[str, bool] = {}
    for launch in found.values():
        name = str(launch.ptx)
        if name not in with_them:
            text = launch.ptx.read_text()
            with_them[name] = any(word in text for word in MATRIX)
    return {key: launch for key, launch in found.items() if with_them[str(launch.ptx)] == matrix}


@cache
def silicon() -> dict[str, dict[str, str]]:
    """Reference rows by launch."""
    rows: dict[str, dict[str, str]] = {}
    for name in ("cuda_kernels.csv", "triton_kernels.csv"):
        with (REFERENCE / "h200" / name).open() as file:
            rows |= {row["id"]: row for row in csv.DictReader(file)}
    return rows


@cache
def program(ptx: str, registers: int) -> tuple[Function, WaveProgram]:
    """Lowered code of a reference program."""
    return lowered(load_function(ptx), registers)


def counts(launch: Launch, workgroups: int, *operations: str) -> list[float]:
    """Executed machine instructions of a whole launch, all and by operation, from some of its workgroups."""
    final, code = program(str(launch.ptx), launch.registers("sm90"))
    total = launch.grid[0] * launch.grid[1] * launch.grid[2]
    source = TraceSource(final, launch, 32, 128, tracing=False)
    order = cluster_order(launch.grid, source.cluster).reshape(-1, source.cluster_size)
    some = min(max(1, workgroups // source.cluster_size), len(order))
    executed = source.count(order[(np.arange(some) * (len(order) / some)).astype(np.int64)].ravel())[0].mean(axis=0) * total
    per_block = [np.array([names.count(name) for names in code.operations]) for name in operations]
    return [float(executed @ code.block_instructions), *(float(executed @ found) for found in per_block)]
