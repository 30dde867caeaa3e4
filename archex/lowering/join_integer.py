"""Additions, shifts and products that one instruction does together.

In: a block's form. Out: items with other operations (`add3`, `shift_add`, `mad_wide`, ...), their producers gone.
"""

from __future__ import annotations

from archex.lowering.form import Item, Ref, Value, attributes
from archex.lowering.joiner import FLOATS, ROUNDING, Joiner, highest
from archex.programs.ir import Immediate, Register, Special


class IntegerJoins(Joiner):
    """Rules of arithmetic."""

    def _wide_pair(self, item: Item) -> bool:
        """The low and the high half of one product are one widening product."""
        if item.op != "mul_hi" or "int32" not in item.attributes or item.guard is not None or len(item.results) != 1:
            return False
        for other in self.form.items:
            alike = other.sources == item.sources or other.sources == item.sources[::-1]
            if (
                other.op == "mul_lo"
                and not other.gone
                and other.guard is None
                and alike
                and len(other.results) == 1
                and "int32" in other.attributes
            ):
                low = other.results[0]
                assert low is not None
                first, second = (item, other) if self.form.items.index(item) < self.form.items.index(other) else (other, item)
                first.op, first.attributes = "mul_hi", item.attributes
                first.results = [item.results[0], low]
                for result in first.results:
                    if result is not None:
                        result.item = first
                second.gone = True
                return True
        return False

    def _extend_add(self, item: Item) -> bool:
        """An addition widens one of its operands itself."""
        if item.op not in ("add", "add3") or "int64" not in item.attributes:
            return False
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"convert"})
            if made is not None and made.operation.source_dtype in ("s32", "u32") and "int64" in made.attributes:
                item.sources = [*item.sources[:at], *self._take(made), *item.sources[at + 1 :]]
                item.attributes |= {"extends"}
                return True
        return False

    def _add3(self, item: Item) -> bool:
        kind = item.attributes & {"int32", "int64"}
        if item.op not in ("add", "sub") or not kind or (kind == {"int64"} and item.op == "sub"):
            return False
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"add", "sub"} if kind == {"int32"} else {"add"})
            if made is None or not kind <= made.attributes:
                continue
            others = item.sources[:at] + item.sources[at + 1 :]
            if self._fits(others + made.sources, 3):
                item.sources = others + self._take(made)
                item.op = "add3"
                return True
        return False

    def _shift_add(self, item: Item) -> bool:
        if item.op not in ("add", "or") or not item.attributes & {"int32", "int64"}:
            return False
        kind = "int64" if "int64" in item.attributes else "int32"
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"shl"})
            if made is None or not isinstance(made.sources[1], Immediate) or kind not in made.attributes:
                continue
            others = item.sources[:at] + item.sources[at + 1 :]
            if item.op == "or" and (kind == "int64" or highest(others[0]) >> made.sources[1].bits):
                continue  # the bits overlap: not a sum
            item.sources = [self._take(made)[0], *others]
            item.op = "shift_add"
            return True
        return False

    def _shift_wide(self, item: Item) -> bool:
        """A shift left of a value just widened is a widening product."""
        if item.op != "shl" or "int64" not in item.attributes or not isinstance(item.sources[1], Immediate):
            return False
        made = self._producer(item.sources[0], {"convert"})
        if made is None or made.operation.source_dtype not in ("s32", "u32"):
            return False
        amount = item.sources[1]
        item.sources = [*self._take(made), Immediate(1 << (amount.bits & 31))]
        item.op, item.attributes = "mul_wide", frozenset({"int64", "int", f"from_{made.operation.source_dtype}", "from_int32", "from_int"})
        return True

    def _mad_wide(self, item: Item) -> bool:
        if item.op != "add" or "int64" not in item.attributes:
            return False
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"mul_wide"}, once=False)
            if made is None and self._remake(item, at):
                return True
            if made is None or not made.attributes & {"from_s32", "from_u32"}:
                continue
            others = item.sources[:at] + item.sources[at + 1 :]
            item.attributes = made.attributes
            item.sources = self._take(made) + others
            item.op = "mad_wide"
            return True
        return False

    def _remake(self, item: Item, at: int) -> bool:
        """An addition of a product made in another block: the product is cheaper to make again than to add."""
        source = item.sources[at]
        operation = self.known.products.get(source.incoming) if isinstance(source, Value) and source.item is None else None
        if operation is None or operation.source_dtype not in ("s32", "u32"):
            return False
        parts: list[Ref] = []
        for operand in operation.src:
            if isinstance(operand, Register) and operand.id in self.known.named:
                parts.append(self.known.named[operand.id])
            elif isinstance(operand, Register):
                parts.append(self.form.start.setdefault(operand.id, Value(incoming=operand.id)))
            elif isinstance(operand, Special):
                return False
            else:
                parts.append(operand)
        item.sources = [*parts, *item.sources[:at], *item.sources[at + 1 :]]
        item.op, item.attributes = "mad_wide", attributes(operation)
        return True

    def _mad(self, item: Item) -> bool:
        if item.op not in ("add", "sub") or "int" not in item.attributes:
            return False
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"mul_lo"})
            if made is None or made.attributes & {"int64"} != item.attributes & {"int64"}:
                continue
            if item.op == "sub" and (at == 0 or not any(isinstance(part, Immediate) for part in made.sources)):
                continue
            others = item.sources[:at] + item.sources[at + 1 :]
            item.sources = self._take(made) + others
            item.op = "mad_lo"
            return True
        return False

    def _contract(self, item: Item) -> bool:
        if not self.contracts or item.op not in ("add", "sub") or item.operation.dtype not in FLOATS or item.attributes & ROUNDING:
            return False
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"mul"})
            if made is None or made.attributes & ROUNDING or made.operation.dtype != item.operation.dtype:
                continue
            others = item.sources[:at] + item.sources[at + 1 :]
            item.sources = self._take(made) + others
            item.op = "fma"
            return True
        return False

    def _add_minmax(self, item: Item) -> bool:
        if item.op not in ("min", "max") or "int32" not in item.attributes:
            return False
        for at, source in enumerate(item.sources):
            made = self._producer(source, {"add"})
            others = item.sources[:at] + item.sources[at + 1 :]
            if made is not None and "int32" in made.attributes and self._fits(others + made.sources, 3):
                item.sources = self._take(made) + others
                item.op = "add_minmax"
                return True
        return False
