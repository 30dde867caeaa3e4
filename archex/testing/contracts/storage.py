"""What memories and the ways between them keep: more room or rate never slows down, more latency or cost never speeds up."""

from __future__ import annotations

import attrs

from archex.assembly import assemble
from archex.assembly.routes import routes
from archex.assembly.topology import topology
from archex.base.units import Duration
from archex.engine import tables as t
from archex.testing.contracts.part import PartContract


class LocalMemoryContract(PartContract):
    """Twice the banks never take more passes; latency is what a conflict-free access takes."""

    places = ("local_memory",)
    costs = ("latency", "latency_8", "latency_16", "conflict_extra", "atomic_latency", "atomic_lane", "atomic_extra", "float_atomic")
    gains = ("banks",)

    def test_twice_the_banks_never_take_more_passes(self) -> None:
        before = self.run(self.described())["local_memory_wavefronts"]
        for _, changed in self.changes(("banks",), 2):
            assert self.run(changed)["local_memory_wavefronts"] <= before


class InstructionCacheContract(PartContract):
    """A level farther away is never quicker."""

    places = ("instruction_cache",)
    costs = ("near", "middle", "far", "jump", "cold", "cold_next")
    gains = ("buffer", "size", "next_size")


class ScalarCacheContract(PartContract):
    """A miss costs what it says, once a line and compute unit."""

    places = ("scalar_cache",)
    costs = ("next_extra", "cold_extra", "word_interval", "word_extra")
    gains = ("size", "next_size")


class VectorCacheContract(PartContract):
    """A hit is quicker than one below it; a larger cache fetches no more."""

    places = ("vector_cache",)
    costs = ("latency", "tag_extra", "data_extra", "store_line", "fill_sector")
    gains = ("size", "pending", "lines_per_cycle", "return_width")

    def test_a_larger_one_fetches_no_more(self) -> None:
        before = self.run(self.described())["l2_read_sectors"]
        for _, changed in self.changes(("size",), 2):
            assert self.run(changed)["l2_read_sectors"] <= (1 + self.slack) * before


class CacheContract(PartContract):
    """Lines fill whole sets of whole slices; a slice served slower never helps."""

    places = ("l2",)
    costs = (
        "latency", "read_least", "read_sector", "write_base", "write_sector", "fill_sector", "atomic_least", "atomic_sector", "atomic_same",
        "far_extra",
    )  # fmt: skip
    gains = ("size", "port_read", "port_write")

    def test_sets_hold_what_the_size_says(self) -> None:
        device = self.described()
        spec, row = device["l2"], assemble(device).tables.levels[1]
        held = row[t.LEVEL_SETS] * row[t.LEVEL_WAYS] * row[t.LEVEL_SLICES] * row[t.LEVEL_LINE]
        assert spec.size - spec.line * spec.ways * spec.slices < held <= spec.size


class AddressTranslationContract(PartContract):
    """Farther reach never misses more; a device without translation is never slower."""

    places = ("address_translation",)
    costs = ("miss", "interval")
    gains = ("entries", "page")

    def test_translation_costs_or_is_free(self) -> None:
        config = self.config()
        with_it = self.run(self.described())["time_ns"]
        del config["address_translation"]
        assert self.run(self.checked(config))["time_ns"] <= (1 + self.slack) * with_it


class InterconnectContract(PartContract):
    """A rate twice as high never slows down; none at all is no limit."""

    places = ("fabric",)
    costs = ("port_write_line", "partial_sector")
    gains = ("port_read", "port_write", "group_read", "group_write", "total_read", "total_write")

    def test_rates_reach_the_level_it_serves(self) -> None:
        device = self.described()
        fabric, level = device["fabric"], device.memory_path.index(device["fabric"].serves)
        row = assemble(device).tables.levels[level]
        ways = routes(device, topology(device), device.clock_hz)
        for rate, column, links in (
            (fabric.port_read, t.LEVEL_PORT_READ, 0),
            (fabric.total_read, t.LEVEL_TOTAL_READ, ways and ways.total_rate),
        ):
            limits = [limit for limit in (rate and rate.bytes_per_cycle(device.clock_hz), links) if limit]
            assert row[column] == min(limits, default=0)

    def test_longer_links_are_never_faster(self) -> None:
        """Where a way has links: three times their latency."""
        device = self.described()
        own = [name for name in attrs.fields_dict(self.part.Spec) if isinstance(getattr(device["fabric"], name), Duration)]
        before = self.run(device)["time_ns"] if own else 0
        for _, changed in self.changes(tuple(own), 3):
            assert self.run(changed)["time_ns"] >= (1 - self.slack) * before

    def test_a_way_is_the_same_every_time(self) -> None:
        device = self.described()
        place = topology(device)
        ways, again = (routes(device, place, device.clock_hz) for _ in range(2))
        if ways is None or again is None:
            assert self.part.function("route") is None
            return
        assert (ways.latency == again.latency).all()
        assert (ways.latency >= 0).all()


class MemoryContract(PartContract):
    """Bytes never move faster than the bandwidth; latency is a chase's."""

    places = ("memory",)
    costs = ("latency", "turnaround", "refresh")
    gains = ("bandwidth", "activates", "refresh_interval")

    def test_bytes_take_their_time(self) -> None:
        device = self.described()
        row = self.run(device)
        least = (row["dram_read_bytes"] + row["dram_write_bytes"]) / (device["memory"].bandwidth * device["memory"].efficiency)
        assert row["time_ns"] * 1e-9 >= least


class AsyncCopyUnitContract(PartContract):
    """What costs more beside the memory path never helps."""

    places = ("async_copy_unit",)
    program = "copies"
    slack = 0.06  # waves that ask a barrier again and again take issue slots from one another, more of them where copies are quick
    costs = ("small_interval", "small_extra", "bulk_interval", "bulk_extra")
    gains = ("bulk_rate",)


class DispatcherContract(PartContract):
    """Workgroups start no earlier and no closer together than it says."""

    places = ("dispatcher",)
    slack = 0.03  # workgroups that start apart meet other turns of the schedulers at pipes they share
    costs = ("launch", "drain", "start_interval", "end_interval", "relaunch", "wave_start", "start_cost.*.cycles")

    def test_launch_and_drain_are_part_of_the_cycles(self) -> None:
        device = self.described()
        row, clock = self.run(device), device.clock_hz
        spec = device["dispatcher"]
        assert row["launch_drain_cycles"] == int(spec.launch.cycles(clock)) + int(spec.drain.cycles(clock))
        assert row["cycles"] > row["launch_drain_cycles"]
