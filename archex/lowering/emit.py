"""Items into machine operations, by an instruction set's expansions.

In: the forms of all blocks, joined. Out: a list of `Node`s for each block, in program order, with the values they read and write.
Values that come from outside a block (parameters, hardware values, constants, the base of local memory, the part of a division that depends on
the divisor alone) are made once where all their users can see them, outside loops.
"""

from __future__ import annotations

import attrs

from archex.base.errors import UnsupportedError
from archex.lowering.facts import Facts, Named
from archex.lowering.form import Form, Item, Ref, Value
from archex.lowering.rules import Rules, Step
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.programs.ir import Immediate, Operation, Space

#: Vector instructions that take one scalar register among their inputs.
SCALAR_INPUT = frozenset(
    """fma_f32 minmax_f32 compare_f32 fma_f16 fma_f64 compare_f64 int_add int_logic int_minmax shift permute lea int_mad compare_int select move
    convert_int_float uniform_alu uniform_move load_local store_local atomic_local constant_load constant_load_uniform branch""".split()
)
#: Steps that must stay where they are and may not be shared.
FIXED = frozenset(
    """load_global store_global atomic_global reduce_global load_local store_local atomic_local load_private store_private barrier fence
    branch exit call reconverge shuffle vote match redux wait""".split()
)
MEMORY = ("load_", "store_", "atomic_", "reduce_")


@attrs.define(slots=True, eq=False)
class Node:
    """One machine operation: its name, what it reads and writes, the program's operation it belongs to, its memory record."""

    name: str
    reads: list[Value]
    writes: list[Value]
    source: Operation | None = None
    guarded: bool = False
    record: int = -1
    bytes: int = 0
    offset: int = 0
    ends: bool = False
    last: bool = False
    base: Value | None = None
    zero: bool = False
    wall: bool = False


@attrs.define(slots=True, eq=False)
class Outside:
    """A value made outside its users' blocks: who uses it, where it was made, whether some user needs it in a vector register."""

    value: Value
    blocks: set[int] = attrs.field(factory=set)
    vector: bool = False


