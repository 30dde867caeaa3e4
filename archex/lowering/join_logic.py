"""Bitwise logic, comparisons, choices and packing that one instruction does together.

In: a block's form. Out: items with other operations (`logic3`, chained comparisons, guarded operations in place of choices), their
producers gone.
"""

from __future__ import annotations

from archex.lowering.form import Item, Ref, Value
from archex.lowering.joiner import LOGIC, PREDICABLE, Joiner
from archex.programs.ir import Immediate


class LogicJoins(Joiner):
    """Rules of logic and control."""

    def _logic3(self, item: Item) -> bool:
        if item.op not in LOGIC or "int32" not in item.attributes:
            return False
        leaves, inner = self._leaves(item, 3)
        if inner and self._fits(leaves, 3):
            for inside in inner:
                self._take(inside)
            item.sources, item.op = list({id(part): part for part in leaves}.values()), "logic3"
            return True
        for at, source in enumerate(item.sources):
            made = self._producer(source, LOGIC)
            if made is None or "int32" not in made.attributes:
                continue
            own = item.sources[:3] if item.op == "lop3" else item.sources
            theirs = made.sources[:3] if made.op == "lop3" else made.sources
            others = [part for place, part in enumerate(own) if place != at]
            if at < len(own) and self._fits(others + theirs, 3):
                self._take(made)
                item.sources = list({id(part): part for part in others + theirs}.values())
                item.op = "logic3"
                return True
        return False

    def _leaves(self, item: Item, depth: int) -> tuple[list[Ref], list[Item]]:
        """What a tree of bitwise logic reads, and the items inside it that nobody else needs."""
        own = item.sources[:3] if item.op == "lop3" else item.sources
        leaves: list[Ref] = []
        inner: list[Item] = []
        for source in own:
            made = self._producer(source, LOGIC) if depth else None
            if made is None or "int32" not in made.attributes:
                leaves.append(source)
                continue
            deeper, inside = self._leaves(made, depth - 1)
            leaves += deeper
            inner += [made, *inside]
        return leaves, inner

    def _test_bits(self, item: Item) -> bool:
        """Comparing with zero is a second result of bitwise logic."""
        if item.op != "compare" or "int32" not in item.attributes or len(item.sources) != 2 or not item.attributes & {"eq", "ne"}:
            return False
        if not isinstance(item.sources[1], Immediate) or item.sources[1].bits:
            return False
        made = self._producer(item.sources[0], LOGIC, once=False)
        if made is None or "int32" not in made.attributes or item.guard is not None or len(item.results) != 1:
            return False
        tested, result = made.results[0], item.results[0]
        assert tested is not None
        assert result is not None
        tested.users -= 1
        made.results.append(result)
        result.item = made
        item.gone = True
        return True

    def _compare_chain(self, item: Item) -> bool:
        if item.op not in ("and", "or") or "pred" not in item.attributes or len(item.sources) != 2:
            return False
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"compare"})
            if made is None or len(made.sources) != 2 or "int64" in made.attributes:
                continue
            item.op, item.attributes = "compare", made.attributes | {"chained"}
            item.sources = [*self._take(made), item.sources[1 - at]]
            return True
        return False

    def _branch_chain(self, item: Item) -> bool:
        """A branch tests two predicates."""
        if item.op not in ("branch", "exit") or item.guard is None or item.extra:
            return False
        made = self._producer(item.guard, {"and"})
        if made is None or "pred" not in made.attributes:
            return False
        item.guard, second = self._take(made)
        item.extra = [second]
        return True

    def _guarded_select(self, item: Item) -> bool:
        """A choice between a value that ends here and a fresh result: the fresh one is made in its place, under a guard."""
        if item.op != "select" or item.guard is not None or "wide" in item.attributes:
            return False
        a, b, predicate = item.sources[:3]
        for fresh, old in ((b, a), (a, b)):
            made = self._producer(fresh, PREDICABLE)
            if made is None or not isinstance(old, Value) or isinstance(predicate, Immediate) or not self._ends(old, item):
                continue
            if "wide" in made.attributes or made.extra:
                continue
            item.op, item.attributes = made.op, made.attributes
            item.sources = self._take(made)
            item.guard, item.carried = predicate, [old]
            return True
        return False

    def _pack(self, item: Item) -> bool:
        """Two conversions to 16-bit floats and putting them together are one instruction."""
        if item.op != "pack" or len(item.sources) != 2:
            return False
        made = [self._producer(source, {"convert"}) for source in item.sources]
        if any(part is None or "from_f32" not in part.attributes or part.operation.dtype not in ("f16", "bf16") for part in made):
            return False
        item.sources = [source for part in made if part is not None for source in self._take(part)]
        first = made[0]
        assert first is not None
        item.op, item.attributes = "convert", frozenset({f"{first.operation.dtype}x2", "from_f32"})
        return True
