"""Advice about managed memory: copies until somebody writes, pages that stay on the host and are reached from there."""

from __future__ import annotations

from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.testing.devices import described
from archex.timeline import Builder, Timeline, run
from archex.timeline.check import read
from archex.workloads import machine

MIB = 1 << 20
SIZE = 16 * MIB


def on(work: Builder, device: str = "h200", **numbers: Any) -> Timeline:
    workload = work.done()
    return run(workload, machine(described(device, numbers), workload))


def advised(advice: str = "none", us: float = 5, size: int = SIZE, buffer: dict[str, Any] | None = None, **given: Any) -> Builder:
    work = Builder(**given).buffer("x", bytes=size, memory="managed", advice=advice, **(buffer or {}))
    for mode in ("read", "write"):
        work.kernel(f"{mode}s", us=us, touches=[{"buffer": "x", "mode": mode}])
    return work


def moved(found: Timeline, side: str) -> int:
    return sum(c.bytes for c in found.commands if c.kind == "migration" and c.name == side)


def kernels(found: Timeline) -> list[float]:
    return [c.ended - c.started for c in found.commands if c.kind == "kernel"]


def alone(found: Timeline) -> float:
    return next(c.alone for c in found.commands if c.kind == "kernel")


def two(advice: str, **given: Any) -> Builder:
    return advised(advice, devices=2, streams={"a": {"device": 0}, "b": {"device": 1}}, **given)


# --- mostly read


def test_what_is_mostly_read_is_with_everybody_who_reads_it() -> None:
    """Each device fetches it once; the host has it all the time."""
    work = two("read_mostly")
    for _ in range(2):
        work.launch("reads", stream="a").launch("reads", stream="b").sync("all").touch("x")
    found = on(work)
    assert found.pages is not None
    assert (found.pages.came, found.pages.left) == ([SIZE, SIZE], [0, 0])
    assert [found.pages.resident(device) for device in (0, 1)] == [SIZE, SIZE]
    assert found.spans("touch") == [0.0, 0.0]
    assert kernels(found)[2:] == pytest.approx([alone(found)] * 2)
    plain = two("none")
    for _ in range(2):
        plain.launch("reads", stream="a").launch("reads", stream="b").sync("all").touch("x")
    assert found.total_ns < on(plain).total_ns


def test_who_writes_has_it_alone() -> None:
    work = two("read_mostly").launch("reads", stream="a").launch("reads", stream="b").sync("all")
    found = on(work.launch("writes", stream="a").sync("all").launch("reads", stream="b").sync("all"))
    assert found.pages is not None
    assert found.pages.came == [SIZE, 2 * SIZE], "who writes has a copy already, who reads lost its own"
    assert found.pages.left == [0, SIZE]
    assert moved(found, "to_host") == SIZE, "from the writer by way of the host"
    written = kernels(found)[2]
    assert written > alone(found), "others are told"
    again = on(work.launch("writes", stream="a").sync("all").launch("writes", stream="a").sync("all"))
    assert kernels(again)[-1] == pytest.approx(alone(again))


def test_a_host_that_writes_takes_the_copies_away_without_the_link() -> None:
    work = advised("read_mostly").launch("reads").sync("all").touch("x", mode="write").touch("x", mode="write").launch("reads").sync("all")
    found = on(work)
    assert found.pages is not None
    assert (moved(found, "to_host"), moved(found, "to_device")) == (0, 2 * SIZE)
    first, second = found.spans("touch")
    assert first > 0 == second


def test_the_host_may_have_the_copy() -> None:
    """What lies on a device is copied back once, and the device still finds it."""
    work = advised("read_mostly", buffer={"device": 0}).touch("x").touch("x").launch("reads").sync("all")
    found = on(work)
    assert (moved(found, "to_host"), moved(found, "to_device")) == (SIZE, 0)
    assert found.spans("touch")[1] == 0
    assert kernels(found) == pytest.approx([alone(found)])


def test_a_prefetch_makes_copies() -> None:
    found = on(advised("read_mostly").prefetch("x").touch("x").launch("reads").sync("all"))
    assert found.spans("touch") == [0.0]
    assert kernels(found) == pytest.approx([alone(found)])
    assert on(advised().prefetch("x").sync("all").touch("x")).spans("touch")[0] > 0


def test_copies_take_room_and_are_dropped_for_nothing() -> None:
    room, size = {"memory.capacity": 20 * 2 * MIB}, 48 * 2 * MIB
    found = on(advised("read_mostly", size=size).launch("reads").launch("reads").sync("all"), **room)
    assert found.pages is not None
    assert moved(found, "to_host") == 0
    assert found.pages.resident(0) <= 20 * 2 * MIB
    assert found.pages.came[0] == found.pages.resident(0) + found.pages.left[0]
    plain = on(advised(size=size).launch("reads").launch("reads").sync("all"), **room)
    assert moved(plain, "to_host") > 0
    assert found.total_ns <= plain.total_ns


def test_advice_may_come_later_and_go() -> None:
    work = advised().advise("x", as_="read_mostly").launch("reads").sync("all").touch("x")
    assert on(work).spans("touch") == [0.0]
    found = on(work.advise("x", as_="none").launch("writes").sync("all").touch("x").launch("reads").sync("all"))
    assert found.spans("touch")[1] > 0
    assert kernels(found)[2] > alone(found), "what the host read last is no copy any more"


# --- on the host


