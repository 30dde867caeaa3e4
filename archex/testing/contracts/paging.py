"""What unified memory keeps: bytes that come stay or leave, what is there costs nothing, and who decides decides for pages there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.describe import DeviceSpec
from archex.testing.contracts.around import AroundContract
from archex.testing.contracts.part import PartContract
from archex.timeline import Builder, Timeline, run
from archex.workloads import machine

_SIZE = 6 << 20


def exercise(room: int) -> Builder:
    """Managed memory on a device that has `room` bytes left over: read in order, written in any order, prefetched there and back."""
    work = Builder("managed", streams=["first", "second"]).buffer("data", bytes=_SIZE, memory="managed")
    if room:
        work.buffer("rest", bytes=room)
    work.buffer("few", bytes=_SIZE // 6, memory="managed", device=0)
    work.kernel("reads", us=20, touches=[{"buffer": "data"}, {"buffer": "few", "mode": "write"}])
    work.kernel("writes", us=5, units=1, touches=[{"buffer": "data", "mode": "write", "order": "random", "seed": 3, "share": 0.3}])
    work.launch("reads", stream="first").launch("writes", stream="second").launch("writes", stream="second").sync("all")
    work.prefetch("data", to="host", stream="first").launch("reads", stream="first").sync("all")
    return work.prefetch("data", stream="second").launch("reads", stream="second").sync("all")


class PageMigrationContract(AroundContract):
    """Bytes that came are there or have left; a kernel whose pages are there takes no longer than without managed memory."""

    places = ("page_migration",)
    dearer = ("latency", "batch_service", "block_service", "fault_service", "remote_latency")
    richer = ("outstanding", "remote_rate")

    def changed(self, fields: tuple[str, ...], factor: float) -> Any:
        """As above, of the fields that the part has."""
        return super().changed(tuple(name for name in fields if hasattr(self.described()[self.places[0]], name)), factor)

    def timeline(self, device: DeviceSpec) -> Timeline:
        """The exercise on a device without much room."""
        left = 4 * device["page_migration"].block
        work = exercise(max(device["memory"].capacity - left, 0)).done()
        return run(work, machine(device, work))

    def test_bytes_that_came_are_there_or_have_left(self) -> None:
        device = self.described()
        found = self.timeline(device)
        assert found.pages is not None
        begun = -(-(_SIZE // 6) // device["page_migration"].page) * device["page_migration"].page
        assert begun + found.pages.came[0] == found.pages.resident(0) + found.pages.left[0]
        moved = sum(c.bytes for c in found.commands if c.kind == "migration" and c.name == "to_device")
        assert moved == found.pages.came[0]
        rate = device["copy_engine"].rate_to_device
        assert found.total_ns >= moved / rate * 1e9

    def test_what_is_there_costs_nothing(self) -> None:
        device = self.described()
        work = exercise(0).done()
        last = [c for c in run(work, machine(device, work)).commands if c.kind == "kernel"][-1]
        assert last.ended - last.started <= last.alone * (1 + 1e-9)

    def test_a_group_takes_time_and_no_less_for_more_faults(self) -> None:
        serve = self.part.function("serve")
        if serve is None:
            return
        params = self.part.parameters(self.made())
        times = [serve(faults, blocks, params) for faults, blocks in ((1, 1), (2, 1), (64, 1), (64, 8), (256, 256))]
        assert times[0] >= 0
        assert times == sorted(times)


class PageEvictionContract(PartContract):
    """Returns as many different blocks as must leave, the same for the same past and lots."""

    places = ("page_migration.eviction",)

    def test_as_many_different_blocks_leave_as_must(self) -> None:
        lot, pick = np.random.default_rng(1), self.part.function("pick_leaving")
        assert pick is not None
        for many in (1, 2, 7, 500):
            used, draws = lot.integers(0, 50, many), lot.random(many)
            for count in {1, many // 2, many} - {0}:
                first, second = (np.asarray(pick(used.copy(), draws.copy(), count, self.params())).tolist() for _ in range(2))
                assert first == second, "the same past, others leave"
                assert len(set(first)) == len(first) == count
                assert set(first) <= set(range(many))


class PagePrefetchContract(PartContract):
    """Brings what was asked for and nothing from blocks in which nothing was; more of it asked for never brings less."""

    places = ("page_migration.prefetch",)

    def test_what_was_asked_for_comes(self) -> None:
        lot, pick = np.random.default_rng(1), self.part.function("pick_fetched")
        assert pick is not None
        for pages in (1, 2, 32):
            for share in (0.02, 0.3, 0.7):
                here = lot.random((20, pages)) < share
                wanted = (lot.random((20, pages)) < share) & ~here
                found = np.asarray(pick(wanted.copy(), here.copy(), self.params())).astype(bool)
                assert found.shape == wanted.shape
                assert found[wanted].all()
                assert not found[~wanted.any(axis=1)].any()
                assert not (found & here).any()

    def test_more_asked_for_never_brings_less(self) -> None:
        lot, pick = np.random.default_rng(2), self.part.function("pick_fetched")
        assert pick is not None
        here = np.zeros((20, 32), dtype=bool)
        few = lot.random((20, 32)) < 0.3
        many = few | (lot.random((20, 32)) < 0.3)
        less, more = (np.asarray(pick(wanted, here, self.params())).astype(bool) for wanted in (few, many))
        assert not (less & ~more).any()
