"""Spill code: values that don't fit in the registers live in private memory and come back where they are used.

In: scheduled blocks and how many registers there are. Out: the blocks with stores and loads of private memory. Values that cross blocks are
chosen first, those touched least in the deepest loops. A spilled value is loaded before it is read and stored after it is made;
where all registers
are full at that place, another value is parked in memory meanwhile.
"""

from __future__ import annotations

import attrs

from archex.lowering.facts import Facts, words
from archex.lowering.form import Value
from archex.lowering.listing import profile
from archex.lowering.node import Node
from archex.lowering.schedule import SLACK

#: So few too many are avoided by making values anew.
NEAR = 3
#: Registers that a block needs at least beside what crosses its borders.
WORK = 2
#: A spilled value read twice within so many instructions is loaded once.
KEPT = 6
#: A block parks at most this share of the registers in use; more accesses than that share what is parked.
PARKED = 0.5


@attrs.frozen
class Passing:
    """What a block's own nodes don't show: registers that values passing through take, and values needed after it."""

    taken: int
    outlive: set[Value]


@attrs.define(slots=True)
class Spiller:
    """Chooses and inserts."""

    known: Facts
    blocks: list[list[Node]]
    passing: list[Passing]
    registers: int
    slots: dict[object, int] = attrs.field(factory=dict)
    bytes: int = 0

    def run(self) -> tuple[list[list[Node]], int]:
        """Blocks with spill code, and the bytes of private memory it takes."""
        profiles = [profile(nodes, p.taken, p.outlive) for nodes, p in zip(self.blocks, self.passing, strict=True)]
        peaks = [
            least_demand(nodes, p, max(found, default=0), self.registers)
            for nodes, p, found in zip(self.blocks, self.passing, profiles, strict=True)
        ]
        spilled: set[int] = set()
        order = sorted(range(len(peaks)), key=lambda index: (-self.known.depth[index], -peaks[index]))
        for index in order:
            self._choose(index, peaks[index], spilled)
        found = []
        for index, nodes in enumerate(self.blocks):
            gone = sum(self._words(register) for register in spilled & self.known.live_in[index])
            local = self._choose_local(nodes, peaks[index] - gone, self.passing[index])
            found.append(self._insert(index, nodes, profiles[index], spilled, local, peaks[index]) if spilled or local else nodes)
        return found, -(-self.bytes // 8) * 8

    def _words(self, register: int) -> int:
        return words(self.known.function.register_dtypes[register])

    def _choose(self, index: int, peak: int, spilled: set[int]) -> None:
        """Add registers that live through a block until it fits."""
        here = self.known.live_in[index] | self.known.live_out[index]
        excess = peak - self.registers - sum(self._words(register) for register in here & spilled)
        if excess <= 0:
            return
        candidates = [register for register in sorted(here - spilled) if self._words(register) and register not in self.known.uniform]
        weight = self._weights()
        for register in sorted(candidates, key=lambda register: (weight.get(register, 0.0) / self._words(register), register)):
            if excess <= 0:
                break
            spilled.add(register)
            excess -= self._words(register)

    def _weights(self) -> dict[int, float]:
        weight: dict[int, float] = {}
        for index, nodes in enumerate(self.blocks):
            times = 10.0 ** self.known.depth[index]
            for node in nodes:
                for value in (*node.reads, *node.writes):
                    for register in _registers(value):
                        weight[register] = weight.get(register, 0.0) + times
        return weight

    def _choose_local(self, nodes: list[Node], peak: int, passing: Passing) -> set[Value]:
        """Values of this block alone that wait longest, when nothing else is left to spill."""
        excess = peak - self.registers
        if excess <= 0:
            return set()
        made = {value: place for place, node in enumerate(nodes) for value in node.writes}
        last = {value: place for place, node in enumerate(nodes) for value in node.reads}
        spans = sorted(
            (
                (made[value] - last[value], value.words, id(value), value)
                for value in made
                if value in last and value.words and not _registers(value)
            ),
            key=lambda span: span[:3],
        )
        found: set[Value] = set()
        for span, count, _, value in spans:
            if excess <= 0 or -span < 3 * KEPT:
                break
            found.add(value)
            excess -= count
        return found

    def _insert(self, index: int, nodes: list[Node], held: list[int], spilled: set[int], local: set[Value], peak: int) -> list[Node]:
        before: dict[int, list[Node]] = {}
        after: dict[int, list[Node]] = {}
        present: dict[object, int] = {}
        places: list[int] = []
        for place, node in enumerate(nodes):
            touched = False
            for value in node.reads:
                key = self._key(value, spilled, local)
                if key is None:
                    continue
                if place - present.get(key, -KEPT - 1) > KEPT:
                    before.setdefault(place, []).append(self._access("load_private", key, value))
                    touched = True
                present[key] = place
            for value in node.writes:
                key = self._key(value, spilled, local)
                if key is None:
                    continue
                after.setdefault(place, []).append(self._access("store_private", key, value))
                present[key] = place
            gone = sum(self._words(register) for register in spilled & self.known.live_in[index])
            if touched and held[place] - gone + 1 >= self.registers:
                places.append(place)
        self._park(index, nodes, places, spilled, peak, before, after)
        made: list[Node] = []
        for place, node in enumerate(nodes):
            mine = [node, *after.get(place, [])]
            if node.ends:
                mine = [*after.get(place, []), node]
            made += [*before.get(place, []), *mine]
        return made

    def _park(
        self,
        index: int,
        nodes: list[Node],
        places: list[int],
        spilled: set[int],
        peak: int,
        before: dict[int, list[Node]],
        after: dict[int, list[Node]],
    ) -> None:
        """Make room at these places by parking other values."""
        free = [
            register for register in sorted(self.known.live_in[index] & self.known.live_out[index] - spilled) if self._words(register) == 1
        ]
        near: dict[int, list[int]] = {}
        for place, node in enumerate(nodes):
            for value in (*node.reads, *node.writes):
                for register in _registers(value):
                    near.setdefault(register, []).append(place)
        for step, start in enumerate(places[: max(2, round(PARKED * peak))]):
            victim = _quiet(free, near, start, step)
            if victim is None:
                continue
            value = Value(1, incoming=victim)
            end = min(len(nodes) - 1, start + KEPT)
            before.setdefault(start, []).insert(0, self._access("store_private", ("parked", index, start), value))
            after.setdefault(end, []).append(self._access("load_private", ("parked", index, start), value))

    def _key(self, value: Value, spilled: set[int], local: set[Value]) -> object | None:
        if value in local:
            return value
        return next((register for register in _registers(value) if register in spilled), None)

    def _access(self, name: str, key: object, value: Value) -> Node:
        if key not in self.slots:
            self.slots[key] = self.bytes
            self.bytes += 4 * max(1, value.words)
        node = Node(name, [], []) if name == "load_private" else Node(name, [value], [])
        if name == "load_private":
            node.writes = [value]
        node.bytes, node.offset = 4 * max(1, value.words), self.slots[key]
        return node


def _registers(value: Value) -> list[int]:
    """Registers of the function that a value is in."""
    return [value.incoming] if value.incoming >= 0 else value.registers


def _quiet(free: list[int], near: dict[int, list[int]], start: int, step: int) -> int | None:
    """A register that nobody touches around a place."""
    for turn in range(len(free)):
        register = free[(start * 7 + step * 13 + turn) % len(free)]
        if all(place < start or place > start + KEPT for place in near.get(register, ())):
            return register
    return None


def least_demand(nodes: list[Node], passing: Passing, peak: int, registers: int) -> int:
    """Registers a block cannot do without, given what its order has alive at once."""
    if peak > registers * (1 + SLACK) + WORK:
        return peak
    made: set[Value] = set()
    enters = 0
    for node in nodes:
        enters += sum(value.words for value in {*node.reads} - made)
        made.update(node.reads, node.writes)
    leaves = sum(value.words for value in passing.outlive)
    needed = min(peak, passing.taken + max(enters, leaves) + WORK)
    return needed if needed > registers + NEAR else registers


def spill(known: Facts, blocks: list[list[Node]], passing: list[Passing], registers: int) -> tuple[list[list[Node]], int]:
    """Blocks with spill code, and the bytes of private memory it takes; all stays as it is where the registers do."""
    return Spiller(known, blocks, passing, registers).run()