@pytest.mark.parametrize("advice", ["prefer_host", "map_host"])
def test_what_prefers_the_host_stays_there(advice: str) -> None:
    work = advised(advice).launch("reads").launch("writes").launch("reads").sync("all").touch("x", mode="write").launch("reads")
    found = on(work.sync("all"))
    assert found.pages is not None
    assert found.pages.came[0] == found.pages.resident(0) == moved(found, "to_host") == 0
    paged = found.machine.paged
    assert paged is not None
    assert paged.remote_rate is not None
    first, *others = kernels(found)
    assert others == pytest.approx([others[0]] * 3)
    assert others[0] == pytest.approx(SIZE / paged.remote_rate + paged.remote_latency + alone(found) - 5e3)
    assert (first > 1.5 * others[0]) == (advice == "prefer_host"), "a fault for those that are not mapped beforehand"
    assert found.spans("touch") == [0.0]


def test_a_kernel_that_computes_more_hides_the_link() -> None:
    found = on(advised("map_host", us=5000).launch("reads").sync("all"))
    assert found.machine.paged is not None
    assert kernels(found)[0] == pytest.approx(alone(found) + found.machine.paged.remote_latency)


def test_reading_from_afar_shares_the_link_with_copies() -> None:
    work = advised("map_host", size=64 * MIB, streams=["a", "b"]).launch("reads", stream="a").copy("h2d", bytes=64 * MIB, stream="b")
    found = on(work.sync("all"))
    assert found.total_ns > 128 * MIB / found.machine.copies.rate_to_device


def test_a_prefetch_moves_even_what_prefers_the_host() -> None:
    found = on(advised("prefer_host").prefetch("x").launch("reads").sync("all").touch("x").launch("reads").sync("all"))
    assert found.pages is not None
    assert kernels(found)[0] == pytest.approx(alone(found))
    assert found.pages.came[0] == found.pages.left[0] == SIZE
    assert kernels(found)[1] > SIZE / found.machine.copies.rate_to_device


def test_what_nobody_touched_begins_where_it_is_preferred() -> None:
    found = on(advised("prefer_host", buffer={"untouched": True}).launch("writes").launch("reads").sync("all"))
    assert found.pages is not None
    assert (found.pages.made[0], found.pages.resident(0)) == (0, 0)
    copied = on(advised("read_mostly", buffer={"untouched": True}).launch("writes").sync("all").touch("x"))
    assert copied.pages is not None
    assert copied.pages.made[0] == SIZE
    assert moved(copied, "to_host") == SIZE


@pytest.mark.parametrize("advice", ["none", "read_mostly", "prefer_host", "map_host"])
def test_coherent_memory_needs_no_advice(advice: str) -> None:
    totals = [on(advised(one).launch("reads").launch("writes").sync("all"), "mi300x").total_ns for one in ("none", advice)]
    assert totals[0] == pytest.approx(totals[1])


@pytest.mark.parametrize("advice", ["none", "read_mostly", "prefer_host", "map_host"])
@pytest.mark.parametrize("numbers", [{}, {"page_migration": "hardware_retry", "page_migration.page": "64 KiB"}], ids=str)
def test_room_is_counted_right(advice: str, numbers: dict[str, Any]) -> None:
    """After any mix of touches: what is held of each block is what lies there and what is a copy there."""
    work = two(advice, size=12 * MIB)
    work.kernel("some", us=5, touches=[{"buffer": "x", "mode": "write", "order": "random", "seed": 2, "share": 0.3}])
    for stream in "abab":
        work.launch("reads", stream=stream).launch("some", stream=stream).touch("x", share=0.4).touch("x", mode="write", share=0.1)
    found = on(work.sync("all"), **{"memory.capacity": 4 * 2 * MIB}, **numbers)
    pages = found.pages
    assert pages is not None
    for device in (0, 1):
        there = ((pages.where == device) | pages.advised.copies[device]).reshape(-1, pages.per)
        assert (pages.held[device] == there.sum(axis=1)).all()
        assert there.any(axis=1).sum() <= 4
        assert not (pages.advised.copies[device] & (pages.where == device)).any()
        assert pages.came[device] == pages.resident(device) + pages.left[device]
    assert (pages.due == 0).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"buffers": {"x": {"bytes": 1, "advice": "read_mostly"}}}, "buffers.x.advice: read_mostly is for managed memory"),
        ({"buffers": {"x": {"bytes": 1, "memory": "pinned", "advice": "none"}}}, "buffers.x.advice: none is for managed memory"),
        ({"buffers": {"x": {"bytes": 1, "memory": "managed", "advice": "read_mosty"}}}, "did you mean read_mostly?"),
        ({"buffers": {"x": {"bytes": 1, "memory": "managed", "advice": ["read_mostly"]}}}, "is not a known choice"),
        ({"buffers": {"x": {"bytes": 1, "memory": "managed", "advise": "none"}}}, "did you mean advice?"),
        ({"steps": [{"advise": "m"}]}, "steps[0].as: is missing"),
        ({"steps": [{"advise": "m", "as": "host"}]}, "did you mean map_host? (choices: map_host, none, prefer_host, read_mostly)"),
        ({"steps": [{"advise": "p", "as": "none"}]}, "steps[0].advise: p must be a buffer with `memory: managed`, not pinned"),
        ({"steps": [{"advise": "q", "as": "none"}]}, "steps[0].advise: q is not a known buffer"),
        ({"steps": [{"advise": "m", "as": "none", "stream": "main"}]}, "steps[0].stream: is not a known key"),
        ({"steps": [{"advise": "m", "as": None}]}, "steps[0].as: None is not a known choice"),
    ],
)
def test_wrong_advice_is_named(given: dict[str, Any], said: str) -> None:
    buffers = {"m": {"bytes": MIB, "memory": "managed"}, "p": {"bytes": MIB, "memory": "pinned"}}
    with pytest.raises(RequestError) as caught:
        read({"buffers": buffers, "steps": []} | given)
    assert any(said in str(problem) for problem in caught.value.problems), [str(problem) for problem in caught.value.problems]
