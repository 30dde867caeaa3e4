"""What buffers hold: a function of seed, name and index; as launch folders state it."""

from __future__ import annotations

import numpy as np
import pytest
from archex.programs.buffers import ALIGNMENT, DTYPES, Buffer, Fill, place, read_elements
from hypothesis import given, settings
from hypothesis import strategies as st


@given(st.integers(1, 3000), st.sampled_from([4, 8, 64, 128]), st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_random_cycle_is_one_cycle_through_all_nodes(nodes: int, stride: int, seed: int) -> None:
    step = stride // 4
    words = read_elements(Buffer("c", "u32", nodes * stride, Fill("random_cycle", stride_bytes=stride, seed=seed)))
    targets = words[::step]
    assert np.array_equal(np.sort(targets), np.arange(nodes) * step)
    at, seen = 0, 0
    while True:
        at, seen = int(words[at]), seen + 1
        if at == 0:
            break
    assert seen == nodes
    assert not np.delete(words.reshape(nodes, step), 0, axis=1).any()


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bf16"])
def test_uniform_covers_its_range(dtype: str) -> None:
    size = DTYPES[dtype][0]
    found = read_elements(Buffer("u", dtype, 4000 * size, Fill("uniform", -0.5, 0.5))).astype(np.float64)
    if dtype[0] == "f":
        assert -0.5 <= found.min() < -0.49
        assert 0.49 < found.max() <= 0.5
        assert abs(found.mean()) < 0.02
        assert len(np.unique(found)) > (1000 if dtype == "f16" else 3990)
    else:
        assert not found.any()  # truncated towards zero


def test_uniform_whole_numbers_exclude_the_upper_end() -> None:
    found = read_elements(Buffer("i", "i32", 40000, Fill("uniform_int", -3, 9)))
    assert np.array_equal(np.unique(found), np.arange(-3, 9))
    assert np.bincount(found + 3).min() > 700
    wide = read_elements(Buffer("w", "i64", 8000, Fill("uniform_int", -(2**60), 2**60)))
    assert wide.min() < -(2**58)
    assert wide.max() > 2**58
    assert (np.abs(wide) <= 2**60).all()


def test_steps_bands_and_types() -> None:
    assert np.array_equal(read_elements(Buffer("a", "i32", 40, Fill("arange", step=16))), np.arange(10) * 16)
    assert np.array_equal(read_elements(Buffer("a", "f64", 80, Fill("arange", step=0.25))), np.arange(10) * 0.25)
    assert np.array_equal(read_elements(Buffer("a", "u8", 300, Fill("arange", step=3))), (np.arange(300) * 3).astype(np.uint8))
    k = np.arange(200)
    assert np.array_equal(read_elements(Buffer("b", "i32", 800, Fill("banded", row_length=7, columns=11))), (k // 7 + k % 7) % 11)
    assert not read_elements(Buffer("z", "f32", 64)).any()
    raw = np.arange(12, dtype=np.float32)
    assert np.array_equal(read_elements(Buffer("f", "f32", 48, Fill("file"), raw.tobytes())), raw)


def test_contents_depend_on_name_and_seed_and_not_on_where_one_looks() -> None:
    fill = Fill("uniform", 0, 1)
    a, b = Buffer("A", "f32", 4000, fill), Buffer("B", "f32", 4000, fill)
    assert not np.array_equal(read_elements(a), read_elements(b))
    assert not np.array_equal(read_elements(a), read_elements(a, 1))
    assert np.array_equal(read_elements(a, 0, 100, 50), read_elements(a)[100:150])
    fixed = Fill("uniform", 0, 1, seed=5)
    assert np.array_equal(read_elements(Buffer("A", "f32", 400, fixed), 1), read_elements(Buffer("B", "f32", 400, fixed), 2))


def test_placement_is_ascending_aligned_and_leaves_gaps() -> None:
    buffers = [Buffer(name, "f32", size) for name, size in (("A", 4), ("B", 5 << 20), ("C", 2 << 20), ("D", 100))]
    addresses = place(buffers)
    ends = 0
    for buffer in buffers:
        assert addresses[buffer.name] % ALIGNMENT == 0
        assert addresses[buffer.name] >= ends + ALIGNMENT * (ends > 0)
        ends = addresses[buffer.name] + -(-buffer.size // ALIGNMENT) * ALIGNMENT
    assert addresses == place(buffers)
