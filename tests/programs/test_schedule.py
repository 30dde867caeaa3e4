"""Orders within a register budget: what fits, what is short, what must stay."""

from __future__ import annotations

import pytest
from archex.lowering.form import Value
from archex.lowering.late import lower_loads
from archex.lowering.node import Node
from archex.lowering.schedule import length, profile, schedule

LATENCY = {"load_local": 30.0, "special": 17.0, "guard": 9.0}


def strands(count: int) -> tuple[list[Node], Value]:
    """Independent strands of work on a wide load each, summed up in the end: program order is one strand after the other."""
    nodes: list[Node] = []
    total = Value()
    for _ in range(count):
        loaded, difference, root, scaled, after = Value(words=4), Value(), Value(), Value(), Value()
        nodes.append(Node("load_local", [], [loaded]))
        nodes.append(Node("fma_f32", [loaded], [difference]))
        nodes.append(Node("special", [difference], [root]))
        nodes.append(Node("fma_f32", [root, loaded], [scaled]))
        nodes.append(Node("fma_f32", [scaled, total], [after]))
        total = after
    return nodes, total


def fits(nodes: list[Node], order: list[Node], outlive: set[Value], budget: int) -> bool:
    made: set[Value] = set()
    for node in order:
        assert all(value in made for value in node.reads if any(value in other.writes for other in nodes))
        made.update(node.writes)
    return len(order) == len(nodes) and max(profile(order, 0, outlive)) <= budget


@pytest.mark.parametrize("budget", [12, 16, 24])
def test_strands_overlap_within_the_budget(budget: int) -> None:
    nodes, total = strands(8)
    order, peak = schedule(nodes, LATENCY, 0, budget, {total})
    assert peak <= budget
    assert fits(nodes, order, {total}, budget)
    assert length(order, LATENCY) < (0.75 if budget < 24 else 0.4) * length(nodes, LATENCY)


def test_more_registers_never_make_it_longer() -> None:
    nodes, total = strands(8)
    lengths = [length(schedule(nodes, LATENCY, 0, budget, {total})[0], LATENCY) for budget in (8, 16, 32, 64)]
    assert lengths == sorted(lengths, reverse=True)


def test_a_guard_is_waited_for_longer_than_a_value() -> None:
    predicate, result = Value(words=0), Value()
    compare, guarded = Node("compare_int", [], [predicate]), Node("int_add", [predicate], [result], guarded=True)
    plain = Node("select", [predicate], [result])
    assert length([compare, guarded], LATENCY) == length([compare, plain], LATENCY) + 9


def test_a_load_of_local_memory_stands_so_far_before_its_use() -> None:
    address, loaded = Value(incoming=3), Value(words=4)
    load = Node("load_local", [address], [loaded])
    work = [Node("fma_f32", [], [Value()]) for _ in range(40)]
    use = Node("fma_f32", [loaded], [Value()])
    order = lower_loads([load, *work, use], 10)
    assert order.index(use) - order.index(load) == 11
    assert lower_loads([load, *work[:5], use], 10) == [load, *work[:5], use]


def test_a_load_stays_before_what_changes_its_address_or_memory() -> None:
    address, loaded = Value(incoming=3), Value()
    load = Node("load_local", [address], [loaded])
    work = [Node("fma_f32", [], [Value()]) for _ in range(40)]
    use = Node("fma_f32", [loaded], [Value()])
    step = Node("int_add_two", [address], [Value(registers=[3])])
    for behind in (step, Node("barrier", [], [])):
        order = lower_loads([load, work[0], behind, *work[1:], use], 10)
        assert order.index(load) < order.index(behind)


def test_loads_do_not_cross_a_barrier() -> None:
    stored, barrier = Node("store_local", [Value()], []), Node("barrier", [], [])
    load = Node("load_global", [Value()], [Value()])
    order, _ = schedule([stored, barrier, load], LATENCY, 0, 64, set(load.writes))
    assert order.index(barrier) < order.index(load)


def gathers(count: int) -> tuple[list[Node], Value]:
    """Loads from addresses that other loads give, summed up in order."""
    nodes: list[Node] = []
    total = Value()
    for _ in range(count):
        index, wide, address, loaded, after = Value(), Value(words=2), Value(words=2), Value(), Value()
        nodes.append(Node("load_global", [], [index]))
        nodes.append(Node("int_mad_wide", [index], [wide]))
        nodes.append(Node("lea", [wide], [address]))
        nodes.append(Node("load_global", [address], [loaded]))
        nodes.append(Node("fma_f32", [loaded, total], [after]))
        total = after
    return nodes, total


@pytest.mark.parametrize(("budget", "rounds"), [(40, 3), (20, 5), (12, 10)])
def test_gathers_stay_under_way_together_within_the_budget(budget: int, rounds: int) -> None:
    nodes, total = gathers(16)
    latency = {"load_global": 300.0}
    order, peak = schedule(nodes, latency, 0, budget, {total})
    assert peak <= budget
    assert length(order, latency) < 300 * rounds


def test_a_block_that_an_allocator_makes_fit_is_not_drawn_out() -> None:
    nodes, total = gathers(16)
    held = [Value(incoming=at) for at in range(12)]
    nodes.append(Node("store_global", held, []))
    latency = {"load_global": 300.0}
    order, peak = schedule(nodes, latency, 0, 14, {total, *held})
    assert peak <= 1.2 * 14 + 1
    assert length(order, latency) < 300 * 32
