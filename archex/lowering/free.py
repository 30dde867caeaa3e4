"""Operations that cost no instruction: copies of the same bits, signs, inverted predicates, halves picked by their users.

In: a block's form. Out: what each free value stands for (`alias`); its item is gone. 64-bit values whose upper half is zero are
marked, so that logic on
them is done on one half.
"""

from __future__ import annotations

from archex.lowering.form import FLOAT16, Item, Ref, Value, count_users
from archex.lowering.joiner import FLOATS, LOGIC, SIGNED_INPUTS, Joiner
from archex.programs.ir import Immediate
from archex.programs.types import BITS


class Free(Joiner):
    """Finds operations whose users take them in."""

    def _transparent(self) -> None:
        """Let users read through copies of the same bits, signs and inverted predicates."""
        count_users(self.form)
        held = {value for value in self.form.final.values() if isinstance(value, Value)}
        for item in self.form.items:
            self._through(item)
            if item.guard is not None or len(item.results) == 0:
                continue
            if item.operation.folded or self._is_free(item):
                for result in item.results:
                    if result is not None:
                        self.alias[result] = list(item.sources)
                        self._keep(result, held)
                item.gone = True
            elif item.op in ("neg", "abs") and item.operation.dtype in FLOATS and "float_modifiers" in self.rules:
                self._sign(item, SIGNED_INPUTS, held)
            elif item.op == "neg" and "int" in item.attributes and "int_negate" in self.rules:
                self._sign(item, frozenset({"add", "sub"}), held)
            elif item.op == "not" and "int32" in item.attributes and "logic3" in self.rules:
                self._sign(item, LOGIC, held)
            elif item.op == "not" and "pred" in item.attributes and item.results[0] not in held and item.results[0] is not None:
                self.alias[item.results[0]] = list(item.sources)
                item.gone = True

    def _through(self, item: Item) -> None:
        def replaced(sources: list[Ref]) -> list[Ref]:
            found: list[Ref] = []
            for source in sources:
                found += self.alias.get(source, [source]) if isinstance(source, Value) else [source]
            return found

        item.sources = replaced(item.sources)
        item.extra = replaced(item.extra)
        if isinstance(item.guard, Value) and item.guard in self.alias:
            first, *rest = self.alias[item.guard]
            item.guard = first
            item.extra += rest
        item.carried = replaced(item.carried)

    def _keep(self, value: Value, held: set[Value]) -> None:
        """A free value that a register holds at the block's end: the register holds what it stands for."""
        if value in held:
            for register in value.registers:
                stands = self.alias[value]
                self.form.final[register] = stands[0] if stands else Immediate(0)
                if stands and isinstance(stands[0], Value):
                    stands[0].registers.append(register)
                    held.add(stands[0])

    def _is_free(self, item: Item) -> bool:
        operation = item.operation
        if (
            operation.op == "convert"
            and "int" in item.attributes
            and any(a.startswith("from_int") for a in item.attributes)
            and "sat" not in operation.mods
        ):
            narrow, wide = BITS[operation.source_dtype], BITS[operation.dtype]
            if narrow >= wide:
                return True
            source = item.sources[0]
            loaded = isinstance(source, Value) and source.item is not None and source.item.op == "load"
            if narrow < 32 and wide <= 32 and loaded:
                return True
            return narrow == 32 and wide == 64 and operation.source_dtype[0] != "s" and not self._needs_pair(item)
        if operation.op == "unpack":
            if BITS[operation.source_dtype] >= 64:
                return True
            return "half_convert" in self.rules and BITS[operation.dtype] == 16 and self._takes_halves(item)
        if operation.op == "pack":
            return BITS[operation.dtype] >= 64
        return (
            operation.op == "move" and isinstance(item.sources[0], Value) and item.results[0] is not None and not item.results[0].registers
        )

    def _needs_pair(self, item: Item) -> bool:
        """Whether somebody wants a zero-extended value as a pair of registers."""
        result = item.results[0]
        if result is None or result.registers:
            return True
        return any(result in user.sources and user.op in ("mad_wide", "store", "mul_lo") for user in self.form.items)

    def _takes_halves(self, item: Item) -> bool:
        results = [result for result in item.results if result is not None]
        if any(result.registers for result in results):
            return False
        takers = [user for user in self.form.items if any(result in user.sources for result in results)]
        return all(
            user.operation.dtype in FLOAT16 or user.operation.source_dtype in FLOAT16 or user.op in ("pack", "store", "compare")
            for user in takers
        )

    def _sign(self, item: Item, takers: frozenset[str], held: set[Value]) -> None:
        result = item.results[0]
        if result is None or result in held:
            return
        users = [user for user in self.form.items if result in user.inputs()]
        same = BITS.get(item.operation.dtype)
        if users and all(user.op in takers and result not in user.carried and BITS.get(user.operation.dtype) == same for user in users):
            self.alias[result] = list(item.sources)
            item.gone = True

    def _halves(self) -> None:
        """64-bit values whose upper half is zero: logic on them is done on the lower half alone."""
        low: set[Value] = set()
        for item in self.form.items:
            if item.gone or "int64" not in item.attributes or not item.results or item.guard is not None:
                continue
            amount = item.sources[1] if len(item.sources) > 1 else None
            if item.op in ("shr", "shl") and isinstance(amount, Immediate) and 32 <= amount.bits < 64:
                if item.op == "shl" or item.operation.dtype[0] != "s":
                    item.attributes |= {"high"}
                    if item.op == "shr" and item.results[0] is not None:
                        low.add(item.results[0])
            elif item.op in ("and", "or", "xor"):
                small = [
                    source in low if isinstance(source, Value) else isinstance(source, Immediate) and source.bits >> 32 == 0
                    for source in item.sources
                ]
                if any(small):
                    item.attributes |= {"half"}
                if item.results[0] is not None and (all(small) or (item.op == "and" and any(small))):
                    low.add(item.results[0])
