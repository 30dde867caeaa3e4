"""Static single assignment: into it, and facts about a function in it.

In: a function. Out: a copy in which every register is written once; where paths meet, an operation `phi` (src aligned with
`target`, the blocks the values come from; None for no value) stands at the head of the block. A guarded operation's `tied` are the
values its results keep when the guard is false (None: nobody asks).
"""

from __future__ import annotations

import attrs

from archex.programs import graph
from archex.programs.ir import Block, Function, Immediate, Operand, Operation, Register
from archex.programs.liveness import live
from archex.programs.operands import writes


def enter(function: Function) -> Function:
    """A copy of `function` in single-assignment form. Values that were never written read as zero."""
    copy = attrs.evolve(
        function,
        blocks=[attrs.evolve(block, operations=[attrs.evolve(operation) for operation in block.operations]) for block in function.blocks],
        register_dtypes=[],
        register_names=[],
        symbols=dict(function.symbols),
    )
    if any(0 in graph.successors(block) for block in copy.blocks):
        _open_entry(copy)
    _Renamer(function, copy).run()
    return copy


def _open_entry(function: Function) -> None:
    """Put an empty block before a first block that is jumped to."""
    for block in function.blocks:
        block.next += block.next >= 0
        block.reconverge += block.reconverge >= 0
        for operation in block.operations:
            operation.target = tuple(target + 1 for target in operation.target)
    function.blocks.insert(0, Block(next=1))


class _Renamer:
    def __init__(self, old: Function, new: Function) -> None:
        self.old, self.new = old, new
        self.edges = [graph.successors(block) for block in new.blocks]
        self.before = graph.predecessors(new.blocks)
        self.dominator = graph.immediate_dominators(self.edges, 0)
        self.stacks: list[list[Operand]] = [[] for _ in old.register_dtypes]
        self.old_number: dict[int, int] = {}

    def run(self) -> None:
        self._place()
        children: list[list[int]] = [[] for _ in self.edges]
        for index, above in enumerate(self.dominator):
            if above >= 0:
                children[above].append(index)
        stack: list[tuple[int, list[int] | None]] = [(0, None)]
        while stack:
            index, pushed = stack.pop()
            if pushed is not None:
                for register in pushed:
                    self.stacks[register].pop()
                continue
            stack.append((index, self._rename(index)))
            stack += [(child, None) for child in children[index]]

    def _place(self) -> None:
        """Put phis where two writes of a register meet and it is still needed."""
        frontier: list[set[int]] = [set() for _ in self.edges]
        for index, sources in enumerate(self.before):
            if len(sources) > 1:
                for source in sources:
                    while source != self.dominator[index] and source >= 0:
                        frontier[source].add(index)
                        source = self.dominator[source]
        needed = live(self.new).begin if self.old.register_dtypes else []
        sites: dict[int, set[int]] = {}
        for index, block in enumerate(self.new.blocks):
            for operation in block.operations:
                for register in writes(operation):
                    sites.setdefault(register.id, set()).add(index)
        for number, blocks in sites.items():
            waiting, placed = list(blocks), set()
            while waiting:
                for index in frontier[waiting.pop()]:
                    if index not in placed and needed[index] >> number & 1:
                        placed.add(index)
                        waiting.append(index)
            for index in placed:
                phi = Operation("phi", self.old.register_dtypes[number], (Register(number),))
                phi.target = tuple(self.before[index])
                phi.src = (Immediate(0),) * len(phi.target)
                self.old_number[id(phi)] = number
                self.new.blocks[index].operations.insert(0, phi)

    def _value(self, register: int) -> Operand | None:
        return self.stacks[register][-1] if self.stacks[register] else None

    def _define(self, register: Register, pushed: list[int]) -> Register:
        made = self.new.new_register(self.old.register_dtypes[register.id], self.old.register_names[register.id])
        self.stacks[register.id].append(made)
        pushed.append(register.id)
        return made

    def _rename(self, index: int) -> list[int]:
        pushed: list[int] = []
        for operation in self.new.blocks[index].operations:
            if operation.op == "phi":
                operation.dst = tuple(self._define(register, pushed) for register in writes(operation))
                continue
            operation.src = tuple(
                (self._value(source.id) or Immediate(0)) if isinstance(source, Register) else source for source in operation.src
            )
            if operation.guard is not None:
                guard = self._value(operation.guard.id)
                operation.guard = guard if isinstance(guard, Register) else self.new.new_register("pred")
                if operation.dst:
                    operation.tied = tuple(None if register is None else self._value(register.id) for register in operation.dst)
            operation.dst = tuple(None if register is None else self._define(register, pushed) for register in operation.dst)
        for following in dict.fromkeys(self.edges[index]):
            for operation in self.new.blocks[following].operations:
                if operation.op != "phi":
                    break
                value = self._value(self.old_number[id(operation)])
                operation.src = tuple(
                    value if origin == index else source  # type: ignore[misc]
                    for source, origin in zip(operation.src, operation.target, strict=True)
                )
        return pushed
