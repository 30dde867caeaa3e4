"""Loops that the assembler repeats: the body several times in one turn, and a ladder of fewer copies for what is left.

In: a cleaned-up function and an instruction set. Out: a function that computes the same, cleaned up again. For four copies: a loop
of four while
more than three turns are left, two copies once while more than one is left, one copy for the last. A counter tested for equality
may not come out even, so the last step stays a loop then.
"""

from __future__ import annotations

import attrs

from archex.lowering.counted import Counted, counted_loops
from archex.lowering.facts import facts
from archex.lowering.node import MEMORY, Node
from archex.lowering.prepare import aggregate_atomics, end_loops_with_test, is_loop, separate_loops
from archex.lowering.rules import Rules
from archex.lowering.widen import widen
from archex.parts.abilities import NOTHING, Abilities
from archex.parts.instruction_set import InstructionSetSpec
from archex.programs import graph
from archex.programs.clean import clean
from archex.programs.clean.addresses import ADDRESSED
from archex.programs.ir import Block, Function, Immediate, Operand, Operation, Register
from archex.programs.operands import writes
from archex.programs.types import BITS, mask, signed


def unroll(function: Function, spec: InstructionSetSpec, abilities: Abilities = NOTHING) -> Function:
    """The function as the assembler changes it: loops repeated by the instruction set's rule, and what `widen` and `prepare` say."""
    function = widen(function, spec.widened, abilities)
    function = _repeat_loops(function, spec, abilities)
    function = _copy(function)
    changed = aggregate_atomics(function, frozenset(spec.shared_atomics.split()))
    changed |= end_loops_with_test(function)
    changed |= separate_loops(function, frozenset(spec.local_loops.split()))
    if changed:
        graph.finish(function)
    return function


def _repeat_loops(function: Function, spec: InstructionSetSpec, abilities: Abilities) -> Function:
    rule = spec.unroll
    if rule.copies < 2:
        return function
    known = facts(function)
    inner = frozenset(spec.local_loops.split())
    loops = [
        loop for loop in counted_loops(known) if not any(is_loop(operation, inner) for operation in function.blocks[loop.block].operations)
    ]
    if not loops:
        return function
    from archex.lowering.lower import nodes_of

    nodes = nodes_of(known, Rules(spec), abilities)
    chosen: list[tuple[Counted, int]] = []
    for loop in loops:
        weight, limit = weigh(nodes[loop.block], spec)
        trips = loop.trips()
        if trips is not None:
            most = rule.whole_weight_small if weight <= limit else rule.whole_weight
            if trips <= rule.whole_trips or trips * weight <= most:
                chosen.append((loop, trips))
                continue
        if weight <= limit:
            chosen.append((loop, 0))
    if not chosen:
        return function
    function = _copy(function)
    for loop, trips in sorted(chosen, key=lambda choice: -choice[0].block):
        if trips:
            _whole(function, loop, trips)
        else:
            _ladder(function, loop, rule.copies)
    graph.remove_unreachable(function)
    graph.finish(function)
    return clean(function, repeated=True)


def weigh(nodes: list[Node], spec: InstructionSetSpec) -> tuple[int, int]:
    """A body's weight, and the heaviest that is repeated given what it loads. An operation on 64-bit integers counts once."""
    rule = spec.unroll
    weight = near = far = 0
    wide: set[int] = set()
    for node in nodes:
        if node.name.startswith("reconverge") and node.source is None:
            continue
        if node.name.startswith(MEMORY):
            weight += rule.memory_weight
            near += node.name == "load_local"
            far += node.name == "load_global"
        elif node.source is not None and node.source.dtype in ("s64", "u64", "b64") and node.source.op not in ("div", "rem"):
            if id(node.source) not in wide:
                wide.add(id(node.source))
                weight += 1
        else:
            weight += 1
    limit = rule.limit_global_load if far else rule.limit
    return weight, max(limit, min(rule.limit_most, rule.limit + rule.limit_local_load * near))


def _copy(function: Function) -> Function:
    blocks = [attrs.evolve(block, operations=[attrs.evolve(operation) for operation in block.operations]) for block in function.blocks]
    return attrs.evolve(
        function,
        blocks=blocks,
        register_dtypes=list(function.register_dtypes),
        register_names=list(function.register_names),
        symbols=dict(function.symbols),
    )


def _body(block: Block) -> list[Operation]:
    return [attrs.evolve(operation) for operation in block.operations[:-1]]


