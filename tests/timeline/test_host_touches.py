"""The host touches managed memory: what is there costs nothing, what lies on a device comes back once, fault after fault."""

from __future__ import annotations

from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.testing.devices import described
from archex.timeline import Builder, Timeline, run
from archex.timeline.check import read
from archex.workloads import machine

MIB = 1 << 20


def on(work: Builder, device: str = "h200", **numbers: Any) -> Timeline:
    workload = work.done()
    return run(workload, machine(described(device, numbers), workload))


def lying(size: int = 16 * MIB, device: int | None = 0, **given: Any) -> Builder:
    """A buffer that begins on a device, or on the host."""
    return Builder(**given).buffer("x", bytes=size, memory="managed", **({} if device is None else {"device": device}))


def moved(found: Timeline, side: str = "to_host") -> int:
    return sum(c.bytes for c in found.commands if c.kind == "migration" and c.name == side)


def test_what_lies_on_the_host_is_touched_for_nothing() -> None:
    assert on(lying(device=None).touch("x")).spans("touch") == [0.0]


@pytest.mark.parametrize("numbers", [{}, {"page_migration": "hardware_retry", "page_migration.page": "64 KiB"}], ids=str)
def test_what_lies_on_a_device_comes_back_once(numbers: dict[str, Any]) -> None:
    found = on(lying().touch("x").touch("x").touch("x", mode="write").touch("x", mode="write"), **numbers)
    first, second, stores, last = found.spans("touch")
    assert first >= 16 * MIB / found.machine.copies.rate_to_host
    assert second == last == 0
    assert found.machine.paged is not None
    assert stores == pytest.approx(16 * MIB / 4096 * found.machine.paged.host_store), "the first store to each of its pages is slower"
    assert moved(found) == 16 * MIB
    assert found.pages is not None
    assert (found.pages.left[0], found.pages.resident(0)) == (16 * MIB, 0)


def test_faults_are_those_of_the_tree() -> None:
    """Of a block of 32 pages: 0, 1, 2, 4, 8 and 16 are asked for; with nothing beside, every page is; a whole block comes with one."""
    faults = {}
    for prefetch in ("by_tree", "only_asked", "whole_block"):
        found = on(lying(2 * MIB).touch("x"), **{"page_migration.prefetch": prefetch})
        faults[prefetch] = found.calls[0].answer
        rate, paged = found.machine.copies.rate_to_host, found.machine.paged
        assert paged is not None
        count = int(found.calls[0].answer.split()[0])
        expected = count * (paged.host_fault + paged.host_move) + 32 * (paged.page_back + paged.host_page) + 2 * MIB / rate
        expected += paged.host_return
        assert found.spans("touch")[0] == pytest.approx(expected)
    assert faults == {"by_tree": "6 faults, 32 pages", "only_asked": "32 faults, 32 pages", "whole_block": "1 faults, 32 pages"}


def test_fewer_and_farther_touches_bring_less() -> None:
    bytes_ = [moved(on(lying().touch("x", **how))) for how in ({"stride": 2 * MIB}, {"stride": MIB}, {"share": 0.25}, {"share": 0.5}, {})]
    assert bytes_ == [8 * 65536, 16 * 65536, 4 * MIB, 8 * MIB, 16 * MIB]
    some = on(lying().touch("x", order="random", seed=1, share=0.1))
    assert moved(some) >= 26 * 65536
    assert moved(some) < 16 * MIB


def test_going_to_and_fro_costs_each_time() -> None:
    work = lying(device=None).kernel("k", us=5, touches=[{"buffer": "x", "mode": "write"}])
    for _ in range(3):
        work.launch("k").sync("all").touch("x")
    found = on(work)
    assert found.pages is not None
    assert found.pages.came[0] == found.pages.left[0] == 3 * 16 * MIB
    first, *others = found.spans("touch")
    assert found.machine.paged is not None
    assert others == pytest.approx([first - 8 * found.machine.paged.host_return] * 2), "eight blocks"


def test_the_caller_waits_and_other_threads_do_not() -> None:
    work = lying().kernel("k", us=5)
    work.touch("x").launch("k").thread("other").launch("k").sync("all")
    found = on(work)
    waits, goes_on = (next(c for c in found.commands if c.kind == "kernel" and c.thread == thread) for thread in ("main", "other"))
    assert waits.issued >= found.spans("touch")[0] > goes_on.ended


