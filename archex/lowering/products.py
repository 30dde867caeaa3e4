"""Matrix products into machine operations: from registers, beside the wave, or with operands loaded from local memory first.

In: an item that is a product, its `Plan`. Out: nodes. Products on one accumulator form a chain through it. An instruction takes its
operands from registers that follow one another: a value that stands in two such groups, or twice in one, is copied.
"""

from __future__ import annotations

import math

from archex.base.layout import BESIDE
from archex.lowering.form import Item, Ref, Value
from archex.lowering.node import Node
from archex.lowering.outside import OutsideValues
from archex.lowering.shapes import GROUP, TOGETHER, Plan, Product, plan, product
from archex.parts.abilities import Abilities
from archex.programs.ir import Immediate, Operation

PRODUCTS = frozenset({"matrix", "matrix_sparse", "matrix_async"})
#: Bytes a lane that a load of operands moves.
_LOAD = 16


class Products(OutsideValues):
    """The part of emission that makes products."""

    abilities: Abilities
    distances: set[Ref]

    def _flat(self, refs: list[Ref]) -> list[list[Ref]]:
        raise NotImplementedError

    def _node(self, name: str, inputs: list[Ref], writes: list[Value], also: list[Ref], guarded: bool) -> Node:
        raise NotImplementedError

    def _shared_steps(self, key: str, inputs: list[list[Ref]], results: list[Value] | None) -> Value:
        raise NotImplementedError

    def _product(self, item: Item) -> None:
        operation = item.operation
        wanted, made = product(operation), plan(operation, self.abilities)
        groups = self._operand_groups(item)
        results = [result for result in item.results if result is not None]
        also = [*([item.guard] if item.guard is not None else []), *item.carried, *item.extra]
        start = len(self.target)
        if operation.op != "matrix_async":
            first, second, accumulators, *rest = groups
            operands = [*self._together(first), *self._together(second), *(ref for group in rest for ref in group)]
            self._chain(made, wanted, operands + also, accumulators, results)
        elif made.beside:
            self._beside(made, wanted, groups, also, results)
        else:
            self._loaded(made, wanted, groups, also, results)
        self.target[start:][-1].last = True

    def _operand_groups(self, item: Item) -> list[list[Ref]]:
        flat = self._flat(item.sources)
        found, at = [], 0
        for length in item.operation.groups:
            found.append([ref for group in flat[at : at + length] for ref in group])
            at += length
        return found

    def _together(self, group: list[Ref]) -> list[Ref]:
        """Operands in registers that follow one another."""
        key = ("together", tuple(id(ref) if isinstance(ref, Value) else ref for ref in group))
        known = self.groups.get(key)
        if known is not None:
            return known
        places = [self.places.get(ref) for ref in group if not isinstance(ref, Immediate)]
        first = places[0] if len(places) == len(group) else None
        aligned = first is not None and all(
            place is not None and place[0] is first[0] and place[1] == first[1] + at for at, place in enumerate(places)
        )
        variable = [ref for ref in group if not isinstance(ref, Immediate)]
        clash = not aligned and (any(place is not None for place in places) or len(set(variable)) < len(variable))
        found: list[Ref] = []
        owner = object()
        for at, ref in enumerate(group):
            taken = not isinstance(ref, Immediate) and (ref in self.places or ref in group[:at])
            if clash and (taken or isinstance(ref, Immediate)):
                reads = [read for read in (self._read(ref, "move"),) if read is not None]
                ref = Value(1)
                self.target.append(Node("move", reads, [ref], self.source))
            if not isinstance(ref, Immediate):
                self.places.setdefault(ref, (owner, at))
            found.append(ref)
        self.groups[key] = found
        return found

    def _chain(self, made: Plan, wanted: Product, operands: list[Ref], accumulators: list[Ref], results: list[Value]) -> None:
        rows = wanted.m * max(1, self.abilities.lanes // GROUP)
        parts = min(made.count, math.ceil(rows / made.shape.m) * math.ceil(wanted.n / made.shape.n))
        if len(results) % parts or len(accumulators) % parts:
            parts = 1
        share, given = len(results) // parts, len(accumulators) // parts
        held = [accumulators[part * given : (part + 1) * given] for part in range(parts)]
        for index in range(made.count):
            part = index % parts
            last = index >= made.count - parts
            mine = results[part * share : (part + 1) * share]
            writes = mine if last else [Value(sum(value.words for value in mine))]
            self._one(made, [*held[part], *operands], writes)
            held[part] = list(writes)

    def _beside(self, made: Plan, wanted: Product, groups: list[list[Ref]], also: list[Ref], results: list[Value]) -> None:
        first, second, scale, *_ = groups
        accumulators = groups[-1]
        from_local = len(first) == 1
        operands = [*(self._descriptor(first[0]) if from_local else first), *self._descriptor(second[0])]
        operands += [ref for ref in scale if not isinstance(ref, Immediate)]
        rows = wanted.m * max(1, self.abilities.lanes // GROUP)
        columns = math.ceil(wanted.n * rows / (made.shape.m * made.count))
        size = wanted.size * wanted.k
        for _ in range(made.count):
            node = self._one(made, [*accumulators, *operands, *also], results)
            node.flags |= BESIDE
            node.record = self._slot()
            stored = size / 2 if wanted.sparse else size
            node.bytes = round((made.shape.m * stored if from_local else 0) + columns * size / TOGETHER)
            accumulators = list(results)

    def _loaded(self, made: Plan, wanted: Product, groups: list[list[Ref]], also: list[Ref], results: list[Value]) -> None:
        """Operands that a unit cannot take from local memory are loaded into registers first."""
        first, second, *_ = groups
        lanes = self.abilities.lanes
        operands: list[Ref] = []
        size = wanted.size * wanted.k
        for group, count in ((first, wanted.m * lanes / GROUP), (second, wanted.n)):
            if len(group) > 1:
                operands += group
                continue
            base = [read for read in (self._read(group[0], "load_local"),) if read is not None]
            for _ in range(math.ceil(count * size / (_LOAD * lanes))):
                loaded = Value(_LOAD // 4)
                self.target.append(Node("load_local", list(base), [loaded], self.source, record=self._slot(), bytes=_LOAD))
                operands.append(loaded)
        self._chain(made, wanted, operands + also, groups[-1], results)

    def _describes(self, item: Item) -> frozenset[str]:
        """Whether an addition leads to a descriptor, and whether it is the block's first to that base: others add to what that one made."""
        first = item.operation.dst[0] if item.operation.dst else None
        if item.op != "add" or first is None or first.id not in self.described or not isinstance(item.sources[-1], Immediate):
            return frozenset()
        base = item.sources[0]
        if base in self.distances:
            return frozenset({"descriptor", "further"})
        self.distances.add(base)
        return frozenset({"descriptor"})

    def _descriptor(self, ref: Ref) -> list[Ref]:
        """Where an operand lies in local memory, as the unit wants to be told."""
        if isinstance(ref, Value) and not ref.shared and "descriptor" in self.rules.steps:
            return [self._shared_steps("descriptor", [[ref]], None)]
        return [ref]

    def _one(self, made: Plan, inputs: list[Ref], writes: list[Value]) -> Node:
        node = self._node(made.operation, inputs, writes, [], False)
        node.interval = made.interval
        return node

    def _slot(self) -> int:
        source: Operation | None = self.source
        return source.memory_slot if source is not None else -1