def _whole(function: Function, loop: Counted, trips: int) -> None:
    block = function.blocks[loop.block]
    block.operations = repeat(function, _body(block), trips)
    block.pragmas = ()


def _ladder(function: Function, loop: Counted, copies: int) -> None:
    """Replace the loop's block by the ladder; its last step keeps the block's place in the list."""
    build = _Ladder(function, loop)
    block = function.blocks[loop.block]
    after = block.next
    even = loop.comparison == "ne"
    body = block.operations[:-1]
    first = function.new_register("pred")
    base = len(function.blocks)
    steps: list[int] = []
    while copies > 1:
        steps.append(copies)
        copies //= 2
    blocks: list[Block] = []
    entry = base  # number of the first new block
    last = loop.block
    # Blocks by number: [entry test for equality], per step: test, (set-up and loop | once), then the test of the last step.
    if even:
        start = build.remaining()
        tests, enough = build.more_than(start, 0)
        blocks.append(_branch_unless([*start[1], *tests], enough, last, base + 1))
    for place, count in enumerate(steps):
        test_block = base + len(blocks)
        remaining = build.remaining()
        tests, enough = build.more_than(remaining, count - 1)
        operations = [*remaining[1], *tests]
        if place == 0:
            operations.append(_flag(first, True))
            # test; set-up; loop
            blocks.append(_branch_unless(operations, enough, test_block + 3, test_block + 1))
            limit, make = build.limit(count - 1)
            blocks.append(Block([_flag(first, False), *make], next=test_block + 2))
            goes_on = function.new_register("pred")
            repeated = repeat(function, _without(body, loop), count)
            repeated += [
                build.compare(goes_on, loop.counter, limit),
                Operation("branch", guard=goes_on, target=(test_block + 2,), line=block.operations[-1].line),
            ]
            blocks.append(Block(repeated, next=test_block + 3))
        else:
            blocks.append(_branch_unless(operations, enough, test_block + 2, test_block + 1))
            repeated = repeat(function, _without(body, loop), count)
            blocks.append(Block([*repeated, _flag(first, False)], next=test_block + 2))
    goes_on = function.new_register("pred")
    either = function.new_register("pred")
    final = [
        attrs.evolve(
            loop.test,
            dst=(goes_on, None),
            mods=(loop.comparison, *loop.test.mods[1:]),
            src=(loop.counter, loop.bound),
            dtype=loop.dtype,
            source_dtype=loop.dtype,
        ),
        Operation("or", "pred", (either,), (goes_on, first)),
    ]
    blocks.append(_branch_unless(final, either, after, last))
    for other in function.blocks:
        if other is not block:
            _redirect(other, last, entry)
    block.pragmas = ("nounroll",)
    if not even:
        block.operations = _without(body, loop)
        block.next = after
    function.blocks += blocks
    graph.keep(function, [*range(last), *range(base, len(function.blocks)), *range(last, base)])


class _Ladder:
    """Operations that ask how many turns are left."""

    def __init__(self, function: Function, loop: Counted) -> None:
        self.function, self.loop = function, loop

    def remaining(self) -> tuple[Operand, list[Operation]]:
        """The distance to the bound, in the counter's direction."""
        loop = self.loop
        if not loop.upwards and isinstance(loop.bound, Immediate) and loop.bound.bits == 0:
            return loop.counter, []
        to = self.function.new_register(loop.dtype)
        a, b = (loop.bound, loop.counter) if loop.upwards else (loop.counter, loop.bound)
        return to, [Operation("sub", loop.dtype, (to,), (a, b), line=loop.test.line)]

    def more_than(self, remaining: tuple[Operand, list[Operation]], turns: int) -> tuple[list[Operation], Register]:
        """Whether more than `turns` turns are left. Unsigned distances wrap, so the counter is compared with the bound as well."""
        loop = self.loop
        result = self.function.new_register("pred")
        sense = "ge" if loop.comparison in ("le", "ge") else "gt"
        distance = Immediate((turns * abs(loop.step)) & mask(loop.dtype))
        plain = Operation("compare", loop.dtype, (result, None), (remaining[0], distance), (sense,), loop.dtype, line=loop.test.line)
        if not loop.dtype.startswith("u") or loop.comparison == "ne":
            return [plain], result
        below = self.function.new_register("pred")
        first = Operation(
            "compare", loop.dtype, (below, None), (loop.counter, loop.bound), (loop.comparison,), loop.dtype, line=loop.test.line
        )
        return [first, attrs.evolve(plain, src=(*plain.src, below), mods=(sense, "and"))], result

    def limit(self, turns: int) -> tuple[Operand, list[Operation]]:
        """The bound for the repeated body."""
        loop = self.loop
        distance = Immediate((-turns * loop.step) & mask(loop.dtype))
        if isinstance(loop.bound, Immediate):
            return Immediate((loop.bound.bits + distance.bits) & mask(loop.dtype)), []
        to = self.function.new_register(loop.dtype)
        return to, [Operation("add", loop.dtype, (to,), (loop.bound, distance), line=loop.test.line)]

    def compare(self, result: Register, counter: Register, limit: Operand) -> Operation:
        """The repeated body's own test."""
        loop = self.loop
        sense = loop.comparison if loop.comparison != "ne" else "lt" if loop.upwards else "gt"
        return Operation("compare", loop.dtype, (result, None), (counter, limit), (sense,), loop.dtype, line=loop.test.line)


