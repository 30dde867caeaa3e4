"""Unified memory: what is there costs nothing, bytes cross the link once, what doesn't fit leaves, and the same seed does the same."""

from __future__ import annotations

import time
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.cli.main import main
from archex.describe import DeviceSpec
from archex.records.timelines import rows
from archex.testing.devices import described
from archex.timeline import Builder, Timeline, run
from archex.timeline.spent import spent
from archex.workloads import machine

MIGRATING = ({}, {"page_migration": "hardware_retry", "page_migration.page": "64 KiB"}, {"page_migration.replay": "batch"})
MIB = 1 << 20


def on(work: Builder, device: str = "h200", **numbers: Any) -> Timeline:
    workload = work.done()
    return run(workload, machine(described(device, numbers), workload))


def loop(launches: int = 1, size: int = 64 * MIB, us: float = 50, **touch: Any) -> Builder:
    """A kernel that touches a buffer, so many times."""
    work = Builder().buffer("x", bytes=size, memory="managed").kernel("k", us=us, touches=[{"buffer": "x"} | touch])
    for _ in range(launches):
        work.launch("k")
    return work.sync("all")


def kernels(found: Timeline) -> list[float]:
    return [c.ended - c.started for c in found.commands if c.kind == "kernel"]


def came(found: Timeline) -> int:
    assert found.pages is not None
    return found.pages.came[0]


def room(blocks: int) -> dict[str, Any]:
    """A device with so much memory."""
    return {"memory.capacity": blocks * 2 * MIB}


@pytest.mark.parametrize("numbers", MIGRATING, ids=str)
def test_what_is_there_costs_nothing(numbers: dict[str, Any]) -> None:
    found = on(loop(3), **numbers)
    alone = next(c.alone for c in found.commands if c.kind == "kernel")
    first, *further = kernels(found)
    assert further == pytest.approx([alone, alone])
    assert first >= 64 * MIB / found.machine.copies.rate_to_device + alone - 50e3
    assert came(found) == 64 * MIB


def test_memory_that_begins_on_the_device_is_there() -> None:
    work = Builder().buffer("x", bytes=64 * MIB, memory="managed", device=0).kernel("k", us=50, touches=[{"buffer": "x"}]).launch("k")
    found = on(work.sync("all"))
    assert kernels(found) == pytest.approx([next(c.alone for c in found.commands if c.kind == "kernel")])
    assert came(found) == 0


@pytest.mark.parametrize("device", ["h200", "mi300x", "tiny"])
def test_what_is_prefetched_comes_at_the_rate_of_a_copy(device: str) -> None:
    work = Builder().buffer("x", bytes=64 * MIB, memory="managed").kernel("k", us=50, touches=[{"buffer": "x"}])
    found = on(work.prefetch("x").launch("k").sync("all"), device, **{"memory.capacity": "1 GiB"})
    copied = on(Builder().copy("h2d", bytes=64 * MIB).sync("all"), device)
    prefetch, copy = found.commands[0], copied.commands[0]
    assert prefetch.bytes == copy.bytes
    assert prefetch.ended - prefetch.started == pytest.approx(copy.ended - copy.started)
    assert kernels(found) == pytest.approx([next(c.alone for c in found.commands if c.kind == "kernel")])


def test_prefetching_back_leaves_the_device_empty() -> None:
    work = loop()
    found = on(work.prefetch("x", to="host").launch("k").sync("all"))
    assert found.pages is not None
    assert came(found) == 2 * 64 * MIB
    assert found.pages.left[0] == found.pages.resident(0) == 64 * MIB


@pytest.mark.parametrize("order", ["sequential", "random"])
def test_larger_batches_and_pages_are_never_slower(order: str) -> None:
    """Larger pages only where neighbours are touched in turn: else they bring what nobody asks for yet."""
    touch = {"order": order} | ({"seed": 1} if order == "random" else {})
    for field, values in (("batch", (16, 64, 256, 512)), ("page", ("4 KiB", "64 KiB", "256 KiB") if order == "sequential" else ())):
        plain = {"page_migration.prefetch": "only_asked"}
        totals = [on(loop(us=0.1, size=16 * MIB, **touch), **plain, **{f"page_migration.{field}": value}).total_ns for value in values]
        assert totals == sorted(totals, reverse=True), (field, totals)