class Emitter:
    """Makes nodes for a whole function."""

    def __init__(self, facts: Facts, rules: Rules, forms: list[Form], aliases: list[dict[Value, list[Ref]]]) -> None:
        self.facts, self.rules, self.forms, self.aliases = facts, rules, forms, aliases
        self.nodes: list[list[Node]] = [[] for _ in forms]
        self.ahead: list[list[Node]] = [[] for _ in forms]  # made for other blocks, before this block's end
        self.outside: dict[object, Outside] = {}
        self.block = 0
        self.source: Operation | None = None
        self.memo: dict[object, Value] = {}
        self.target: list[Node] = []
        self.scalar_registers: set[int] = set()

    def run(self) -> list[list[Node]]:
        """Nodes of every block."""
        for index, made in enumerate(self.forms):
            self.block, self.memo, self.target = index, {}, self.nodes[index]
            guard: object = None
            for item in made.items:
                if not item.gone:
                    guard = self._change_guard(guard, item)
                    self._item(item)
            if guard is not None:
                self._change_guard(guard, None)
            self._finish(made)
        self._place_outside()
        for index, ahead in enumerate(self.ahead):
            self.nodes[index] = _before_end(self.nodes[index], ahead)
            if "zero_pair" in self.rules.spec.fuse:
                _pair_zeros(self.nodes[index])
        return self.nodes

    # --- items
    def _item(self, item: Item) -> None:
        operation = item.operation
        self.source = operation
        if operation.op in ("branch", "branch_index", "exit", "trap"):
            self._end(item)
            return
        key = self.rules.key(item.op, item.attributes, operation.opcode)
        refs = self._flat(item.sources)
        environment: dict[str, list[Ref]] = {name: refs[at] for at, name in enumerate("abce") if at < len(refs)}
        for extra in refs[4:]:
            environment.setdefault("e", []).extend(extra)
        results = [result for result in item.results if result is not None]
        guard = self._flat([item.guard])[0] if item.guard is not None else []
        carried = [ref for group in self._flat([*item.carried, *item.extra]) for ref in group]
        start = len(self.target)
        self._steps(self.rules.steps[key], environment, results, guard + carried, bool(guard), top=True)
        made = self.target[start:]
        if operation.space in (Space.GLOBAL, Space.LOCAL, Space.PRIVATE, Space.GENERIC):
            self._memory(operation, made, environment.get("a", []))
        if made:
            made[-1].last = True

    def _change_guard(self, current: object, item: Item | None) -> object:
        """Where instructions take no predicate, lanes are switched off and on again around a run of guarded operations."""
        if not self.rules.before_guard:
            return None
        wanted: object = None
        if item is not None and item.guard is not None and item.op not in ("branch", "exit"):
            wanted = (item.guard, item.operation.guard_negated)
        if wanted == current:
            return current
        if current is not None:
            self._around(self.rules.after_guard, [])
        if wanted is not None and item is not None and item.guard is not None:
            self._around(self.rules.before_guard, [value for value in (self._read(item.guard, "uniform_alu"),) if value is not None])
        return wanted

    def _around(self, name: str, reads: list[Value]) -> None:
        """A step before or after guarded operations; nothing may pass it."""
        at = len(self.target)
        while at and self.target[at - 1].ends:
            at -= 1
        self.target.insert(at, Node(name, reads, [], wall=True))

    def _memory(self, operation: Operation, made: list[Node], base: list[Ref]) -> None:
        for node in made:
            if node.name.startswith(MEMORY):
                node.record, node.bytes = operation.memory_slot, operation.width * operation.vector
                node.offset = operation.offset
                node.base = base[0] if base and isinstance(base[0], Value) else None
                if operation.space == Space.LOCAL and self.rules.single["local_base"]:
                    node.reads.append(self._outside(Named("local_base", 0), node.name))
        if made and operation.space in (Space.GLOBAL, Space.GENERIC) and self.rules.single["memory_prologue"]:
            made[-1].reads.append(self._outside(Named("memory_prologue", 0), "branch"))

    def _end(self, item: Item) -> None:
        refs = [ref for group in self._flat([*([item.guard] if item.guard is not None else []), *item.sources, *item.extra]) for ref in group]
        name = "exit" if item.operation.op in ("exit", "trap") else "branch"
        reads = [value for value in (self._read(ref, name) for ref in refs) if value is not None]
        self.target.append(Node(name, reads, [], item.operation, item.guard is not None, ends=True, last=True))

    def _finish(self, made: Form) -> None:
        """Copies that registers live at the block's end need: constants, and values that two registers hold."""
        self.source = None
        holders: dict[Value, int] = {}
        moves: list[Node] = []
        for register, ref in sorted(made.final.items()):
            if isinstance(ref, Value):
                if ref.incoming == register:
                    holders.setdefault(ref, register)
        for register, ref in sorted(made.final.items()):
            if isinstance(ref, Value) and holders.setdefault(ref, register) == register:
                continue
            value = Value(_words(self.facts, register), registers=[register])
            reads = [value_read for value_read in [self._read(ref, "move") if not isinstance(ref, Immediate) else None] if value_read is not None]
            moves.append(Node("move", reads, [value], zero=ref == Immediate(0)))
            made.final[register] = value
        if moves:
            nodes = self.nodes[made.index]
            self.nodes[made.index] = _before_end(nodes, moves)
            self.target = self.nodes[made.index]

    # --- steps
    def _steps(self, steps: tuple[Step, ...], environment: dict[str, list[Ref]], results: list[Value], also: list[Ref], guarded: bool, top: bool = False) -> None:
        final = max((at for at, step in enumerate(steps) if step.result == "d"), default=len(steps) - 1)
        if not steps:
            return
        for at, step in enumerate(steps):
            inputs = [ref for name in step.inputs for ref in environment.get(name, self._literal(name))]
            guard = environment.get(step.guard, []) if step.guard else []
            last = at == final
            if step.operation not in MACHINE_OPERATIONS:
                environment[step.result] = [self._shared_steps(step.operation, [environment.get(name, []) for name in step.inputs], results if last else None)]
                continue
            writes = list(results) if last else [Value(_temporary_words(step.result))]
            node = self._node(step.operation, inputs, writes, guard + (also if last or guarded else []), bool(guard) or guarded)
            environment[step.result] = list(node.writes)

    def _literal(self, name: str) -> list[Ref]:
        return [Immediate(int(name))] if name.isdigit() else []

    def _shared_steps(self, key: str, inputs: list[list[Ref]], results: list[Value] | None) -> Value:
        """The result of another expansion on these inputs: made once in a block, or before a loop in which it does not change."""
        memo = (key, tuple(id(ref) if isinstance(ref, Value) else ref for group in inputs for ref in group))
        if results is None and memo in self.memo:
            return self.memo[memo]
        made = results[0] if results else Value(self._result_words(key))
        block, target = self.block, self.target
        place = self._invariant_place([ref for group in inputs for ref in group]) if results is None else block
        if place != block:
            fixed = (key, place, tuple(ref.incoming if isinstance(ref, Value) else ref for group in inputs for ref in group))
            if fixed in self.outside:
                return self.outside[fixed].value
            self.outside[fixed] = Outside(made)
            inputs = [[self._seen_from(ref, place) for ref in group] for group in inputs]
            self.block, self.target = place, self.ahead[place]
        environment = {name: group for name, group in zip("abce", inputs, strict=False)}
        self._steps(self.rules.steps[key], environment, results or [made], [], False)
        self.block, self.target = block, target
        self.memo[memo] = made
        return made

    def _result_words(self, key: str) -> int:
        """Registers of an expansion's result: a comparison gives a predicate, a name with 64 a pair."""
        last = self.rules.steps[key][-1].operation
        return 0 if last.startswith("compare_") else 2 if "64" in key else 1

    def _invariant_place(self, refs: list[Ref]) -> int:
        """The block outside as many loops as these values do not change in."""
        place = self.block
        for blocks, before in self.facts.around[self.block]:
            written = self.facts.written_in(blocks)
            if all(not isinstance(ref, Value) or (ref.incoming >= 0 and ref.incoming not in written) for ref in refs):
                place = before
        return place

    def _seen_from(self, ref: Ref, block: int) -> Ref:
        """A register's value as another block has it at its end."""
        if not isinstance(ref, Value):
            return ref
        other = self.forms[block]
        if ref.incoming not in other.final:
            other.final[ref.incoming] = other.start.setdefault(ref.incoming, Value(ref.words, incoming=ref.incoming, registers=[ref.incoming]))
        return other.final[ref.incoming]

    def _node(self, name: str, inputs: list[Ref], writes: list[Value], also: list[Ref], guarded: bool) -> Node:
        reads = []
        for value in self._constants(name, inputs):
            read = self._read(value, name)
            if read is not None and read not in reads:
                reads.append(read)
        for ref in also:
            read = self._read(ref, "move")
            if read is not None and read not in reads:
                reads.append(read)
        shared = name in self.rules.uniform and not guarded and bool(reads) and all(value.shared for value in reads) and all(self._may_share(value) for value in writes)
        if shared:
            name = self.rules.uniform[name]
        if shared or name.endswith("_uniform") or name in ("uniform_alu",):
            for value in writes:
                value.shared, value.words = True, 0
        node = Node(name, reads, writes, self.source, guarded)
        node.zero = name == "move" and not guarded and len(inputs) == 1 and isinstance(inputs[0], Immediate) and inputs[0].bits == 0
        self.target.append(node)
        return node

    def _may_share(self, value: Value) -> bool:
        return all(register in self.scalar_registers for register in value.registers)

    # --- inputs
    def _flat(self, refs: list[Ref]) -> list[list[Ref]]:
        """Each input as what it stands for."""
        alias = self.aliases[self.block]
        found = []
        for ref in refs:
            group: list[Ref] = [ref]
            while any(isinstance(part, Value) and part in alias for part in group):
                group = [deep for part in group for deep in (alias.get(part, [part]) if isinstance(part, Value) else [part])]
            found.append(group)
        return found

    def _constants(self, name: str, inputs: list[Ref]) -> list[Ref]:
        """Inputs, with constants that the instruction cannot hold replaced by registers."""
        if name in self.rules.immediate_free or name == "move":
            return [ref for ref in inputs if not isinstance(ref, Immediate)]
        room = 0 if name in self.rules.immediate_none else self.rules.spec.immediates
        doubles = name.endswith("_f64")
        found: list[Ref] = []
        held: set[int] = set()
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
                    found.append(self._constant(bits, name))
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
            if key.kind in ("local_base", "memory_prologue") or (key.kind == "constant" and key.bytes > 4 and self.rules.uniform) or (key.kind in ("parameter", "special") and self._uniform_named(key)):
                found.value.shared = True
        found.blocks.add(self.block)
        if name and name not in SCALAR_INPUT:
            found.vector = True
        return found.value

    def _uniform_named(self, key: Named) -> bool:
        if not self.rules.uniform:
            return False
        return key.kind == "parameter" or str(key.name).split(".")[0] in ("ctaid", "ntid", "nctaid", "gridid", "nclusterid")

    # --- values from outside
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
            return (Step("l", name, ()), Step("d", name, ("l",))) if key.bytes > 4 else (Step("d", name, ()),)
        return self.rules.single[key.kind]


def _before_end(nodes: list[Node], more: list[Node]) -> list[Node]:
    at = len(nodes)
    while at and nodes[at - 1].ends:
        at -= 1
    return [*nodes[:at], *more, *nodes[at:]]


def _pair_zeros(nodes: list[Node]) -> None:
    """One instruction clears a pair of registers."""
    waiting: Node | None = None
    for node in list(nodes):
        if not node.zero or sum(value.words for value in node.writes) != 1:
            continue
        if waiting is None:
            waiting = node
            continue
        waiting.writes += node.writes
        nodes.remove(node)
        waiting = None


def _words(facts: Facts, register: int) -> int:
    from archex.lowering.facts import words

    return words(facts.function.register_dtypes[register])


def _temporary_words(name: str) -> int:
    if name.startswith("p") or name in ("z", "k"):
        return 0
    return 2 if name.startswith("w") else 1


def refuse(operation: Operation) -> None:
    """A program's operation that no instruction set here has yet."""
    raise UnsupportedError(f"{operation.opcode or operation.op}: not modelled")
