"""What a request can get wrong, asserted as whole messages, all at once."""

from __future__ import annotations

from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.describe import assumed, describe, tree
from archex.testing.devices import compose, described, installed


def problems(device: str = "tiny", /, **values: Any) -> list[str]:
    """Messages for a device with overrides; `__` in a name is a dot."""
    with pytest.raises(RequestError) as caught:
        described(device, {path.replace("__", "."): value for path, value in values.items()})
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("l2.ways", 12, "l2.ways: 12 must divide 409600 lines (conf/l2/sliced_50m.yaml)"),
        ("l2.size", "64 Mib", "l2.size: 64 Mib has the unit Mib; expected one of B, KiB, MiB, GiB, TiB, kB, KB, MB, GB, TB, such as 64 MiB"
         " (conf/l2/sliced_50m.yaml)"),
        ("l2.size", "1000000 B", "l2.size: 1000000 B must be a multiple of the line (128 B) (conf/l2/sliced_50m.yaml)"),
        ("l2.sector", 48, "l2.sector: 48 must divide the line (128 B) (conf/l2/sliced_50m.yaml)"),
        ("l2.slices", 0, "l2.slices: 0 must be at least 1 (conf/l2/sliced_50m.yaml)"),
        ("l2.slices", 97, "l2.slices: 97 must be a multiple of the partitions (2) (conf/l2/sliced_50m.yaml)"),
        ("l2.write", "write_bak", "l2.write: write_bak is not a known choice; did you mean write_back? "
         "(choices: write_back, write_through, write_through_allocate) (conf/l2/sliced_50m.yaml)"),
        ("l2.line", 64, "l2.line: 64 must be at least vector_cache.line (128 B)"),
        ("l2.copy_near", "yes", "l2.copy_near: yes must be true or false (conf/l2/sliced_50m.yaml)"),
        ("l2.replacement", "lruu", "l2.replacement: lruu is not a known replacement; did you mean lru? "
         "(choices: fifo, lru, pseudo_lru, random, rrip)"
         " (conf/l2/sliced_50m.yaml)"),
        ("l2.replacement", {"name": "lru", "depth": 3}, "l2.replacement.depth: is not a known key (conf/l2/sliced_50m.yaml)"),
        ("l2.latency", "fast", "l2.latency: fast must be a time such as 40 (cycles) or 141.4 ns (conf/l2/sliced_50m.yaml)"),
        ("l2.shared_by", "dice", "l2.shared_by: dice is not a known choice; did you mean die? "
         "(choices: cluster, compute_unit, device, die, group) (conf/l2/sliced_50m.yaml)"),
        ("vector_cache.latency", -1, "vector_cache.latency: -1 must be at least 0 (conf/vector_cache/h200.yaml)"),
        ("clock", 2, "compute_unit.clock: 2 needs a unit, such as 1.98 GHz (units: Hz, kHz, MHz, GHz, THz) (conf/compute_unit/h200.yaml)"),
        ("compute_unit.count", "0x10", "compute_unit.count: 0x10 must be a number in count, such as 4 (conf/compute_unit/h200.yaml)"),
        ("compute_unit.wave_width", 48, "compute_unit.wave_width: 48 must be 32 or 64 (conf/compute_unit/h200.yaml)"),
        ("compute_unit.groups", 70, "compute_unit.groups: 70 must be at most the clusters (66)"),
        ("simd.lanes", 24, "simd.lanes: 24 must divide compute_unit.wave_width (32)"),
        ("register_file.size", "100000 B",
         "register_file.size: 100000 B must be a multiple of one register of a wave on each scheduler (512 B)"),
        ("simd.operations.fma_f32.pipe", "multiply_c",
         "simd.operations.fma_f32.pipe: multiply_c is not a known pipe; did you mean multiply_b? "
         "(choices: constant, control, cross_lane, float64, local, logic, matrix, memory, multiply_a, multiply_b, special, uniform)"),
        ("simd.operations.fma_f31", {"pipe": "logic", "interval": 1, "latency": 4},
         "simd.operations.fma_f31: is not a known machine operation; did you mean fma_f32?"),
        ("simd.operations.special", {"pipe": "logic", "interval": 1, "latency": 4},
         "special_function_unit.operations.special: is carried out by simd.operations.special, too"),
        ("wave_scheduler", {"name": "greedy"}, "wave_scheduler.name: greedy is not a known wave scheduler "
         "(choices: cache_conscious, greedy_then_oldest, greedy_then_waiting, loose_round_robin, oldest_first, "
         "oldest_workgroup, two_level) "
         "(conf/wave_scheduler/oldest_workgroup.yaml)"),
        ("fabric.serves", "l3", "fabric.serves: l3 is not a known level of memory_path below the vector cache (choices: l2)"),
        ("memory_path", ["vector_cache", "l2"], "memory_path: vector_cache, l2 must end with memory"),
        ("memory_path", ["vector_cache", "l2", "l3", "memory"], "l3: is missing: choose a cache"),
        ("memory_path", "l2", "memory_path: l2 must be a list of slots, from the lanes outwards, that ends with memory"),
        ("l22", {"name": "set_associative", "ways": 4},
         "l22: is not a known slot or key (a further cache level must be named in memory_path); did you mean l2?"),
        ("cost", {"name": "big"}, "cost: is a slot that no part fills yet; leave it out"),
        ("device.terms", "cray", "device.terms: cray is not a known choice (choices: amd, neutral, nvidia)"),
    ],
)  # fmt: skip
def test_messages(path: str, value: Any, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        described("h200", {path: value})
    assert message in [str(problem) for problem in caught.value.problems]
    if path != "memory_path":
        assert len(caught.value.problems) == 1


def test_everything_is_reported_at_once() -> None:
    found = problems(l2__ways=7, l2__sise="1 MiB", vector_cache__latency="-4", memory__bandwidth=32, clock="1 GHz/s", memoory={})
    assert [message.split(":")[0] for message in found] == [
        "memoory", "vector_cache.latency", "l2.sise", "memory.bandwidth", "compute_unit.clock",
    ]  # fmt: skip


def test_rules_between_fields_wait_for_the_fields() -> None:
    """One mistake is one message: what can't be computed from a broken number isn't guessed at."""
    assert len(problems(l2__size="big")) == 1


def test_a_missing_number_says_what_it_is() -> None:
    config = compose("tiny")
    del config["memory"]["channels"], config["memory"]["sources"]["channels"], config["fabric"]
    with pytest.raises(RequestError) as caught:
        describe(config, installed())
    assert [str(p) for p in caught.value.problems] == [
        "fabric: is missing: choose a interconnect",
        "memory.channels: is missing: independent channels (count)",
    ]


def test_sources_must_name_numbers() -> None:
    found = problems(
        l2__sources={"sise": {"status": "assumed", "from": "x"}, "ways": {"status": "guess", "from": "y"}, "line": {"status": "assumed"}}
    )
    assert found == [
        "l2.sources.sise: names no number of this slot; did you mean size? (conf/l2/tiny.yaml)",
        "l2.sources.ways.status: guess is not a known status (choices: assumed, calibrated, measured, published) (conf/l2/tiny.yaml)",
        "l2.sources.line: {'status': 'assumed'} must have the two keys status and from (conf/l2/tiny.yaml)",
    ]


def test_two_spellings_are_one_device() -> None:
    base = described("h200", {"l2.size": "32 MiB"}).fingerprint
    assert described("h200", {"l2.size": 33554432}).fingerprint == base
    assert described("h200", {"l2.size": "32768KiB"}).fingerprint == base
    assert described("h200", {"l2.size": "32 MiB", "device.name": "mine"}).fingerprint == base
    assert described("h200", {"l2.size": "32 MiB", "clock": "1980 MHz"}).fingerprint == base
    assert described("h200").fingerprint == described("hopper_like").fingerprint != base


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("l2.ways", 32),
        ("l2.replacement", "pseudo_lru"),
        ("wave_scheduler", "loose_round_robin"),
        ("clock", "2 GHz"),
        ("simd.operations.fma_f32.latency", 5),
        ("dispatcher.start_cost", [{"waves": 1, "cycles": 3}]),
    ],
)
def test_another_content_is_another_device(path: str, value: Any) -> None:
    assert described("h200", {path: value}).fingerprint != described("h200").fingerprint


def test_the_tree_shows_unit_source_and_override() -> None:
    leaves = {leaf.path: leaf for leaf in tree(described("h200", {"l2.size": "32 MiB", "clock": "2 GHz", "simd.pipes.logic.queue": 2}))}
    assert (leaves["l2.size"].value, leaves["l2.size"].status, leaves["l2.size"].origin) == ("32 MiB", "override", "command line")
    assert (leaves["compute_unit.clock"].value, leaves["compute_unit.clock"].status) == ("2 GHz", "override")
    assert leaves["simd.pipes.logic.queue"].status == "override"
    assert leaves["simd.pipes.logic.shared_by"].status == "measured"
    assert leaves["l2.latency"].value == "141.4 ns"
    assert leaves["vector_cache.latency"].value == "33 cycles"
    assert leaves["vector_cache.size"].total == "132 x 248 KiB = 32736 KiB"
    assert leaves["memory_path"].value == "vector_cache > l2 > memory"
    assert assumed(described("tiny")) > assumed(described("h200")) > 0
