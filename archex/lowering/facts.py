"""What lowering knows about a whole function before it looks at single blocks.

In: a cleaned-up function. Out: `Facts`: dominators, loops, liveness, shared (uniform) registers, and the registers that only name
a parameter
or a hardware value, which lowering reads where they are used instead of where the program happened to read them.
"""

from __future__ import annotations

import attrs

from archex.lowering.alignment import alignments
from archex.lowering.prepare import REPEATED
from archex.programs import graph
from archex.programs.ir import Function, Immediate, Operation, Register, Space, Special
from archex.programs.liveness import live, members
from archex.programs.operands import writes
from archex.programs.types import BITS
from archex.programs.uniform import uniform_registers


@attrs.frozen
class Named:
    """A value that comes from outside the function: a parameter (`parameter`, byte offset, bytes) or a hardware value (`special`,
    its name)."""

    kind: str
    name: str | int
    bytes: int = 4
    index: int = 0


@attrs.define(slots=True)
class Facts:
    """See the module.

    home[block]: where a value that does not change in any loop around `block` is made. around[block]: the loops around it, inner
    first, each as its blocks and the block before it. writes[block]: registers written there. products: registers that are one widening
    product, which an addition elsewhere can make anew at no cost.
    """

    function: Function
    dominator: list[int]
    home: list[int]
    depth: list[int]
    live_in: list[set[int]]
    live_out: list[set[int]]
    uniform: set[int]
    named: dict[int, Named]
    around: list[list[tuple[frozenset[int], int]]]
    writes: list[set[int]]
    alignment: dict[int, int]
    products: dict[int, Operation]

    def common(self, blocks: set[int]) -> int:
        """The closest block that dominates all of `blocks`."""
        paths = [self._path(block) for block in blocks]
        shared = set(paths[0]).intersection(*paths[1:])
        return next(block for block in paths[0] if block in shared)

    def written_in(self, blocks: frozenset[int]) -> set[int]:
        """Registers that some of these blocks write."""
        return set().union(*(self.writes[block] for block in blocks))

    def _path(self, block: int) -> list[int]:
        found = []
        while block >= 0:
            found.append(block)
            block = self.dominator[block]
        return found

    def place(self, blocks: set[int]) -> int:
        """Where a value used in `blocks` and made from nothing is made: above all of them, outside every loop."""
        return self.home[self.common(blocks)]


def words(size_of: str) -> int:
    """Vector registers (32 bits each) that a value of a type takes; predicates take none."""
    return 0 if size_of == "pred" else max(1, BITS[size_of] // 32)


def facts(function: Function) -> Facts:
    """Analyse a function."""
    dominator = graph.dominators(function)
    found = graph.loops(function)
    home = list(range(len(function.blocks)))
    depth = [0] * len(home)
    around: list[list[tuple[frozenset[int], int]]] = []
    for block in range(len(home)):
        inside = sorted((loop for loop in found if block in loop.blocks), key=lambda loop: len(loop.blocks))
        depth[block] = len(inside)
        around.append([(frozenset(loop.blocks), dominator[loop.header]) for loop in inside if dominator[loop.header] >= 0])
        if around[-1]:
            home[block] = around[-1][-1][1]
    for block, above in enumerate(dominator):
        operations = function.blocks[block].operations
        if operations and REPEATED in operations[0].mods and home[block] == block:  # a loop in machine code
            home[block] = home[above]
    named = _named(function)
    sets = live(function)
    written = [{register.id for operation in block.operations for register in writes(operation)} for block in function.blocks]
    live_in = [set(members(mask)) - named.keys() for mask in sets.begin]
    live_out = [set(members(mask)) - named.keys() for mask in sets.end]
    return Facts(
        function,
        dominator,
        home,
        depth,
        live_in,
        live_out,
        set(uniform_registers(function)),
        named,
        around,
        written,
        alignments(function),
        _products(function),
    )


def _products(function: Function) -> dict[int, Operation]:
    """Registers written once, by a widening product of values that never change afterwards."""
    once: dict[int, Operation | None] = {}
    for block in function.blocks:
        for operation in block.operations:
            for register in writes(operation):
                once[register.id] = None if register.id in once else operation
    found = {}
    for number, only in once.items():
        if only is None or only.op != "mul_wide" or only.guard is not None or not only.opcode.startswith("mul.wide"):
            continue
        if all(not isinstance(source, Register) or once.get(source.id) is not None for source in only.src):
            found[number] = only
    return found


def _named(function: Function) -> dict[int, Named]:
    """Registers written once, with a parameter or a hardware value."""
    once: dict[int, Operation | None] = {}
    for block in function.blocks:
        for operation in block.operations:
            for register in writes(operation):
                once[register.id] = None if register.id in once else operation
    found: dict[int, Named] = {}
    for number, only in once.items():
        if only is None or only.guard is not None:
            continue
        if only.op == "load" and only.space == Space.PARAMETER and isinstance(only.src[0], Immediate):
            index = [part.id if part is not None else -1 for part in only.dst].index(number)
            found[number] = Named("parameter", only.src[0].bits + only.offset + index * only.width, only.width)
        elif only.op == "move" and isinstance(only.src[0], Special):
            found[number] = Named("special", only.src[0].name, BITS.get(function.register_dtypes[number], 32) // 8)
    return found
