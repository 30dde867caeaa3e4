"""What a scheduler does to a cache: waves that revisit more lines than fit, on the device `tiny`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from archex.suite.launch import read_folder
from tests.laws.launches import device, run

REVISIT = Path(__file__).resolve().parents[2] / "examples/cache_thrift/revisit"


@cache
def revisit(scheduler: str) -> dict[str, Any]:
    """16 waves a compute unit go round 4 lines each; the vector cache holds 32 of the 64."""
    (launch,) = read_folder(REVISIT).values()
    return run(device("tiny", wave_scheduler=scheduler), launch)


def test_waves_in_turn_never_find_a_line_again() -> None:
    """Least recently used, gone round by more lines than fit: each line has just gone when its wave comes back to it."""
    assert revisit("loose_round_robin")["vector_cache_hit_pct"] < 10


def test_holding_waves_back_keeps_their_lines() -> None:
    conscious, turns, greedy = revisit("cache_conscious"), revisit("loose_round_robin"), revisit("greedy_then_oldest")
    assert conscious["vector_cache_hit_pct"] > turns["vector_cache_hit_pct"] + 20
    assert conscious["l2_read_sectors"] <= greedy["l2_read_sectors"]
    assert conscious["cycles"] < turns["cycles"]
    assert conscious["wave_instructions"] == turns["wave_instructions"], "the same work"


@pytest.mark.parametrize("scheduler", ["cache_conscious", "two_level", "oldest_first"])
def test_every_wave_comes_to_its_end(scheduler: str) -> None:
    assert revisit(scheduler)["wave_instructions"] == revisit("loose_round_robin")["wave_instructions"]
