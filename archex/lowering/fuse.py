"""Neighbours that one machine instruction does together, and operations that cost none because their users take them in.

In: a block's `Form` and the names of the rules an instruction set has. Out: the same form with items joined (`gone` ones are part of
another). Rules look from the last item to the first, so that the longest combination ends where its result is used.
"""

from __future__ import annotations

from collections.abc import Callable

from archex.lowering.facts import Facts, Named
from archex.lowering.form import FLOAT16, Form, Item, Ref, Value, attributes, count_users
from archex.programs.ir import Immediate, Register, Special
from archex.programs.types import BITS

ROUNDING = frozenset({"rn", "rz", "rm", "rp"})
FLOATS = frozenset({"f32", "f64"}) | FLOAT16
#: Operations whose instructions can negate a floating-point operand or drop its sign.
SIGNED_INPUTS = frozenset({"add", "sub", "mul", "fma", "compare", "min", "max", "neg", "abs", "div", "rcp", "sqrt", "rsqrt", "exp2", "log2", "sin", "cos"})
PREDICABLE = frozenset({"add", "sub", "mul", "fma", "mad_lo", "mul_lo", "and", "or", "xor", "not", "lop3", "shl", "shr", "add3", "shift_add", "logic3", "min", "max", "neg"})
LOGIC = frozenset({"and", "or", "xor", "not", "lop3", "logic3"})


class Fuser:
    """Joins the items of one block."""

    def __init__(self, known: Facts, made: Form, rules: frozenset[str], contracts: bool, immediates: int) -> None:
        self.known = known
        self.form, self.rules, self.contracts, self.immediates = made, rules, contracts, immediates
        self.alias: dict[Value, list[Ref]] = {}

    def run(self) -> dict[Value, list[Ref]]:
        """Apply every rule; returns what values that cost nothing stand for."""
        self._transparent()
        count_users(self.form)
        if "half_zero" in self.rules:
            self._halves()
        steps: list[tuple[str, Callable[[Item], bool]]] = [
            ("half_convert", self._pack), ("wide_pair", self._wide_pair), ("mad", self._contract), ("shift_wide", self._shift_wide), ("mad_wide", self._mad_wide), ("mad", self._mad),
            ("shift_add", self._shift_add), ("add_minmax", self._add_minmax), ("add3", self._add3), ("extend_add", self._extend_add), ("test_bits", self._test_bits), ("logic3", self._logic3),
            ("compare_chain", self._compare_chain), ("branch_chain", self._branch_chain), ("guarded_select", self._guarded_select),
        ]  # fmt: skip
        steps = [step for step in steps if step[0] in self.rules]
        for item in reversed(self.form.items):
            changed = not item.gone
            while changed:
                changed = any(step(item) for _, step in steps)
        return self.alias

    # --- operations that cost nothing
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
        if operation.op == "convert" and "int" in item.attributes and any(a.startswith("from_int") for a in item.attributes) and "sat" not in operation.mods:
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
        return operation.op == "move" and isinstance(item.sources[0], Value) and item.results[0] is not None and not item.results[0].registers

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
        return all(user.operation.dtype in FLOAT16 or user.operation.source_dtype in FLOAT16 or user.op in ("pack", "store", "compare") for user in takers)

    def _sign(self, item: Item, takers: frozenset[str], held: set[Value]) -> None:
        result = item.results[0]
        if result is None or result in held:
            return
        users = [user for user in self.form.items if result in user.inputs()]
        same = BITS.get(item.operation.dtype)
        if users and all(user.op in takers and result not in user.carried and BITS.get(user.operation.dtype) == same for user in users):
            self.alias[result] = list(item.sources)
            item.gone = True

    # --- joining
    def _producer(self, source: Ref, ops: frozenset[str] | set[str], once: bool = True) -> Item | None:
        if not isinstance(source, Value) or source.item is None:
            return None
        item = source.item
        if item.gone or item.guard is not None or item.op not in ops or len(item.results) != 1:
            return None
        return item if not once or source.users == 1 else None

    def _take(self, producer: Item) -> list[Ref]:
        """The producer's sources, for the item that swallows it."""
        result = producer.results[0]
        assert result is not None
        result.users -= 1
        if result.users == 0:
            producer.gone = True
        else:
            for source in producer.sources:
                if isinstance(source, Value):
                    source.users += 1
        return list(producer.sources)

    def _fits(self, sources: list[Ref], most: int) -> bool:
        distinct = {id(source) for source in sources if not isinstance(source, Immediate)}
        constants = {source.bits for source in sources if isinstance(source, Immediate) and source.bits}
        return len(distinct) + len(constants) <= most and len(constants) <= self.immediates

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
                small = [source in low if isinstance(source, Value) else isinstance(source, Immediate) and source.bits >> 32 == 0 for source in item.sources]
                if any(small):
                    item.attributes |= {"half"}
                if item.results[0] is not None and (all(small) or (item.op == "and" and any(small))):
                    low.add(item.results[0])

    def _wide_pair(self, item: Item) -> bool:
        """The low and the high half of one product are one widening product."""
        if item.op != "mul_hi" or "int32" not in item.attributes or item.guard is not None or len(item.results) != 1:
            return False
        for other in self.form.items:
            alike = other.sources == item.sources or other.sources == item.sources[::-1]
            if other.op == "mul_lo" and not other.gone and other.guard is None and alike and len(other.results) == 1 and "int32" in other.attributes:
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

    def _logic3(self, item: Item) -> bool:
        if item.op not in LOGIC or "int32" not in item.attributes:
            return False
        leaves, inner = self._leaves(item, 3)
        if inner and self._fits(leaves, 3):
            for made in inner:
                self._take(made)
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
        assert tested is not None and result is not None
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

    def _ends(self, value: Value, at: Item) -> bool:
        """Whether nobody reads a value after an item."""
        if any(held is value for held in self.form.final.values()):
            return False
        later = self.form.items[self.form.items.index(at) + 1 :]
        return not any(value in item.inputs() for item in later if not item.gone)

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


#: The largest value of hardware values with a limit.
_HIGHEST = {"tid": 1023, "ntid": 1024, "laneid": 63}


def highest(ref: Ref, depth: int = 4) -> int:
    """The largest value a 32-bit operand can have, as far as this block shows."""
    if isinstance(ref, Immediate):
        return ref.bits
    if isinstance(ref, Named):
        return _HIGHEST.get(str(ref.name).split(".")[0], 0xFFFFFFFF) if ref.kind == "special" else 0xFFFFFFFF
    item = ref.item
    if item is None or depth == 0 or item.guard is not None:
        return 0xFFFFFFFF
    each = [highest(source, depth - 1) for source in item.sources[:2]]
    if item.op == "and":
        return min(each)
    if item.op in ("or", "xor"):
        return (1 << max(each).bit_length()) - 1
    if item.op == "shr" and item.operation.dtype[0] != "s" and isinstance(item.sources[1], Immediate):
        return each[0] >> item.sources[1].bits
    if item.op == "shl" and isinstance(item.sources[1], Immediate):
        return min(0xFFFFFFFF, each[0] << item.sources[1].bits)
    return 0xFFFFFFFF


def fuse(known: Facts, made: Form, rules: str, contracts: bool, immediates: int) -> dict[Value, list[Ref]]:
    """Join what an instruction set with `rules` joins."""
    return Fuser(known, made, frozenset(rules.split()), contracts, immediates).run()