def test_a_kernel_and_the_host_share_links_and_wait_for_one_anothers_pages() -> None:
    """The host takes back what is on its way to the device only when it is there; all bytes that came are there or have left."""
    work = lying(device=None).kernel("k", us=5, touches=[{"buffer": "x"}]).launch("k").work("100 us").touch("x")
    found = on(work.sync("all"))
    kernel = next(c for c in found.commands if c.kind == "kernel")
    assert found.pages is not None
    assert found.pages.came[0] == found.pages.resident(0) + found.pages.left[0]
    assert kernel.ended > kernel.started + 16 * MIB / found.machine.copies.rate_to_device
    assert moved(found) == found.pages.left[0] > 0
    assert (found.pages.due == 0).all()


def test_copies_of_the_same_direction_give_way() -> None:
    def beside(way: str) -> float:
        work = lying(64 * MIB, streams=["s"]).copy(way, bytes=64 * MIB, stream="s").touch("x")
        found = on(work.sync("all"))
        copy = next(c for c in found.commands if c.kind == "copy")
        return copy.ended - copy.started - copy.alone

    assert beside("d2h") > 1e3
    assert beside("h2d") == pytest.approx(0)


def test_pages_come_from_each_device() -> None:
    work = Builder(devices=2).buffer("x", bytes=4 * MIB, memory="managed", device=0).buffer("y", bytes=2 * MIB, memory="managed", device=1)
    found = on(work.touch("x").touch("y"))
    assert found.pages is not None
    assert found.pages.left == [4 * MIB, 2 * MIB]
    assert {(c.name, c.device) for c in found.commands} == {("to_host", 0), ("to_host", 1)}


def test_only_what_was_written_crosses_where_the_host_keeps_a_copy() -> None:
    def back(mode: str) -> int:
        work = lying(device=None).kernel("k", us=5, touches=[{"buffer": "x", "mode": mode}]).launch("k").sync("all").touch("x")
        return moved(on(work, **{"page_migration.keeps_copy": True}))

    assert (back("read"), back("write")) == (0, 16 * MIB)


def test_coherent_memory_stays() -> None:
    work = lying(device=None).prefetch("x").sync("all").touch("x").touch("x", mode="write")
    found = on(work, "mi300x")
    assert found.pages is not None
    assert found.pages.resident(0) == 16 * MIB
    read, write = found.spans("touch")
    assert found.machine.paged is not None
    assert found.machine.paged.remote_rate is not None
    assert read == pytest.approx(write)
    assert read == pytest.approx(16 * MIB / found.machine.paged.remote_rate + found.machine.paged.remote_latency)
    assert on(work, "mi300a").spans("touch") == [0.0, 0.0]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"touch": "y"}, "steps[0].touch: y must be a buffer with `memory: managed`, not pinned"),
        ({"touch": "z"}, "steps[0].touch: z is not a known buffer"),
        ({"touch": "x", "share": 0}, "steps[0].share: 0 must be above 0 and at most 1"),
        ({"touch": "x", "share": 1.5}, "steps[0].share: 1.5 must be 0 to 1"),
        ({"touch": "x", "mode": "wrte"}, "steps[0].mode: wrte is not a known choice; did you mean write"),
        ({"touch": "x", "seed": 1}, "steps[0].seed: 1 is for `order: random`"),
        ({"touch": "x", "stride": 0}, "steps[0].stride: 0 must be at least 1"),
        ({"touch": "x", "stride": "4 km"}, "steps[0].stride: 4 km"),
        ({"touch": "x", "stream": "main"}, "steps[0].stream"),
        ({"touch": 3}, "steps[0].touch: 3"),
        ({"touch": "x", "order": "random", "seed": "a"}, "steps[0].seed: a"),
    ],
)
def test_wrong_touches_are_named(step: dict[str, Any], said: str) -> None:
    work = lying().buffer("y", bytes=MIB, memory="pinned").as_map()
    with pytest.raises(RequestError) as caught:
        read(work | {"steps": [step]})
    assert any(said in str(problem) for problem in caught.value.problems), [str(problem) for problem in caught.value.problems]