def test_flushing_what_waits_behind_a_batch_is_never_quicker() -> None:
    flushed, kept = (on(loop(), **{"page_migration.replay": replay}).total_ns for replay in ("batch_flush", "batch"))
    assert flushed > kept


def test_prefetching_more_needs_fewer_groups() -> None:
    def groups(prefetch: str, **touch: Any) -> int:
        numbers = {"page_migration.prefetch": prefetch, "page_migration.batch": 32}
        return sum(c.kind == "faults" for c in on(loop(**touch), **numbers).commands)

    few = {"order": "random", "share": 0.7}
    assert groups("whole_block", **few) <= groups("by_tree", **few) <= groups("only_asked", **few)
    scattered = {"order": "random", "share": 0.02}
    bytes_ = [came(on(loop(**scattered), **{"page_migration.prefetch": name})) for name in ("only_asked", "by_tree", "whole_block")]
    assert bytes_ == sorted(bytes_)
    assert bytes_[0] == 21 * 65536, "a fiftieth of 1,024 pages"


def test_pieces_that_lie_apart_are_copied_each_by_itself() -> None:
    """As many pages of as many blocks, together or every second one: as many copies more as there are gaps."""
    plain = {"page_migration.prefetch": "only_asked"}

    def served(touch: dict[str, Any]) -> float:
        return sum(c.alone for c in on(loop(1, 16 * MIB, us=0.1, **touch), **plain).commands if c.kind == "faults")

    apart, none = (
        served({"stride": 2 * 65536}),
        on(loop(1, 16 * MIB, us=0.1, stride=2 * 65536), **plain, **{"page_migration.run_service": 0}),
    )
    gaps, paged = 8 * 15, none.machine.paged
    assert paged is not None
    assert paged.serve is not None
    together = sum(c.alone for c in none.commands if c.kind == "faults")
    assert apart - together == pytest.approx(gaps * described("h200")["page_migration"].run_service * 1e9)
    half = served({"share": 0.5, "stride": 65536})
    assert half == pytest.approx(paged.serve(128, 4) + 128 * paged.page_service), "four whole blocks have no gaps"


def test_faults_of_touches_far_apart_arrive_in_any_order() -> None:
    """More that are open at a time bring the same bytes and take no less time; touches within a page stay in order."""
    size, strided = 64 * MIB, {"stride": 65536}
    found = [on(loop(1, size, us=0.1, **strided), **{"page_migration.mixed": many}) for many in (1, 512, 1024)]
    assert [came(one) for one in found] == [size] * 3
    totals = [one.total_ns for one in found]
    assert totals == sorted(totals)
    assert totals[2] > 1.3 * totals[0]
    dense = [on(loop(1, size), **{"page_migration.mixed": many}).total_ns for many in (1, 1024)]
    assert dense[0] == dense[1]


