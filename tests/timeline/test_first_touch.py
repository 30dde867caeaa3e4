"""Managed memory that nobody has touched lies nowhere: the first touch makes pages where it comes from, and nothing crosses a link."""

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


def fresh(size: int = 16 * MIB, untouched: bool = True, **given: Any) -> Builder:
    work = Builder(**given).buffer("x", bytes=size, memory="managed", untouched=untouched)
    return work.kernel("reads", us=5, touches=[{"buffer": "x"}]).kernel("writes", us=5, touches=[{"buffer": "x", "mode": "write"}])


def moved(found: Timeline, side: str) -> int:
    return sum(c.bytes for c in found.commands if c.kind == "migration" and c.name == side)


def kernels(found: Timeline) -> list[float]:
    return [c.ended - c.started for c in found.commands if c.kind == "kernel"]


@pytest.mark.parametrize("numbers", [{}, {"page_migration": "hardware_retry", "page_migration.page": "64 KiB"}], ids=str)
@pytest.mark.parametrize("kernel", ["reads", "writes"])
def test_a_device_makes_pages_without_the_link(kernel: str, numbers: dict[str, Any]) -> None:
    found = on(fresh().launch(kernel).launch(kernel).sync("all"), **numbers)
    assert found.pages is not None
    assert (found.pages.came[0], found.pages.made[0], found.pages.resident(0)) == (0, 16 * MIB, 16 * MIB)
    assert moved(found, "to_device") == moved(found, "to_host") == 0
    first, second = kernels(found)
    assert second == pytest.approx(next(c.alone for c in found.commands if c.kind == "kernel"))
    assert second < first < kernels(on(fresh(untouched=False).launch(kernel).sync("all"), **numbers))[0]


def test_pages_are_made_once_and_then_move_like_others() -> None:
    """What is made on the device has no copy on the host: it crosses the link when the host reads it, kept copies or not."""
    for keeps in (False, True):
        work = fresh().launch("reads").sync("all").touch("x").launch("reads").sync("all")
        found = on(work, **{"page_migration.keeps_copy": keeps})
        assert found.pages is not None
        assert (moved(found, "to_host"), moved(found, "to_device")) == (16 * MIB, 16 * MIB)
        assert found.pages.made[0] == 16 * MIB


def test_the_host_makes_pages_that_a_device_then_has_to_fetch() -> None:
    found = on(fresh().touch("x", mode="write").touch("x").launch("reads").sync("all"))
    first, second = found.spans("touch")
    paged = found.machine.paged
    assert paged is not None
    faults, pages, stores = 8 * 6, 8 * 32, 8 * 512
    expected = faults * paged.host_fault + pages * paged.host_made + 8 * paged.host_block + stores * paged.host_store
    assert first == pytest.approx(expected), "eight blocks, six faults each as the tree has it, and a first store to each 4 KiB"
    assert found.calls[0].answer == "48 faults, 256 pages"
    assert second == 0
    assert moved(found, "to_device") == 16 * MIB


def test_only_what_is_touched_is_made() -> None:
    work = fresh().kernel("few", us=5, touches=[{"buffer": "x", "share": 0.25}]).launch("few").sync("all")
    found = on(work.touch("x", share=0.5).launch("reads").sync("all"))
    assert found.pages is not None
    assert found.pages.made[0] == 4 * MIB + 8 * MIB, "its own quarter, and what neither it nor the host had touched"


def test_prefetching_to_a_device_makes_pages_there() -> None:
    found = on(fresh().prefetch("x").launch("writes").sync("all"))
    assert found.pages is not None
    assert (found.pages.made[0], found.pages.came[0], moved(found, "to_device")) == (16 * MIB, 0, 0)
    assert kernels(found) == pytest.approx([next(c.alone for c in found.commands if c.kind == "kernel")])
    back = on(fresh().prefetch("x", to="host").sync("all").launch("writes").sync("all"))
    assert (moved(back, "to_host"), moved(back, "to_device")) == (0, 16 * MIB)


def test_what_was_made_takes_room_and_is_written_back() -> None:
    room = {"memory.capacity": 20 * 2 * MIB}
    found = on(fresh(48 * 2 * MIB).launch("writes").launch("reads").sync("all"), **room)
    assert found.pages is not None
    assert found.pages.made[0] == 48 * 2 * MIB
    assert found.pages.resident(0) <= 20 * 2 * MIB
    assert found.pages.made[0] + found.pages.came[0] == found.pages.resident(0) + found.pages.left[0]
    assert moved(found, "to_host") == found.pages.left[0] >= 28 * 2 * MIB


def test_the_first_of_two_devices_has_the_pages() -> None:
    work = fresh(devices=2, streams={"a": {"device": 0}, "b": {"device": 1}})
    found = on(work.launch("writes", stream="a").sync("all").launch("reads", stream="b").sync("all"))
    assert found.pages is not None
    assert (found.pages.made, found.pages.came, found.pages.left) == ([16 * MIB, 0], [0, 16 * MIB], [16 * MIB, 0])


def test_coherent_memory_begins_on_the_host() -> None:
    fresh_, old = (on(fresh(untouched=untouched).launch("writes").sync("all"), "mi300x") for untouched in (True, False))
    assert kernels(fresh_) == pytest.approx(kernels(old))
    assert fresh_.pages is not None
    assert (fresh_.pages.where == -1).all()


@pytest.mark.parametrize(
    ("buffer", "said"),
    [
        ({"memory": "managed", "untouched": 1}, "buffers.x.untouched: 1 must be true or false"),
        ({"memory": "managed", "untouched": "yes"}, "buffers.x.untouched: yes must be true or false"),
        ({"memory": "managed", "untouched": True, "device": 0}, "buffers.x.untouched: True lies nowhere, and `device` says where it lies"),
        ({"untouched": True}, "buffers.x.untouched: True is for managed memory"),
        ({"memory": "pinned", "untouched": True}, "buffers.x.untouched: True is for managed memory"),
        ({"memory": "pageable", "untouched": True}, "buffers.x.untouched: True is for managed memory"),
        ({"memory": "managed", "untouch": True}, "buffers.x.untouch: is not a known key; did you mean untouched?"),
        ({"memory": "managed", "untouched": None}, "buffers.x.untouched: None must be true or false"),
        ({"memory": "managed", "untouched": []}, "buffers.x.untouched: [] must be true or false"),
        ({"memory": "untouched"}, "buffers.x.memory: untouched is not a known choice"),
    ],
)
def test_wrong_buffers_are_named(buffer: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError) as caught:
        read({"buffers": {"x": {"bytes": MIB, **buffer}}, "steps": []})
    assert any(said in str(problem) for problem in caught.value.problems), [str(problem) for problem in caught.value.problems]
