"""Contracts: what every part of a kind must keep, as a test class a plugin derives from.

    class TestMine(PartContract):
        part = MyScheduler
        spec = {"window": 32}      # its numbers, as in a config

In: the part, its numbers. A kind with policy functions has further laws below, run on the functions as the engine calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np

from archex.assembly.policies import SET_FEEDBACK, feedback
from archex.describe.structure import Structurer
from archex.engine.policies import ARGUMENTS, FILLED_SET, HIT, NONE, Access, PlaceView, SetView, WaveView, compile_policy
from archex.engine.standard import ignore_set
from archex.parts.part import META, Part
from archex.registry import Registered, Registry
from archex.registry.check import check_part


class PartContract:
    """Holds for every part."""

    part: ClassVar[type[Part]]
    spec: ClassVar[dict[str, Any]] = {}

    def made(self) -> Any:
        """The part's Spec from its numbers."""
        registry = Registry({(self.part.kind, self.part.name): Registered(self.part, "test", "")})
        return Structurer(registry).structure(self.part.Spec, self.spec, self.part.kind)

    def params(self, *before: float) -> np.ndarray:
        return np.array([*before, *self.part.parameters(self.made())], dtype=np.float64)

    def state(self, count: int, each: int) -> np.ndarray:
        return np.zeros(self.part.state_words(self.made(), count, each), dtype=np.int64)

    def policy(self, name: str) -> Callable[..., int]:
        """A policy function as the engine calls it: compiled, or plain under ARCHEX_JIT=0 (then a debugger stops in it)."""
        return compile_policy(getattr(self.part, name), name)  # type: ignore[no-any-return]

    def note_set(self) -> Callable[..., int]:
        """The feedback functions of a replacement as the engine calls them."""
        function, _ = feedback(self.part, SET_FEEDBACK, ignore_set)
        return compile_policy(function, "note_set")  # type: ignore[no-any-return]

    def test_declares_what_its_kind_asks_for(self) -> None:
        assert [str(problem) for problem in check_part(self.part, "test")] == []

    def test_says_what_the_hardware_does(self) -> None:
        assert self.part.__doc__, "the class needs a docstring"

    def test_numbers_have_unit_and_meaning(self) -> None:
        for field in attrs.fields(self.part.Spec):
            assert field.metadata[META].meaning, field.name

    def test_numbers_are_frozen(self) -> None:
        assert attrs.fields(self.part.Spec) == () or "__setattr__" in vars(self.part.Spec)

    def test_compiles_with_the_signature_of_its_kind(self) -> None:
        for declared in self.part.functions:
            function = self.part.function(declared.name)
            if function is not None and declared.name in ARGUMENTS:
                compile_policy(function, declared.name)

    def test_counters_have_unit_meaning_and_column(self) -> None:
        for counter in self.part.counters:
            assert all((counter.name, counter.unit, counter.meaning, counter.column)), counter


class WaveSchedulerContract(PartContract):
    """Picks a ready wave whenever there is one."""

    def test_picks_a_ready_slot(self) -> None:
        slots, random = 16, np.random.default_rng(1)
        state, params, age, last = self.state(slots, 1), self.params(), random.permutation(slots), NONE
        for cycle in range(300):
            ready = int(random.integers(1, 1 << slots))
            slot = int(self.policy("pick_wave")(WaveView(ready, age, 0, last, cycle, slots), state, params))
            assert slot == NONE or (0 <= slot < slots and ready >> slot & 1), (ready, slot)
            last = slot if slot != NONE else last

    def test_no_wave_starves(self) -> None:
        """With every wave always ready but the last one picked, each is picked in time."""
        slots = 8
        state, params, age, last, seen = self.state(slots, 1), self.params(), np.arange(slots), NONE, set()
        ready = (1 << slots) - 1
        for cycle in range(400):
            slot = int(self.policy("pick_wave")(WaveView(ready, age, 0, last, cycle, slots), state, params))
            if slot == NONE:
                continue
            seen.add(slot)
            ready &= ~(1 << slot)  # it waits for memory now
            ready = ready or (1 << slots) - 1
            last = slot
        assert seen == set(range(slots))


class ReplacementContract(PartContract):
    """Returns a way of the set, also after any feedback."""

    def test_victim_is_a_way(self) -> None:
        random = np.random.default_rng(2)
        for ways in (1, 2, 3, 4, 12, 16, 64):
            sets = 4
            state, params, used = self.state(sets, ways), self.params(), np.zeros(sets * ways, dtype=np.int64)
            for step in range(1, 400):
                index = int(random.integers(sets))
                view = SetView(index * ways, ways, used, index, NONE, 0)
                if random.random() < 0.5:
                    way, what = int(random.integers(ways)), HIT
                else:
                    way, what = int(self.policy("pick_victim")(view, state, params)), FILLED_SET
                    assert 0 <= way < ways, (ways, way)
                used[view.first + way] = step
                self.note_set()(view._replace(hit=way, what=what), state, params)

    def test_the_line_just_used_stays(self) -> None:
        for ways in (2, 4, 16):
            state, params, used = self.state(1, ways), self.params(), np.arange(ways, dtype=np.int64)
            for step in range(ways, 4 * ways):
                way = step % ways
                used[way] = step
                self.note_set()(SetView(0, ways, used, 0, way, HIT), state, params)
                victim = int(self.policy("pick_victim")(SetView(0, ways, used, 0, NONE, 0), state, params))
                assert victim != way, "a line that was used a moment ago is the last to go"