def test_a_pass_through_a_little_too_much_never_finds_anything_in_order_of_use() -> None:
    """Least recent first drops what comes next; by lot some of it stays; half of it fits."""
    size, passes = 48 * 2 * MIB, 4
    ordered = on(loop(passes, size), **room(40))
    assert came(ordered) == passes * size
    assert came(on(loop(passes, size // 2), **room(40))) == size // 2
    by_lot = on(loop(passes, size), **room(40), **{"page_migration.eviction": "by_lot"})
    assert size < came(by_lot) < passes * size


@pytest.mark.parametrize("numbers", MIGRATING, ids=str)
@pytest.mark.parametrize("order", ["sequential", "random"])
def test_bytes_that_came_are_there_or_have_left(order: str, numbers: dict[str, Any]) -> None:
    found = on(loop(3, 48 * 2 * MIB, order=order, mode="write", share=0.9), **room(20), **numbers)
    assert found.pages is not None
    assert came(found) == found.pages.resident(0) + found.pages.left[0]
    assert found.pages.resident(0) <= 20 * 2 * MIB
    moved = {side: sum(c.bytes for c in found.commands if c.kind == "migration" and c.name == side) for side in ("to_device", "to_host")}
    assert moved == {"to_device": came(found), "to_host": found.pages.left[0]}
    assert found.total_ns >= moved["to_device"] / found.machine.copies.rate_to_device


def test_only_written_pages_are_written_back_where_the_host_keeps_a_copy() -> None:
    def back(mode: str) -> int:
        found = on(loop(2, 48 * 2 * MIB, mode=mode), **room(20), **{"page_migration.keeps_copy": True})
        return sum(c.bytes for c in found.commands if c.kind == "migration" and c.name == "to_host")

    assert back("read") == 0
    assert back("write") > 48 * 2 * MIB


def test_the_same_seed_moves_the_same() -> None:
    def moved(seed: int) -> list[tuple[str, int, float]]:
        numbers = room(20) | {"page_migration.eviction": "by_lot"}
        return [(c.kind, c.bytes, c.ended) for c in on(loop(3, 48 * 2 * MIB, order="random", share=0.5, seed=seed), **numbers).commands]

    assert moved(1) == moved(1)
    assert moved(1) != moved(2)


def test_pages_share_the_link_with_copies() -> None:
    work = Builder(streams=["a", "b"]).buffer("x", bytes=64 * MIB, memory="managed").kernel("k", us=1, touches=[{"buffer": "x"}])
    found = on(work.launch("k", stream="a").copy("h2d", bytes=64 * MIB, stream="b").sync("all"))
    rate = found.machine.copies.rate_to_device
    assert found.total_ns >= 128 * MIB / rate
    copy = next(c for c in found.commands if c.kind == "copy")
    ours = [c for c in found.commands if c.kind == "migration" and c.ended <= copy.ended]
    assert copy.ended - copy.started == pytest.approx(copy.alone + sum(c.bytes for c in ours) / rate, rel=0.01)
    assert len(ours) > 10


def test_work_hides_moving_only_as_far_as_pages_may_be_waited_for() -> None:
    """One group at a time: nothing is hidden; two: what is quicker hides behind what takes longer."""
    rows_of = {
        open_: on(loop(us=4000), **{"page_migration.outstanding": open_, "page_migration.replay": "batch"}).total_ns
        for open_ in (256, 512, 1024)
    }
    assert rows_of[256] > 1.1 * rows_of[512] >= rows_of[1024]
    found = on(loop(us=4000))
    moving = 64 * MIB / found.machine.copies.rate_to_device
    assert rows_of[1024] >= max(4e6, moving)


def test_a_kernel_that_waits_keeps_its_places() -> None:
    work = Builder(streams=["a", "b"]).buffer("x", bytes=64 * MIB, memory="managed").kernel("k", us=1, touches=[{"buffer": "x"}])
    found = on(work.kernel("other", us=1).launch("k", stream="a").launch("other", stream="b").sync("all"))
    first, other = (next(c for c in found.commands if c.name == name) for name in ("k", "other"))
    assert other.started >= first.ended


def test_two_kernels_on_the_same_pages_bring_them_once() -> None:
    work = Builder(streams=["a", "b"]).buffer("x", bytes=64 * MIB, memory="managed")
    work.kernel("k", us=10, units=10, touches=[{"buffer": "x"}]).launch("k", stream="a").launch("k", stream="b").sync("all")
    found = on(work)
    assert came(found) == 64 * MIB
    assert all(took >= 64 * MIB / found.machine.copies.rate_to_device for took in kernels(found))


def test_pages_go_from_device_to_device() -> None:
    work = Builder(devices=2, streams={"a": {"device": 0}, "b": {"device": 1}}).buffer("x", bytes=8 * MIB, memory="managed", device=0)
    work.kernel("k", us=1, touches=[{"buffer": "x"}]).launch("k", stream="b").sync("all")
    found = on(work)
    assert found.pages is not None
    assert (found.pages.left[0], found.pages.came[1], found.pages.resident(1)) == (8 * MIB,) * 3
    assert {(c.name, c.device) for c in found.commands if c.kind == "migration"} == {("to_host", 0), ("to_device", 1)}


def test_a_node_of_a_graph_waits_for_its_pages() -> None:
    work = Builder().buffer("x", bytes=64 * MIB, memory="managed").kernel("k", us=5, touches=[{"buffer": "x"}])
    work.graph("g", {"one": {"launch": "k"}, "two": {"launch": "k", "after": ["one"]}}).instantiate("g").replay("g").sync("all")
    first, second = kernels(on(work))
    assert first > 64 * MIB / 55 > second


def test_coherent_memory_stays_and_is_read_at_the_rate_of_the_link() -> None:
    found = on(loop(2), "mi300x")
    assert came(found) == 0
    assert kernels(found)[0] == pytest.approx(kernels(found)[1])
    assert kernels(found)[0] >= 64 * MIB / found.machine.copies.rate_to_device
    slow = on(loop(2), "mi300x", **{"page_migration.remote_latency": "20 us"})
    assert kernels(slow)[0] > 2 * kernels(found)[0], "what is on its way at a time bounds the rate"
    short = on(loop(2, us=5000), "mi300x")
    assert kernels(short)[0] < 5000e3 + 64 * MIB / found.machine.copies.rate_to_device, "waves that have their data go on"
    one = on(loop(2), "mi300a")
    assert kernels(one)[0] == pytest.approx(next(c.alone for c in one.commands if c.kind == "kernel")), "one memory"


def test_an_oversubscribed_stream_is_as_slow_as_published() -> None:
    """V100 at its link's 12.3 GB/s each way: 5.0 GB/s (facts, um_stream_oversubscribed). `dense` was chosen with it in view."""
    numbers = {"copy_engine.rate_to_device": "12.3 GB/s", "copy_engine.rate_to_host": "12.3 GB/s"} | room(200)
    size = 300 * 2 * MIB
    assert size / kernels(on(loop(3, size), **numbers))[-1] == pytest.approx(5.0, rel=0.2)


def test_where_the_time_went_adds_up_and_rows_tell_it() -> None:
    found = on(loop(2, 48 * 2 * MIB), **room(20))
    parts = {part.what: part.ns for part in spent(found)}
    assert sum(parts.values()) == pytest.approx(found.total_ns)
    assert "kernels waiting for pages beside migrations" in parts
    assert "kernels waiting for pages beside fault service" in parts
    made = rows(found)
    kernel = next(row["event"] for row in made if row["kind"] == "kernel")
    assert {row["kind"] for row in made if row["waited_for"] == kernel} >= {"faults", "migration"}
    assert {row["about"] for row in made if row["kind"] == "migration"} == {"eviction", "asked for or beside it"}


def test_a_hundred_thousand_pages_take_seconds() -> None:
    size = 100_000 * 65536
    begun = time.process_time()
    found = on(loop(1, size, order="random"), **room(3000))
    assert found.pages is not None
    assert len(found.pages.where) >= 100_000
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    ("change", "path", "said"),
    [
        ({"memory.capacity": "1 MiB"}, "buffers", "leave 0 blocks"),
        ({"page_migration.block": "3 MiB"}, "page_migration.block", "power of two"),
        ({"page_migration.batch": 1024}, "page_migration.batch", "at most `outstanding`"),
        ({"page_migration.page": 0}, "page_migration.page", "4"),
    ],
)
def test_a_wrong_device_is_named(change: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        on(loop(), **change)
    assert any(problem.path == path and said in str(problem) for problem in caught.value.problems), caught.value.problems


def test_managed_memory_needs_a_part_that_knows_it() -> None:
    spec, work = described("h200"), loop().done()
    slots = {name: slot for name, slot in spec.slots.items() if name != "page_migration"}
    with pytest.raises(RequestError, match="the workload has managed memory"):
        machine(DeviceSpec(spec.name, spec.vocabulary, slots, spec.memory_path), work)


def test_the_command_line_runs_managed_memory(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.yaml").write_text(
        "buffers: {x: {bytes: 64 MiB, memory: managed}}\n"
        "kernels: {k: {us: 20, touches: [{buffer: x, mode: write}]}}\n"
        "steps: [{launch: k}, {prefetch: x, to: host}, {sync: all}]\n"
    )
    assert main(["timeline", "work.yaml", "device=tiny", "memory.capacity=1 GiB", "page_migration.prefetch=whole_block"]) == 0
    said = capsys.readouterr().out
    assert "kernels waiting for pages" in said
    assert "prefetches" in said
