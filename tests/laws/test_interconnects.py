"""Ways over links: mean distances and rates in closed form, latency by hops, what a narrow link leaves of a copy."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from archex import hookimpl
from archex.assembly import assemble
from archex.assembly.routes import Routes, routes
from archex.assembly.topology import topology
from archex.base import layout as lay
from archex.base.errors import RequestError
from archex.base.units import Duration
from archex.describe import describe
from archex.parts.interconnect import Interconnect, Link, LinkKind
from archex.registry import load
from archex.testing.devices import compose, described
from tests.engine.synthetic import MEMORY, Wave, affine, device, op, program, simulate
from tests.laws.kernels import VECTOR_ADD
from tests.laws.launches import launch, run

HOP = 5


def ways(kind: dict[str, Any], nodes: int, **more: Any) -> Routes:
    """The routes of a device with as many compute units and slices as nodes."""
    values = {"compute_unit.count": nodes, "l2.slices": nodes} | {f"fabric.{key}": value for key, value in kind.items()} | more
    spec = described("tiny", values)
    found = routes(spec, topology(spec), spec.clock_hz)
    assert found is not None
    return found


@pytest.mark.parametrize(("columns", "rows"), [(8, 8), (4, 4), (8, 4), (5, 3), (1, 7)])
def test_mean_distance_of_a_mesh(columns: int, rows: int) -> None:
    """(n^2 - 1) / 3n in each direction, over all pairs of nodes."""
    found = ways({"name": "mesh", "columns": columns, "rows": rows, "hop": HOP}, columns * rows)
    mean = sum((n * n - 1) / (3 * n) for n in (columns, rows))
    assert found.latency.mean() == pytest.approx(HOP * mean)
    assert found.latency.max() == HOP * (columns + rows - 2)


@pytest.mark.parametrize("stops", [2, 3, 8, 15, 16])
def test_mean_distance_of_a_ring(stops: int) -> None:
    """N / 4 where N is even, (N^2 - 1) / 4N where it is odd."""
    found = ways({"name": "ring", "stops": stops, "hop": HOP}, stops)
    assert found.latency.mean() == pytest.approx(HOP * (stops / 4 if stops % 2 == 0 else (stops**2 - 1) / (4 * stops)))
    assert found.latency.max() == HOP * (stops // 2)


@pytest.mark.parametrize("size", [2, 4, 8])
def test_the_middle_of_a_mesh_limits_it(size: int) -> None:
    """A quarter of all bytes goes from one half to the other, over one link in each row: 4 x rows x width in all."""
    found = ways({"name": "mesh", "columns": size, "rows": size, "hop": HOP, "width": "16 B/cycle"}, size**2)
    assert found.total_rate == pytest.approx(4 * size * 16)


@pytest.mark.parametrize("stops", [8, 16])
def test_the_links_of_a_ring_limit_it(stops: int) -> None:
    """N / 4 links of 2 N a way: 8 x width in all, whatever N."""
    found = ways({"name": "ring", "stops": stops, "hop": HOP, "width": "16 B/cycle"}, stops)
    assert found.total_rate == pytest.approx(8 * 16)


def test_steps_of_a_hierarchy() -> None:
    """Nothing within a group, two links to another group, two more to another die; a group's link carries what isn't its own."""
    kind = {"name": "hierarchy", "group_hop": 3, "die_hop": 20, "group_width": "30 B/cycle", "die_width": "1000 B/cycle"}
    found = ways(kind, 16, **{"compute_unit.groups": 4, "compute_unit.dies": 2})
    group = np.arange(16) // 4
    die = group // 2
    same_group, same_die = group[:, None] == group[None, :], die[:, None] == die[None, :]
    assert (found.latency == np.where(same_group, 0, np.where(same_die, 6, 46))).all()
    assert found.group_rate == pytest.approx(30 / (3 / 4))


def test_a_load_takes_as_much_longer_as_its_way() -> None:
    """Slices in turn: line k lies in slice k mod 4, as far as the table says."""
    added = np.array([[0.0, 7.0, 20.0, 41.0]])

    def latency(line: int, table: np.ndarray) -> int:
        tables = device(l1_slices=4, l1_hashed=0, l1_routed=1)._replace(routes=table)
        code = program([op(lay.LOAD, MEMORY, 1, 0, 0, (), 0, 4), op(dst=1, src=(0,))], [op(lay.EXIT, pipe=-1, kind_class="branch")])

        def make(workgroup: int, wave: int) -> Wave:
            return [(0, 32), (1, 32)], [affine((1 << 30) + 128 * line, 0)], []

        return int(simulate(tables, code, make).last_end())

    found = [latency(line, added) - latency(line, np.zeros((1, 4))) for line in range(8)]
    assert found == [0, 7, 20, 41] * 2


def test_a_narrow_ring_slows_a_copy_to_its_rate(tmp_path: Path) -> None:
    """Both buffers pass the links: bytes over cycles stay below the rate that the links leave, and come near it."""
    values = {"fabric.name": "ring", "fabric.stops": 2, "fabric.hop": HOP, "memory.bandwidth": "400 GB/s"}
    work = launch(tmp_path, VECTOR_ADD, 256, 48, read=4 << 20)
    wide = run(assemble(described("tiny", values)), work)
    narrow_device = assemble(described("tiny", values | {"fabric.width": "2 B/cycle"}))
    ways_of = routes(narrow_device.spec, topology(narrow_device.spec), narrow_device.clock_hz)
    assert ways_of is not None
    narrow = run(narrow_device, work)
    moved = 32 * narrow["l2_read_sectors"]
    assert moved / narrow["cycles"] <= ways_of.total_rate
    assert moved / narrow["cycles"] > 0.7 * ways_of.total_rate
    assert narrow["cycles"] > 1.5 * wide["cycles"]


def test_a_crossbar_has_no_ways() -> None:
    spec = described("tiny")
    assert routes(spec, topology(spec), spec.clock_hz) is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda place: 1 // 0, "raised ZeroDivisionError: integer division or modulo by zero (from compute unit 0 to slice 0)"),
        (lambda place: [Link(0, 1, 3)], "3 must be a kind of link, 0 to 0 (from compute unit 0 to slice 0)"),
        (lambda place: [Link(0, 1, 0), Link(1, 0, 0)], "passes a node twice (from compute unit 0 to slice 0)"),
        (lambda place: [Link(0, 1, 0), Link(2, 3, 0)], "2 must be where the link before ends, 1 (from compute unit 0 to slice 0)"),
    ],
)
def test_a_wrong_way_names_the_part(answer: Any, said: str) -> None:
    class Lost(Interconnect):
        """Doesn't know the way."""

        name = "lost"
        link_kinds = classmethod(lambda cls, spec: (LinkKind(Duration(1, "cycles"), None),))  # type: ignore[assignment]

        @staticmethod
        def route(place: Any, params: Any) -> Any:
            return answer(place)

    module = ModuleType("mine")
    module.archex_parts = hookimpl(lambda: [Lost])  # type: ignore[attr-defined]
    config = compose("tiny", {"fabric.name": "lost"})
    with pytest.raises(RequestError) as caught:
        assemble(describe(config, load({"mine": module})))
    shown = f"interconnect.lost.route: {said}"
    assert [str(problem) for problem in caught.value.problems] == [shown]
