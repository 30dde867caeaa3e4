"""What every rule of joining needs: a block's form, which value an item alone makes, taking an item into its user.

In: `Facts`, a block's `Form`, names of rules. Out: `Joiner`, the base of the rules in `free`, `join_integer` and `join_logic`.
"""

from __future__ import annotations

from archex.lowering.facts import Facts, Named
from archex.lowering.form import FLOAT16, Form, Item, Ref, Value
from archex.programs.ir import Immediate

ROUNDING = frozenset({"rn", "rz", "rm", "rp"})
FLOATS = frozenset({"f32", "f64"}) | FLOAT16
#: Operations whose instructions can negate a floating-point operand or drop its sign.
SIGNED_INPUTS = frozenset(
    {"add", "sub", "mul", "fma", "compare", "min", "max", "neg", "abs", "div", "rcp", "sqrt", "rsqrt", "exp2", "log2", "sin", "cos"}
)
PREDICABLE = frozenset(
    {
        "add",
        "sub",
        "mul",
        "fma",
        "mad_lo",
        "mul_lo",
        "and",
        "or",
        "xor",
        "not",
        "lop3",
        "shl",
        "shr",
        "add3",
        "shift_add",
        "logic3",
        "min",
        "max",
        "neg",
    }
)
LOGIC = frozenset({"and", "or", "xor", "not", "lop3", "logic3"})


class Joiner:
    """State and questions that all rules share."""

    def __init__(self, known: Facts, made: Form, rules: frozenset[str], contracts: bool, immediates: int) -> None:
        self.known = known
        self.form, self.rules, self.contracts, self.immediates = made, rules, contracts, immediates
        self.alias: dict[Value, list[Ref]] = {}

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

    def _ends(self, value: Value, at: Item) -> bool:
        """Whether nobody reads a value after an item."""
        if any(held is value for held in self.form.final.values()):
            return False
        later = self.form.items[self.form.items.index(at) + 1 :]
        return not any(value in item.inputs() for item in later if not item.gone)


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
