"""Laws of a machine of 64-lane waves on 16-lane SIMDs with a scalar unit, several dies and a cache in front of memory."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archex.assembly import Device, assemble
from archex.base.options import Options
from archex.programs.buffers import Buffer
from archex.simulate import simulate
from archex.suite.launch import Argument, Launch
from archex.testing.devices import described

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
REGISTERS = ".reg .f32 %f<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\n"
OPEN = "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\ncvt.rn.f32.u32 %f0, %r1;\n"
OPEN += "mov.f32 %f1, 0f3F000000;\n"
CLOSE = "mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d0, %d2;\nst.global.f32 [%d3], %f0;\nret;\n}\n"
CHAIN = "fma.rn.f32 %f0, %f0, %f1, %f1;\n"


@cache
def device(**changes: Any) -> Device:
    return assemble(described("mi300a", {key.replace("__", "."): value for key, value in changes.items()}))


def run(folder: Path, body: str, threads: int = 64, workgroups: int = 1, on: Device | None = None, **more: Any) -> dict[str, Any]:
    """A row of a launch of `body` between the common beginning and end."""
    path = folder / f"k{abs(hash(body))}.ptx"
    path.write_text(HEAD + REGISTERS + OPEN + body + CLOSE)
    buffers = (Buffer("out", "f32", 1 << 20), Buffer("in", "f32", 1 << 20))
    arguments = (Argument("buffer", "out"), Argument("buffer", "in"), Argument("i32", 7))
    launch = Launch("k", path, "k", (workgroups, 1, 1), (threads, 1, 1), arguments=arguments, buffers=buffers, **more)
    return simulate(on or device(), launch, Options(sampling="off"))


def test_a_wave_of_64_lanes_takes_a_simd_of_16_four_cycles(tmp_path: Path) -> None:
    short, long = (run(tmp_path, CHAIN * n)["cycles"] for n in (100, 300))
    assert (long - short) / 200 == pytest.approx(4, abs=0.6)  # fetch of code included
    for waves, rate in ((4, 4), (8, 8), (16, 16)):  # a SIMD has one, two, four of them
        short, long = (run(tmp_path, CHAIN * n, threads=64 * waves)["cycles"] for n in (100, 300))
        assert (long - short) / 200 == pytest.approx(rate, rel=0.15)


def test_scalar_operations_leave_the_vector_pipe_alone(tmp_path: Path) -> None:
    uniform = "mad.lo.s32 %r0, %r0, %r0, 3;\n"
    by_lane = uniform.replace("%r0", "%r2")
    use = "add.u32 %r0, %r0, %r2;\ncvt.rn.f32.u32 %f2, %r0;\nadd.f32 %f0, %f0, %f2;\n"

    def slope(step: str) -> float:
        few, many = (run(tmp_path, "mov.u32 %r2, %tid.x;\n" + (CHAIN * 4 + step) * n + use, threads=1024)["cycles"] for n in (40, 120))
        return float(many - few) / 80

    alone = slope("")
    assert slope(uniform) < alone * 1.15
    assert slope(by_lane) > alone * 1.8  # a 32-bit product takes a SIMD 16 cycles


def test_workgroups_go_to_the_dies_in_turn() -> None:
    tables = device().tables
    dies = tables.unit_die[tables.unit_order]
    assert np.array_equal(dies, np.arange(228) % 6)


LOAD = "ld.global.f32 %f0, [%d1];\n"


def test_each_die_has_its_own_l2_and_all_share_the_cache_behind(tmp_path: Path) -> None:
    one = run(tmp_path, LOAD, workgroups=1)
    six = run(tmp_path, LOAD, workgroups=6)
    twelve = run(tmp_path, LOAD, workgroups=12)
    assert (one["l2_read_sectors"], six["l2_read_sectors"], twelve["l2_read_sectors"]) == (1, 6, 12)
    assert one["dram_read_bytes"] == six["dram_read_bytes"] == twelve["dram_read_bytes"] > 0
    assert six["l2_hit_pct"] == pytest.approx(one["l2_hit_pct"])  # a die finds nothing that another has read
    assert twelve["l2_hit_pct"] > six["l2_hit_pct"]


def test_a_level_added_by_configuration_alone_is_used(tmp_path: Path) -> None:
    without = assemble(described("mi300a", {"memory_path": ["vector_cache", "l2", "memory"], "memory_side_cache": None}))
    first, second = (run(tmp_path, LOAD, workgroups=600, on=on) for on in (device(), without))
    assert first["memory_side_cache_hit_pct"] > 50
    assert not second["memory_side_cache_hit_pct"]
    assert second["dram_read_bytes"] > 3 * first["dram_read_bytes"]


def test_a_launch_ends_when_results_are_where_every_die_sees_them(tmp_path: Path) -> None:
    slow = device(memory_side_cache__port_read="21 GB/s", memory_side_cache__port_write="21 GB/s")  # 10 bytes a cycle
    assert run(tmp_path, "", on=slow)["cycles"] - run(tmp_path, "")["cycles"] == pytest.approx(256 / 10, abs=8)


def test_a_warm_launch_finds_its_data_in_the_cache_all_dies_share(tmp_path: Path) -> None:
    cold, warm = (run(tmp_path, LOAD, workgroups=6, caches=caches) for caches in ("cold", "warm"))
    assert warm["dram_read_bytes"] == 0 < cold["dram_read_bytes"]
    assert warm["l2_read_sectors"] == 6  # the second levels begin empty
    assert warm["cycles"] < cold["cycles"]
