"""Engines of the command processor that go round their queues: what a turn costs, and when there is none."""

from __future__ import annotations

from itertools import pairwise

import attrs
import pytest
from archex.timeline import Builder, Machine
from machines import changed, mixed, ran


def processor(engines: int = 1, **numbers: float) -> Machine:
    """h200 with so many engines, and deep rings."""
    given = {"turn": 0.0, "look": 0.0, "leave": 0.0} | numbers
    return attrs.evolve(changed("h200", "processor", engines=engines, **given), host=changed("h200", "host", depth=1 << 20).host)


def total(steps: Builder, machine: Machine) -> float:
    return ran(steps.sync("all"), machine).total_ns


def ring(streams: int, machine: Machine, times: int = 40, beside: int = 0) -> float:
    """Kernels that go round streams behind a long one; beside: streams in which a kernel runs all the while."""
    work = (
        Builder(streams=[f"s{n}" for n in range(8)])
        .kernel("k", us=5, units=1)
        .kernel("long", us=1000, units=1)
        .kernel("all", us=3000, units=1)
    )
    for n in range(beside):
        work.launch("all", stream=f"s{streams + n}")
    work.launch("long", stream="s0").record("a", stream="s0")
    for n in range(times):
        work.launch("k", stream=f"s{n % streams}")
        if streams > 1:
            work.record(f"e{n}", stream=f"s{n % streams}", time=False).wait(f"e{n}", stream=f"s{(n + 1) % streams if n < times - 1 else 0}")
    return ran(work.record("z", stream="s0").sync("all"), machine).elapsed("a", "z")


def test_a_round_costs_a_turn_and_half_a_look_at_each_other_queue() -> None:
    for streams in (2, 3, 5):
        more = ring(streams, processor(turn=1000.0, look=400.0)) - ring(streams, processor())
        # The last kernels find fewer that wait.
        assert 40 * (1000 + 200 * (streams - 1)) - 2000 * streams <= more <= 40 * (1000 + 200 * (streams - 1))


def test_an_engine_for_each_queue_takes_no_turns() -> None:
    costs = {"turn": 1000.0, "look": 400.0, "leave": 500.0}
    assert ring(1, processor(1, **costs)) == ring(1, processor())
    for streams in (2, 4, 8):
        assert ring(streams, processor(8, **costs)) == ring(streams, processor(8))


def test_kernels_that_only_run_take_no_turns() -> None:
    costs = {"turn": 1000.0, "look": 400.0, "leave": 500.0}
    assert ring(1, processor(1, **costs), beside=6) == pytest.approx(ring(1, processor(1, **costs)))


def test_branches_start_a_turn_apart() -> None:
    work = (
        Builder(streams=[f"s{n}" for n in range(4)])
        .kernel("k", us=50, units=1)
        .launch("k", stream="s0")
        .record("e", stream="s0", time=False)
    )
    for n in range(1, 4):
        work.wait("e", stream=f"s{n}").launch("k", stream=f"s{n}")
    found = ran(work.sync("all"), processor(turn=1000.0, look=400.0))
    starts = sorted(c.started for c in found.commands if c.kind == "kernel")[1:]
    packets = 2 * found.machine.processor.packet
    assert all(after - before == pytest.approx(1000 + packets, abs=packets) for before, after in pairwise(starts))


def test_lanes_of_kernels_take_a_turn_and_a_leave_each() -> None:
    work = Builder(streams=["a", "b", "c"]).kernel("long", us=1000, units=1).kernel("k", us=0.1, units=1).launch("long", stream="a")
    work.record("e", stream="a", time=False).wait("e", stream="b").wait("e", stream="c")
    for _ in range(20):
        for stream in "abc":
            work.launch("k", stream=stream)
    kernels = [c for c in ran(work.sync("all"), processor(turn=2000.0, leave=500.0)).commands if c.name == "k"]
    each = (max(c.started for c in kernels) - min(c.started for c in kernels)) / 59
    assert each == pytest.approx(2500, rel=0.1)


@pytest.mark.parametrize("seed", range(6))
def test_turns_only_delay(seed: int) -> None:
    """Nothing is lost, streams keep their order, and what costs nothing takes no longer."""
    free, dear = (ran(mixed(seed), processor(1, turn=turn, look=400.0, leave=600.0)) for turn in (0.0, 3000.0))
    assert [(c.kind, c.name) for c in free.commands] == [(c.kind, c.name) for c in dear.commands]
    for stream in dear.workload.streams:
        own = [c for c in dear.commands if c.stream == stream]
        assert all(before.ended <= after.started + 1e-6 for before, after in pairwise(own))


def starts(nodes: dict[str, dict[str, object]], **numbers: float) -> list[float]:
    """When kernels of a graph begin, from the first on."""
    work = Builder().kernel("k", us=50, units=1).graph("g", nodes).instantiate("g").replay("g").sync("main")
    begun = sorted(c.started for c in ran(work, processor(2, **numbers)).commands if c.kind == "kernel")
    return [time - begun[0] for time in begun]


def test_roots_of_a_graph_are_taken_up_one_by_one_and_then_side_by_side() -> None:
    nodes = {f"n{n}": {"launch": "k"} for n in range(12)}
    found = starts(nodes, turn=1000.0, graph_issue=100.0)
    assert found == pytest.approx([*(1000.0 * n for n in range(8)), *(7000 + 100.0 * n for n in range(1, 5))])
    assert starts(nodes, graph_issue=100.0) == pytest.approx([100.0 * n for n in range(12)])


@pytest.mark.parametrize(("width", "more"), [(4, 0), (5, 700)])
def test_a_wide_fork_of_a_graph_begins_later(width: int, more: float) -> None:
    nodes = {"first": {"launch": "k"}, **{f"n{n}": {"launch": "k", "after": ["first"]} for n in range(width)}}
    wide, plain = (starts(nodes, graph_fan=4, graph_wide=cost) for cost in (700.0, 0.0))
    assert [late - early for early, late in zip(plain, wide, strict=True)] == pytest.approx([0, *[more] * width])
