"""Blocks, dominators, post-dominators, loops: against definitions by paths."""

from __future__ import annotations

from archex.programs import graph
from archex.programs.ir import Block, Function, Operation, Register
from hypothesis import given, settings
from hypothesis import strategies as st

from programs import build


def function_of(edges: list[list[int]]) -> Function:
    """A function whose block i goes to edges[i] (two at most)."""
    blocks = []
    for targets in edges:
        if not targets:
            blocks.append(Block([Operation("exit")]))
        elif len(targets) == 1:
            blocks.append(Block([], next=targets[0]))
        else:
            blocks.append(Block([Operation("branch", guard=Register(0), target=(targets[0],))], next=targets[1]))
    return Function("f", blocks, register_dtypes=["pred"], register_names=["%p"])


def reaches(edges: list[list[int]], start: int, goal: int, without: int) -> bool:
    seen, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        if node == without or node in seen:
            continue
        if node == goal:
            return True
        seen.add(node)
        waiting += edges[node]
    return False


GRAPHS = st.integers(2, 8).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=2, unique=True), min_size=n - 1, max_size=n - 1).map(lambda e: [*e, []])
)


@given(GRAPHS)
@settings(max_examples=150, deadline=None)
def test_dominators_by_paths(edges: list[list[int]]) -> None:
    found = graph.immediate_dominators(edges, 0)
    nodes = [n for n in range(len(edges)) if reaches(edges, 0, n, -1)]
    for node in nodes[1:] if nodes and nodes[0] == 0 else nodes:
        above = {d for d in nodes if d != node and not reaches(edges, 0, node, d)}
        chain = set()
        at = found[node]
        while at >= 0:
            chain.add(at)
            at = found[at]
        assert chain == above


@given(GRAPHS)
@settings(max_examples=150, deadline=None)
def test_post_dominators_by_paths(edges: list[list[int]]) -> None:
    function = function_of(edges)
    graph.remove_unreachable(function)
    edges = [graph.successors(block) for block in function.blocks]
    end = len(edges)
    closed = [targets or [end] for targets in edges] + [[]]
    if not all(reaches(closed, node, end, -1) for node in range(end)):
        return  # a loop without a way out has no post-dominator by this definition
    found = graph.post_dominators(function.blocks)
    for node in range(end):
        behind = {d for d in range(end) if d != node and not reaches(closed, node, end, d)}
        chain = set()
        at = found[node]
        while at >= 0:
            chain.add(at)
            at = found[at]
        assert chain == behind


def test_if_else_meets_behind() -> None:
    function = build("setp.eq.s32 %p1, %r1, 0; @%p1 bra A; mov.u32 %r2, 1; bra B; A: mov.u32 %r2, 2; B: mov.u32 %r3, %r2; ret;")
    assert [block.reconverge for block in function.blocks] == [3, 3, 3, -1]


def test_a_guarded_exit_divides_nothing() -> None:
    function = build("@%p1 bra A; @%p2 ret; mov.u32 %r2, 1; A: mov.u32 %r3, 2; ret;")
    assert function.blocks[0].reconverge == 3


def test_a_loop_without_end_is_no_error() -> None:
    function = build("L: mov.u32 %r1, 1; bra L;")
    assert function.blocks[0].reconverge == -1


def test_nested_loops() -> None:
    function = build("A: mov.u32 %r1, 1; B: mov.u32 %r2, 1; @%p1 bra B; @%p2 bra A; ret;")
    outer, inner = graph.loops(function)
    assert (outer.header, outer.depth, outer.blocks) == (0, 1, {0, 1, 2})
    assert (inner.header, inner.depth, inner.blocks, inner.parent) == (1, 2, {1}, 0)


def test_memory_slots_count_recorded_operations_only() -> None:
    body = "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1];"
    body += " ld.shared.u32 %r2, [%r1]; ld.const.u32 %r3, [%r1]; st.global.u32 [%rd1], %r2; ret;"
    assert [operation.memory_slot for operation in build(body).blocks[0].operations] == [
        -1,
        0,
        1,
        2,
        3,
        -1,
    ]  # constants that lanes may read apart too
