"""Cleaned functions do what their sources do: random programs and every kernel of the reference, one lane at a time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from archex.base.folders import reference
from archex.programs.build import load_function
from archex.programs.clean import clean
from archex.programs.ir import Function
from evaluator import agree, run
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ptx import body

from programs import build

KERNELS = sorted(reference().rglob("*.ptx"))


def parameters(function: Function, random: Random) -> bytes:
    block = bytearray(sum(parameter.size for parameter in function.parameters) + 64)
    for place, parameter in enumerate(function.parameters):
        value = 0x1000_0000 * (place + 1) if parameter.size == 8 else random.choice((1, 2, 3, 5, 8, 16, 33, 100))
        block[parameter.offset : parameter.offset + parameter.size] = value.to_bytes(parameter.size, "little")
    return bytes(block)


def specials(random: Random) -> dict[str, int]:
    return {
        "tid.x": random.choice((0, 1, 31, 32, 77)),
        "ctaid.x": random.choice((0, 1, 5)),
        "ntid.x": random.choice((32, 64, 256)),
        "tid.y": random.choice((0, 3)),
    }


def check(source: Function, cleaned: Function, seed: int, limit: int) -> None:
    random = Random(seed)
    block, values = parameters(source, random), specials(random)
    assert agree(run(source, block, values, limit), run(cleaned, block, values, limit)) == ""


@given(st.integers(0, 10**6))
@settings(max_examples=120, deadline=None)
def test_random_programs(seed: int) -> None:
    source = build(body(seed))
    cleaned = clean(source)
    for case in range(3):
        check(source, cleaned, case, 2000)


@pytest.mark.parametrize("path", KERNELS[::4], ids=lambda path: path.stem[:50])
def test_reference_kernels(path: Path) -> None:
    source = load_function(path, clean=False)
    cleaned = clean(source)
    before = sum(len(block.operations) for block in source.blocks)
    assert sum(len(block.operations) for block in cleaned.blocks) <= before
    check(source, cleaned, 1, 400)


@pytest.mark.slow
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem[:50])
def test_all_reference_kernels(path: Path) -> None:
    source = load_function(path, clean=False)
    cleaned = clean(source)
    for seed in range(3):
        check(source, cleaned, seed, 1500)


def test_the_source_is_left_alone() -> None:
    source = build(body(7))
    again = build(body(7))
    clean(source)
    assert source == again
