"""Every algorithm does what its exchange promises: run on numbers, every rank ends with what it must."""

from __future__ import annotations

import numpy as np
import pytest
from archex.links.phases import Stage, direct, in_switch, perform, ring, send, tree
from hypothesis import given, settings
from hypothesis import strategies as st


def numbers(n: int, parts: int) -> np.ndarray:
    """(ranks, parts, lanes, elements)"""
    return np.random.default_rng(n).integers(-1000, 1000, size=(n, parts, 4, 2))


def check(kind: str, stages: list[Stage], n: int, root: int = 0) -> None:
    data = numbers(n, n)
    held = perform(stages, data, swaps=kind == "all_to_all")
    total = data.sum(axis=0)
    for rank in range(n):
        if kind == "all_reduce":
            assert np.array_equal(held[rank], total)
        elif kind == "reduce_scatter":
            assert np.array_equal(held[rank, rank], total[rank])
        elif kind == "all_gather":
            assert all(np.array_equal(held[rank, part], data[part, part]) for part in range(n))
        elif kind == "reduce":
            assert rank != root or np.array_equal(held[rank], total)
        elif kind == "broadcast":
            assert np.array_equal(held[rank], data[root])
        else:
            assert all(np.array_equal(held[rank, part], data[part, rank]) for part in range(n) if part != rank)


@given(n=st.integers(2, 12), kind=st.sampled_from(["all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce"]), data=st.data())
@settings(max_examples=40, deadline=None)
def test_rings(n: int, kind: str, data: st.DataObject) -> None:
    orders = [data.draw(st.permutations(range(n))) for _ in range(data.draw(st.sampled_from([1, 2, 4])))]
    root = data.draw(st.integers(0, n - 1))
    check(kind, ring(kind, orders, root), n, root)


@given(n=st.integers(2, 20), chain=st.integers(1, 9), kind=st.sampled_from(["all_reduce", "broadcast", "reduce"]), root=st.integers(0, 19))
@settings(max_examples=40, deadline=None)
def test_trees(n: int, chain: int, kind: str, root: int) -> None:
    check(kind, tree(kind, n, chain, root % n), n, root % n)


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"])
def test_everybody_with_everybody(kind: str, n: int) -> None:
    check(kind, direct(kind, n), n)


@pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather", "broadcast"])
def test_in_the_switch(kind: str) -> None:
    check(kind, in_switch(kind, 5, 2), 5, 2)


def test_a_send_arrives() -> None:
    data = numbers(2, 2)
    held = perform(send(2), data)
    assert np.array_equal(held[1], data[0])
    assert np.array_equal(held[0], data[0])
