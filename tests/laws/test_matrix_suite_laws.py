"""Laws of matrix units and asynchronous copies: peak rates, sparse against dense, stages of a pipeline, copies to a whole cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import matrix_kernels as kernels
import pytest
from archex.assembly import Device
from archex.base.options import Options
from archex.describe.variants import missing
from archex.parts.matrix_unit import ShapeSpec
from archex.simulate import simulate
from archex.suite.launch import Launch, read_folder
from launches import device, launch, run

STANDARD = Path(__file__).resolve().parents[2] / "archex" / "suite" / "kernels" / "standard"
#: What two runs of the same work may differ by without one being better.
NOISE = 1.01
REGISTERS, GROUPS = "registers", "local_memory"


def rate(on: Device, element: str, source: str, sparse: bool = False) -> float:
    """Multiply-adds a cycle of a compute unit's matrix units, zeros counted: the best of its shapes."""

    def one(shape: ShapeSpec) -> float:
        return shape.m * shape.n * shape.k / shape.interval

    shapes = on.spec["matrix_unit"].shapes.values()
    fitting = [one(s) for s in shapes if element in s.elements.split() and s.source == source and s.sparse == sparse]
    return float(max(fitting) * on.spec["compute_unit"].schedulers)


def cycles(on: Device, work: Launch) -> float:
    """Of the work alone."""
    row = run(on, work)
    return float(row["cycles"] - row["launch_drain_cycles"])


def chains(on: Device, folder: Path, rounds: int, **shape: Any) -> Launch:
    """Products out of registers by as many waves of one workgroup as fill every unit twice."""
    spec = on.spec["compute_unit"]
    return launch(folder, kernels.register_chains(8, 8, **shape), spec.schedulers * 2 * spec.wave_width, n=rounds)


def group_chains(folder: Path, rounds: int, **shape: Any) -> Launch:
    """Products out of local memory by two groups of four waves: one's copies of results hide behind the other's products."""
    return launch(folder, kernels.group_chain(each=8, **shape), 256, n=rounds, local=kernels.GROUP_LOCAL)


@pytest.mark.parametrize("name", ["a100", "mi210", "mi300a", "mi300x"])
def test_peak_out_of_registers(name: str, tmp_path: Path) -> None:
    on, rounds = device(name), 100
    work = chains(on, tmp_path, rounds)
    products = rounds * 64 * (work.block[0] // 32) * 16 * 8 * 16
    assert products / cycles(on, work) == pytest.approx(rate(on, "f16", REGISTERS), rel=0.02)


@pytest.mark.parametrize(("element", "depth"), [("f16", 16), ("e4m3", 32)])
def test_peak_out_of_local_memory(element: str, depth: int, tmp_path: Path) -> None:
    on, rounds = device("h200"), 200
    products = rounds * 8 * 2 * 64 * 128 * depth
    assert products / cycles(on, group_chains(tmp_path, rounds, elements=element)) == pytest.approx(rate(on, element, GROUPS), rel=0.02)


def test_sparsity_doubles_the_rate(tmp_path: Path) -> None:
    """Twice the length, half of it stored, in the time of the dense product. The left operand is in registers: local memory's port
    would be the limit."""
    on = device("h200")
    dense, sparse = (cycles(on, group_chains(tmp_path, 100, sparse=skipped, registers=True)) for skipped in (False, True))
    assert sparse == pytest.approx(dense, rel=0.02)


@pytest.mark.parametrize("name", ["a100", "mi300a", "mi300x"])
def test_sparsity_doubles_the_rate_out_of_registers(name: str, tmp_path: Path) -> None:
    on = device(name)
    dense, sparse = (cycles(on, chains(on, tmp_path, 30, **shape)) for shape in ({}, {"sparse": True, "k": 32}))
    assert sparse == pytest.approx(dense, rel=0.02)


def staged(stages: int, sizes: tuple[int, int, int]) -> Launch:
    """The suite's product with `stages` tiles copied asynchronously, in another size."""
    m, n, k = sizes
    whole = read_folder(STANDARD, [f"tensor_gemm_{stages}"])[f"tensor_gemm_{stages}"]
    one = next(variant.launch for variant in whole.variants if variant.name == "async")
    extents = dict(zip("ABC", (2 * m * k, 2 * k * n, 4 * m * n), strict=True))
    buffers = tuple(attrs.evolve(buffer, size=extents[buffer.name]) for buffer in one.buffers)
    given = dict(zip((3, 4, 5), sizes, strict=True))
    arguments = tuple(attrs.evolve(a, value=given[i]) if i in given else a for i, a in enumerate(one.arguments))
    return attrs.evolve(one, grid=(n // 128, m // 128, 1), buffers=buffers, arguments=arguments)


@pytest.mark.parametrize("sizes", [(1024, 1024, 512), (256, 512, 1024), (1536, 1408, 256)])
def test_more_stages_are_never_worse(sizes: tuple[int, int, int]) -> None:
    on = device("h200")
    times = {stages: simulate(on, staged(stages, sizes), Options())["cycles"] for stages in (2, 3, 4)}
    assert times[4] <= times[2] * NOISE
    assert times[3] <= times[2] * NOISE


@pytest.mark.parametrize("cluster", [2, 4])
def test_copies_to_a_cluster_read_once(cluster: int, tmp_path: Path) -> None:
    """L2 is read once a cluster instead of once a workgroup. In one partition: a line of the other would count in both."""
    on, rounds, clusters = device("h200", fabric__group_merged=None, l2__partitions=1), 32, 8
    rows = {}
    for multicast in (False, True):
        body = kernels.shared_stream(cluster, multicast)
        size = clusters * rounds * kernels.CHUNK
        one = launch(tmp_path, body, 128, clusters * cluster, n=rounds, local=kernels.SHARED_LOCAL, read=size)
        rows[multicast] = run(on, attrs.evolve(one, cluster=(cluster, 1, 1)))
    assert rows[True]["l2_read_sectors"] == clusters * rounds * kernels.CHUNK / 32
    assert rows[False]["l2_read_sectors"] == cluster * rows[True]["l2_read_sectors"]


@pytest.mark.parametrize("name", ["a100", "h100_sxm", "h200", "mi210", "mi300a", "mi300x"])
def test_every_launch_has_a_program(name: str) -> None:
    """What a variant requires leaves each device at least one program of every launch."""
    spec = device(name).spec
    for whole in read_folder(STANDARD).values():
        lacking = [missing(spec, variant.requires) for variant in whole.variants]
        assert not lacking or not all(lacking), (whole.id, lacking)
