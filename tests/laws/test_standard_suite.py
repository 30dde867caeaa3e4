"""The standard suite on two devices keeps its laws: bytes, sectors, operations, the least time they allow, and who must not win."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from archex.base.options import Options
from archex.describe.fit import instances
from archex.engine import tables
from archex.simulate import simulate
from archex.suite.launch import Launch, read_folder
from archex.suite.laws import LAWS, Law, law
from archex.sweeps.settings import KERNELS
from launches import device

pytestmark = pytest.mark.slow
DEVICES = ("h200", "mi300a")
ON = pytest.mark.parametrize("name", DEVICES)
EACH = pytest.mark.parametrize("launch_id", [launch_id for launch_id in LAWS if launch_id in read_folder(KERNELS / "standard")])
#: What lines at the ends of buffers, parameters and code may add.
ODDS = 65536


@cache
def launches(folder: str) -> dict[str, Launch]:
    return read_folder(KERNELS / folder)


@cache
def row(name: str, launch_id: str) -> dict[str, Any]:
    return simulate(device(name), launches("standard")[launch_id], Options())


def law_of(launch_id: str) -> Law:
    found = law(launches("standard")[launch_id])
    assert found is not None
    return found


@ON
@EACH
def test_bytes_and_sectors(name: str, launch_id: str) -> None:
    found, least, spec = row(name, launch_id), law_of(launch_id), device(name).spec
    held = sum(spec[level].size * instances(spec, level) for level in spec.memory_path[1:-1])
    assert found["dram_read_bytes"] >= 0.999 * least.read
    assert found["dram_write_bytes"] >= least.written - held
    for bytes_touched, column in ((least.loaded, "global_load_sectors"), (least.stored, "global_store_sectors")):
        if bytes_touched is not None:
            assert found[column] * spec["vector_cache"].sector == pytest.approx(bytes_touched, rel=0.002)
    if least.loaded is not None:
        assert found["dram_read_bytes"] <= 1.05 * least.read + ODDS
        assert found["dram_write_bytes"] <= 2.05 * least.written + ODDS


def matrix_rate(name: str) -> float:
    """Multiply-adds a cycle of all matrix units together, skipped zeros counted, by the fastest of their shapes."""
    spec = device(name).spec
    shapes = spec["matrix_unit"].shapes.values()
    unit = max(shape.m * shape.n * shape.k / shape.interval for shape in shapes)
    return float(unit * spec["compute_unit"].schedulers * spec["compute_unit"].count)


@ON
@EACH
def test_never_faster_than_the_bound(name: str, launch_id: str) -> None:
    found, least, on = row(name, launch_id), law_of(launch_id), device(name)
    assert found["cycles"] >= least.read / on.tables.dram[tables.DRAM_BYTES]
    assert found["cycles"] >= least.steps * on.spec["vector_cache"].latency.cycles(on.clock_hz)
    assert found["cycles"] >= least.products / matrix_rate(name)
    assert found["bandwidth_pct"] <= 100
    assert least.flops == (found.get("flops") or 0)
    assert (found.get("mfu_pct") or 0) <= 100


@ON
def test_who_must_not_win(name: str) -> None:
    def cycles(launch_id: str) -> float:
        return float(row(name, launch_id)["cycles"])

    assert cycles("struct_of_arrays") < cycles("array_of_structs") < cycles("strided")
    assert cycles("in_flight_4") < cycles("in_flight_1")
    for better in ("transpose_padded", "transpose_swizzled"):
        assert cycles(better) < 0.5 * cycles("transpose_naive")
    rates = [row(name, f"sgemm_{kind}")["flops"] / cycles(f"sgemm_{kind}") for kind in ("naive", "tiled", "register")]
    assert rates == sorted(rates)
    steps = [cycles(f"chase_{level}") / law_of(f"chase_{level}").steps for level in ("near", "l2", "memory")]
    assert steps[0] < 0.5 * steps[1]
    assert steps[1] < 0.8 * steps[2]


@ON
@pytest.mark.parametrize("fused", ["layernorm_dropout", "bias_gelu"])
def test_fusing_never_costs(name: str, fused: str) -> None:
    one, two = row(name, fused), row(name, f"{fused}_unfused")
    for column in ("dram_read_bytes", "dram_write_bytes", "global_load_sectors", "global_store_sectors", "cycles"):
        assert one[column] <= two[column], column


@ON
def test_mechanisms_show(name: str) -> None:
    width = device(name).wave_width
    assert row(name, "transpose_padded")["local_memory_conflicts"] == 0
    assert row(name, "transpose_swizzled")["local_memory_conflicts"] == 0
    spilled = row(name, "spill")
    assert spilled["spill_bytes"] > 0
    assert spilled["private_load_requests"] > 0
    parted = row(name, "divergence")
    # The slowest of a wave's lanes, whose turns are uniform on 0..64, makes 64 w / (w + 1) of them; the mean lane 32.
    share = parted["lane_instructions"] / parted["wave_instructions"] / width
    assert 0.5 < share < 0.7
    few, many = row(name, "in_flight_1"), row(name, "in_flight_4")
    assert few["occupancy_limiter"] == many["occupancy_limiter"] == "local_memory"