def repeat(function: Function, body: list[Operation], count: int) -> list[Operation]:
    """The body `count` times. Registers that only grow by a constant are advanced once, at the end: until then addresses and other
    users take the distance as an offset."""
    steps = _steady(function, body)
    grown = dict.fromkeys(steps, 0)
    made: dict[tuple[int, int], Register] = {}
    found: list[Operation] = []

    def advanced(operand: Operand) -> Operand:
        """The operand's present value, made from the register's value when the block began."""
        if not isinstance(operand, Register) or not grown.get(operand.id):
            return operand
        key = operand.id, grown[operand.id]
        if key not in made:
            dtype, addition = steps[operand.id]
            made[key] = function.new_register(function.register_dtypes[operand.id])
            found.append(Operation("add", dtype, (made[key],), (operand, Immediate(grown[operand.id] & mask(dtype))), line=addition.line))
        return made[key]

    for _ in range(count):
        for operation in body:
            if any(addition is operation for _, addition in steps.values()):
                register = operation.dst[0]
                assert register is not None
                grown[register.id] += _constant(operation)
                continue
            copy = attrs.evolve(operation)
            at = 0
            base = copy.src[0] if copy.src else None
            if copy.op in ADDRESSED and isinstance(base, Register) and grown.get(base.id):
                copy.offset += grown[base.id]
                at = 1
            copy.src = (*copy.src[:at], *(advanced(source) for source in copy.src[at:]))
            found.append(copy)
    for number, (dtype, addition) in steps.items():
        found.append(attrs.evolve(addition, src=(Register(number), Immediate(grown[number] & mask(dtype)))))
    return found


def _steady(function: Function, body: list[Operation]) -> dict[int, tuple[str, Operation]]:
    """Registers that the body changes only by adding a constant."""
    count: dict[int, int] = {}
    for operation in body:
        for written in writes(operation):
            count[written.id] = count.get(written.id, 0) + 1
    found = {}
    for operation in body:
        register = operation.dst[0] if operation.dst else None
        if operation.op == "add" and operation.guard is None and register is not None and count[register.id] == 1:
            whole = operation.dtype in BITS and BITS[operation.dtype] == BITS[function.register_dtypes[register.id]]
            if whole and operation.src[0] == register and isinstance(operation.src[1], Immediate):
                found[register.id] = operation.dtype, operation
    return found


def _constant(operation: Operation) -> int:
    constant = operation.src[1]
    assert isinstance(constant, Immediate)
    return signed(constant.bits, f"s{BITS[operation.dtype]}")


def _without(body: list[Operation], loop: Counted) -> list[Operation]:
    """A copy of the body without the loop's test, unless something else reads it."""
    tested = {register.id for register in loop.test.dst if register is not None}
    read = any(source.id in tested for operation in body for source in operation.src if isinstance(source, Register))
    guards = any(operation.guard is not None and operation.guard.id in tested for operation in body)
    return [attrs.evolve(operation) for operation in body if operation is not loop.test or read or guards]


def _flag(register: Register, value: bool) -> Operation:
    return Operation("move", "pred", (register,), (Immediate(int(value)),))


def _branch_unless(operations: list[Operation], predicate: Register, target: int, following: int) -> Block:
    line = operations[-1].line if operations else 0
    return Block([*operations, Operation("branch", guard=predicate, guard_negated=True, target=(target,), line=line)], next=following)


def _redirect(block: Block, old: int, new: int) -> None:
    if block.next == old:
        block.next = new
    for operation in block.operations:
        if old in operation.target:
            operation.target = tuple(new if target == old else target for target in operation.target)