class SetIndexContract(PartContract):
    """Every line has one set, every set has lines."""

    def test_covers_every_set(self) -> None:
        for sets in (1, 3, 7, 64, 267):
            found = [int(self.policy("set_index")(line, sets, self.params())) for line in range(8 * sets)]
            assert set(found) == set(range(sets))
            counts = np.bincount(found, minlength=sets)
            assert counts.max() <= 4 * counts.mean(), "neighbouring lines must spread over the sets"


class CoalescingContract(PartContract):
    """Every byte that a lane wants is in exactly one sector of the result."""

    def test_covers_what_lanes_want(self) -> None:
        random = np.random.default_rng(3)
        scratch = np.zeros(1024, dtype=np.int64)
        for size in (1, 2, 4, 8, 16):
            for addresses in (np.arange(32) * size, np.full(32, 4096), random.integers(0, 1 << 20, 32) // size * size):
                lanes = addresses.astype(np.int64)
                lanes[random.random(32) < 0.2] = -1
                lines, sectors = np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.int64)
                count = int(self.policy("coalesce")(Access(lanes, 32, size, 0), 128, 32, lines, sectors, scratch))
                found = {
                    int(line) * 4 + bit
                    for line, mask in zip(lines[:count], sectors[:count], strict=True)
                    for bit in range(4)
                    if mask >> bit & 1
                }
                wanted = {address // 32 for lane in lanes if lane >= 0 for address in (int(lane), int(lane) + size - 1)}
                assert found == wanted
                assert len(set(lines[:count].tolist())) == count


class BankConflictContract(PartContract):
    """Conflict-free takes one pass; everything in one bank takes a pass a lane."""

    def passes(self, addresses: Any, size: int = 4, banks: int = 32, store: int = 0) -> int:
        access = Access(np.asarray(addresses, dtype=np.int64), len(addresses), size, store)
        return int(self.policy("access_cycles")(access, np.zeros(1024, dtype=np.int64), self.params(banks, 4)))

    def test_extremes(self) -> None:
        assert self.passes(np.arange(32) * 4) == 1
        assert self.passes(np.arange(32) * 128) == 32
        assert self.passes(np.full(32, 64)) == 1, "lanes on one word are served together"

    def test_more_conflicts_never_take_fewer_passes(self) -> None:
        found = [self.passes(np.arange(32) * 4 * stride) for stride in (1, 2, 4, 8, 16, 32)]
        assert found == sorted(found)


class InterleaveContract(PartContract):
    """Every channel is used, a chunk stays on one, streams spread evenly."""

    def channels(self, addresses: Any, channels: int, chunk: int) -> list[int]:
        params = self.params(channels, chunk)
        return [int(self.policy("map_address")(int(address), params)) for address in addresses]

    def test_streams_spread_evenly(self) -> None:
        for channels in (1, 2, 6, 128, 192):
            found = self.channels(np.arange(channels * 16) * 256, channels, 256)
            assert set(found) == set(range(channels))
            assert np.bincount(found).max() <= 2 * 16

    def test_a_chunk_lies_on_one_channel(self) -> None:
        assert len(set(self.channels(range(512, 1024, 32), 8, 512))) == 1


class PlacementContract(PartContract):
    """Returns a unit that can take a workgroup, and serves every unit."""

    def test_places_where_there_is_room(self) -> None:
        units, random = 12, np.random.default_rng(4)
        order = random.permutation(units).astype(np.int64)
        state, params, last, served = self.state(units, 1), self.params(), NONE, set()
        held = np.zeros(units, dtype=np.int64)
        for cycle in range(200):
            available = np.where(random.random(units) < 0.5, cycle, 1 << 60).astype(np.int64)
            unit = int(self.policy("place_workgroup")(PlaceView(available, held, order, last, cycle, cycle), state, params))
            if (available <= cycle).any():
                assert unit != NONE, "a workgroup waits although there is room"
            if unit != NONE:
                assert available[unit] <= cycle
                held[unit] += 1
                served.add(unit)
                last = int(np.flatnonzero(order == unit)[0])
        assert served == set(range(units))


#: kind -> the contract of its parts; kinds without policy functions keep the common one.
CONTRACTS: dict[str, type[PartContract]] = {
    "wave_scheduler": WaveSchedulerContract,
    "replacement": ReplacementContract,
    "set_index": SetIndexContract,
    "coalescing": CoalescingContract,
    "bank_conflict": BankConflictContract,
    "interleave": InterleaveContract,
    "placement": PlacementContract,
}
