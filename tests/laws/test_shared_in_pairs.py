"""Compute units that have an instruction cache, a cache of constants or a local memory in pairs, against each its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from archex.assembly import Device, assemble
from archex.base import folders
from archex.base import layout as lay
from archex.base.errors import RequestError, UnsupportedError
from archex.describe import occupancy
from archex.describe.fit import instances
from archex.describe.provenance import leaves
from archex.describe.tree import tree
from archex.engine import tables as tab
from archex.testing.devices import described
from tests.engine import synthetic
from tests.laws.kernels import ARITHMETIC, EXCHANGE, EXCHANGE_LOCAL, VECTOR_ADD
from tests.laws.launches import device, launch, run

_KIB = 1024
SLOTS = ("instruction_cache", "scalar_cache", "local_memory")
ROUNDS = 64
LOCAL = ".shared .align 16 .b8 lds[4096];\n"
#: Loads of one wave whose lanes all lie in one bank: the port is held for 32 cycles each, and 8 are under way.
CONFLICTS = (
    "shl.b32 %r10, %r1, 7;\nmov.u32 %r12, lds;\nadd.s32 %r12, %r10, %r12;\nmov.u32 %r21, 0;\nmov.f32 %f0, 0f00000000;\nL:\n"
    + "".join(f"ld.shared.f32 %f{k}, [%r12];\n" for k in range(1, 9))
    + "".join(f"add.f32 %f0, %f0, %f{k};\n" for k in range(1, 9))
    + "add.s32 %r21, %r21, 1;\nsetp.lt.s32 %p0, %r21, %r0;\n@%p0 bra L;\n"
)
#: Straight-line code of about 2 KiB, of the 4 KiB that the instruction cache holds.
LONG = "cvt.rn.f32.u32 %f0, %r2;\n" + "fma.rn.f32 %f0, %f0, %f0, 0f3F000000;\n" * 120


def pair(*slots: str, **changes: Any) -> Device:
    """`tiny`, whose two compute units have these in common."""
    return device("tiny", compute_unit__cluster=2, **{f"{slot}__shared_by": "cluster" for slot in slots}, **changes)


def test_a_local_memory_for_two_takes_twice_as_long_where_it_is_the_bottleneck(tmp_path: Path) -> None:
    work = launch(tmp_path, CONFLICTS, 32, 2, n=ROUNDS, local=LOCAL)
    own, shared = run(pair(), work), run(pair("local_memory"), work)
    assert own["local_memory_wavefronts"] == shared["local_memory_wavefronts"] == 2 * 8 * 32 * ROUNDS
    assert own["cycles"] > own["local_memory_wavefronts"] / 2
    assert shared["cycles"] > shared["local_memory_wavefronts"]
    assert 1.9 * own["cycles"] < shared["cycles"] <= 2 * own["cycles"]


def test_one_compute_unit_alone_has_the_whole_port(tmp_path: Path) -> None:
    work = launch(tmp_path, CONFLICTS, 32, 1, n=ROUNDS, local=LOCAL)
    assert run(pair("local_memory"), work)["cycles"] == run(pair(), work)["cycles"]


@pytest.mark.parametrize("body", [ARITHMETIC, LONG, VECTOR_ADD], ids=["arithmetic", "long", "vector_add"])
def test_a_local_memory_for_two_costs_nothing_where_none_is_used(tmp_path: Path, body: str) -> None:
    work = launch(tmp_path, body, 64, 4, n=8, read=4 << 20)
    assert run(pair("local_memory"), work)["cycles"] == run(pair(), work)["cycles"]


def test_light_use_waits_for_the_other_unit_at_most_as_long_as_its_passes_take(tmp_path: Path) -> None:
    work = launch(tmp_path, EXCHANGE, 64, 2, n=16, local=EXCHANGE_LOCAL)
    own, shared = run(pair(), work), run(pair("local_memory"), work)
    assert own["cycles"] <= shared["cycles"] <= own["cycles"] + own["local_memory_wavefronts"] / 2
    assert shared["cycles"] < 1.05 * own["cycles"]


def fetched(*shared: int, workgroups: int = 2, units: int = 2) -> dict[str, int]:
    """Counters and cycles of straight-line code of 40 lines and a constant, on as many compute units, two of which have these in common."""
    tables = synthetic.device(
        units, 1, 4, fetch_buffer=256, fetch_near_bytes=8192, fetch_middle_bytes=1 << 16, fetch_near_cycles=9, fetch_middle_cycles=18,
        fetch_far_cycles=45, fetch_cold_cycles=300, fetch_cold_next=8, constant_line=64, constant_near_bytes=2048,
        constant_middle_bytes=65536, constant_middle_extra=70, constant_cold_extra=200,
    )  # fmt: skip
    owners = np.tile(np.arange(units), (tab.OWNERS, 1))
    owners[list(shared), 1] = 0
    read = synthetic.op(lay.CONSTANT_LOAD, -1, 1, 20, 1, (), offset=128, kind_class="constant")
    code = synthetic.program([*[synthetic.op(dst=0, src=(0,))] * 320, read, synthetic.op(lay.EXIT, -1, src=(1,), kind_class="branch")])
    engine = synthetic.simulate(tables._replace(owners=owners), code, lambda workgroup, wave: ([(0, 32)], [], []), workgroups)
    return engine.counters() | {"cycles": engine.cycles()}


def test_code_is_fetched_once_for_two() -> None:
    own, shared = fetched(), fetched(tab.OWNER_CODE)
    assert own["fetch_misses"] == 2 * fetched(workgroups=1)["fetch_misses"]
    assert shared["fetch_misses"] == own["fetch_misses"] / 2
    assert shared["stall_fetch"] <= own["stall_fetch"]
    assert shared["cycles"] <= own["cycles"]


def test_a_constant_that_one_has_read_is_there_for_the_other() -> None:
    own, shared = fetched(), fetched(tab.OWNER_CONSTANT)
    assert own["stall_local_memory"] - shared["stall_local_memory"] == 200, "the second read is a hit"


@pytest.mark.parametrize("threads", [32, 128])
@pytest.mark.parametrize("workgroups", [1, 2, 7, 16])
@pytest.mark.parametrize("body", [LONG, ARITHMETIC], ids=["long", "arithmetic"])
def test_a_cache_for_two_never_costs_time_where_the_code_fits(tmp_path: Path, body: str, workgroups: int, threads: int) -> None:
    work = launch(tmp_path, body, threads, workgroups, n=8)
    own = 1.01 * run(pair(), work)["cycles"]  # waves that come in another order may end a little later
    assert run(pair("instruction_cache"), work)["cycles"] <= own
    assert run(pair("scalar_cache"), work)["cycles"] <= own


@pytest.mark.parametrize("workgroups", [2, 7, 16])
def test_code_that_comes_earlier_changes_little_where_memory_is_the_bottleneck(tmp_path: Path, workgroups: int) -> None:
    """Both units then reach memory at once, which may take its accesses in another order."""
    work = launch(tmp_path, VECTOR_ADD, 128, workgroups, read=4 << 20)
    assert run(pair("instruction_cache"), work)["cycles"] == pytest.approx(run(pair(), work)["cycles"], rel=0.02)


def test_two_have_equal_parts_of_a_local_memory() -> None:
    own, shared = pair().spec, pair("local_memory").spec
    asked = 4 * _KIB
    assert occupancy(own, 32, 16, asked).limits["local_memory"] == 8
    assert occupancy(shared, 32, 16, asked).limits["local_memory"] == 4
    assert occupancy(own, 32, 16, 32 * _KIB).workgroups == occupancy(shared, 32, 16, 16 * _KIB).workgroups == 1
    with pytest.raises(UnsupportedError, match="16512 B of local memory: a workgroup can have 16384 B"):
        occupancy(shared, 32, 16, 16 * _KIB + 128)


def test_what_is_shared_is_counted_once() -> None:
    spec = pair(*SLOTS).spec
    assert [instances(spec, slot) for slot in SLOTS] == [1, 1, 1]
    assert [instances(pair().spec, slot) for slot in SLOTS] == [2, 2, 2]
    odd = described("tiny", {"compute_unit.cluster": 2, "compute_unit.count": 6, "compute_unit.dies": 2, "compute_unit.groups": 2})
    assert instances(odd, "scalar_cache") == 6
    odd = described("tiny", {"compute_unit.cluster": 2, "compute_unit.count": 6, "compute_unit.dies": 2, "compute_unit.groups": 2,
                             "scalar_cache.shared_by": "cluster"})  # fmt: skip
    assert instances(odd, "scalar_cache") == 4, "no cluster spans two dies"


def test_each_uses_what_the_first_of_its_cluster_has() -> None:
    spec = described("tiny", {"compute_unit.cluster": 2, "compute_unit.count": 5, "instruction_cache.shared_by": "cluster"})
    code, constants, local = assemble(spec).tables.owners
    assert code.tolist() == [0, 0, 2, 2, 4]
    assert constants.tolist() == local.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"local_memory.port": "vector_cache"}, "local_memory.port: vector_cache must be own where local_memory.shared_by is cluster"),
        ({"local_memory.carve_outs": ["32 KiB"], "local_memory.array": "64 KiB"}, "vector_cache.shared_by: compute_unit must be that of"),
        ({"local_memory.shared_by": "die"}, "local_memory.shared_by: die is not a known choice"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        described("tiny", {"compute_unit.cluster": 2, "local_memory.shared_by": "cluster"} | changes)


def test_the_preset_shares_all_three() -> None:
    preset: dict[str, Any] = yaml.safe_load((folders.experiments() / "paired_units.yaml").read_text())
    values = {path: value for path, value in leaves(preset) if ".sources." not in path}
    totals = {leaf.path: leaf.total for leaf in tree(described("mi300x", values))}
    assert totals["local_memory.size"] == "152 x 128 KiB = 19 MiB"
    assert totals["instruction_cache.size"] == "152 x 64 KiB = 9.5 MiB"
    assert totals["scalar_cache.size"].startswith("152 x 16 KiB")
