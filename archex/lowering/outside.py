"""Values that come from outside a block: parameters, hardware values, constants, the base of local memory.

In: what items read. Out: one value for each, made once where all its users can see it, outside loops; in a scalar register where every user
can read it there.
"""

from __future__ import annotations

import attrs

from archex.lowering.facts import Facts, Named
from archex.lowering.form import Form, Ref, Value
from archex.lowering.node import Node
from archex.lowering.rules import Rules, Step
from archex.parts.matrix_unit import OPERATION
from archex.programs.ir import Immediate, Operation

#: Vector instructions that take one scalar register among their inputs.
SCALAR_INPUT = frozenset(
    """fma_f32 minmax_f32 compare_f32 fma_f16 fma_f64 compare_f64 int_add int_add_two int_logic int_minmax shift shift_left permute lea
    int_mad
    compare_int select move
    convert_int_float uniform_alu uniform_move load_local store_local atomic_local constant_load constant_load_uniform branch""".split()
)


#: Stands for an instruction that takes none.
VECTOR = "vector"


@attrs.define(slots=True, eq=False)
class Outside:
    """A value made outside its users' blocks: who uses it, where it was made, whether some user needs it in a vector register."""

    value: Value
    blocks: set[int] = attrs.field(factory=set)
    vector: bool = False


class OutsideValues:
    """The part of emission that makes such values."""

    def __init__(self, facts: Facts, rules: Rules, forms: list[Form], aliases: list[dict[Value, list[Ref]]]) -> None:
        self.facts, self.rules, self.forms, self.aliases = facts, rules, forms, aliases
        self.nodes: list[list[Node]] = [[] for _ in forms]
        self.ahead: list[list[Node]] = [[] for _ in forms]  # made for other blocks, before this block's end
        self.outside: dict[object, Outside] = {}
        self.block = 0
        self.source: Operation | None = None
        self.memo: dict[object, Value] = {}
        self.groups: dict[object, list[Ref]] = {}  # operands of products, by what they were
        self.places: dict[Ref, tuple[object, int]] = {}  # where in such a group a value stands
        self.target: list[Node] = []
        self.scalar_registers: set[int] = set()
        self.described: set[int] = set()  # of these, what leads to where operands of products lie

    def _steps(
        self, steps: tuple[Step, ...], environment: dict[str, list[Ref]], results: list[Value], also: list[Ref], guarded: bool
    ) -> None:
        raise NotImplementedError

    def _constants(self, name: str, inputs: list[Ref]) -> list[Ref]:
        """Inputs, with constants that the instruction cannot hold replaced by registers."""
        if name in self.rules.immediate_free or name == "move":
            return [ref for ref in inputs if not isinstance(ref, Immediate)]
        room = 0 if name in self.rules.immediate_none or name.startswith(OPERATION) else self.rules.spec.immediates
        doubles = name.endswith("_f64")
        found: list[Ref] = []
        held: set[int] = set()
        scalar = name  # the first wide constant stands in a scalar register if the instruction takes one, others don't
        # The field holds 32 bits: of a double the upper ones, if the others are zero. Signs are free.
        for ref in sorted(inputs, key=lambda ref: isinstance(ref, Immediate) and doubles and ref.bits & 0xFFFFFFFF != 0):
            if not isinstance(ref, Immediate):
                found.append(ref)
                continue
            bits = ref.bits & 0x7FFFFFFFFFFFFFFF if doubles else ref.bits
            if bits and bits not in held:
                if len(held) < room and not (doubles and bits & 0xFFFFFFFF):
                    held.add(bits)
                else:
                    found.append(self._constant(bits, scalar))
                    scalar = VECTOR if bits >> 32 else scalar
        return found

    def _constant(self, bits: int, name: str) -> Value:
        # A pair of registers for a wide constant is too dear to keep through a loop.
        wide = bits >> 32 != 0
        key = Named("constant", bits, 8 if wide else 4, self.block if wide else self.facts.home[self.block])
        return self._outside(key, name if wide else "")

    def _read(self, ref: Ref, name: str) -> Value | None:
        if isinstance(ref, Immediate):
            return None
        return self._outside(ref, name) if isinstance(ref, Named) else ref

    def _outside(self, key: Named, name: str) -> Value:
        group = self.rules.spec.parameter_group
        if key.kind == "parameter" and group > 8 and isinstance(key.name, int):
            key = Named("parameter", key.name // group * group, group)
        found = self.outside.get(key)
        if found is None:
            found = self.outside[key] = Outside(Value(min(4, max(1, key.bytes // 4))))
            if (
                key.kind in ("local_base", "memory_prologue")
                or (key.kind == "constant" and key.bytes > 4 and self.rules.uniform)
                or (key.kind in ("parameter", "special") and self._uniform_named(key))
            ):
                found.value.shared = True
        found.blocks.add(self.block)
        if name and name not in SCALAR_INPUT:
            found.vector = True
        return found.value

    def _uniform_named(self, key: Named) -> bool:
        if not self.rules.uniform:
            return False
        return key.kind == "parameter" or str(key.name).split(".")[0] in ("ctaid", "ntid", "nctaid", "gridid", "nclusterid")

    def _place_outside(self) -> None:
        for key, outside in list(self.outside.items()):
            if not isinstance(key, Named):
                continue
            place = key.index if key.kind == "constant" else self.facts.place(outside.blocks)
            self.block, self.target, self.source = place, [], None
            value = outside.value
            steps = self._outside_steps(key, outside)
            if value.shared and outside.vector:
                value.shared = False
            self._steps(steps, {}, [value], [], False)
            if value.shared:
                value.words = 0
            for node in self.target:
                node.offset = int(key.name) if key.kind == "parameter" else 0
                node.bytes = key.bytes
            self.nodes[place][0:0] = self.target
        if self.rules.single["prologue"]:
            self.block, self.target, self.source = 0, [], None
            self._steps(self.rules.single["prologue"], {}, [], [], False)
            self.nodes[0][0:0] = self.target

    def _outside_steps(self, key: Named, outside: Outside) -> tuple[Step, ...]:
        if key.kind == "parameter":
            scalar = outside.value.shared and not outside.vector
            return self.rules.single["parameter_uniform" if scalar else "parameter"]
        if key.kind == "special":
            return self.rules.special(str(key.name))
        if key.kind == "constant":
            name = self.rules.uniform.get("move", "move") if outside.value.shared and not outside.vector else "move"
            return (Step("d", name, ()),) * (2 if key.bytes > 4 else 1)
        return self.rules.single[key.kind]
