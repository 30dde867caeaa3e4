"""Items into machine operations, by an instruction set's expansions.

In: the forms of all blocks, joined. Out: a list of `Node`s for each block, in program order, with the values they read and write.
The part of a
division that depends on the divisor alone is made once, outside the loops in which the divisor does not change.
"""

from __future__ import annotations

from archex.lowering.facts import Facts, words
from archex.lowering.form import Form, Item, Ref, Value
from archex.lowering.lacking import lacking
from archex.lowering.node import Node
from archex.lowering.outside import Outside
from archex.lowering.products import PRODUCTS
from archex.lowering.records import BASED, Records
from archex.lowering.rules import Rules, Step
from archex.parts.abilities import Abilities
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.programs.ir import Immediate


class Emitter(Records):
    """Makes nodes for a whole function."""

    def __init__(self, facts: Facts, rules: Rules, forms: list[Form], aliases: list[dict[Value, list[Ref]]], abilities: Abilities) -> None:
        super().__init__(facts, rules, forms, aliases)
        self.abilities = abilities

    def run(self) -> list[list[Node]]:
        """Nodes of every block."""
        for index, made in enumerate(self.forms):
            self.block, self.memo, self.groups, self.places, self.target = index, {}, {}, {}, self.nodes[index]
            self.distances = set()
            guard: object = None
            for register in made.start.keys() & self.described:
                made.start[register].shared, made.start[register].words = True, 0
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
        if operation.op in PRODUCTS:
            self._product(item)
            return
        attributes = item.attributes | lacking(operation, self.abilities) | self._describes(item)
        key = self.rules.key(item.op, attributes, operation.opcode, operation.line)
        refs = self._flat(item.sources)
        environment: dict[str, list[Ref]] = {name: refs[at] for at, name in enumerate("abce") if at < len(refs)}
        for extra in refs[4:]:
            environment.setdefault("e", []).extend(extra)
        if operation.op in BASED:
            self._before_access(environment)
        results = [result for result in item.results if result is not None]
        if item.op == "mad_wide" and "advanced64" in self.rules.steps and self._advances(environment["c"], results):
            environment["c"] = [self._shared_steps("advanced64", [environment["c"]], None)]
        guard = self._flat([item.guard])[0] if item.guard is not None else []
        carried = [ref for group in self._flat([*item.carried, *item.extra]) for ref in group]
        start = len(self.target)
        self._steps(self.rules.steps[key], environment, results, guard + carried, bool(guard))
        made = self.target[start:]
        self._records(operation, made, environment.get("a", []))
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

    def _end(self, item: Item) -> None:
        refs = [
            ref for group in self._flat([*([item.guard] if item.guard is not None else []), *item.sources, *item.extra]) for ref in group
        ]
        name = "exit" if item.operation.op in ("exit", "trap") else "branch"
        reads = [value for value in (self._read(ref, name) for ref in refs) if value is not None]
        self.target.append(Node(name, reads, [], item.operation, item.guard is not None, ends=True, last=True))

    def _finish(self, made: Form) -> None:
        """Copies that registers live at the block's end need: constants, and values that two registers hold."""
        self.source = None
        holders: dict[Value, int] = {}
        moves: list[Node] = []
        for register, ref in sorted(made.final.items()):
            if isinstance(ref, Value) and ref.incoming == register:
                holders.setdefault(ref, register)
        for register, ref in sorted(made.final.items()):
            if isinstance(ref, Value) and holders.setdefault(ref, register) == register:
                continue
            value = Value(_words(self.facts, register), registers=[register])
            reads = [
                value_read for value_read in [self._read(ref, "move") if not isinstance(ref, Immediate) else None] if value_read is not None
            ]
            moves.append(Node("move", reads, [value], zero=ref == Immediate(0)))
            made.final[register] = value
        if moves:
            nodes = self.nodes[made.index]
            self.nodes[made.index] = _before_end(nodes, moves)
            self.target = self.nodes[made.index]

    # --- steps
    def _steps(
        self, steps: tuple[Step, ...], environment: dict[str, list[Ref]], results: list[Value], also: list[Ref], guarded: bool
    ) -> None:
        final = max((at for at, step in enumerate(steps) if step.result == "d"), default=len(steps) - 1)
        if not steps:
            return
        for at, step in enumerate(steps):
            inputs = [ref for name in step.inputs for ref in environment.get(name, self._literal(name))]
            guard = environment.get(step.guard, []) if step.guard else []
            last = at == final
            if step.operation not in MACHINE_OPERATIONS:
                environment[step.result] = [
                    self._shared_steps(step.operation, [environment.get(name, []) for name in step.inputs], results if last else None)
                ]
                continue
            part = step.result == "d"  # of several steps that make the result each makes a part of it
            writes = list(results) if last or part else [Value(_temporary_words(step.result))]
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
        environment = dict(zip("abce", inputs, strict=False))
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
            other.final[ref.incoming] = other.start.setdefault(
                ref.incoming, Value(ref.words, incoming=ref.incoming, registers=[ref.incoming])
            )
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
        shared = (
            (name in self.rules.uniform or self._chooses(name))
            and not guarded
            and bool(reads)
            and all(value.shared for value in reads)
            and all(self._may_share(value) for value in writes)
        )
        if shared:
            name = self.rules.uniform.get(name, self.rules.uniform.get("int_logic", name))
        if shared or name.endswith("_uniform") or name in ("uniform_alu",):
            for value in writes:
                value.shared, value.words = True, 0
        node = Node(name, reads, writes, self.source, guarded)
        node.zero = name == "move" and not guarded and len(inputs) == 1 and isinstance(inputs[0], Immediate) and inputs[0].bits == 0
        self.target.append(node)
        return node

    def _advances(self, addend: list[Ref], results: list[Value]) -> bool:
        """Whether a product is added to an address that the block advances as well."""
        value = addend[0] if addend else None
        if not isinstance(value, Value) or value.incoming < 0:
            return False
        final = self.forms[self.block].final.get(value.incoming)
        return final is not None and final is not value and final not in results

    def _chooses(self, name: str) -> bool:
        """A comparison or a choice that leads to a descriptor is made on the scalar unit."""
        if name not in ("compare_int", "select") or self.source is None or not self.rules.uniform:
            return False
        return all(register is None or register.id in self.described for register in self.source.dst)

    def _may_share(self, value: Value) -> bool:
        return all(register in self.scalar_registers for register in value.registers)

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


def _before_end(nodes: list[Node], more: list[Node]) -> list[Node]:
    at = len(nodes)
    while at and nodes[at - 1].ends:
        at -= 1
    return [*nodes[:at], *more, *nodes[at:]]


def _pair_zeros(nodes: list[Node]) -> None:
    """One instruction clears a pair of registers."""
    waiting: Node | None = None
    cleared: list[Value] = []
    for node in list(nodes):
        if not node.zero:
            continue
        if sum(value.words for value in node.writes) != 1:
            if node.writes == cleared:
                nodes.remove(node)
            cleared = node.writes
            continue
        if waiting is None:
            waiting = node
            continue
        waiting.writes += node.writes
        nodes.remove(node)
        waiting = None


def _words(facts: Facts, register: int) -> int:
    return words(facts.function.register_dtypes[register])


def _temporary_words(name: str) -> int:
    if name.startswith("p") or name in ("z", "k"):
        return 0
    return 2 if name.startswith("w") else 1
