"""A function into machine code for one device: the path on one page.

In: a cleaned-up function, an instruction set, timings by machine operation, a register budget. Out: a `WaveProgram`. The blocks are those
of the function, which the interpreter runs too: block numbers and memory records agree.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from archex.base import layout as lay
from archex.base.layout import Timing
from archex.lowering import diverge
from archex.lowering.emit import Emitter
from archex.lowering.encode import encode
from archex.lowering.facts import Facts, facts, words
from archex.lowering.form import Form, Value, form
from archex.lowering.fuse import fuse
from archex.lowering.merge import merge_accesses
from archex.lowering.node import Node
from archex.lowering.prepare import REPEATED
from archex.lowering.rules import Rules
from archex.lowering.scalar import leading_to_products, scalar_registers
from archex.lowering.schedule import schedule
from archex.lowering.spill import Passing, spill
from archex.lowering.wait import before_copies, behind_copies, behind_products, insert_waits
from archex.parts.abilities import NOTHING, Abilities
from archex.parts.instruction_set import InstructionSetSpec
from archex.parts.matrix_unit import OPERATION
from archex.programs import graph
from archex.programs.graph import memory_slots
from archex.programs.ir import Function


@attrs.frozen(eq=False)
class WaveProgram:
    """Machine code of one program.

    code, block_start: see `base.layout`. block_records: memory records of each block. tokens: scoreboard tokens a wave.
    operations: the names of
    each block's machine operations, in issue order. demand: registers that would avoid spilling.
    """

    name: str
    code: np.ndarray
    block_start: np.ndarray
    block_records: np.ndarray
    tokens: int
    code_bytes: int
    private_bytes: int
    registers_per_thread: int
    spill_bytes: int
    demand: int
    operations: tuple[tuple[str, ...], ...]

    @property
    def block_instructions(self) -> np.ndarray:
        """Machine instructions of each block."""
        return np.diff(self.block_start)

    @property
    def block_work(self) -> np.ndarray:
        """Machine instructions of each block, and matrix operations of them: int64[blocks, 2]."""
        before = np.concatenate([[0], np.cumsum(self.code[:, lay.KIND] == lay.MATRIX)])
        return np.stack([self.block_instructions, np.diff(before[self.block_start])], axis=1)

    @property
    def uses_matrix(self) -> bool:
        """Whether a matrix unit has something to do."""
        return bool((self.code[:, lay.KIND] == lay.MATRIX).any())


def lower(
    function: Function,
    spec: InstructionSetSpec,
    timings: Mapping[str, Timing],
    registers: int | None = None,
    abilities: Abilities = NOTHING,
) -> WaveProgram:
    """Make machine code; `registers`: vector registers a thread may use (None: as many as it wants)."""
    rules = Rules(spec)
    known = facts(function)
    blocks = nodes_of(known, rules, abilities)
    latency = {name: timing.latency for name, timing in timings.items()} | dict(spec.assumed_latency)
    beside = {name: shape for name, shape in abilities.shapes.items() if shape.source == "local_memory"}
    latency |= {OPERATION + name: max(shape.least, 1.0) for name, shape in beside.items()}  # as long as one holds the next up
    budget = (registers or 255) - spec.reserved_registers
    ordered, peaks, passing = _schedule(known, blocks, latency, budget, spec.orders == "searched")
    demand = max(peaks, default=0) + spec.reserved_registers
    spilled = 0
    if registers and max(peaks, default=0) > budget:
        ordered, spilled = spill(known, ordered, passing, budget)
    if rules.single["product_wait"]:
        ordered = [behind_products(nodes, rules.single["product_wait"][0].operation, round(spec.product_hold)) for nodes in ordered]
    if rules.single["memory_wait"]:
        ordered = insert_waits(ordered, rules.single["memory_wait"][0].operation)
    if steps := [step.operation for step in rules.single["before_copies"]]:
        ordered = [before_copies(nodes, steps) for nodes in ordered]
    behind_copies(ordered, [graph.successors(block) for block in function.blocks])
    code_order = diverge.order(known)
    code, start, tokens = encode(ordered, code_order, timings, spec.instruction_bytes)
    records = np.array([sum(memory_slots(operation) for operation in block.operations) for block in function.blocks], np.int32)
    used = registers if registers and registers < 255 else min(255, -(-demand // 8) * 8)
    return WaveProgram(
        function.name,
        code,
        start,
        records,
        tokens,
        len(code) * spec.instruction_bytes,
        function.private_bytes + spilled,
        used,
        spilled,
        demand,
        tuple(tuple(node.name for node in nodes) for nodes in ordered),
    )


def nodes_of(known: Facts, rules: Rules, abilities: Abilities = NOTHING) -> list[list[Node]]:
    """Machine operations of every block, in program order."""
    spec = rules.spec
    forms = [form(known, index) for index in range(len(known.function.blocks))]
    for made in forms:
        merge_accesses(known, made, spec.merge_access)
    aliases = [fuse(known, made, spec.fuse, spec.contracts, spec.immediates) for made in forms]
    emitter = Emitter(known, rules, forms, aliases, abilities)
    if rules.uniform:
        emitter.scalar_registers = scalar_registers(known)
        emitter.described = leading_to_products(known, emitter.scalar_registers)
    blocks = emitter.run()
    _meet(known, rules, blocks)
    _jumps(known, blocks)
    return blocks


def _meet(known: Facts, rules: Rules, blocks: list[list[Node]]) -> None:
    """Instructions where lanes part and meet."""
    if not rules.before_divergence and not rules.after_divergence:
        return
    notes, reached = diverge.meeting_places(known)
    for index, nodes in enumerate(blocks):
        if rules.after_divergence:
            nodes[0:0] = [Node(rules.after_divergence, [], []) for _ in range(reached[index])]
        if rules.before_divergence:
            at = len(nodes) - bool(nodes and nodes[-1].ends)
            nodes[at:at] = [Node(rules.before_divergence, [], []) for _ in range(notes[index])]
    before = graph.predecessors(known.function.blocks)
    for index, block in enumerate(known.function.blocks):
        if block.operations and REPEATED in block.operations[0].mods:
            if rules.before_divergence:
                blocks[before[index][0]].append(Node(rules.before_divergence, [], []))
            if rules.after_divergence:
                blocks[block.next].insert(0, Node(rules.after_divergence, [], []))


def _jumps(known: Facts, blocks: list[list[Node]]) -> None:
    """Jumps to blocks that stand elsewhere in the code; none where code runs on."""
    order = diverge.order(known)
    following = dict(zip(order, [*order[1:], -1], strict=True))
    for index, nodes in enumerate(blocks):
        block = known.function.blocks[index]
        last = block.operations[-1] if block.operations else None
        target = last.target[0] if last is not None and last.op == "branch" else -1
        if last is not None and last.op == "branch" and last.guard is None:
            if target == following[index]:
                nodes.pop()
        elif block.next >= 0 and block.next != following[index] and target != following[index]:
            nodes.append(Node("branch", [], [], last, ends=True))


def _schedule(
    known: Facts, blocks: list[list[Node]], latency: dict[str, float], budget: int, searched: bool
) -> tuple[list[list[Node]], list[int], list[Passing]]:
    ordered, peaks, passing = [], [], []
    dtypes = known.function.register_dtypes
    outside = _outside_spans(known, blocks)
    for index, nodes in enumerate(blocks):
        touched = {value.incoming for node in nodes for value in node.reads if value.incoming >= 0}
        touched |= {register for node in nodes for value in node.writes for register in value.registers}
        taken = sum(words(dtypes[register]) for register in (known.live_in[index] & known.live_out[index]) - touched)
        outlive = {value for node in nodes for value in (*node.reads, *node.writes) if set(value.registers) & known.live_out[index]}
        through, here = outside[index]
        passing.append(Passing(taken + through, outlive | here))
        order, peak = schedule(nodes, latency, taken + through, budget, outlive | here, searched)
        ordered.append(order)
        peaks.append(peak)
    return ordered, peaks, passing


def _outside_spans(known: Facts, blocks: list[list[Node]]) -> list[tuple[int, set[Value]]]:
    """Registers that values made for several blocks take while they pass through a block; those that go on after it."""
    seen: dict[Value, list[int]] = {}
    for index, nodes in enumerate(blocks):
        for node in nodes:
            for value in (*node.reads, *node.writes):
                if value.incoming < 0 and not value.registers and value.words:
                    seen.setdefault(value, []).append(index)
    reach = _reach(known)
    through = [0] * len(blocks)
    here: list[set[Value]] = [set() for _ in blocks]
    for value, places in seen.items():
        used = set(places)
        if len(used) < 2:
            continue
        for index in range(len(blocks)):
            after = bool(reach[index] & used)
            if index in used:
                if after:
                    here[index].add(value)
            elif after and any(index in reach[place] for place in used):
                through[index] += value.words
    return list(zip(through, here, strict=True))


def _reach(known: Facts) -> list[set[int]]:
    """Blocks that can still come after each block."""
    following = [graph.successors(block) for block in known.function.blocks]
    reach: list[set[int]] = [set() for _ in following]
    changed = True
    while changed:
        changed = False
        for index in range(len(following) - 1, -1, -1):
            new = set(following[index]).union(*(reach[target] for target in following[index]))
            if new != reach[index]:
                reach[index], changed = new, True
    return reach


__all__ = ["Form", "WaveProgram", "lower"]
