"""Scheduled nodes into the table of machine code that the engine runs.

In: nodes of each block in issue order, the code order of the blocks, timings by machine operation. Out: `code`, `block_start`, the
number of
scoreboard tokens. A token stands for the registers of one value; a register of the function has one token in all blocks.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from archex.base import layout
from archex.base.errors import Problem, RequestError
from archex.base.layout import Timing
from archex.lowering.banks import bank_reads
from archex.lowering.form import Value
from archex.lowering.node import Node
from archex.lowering.prepare import REPEATED
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.parts.matrix_unit import OPERATION
from archex.programs.ir import Immediate, Operation

KINDS = {
    "load_global": layout.LOAD,
    "store_global": layout.STORE,
    "atomic_global": layout.ATOMIC,
    "reduce_global": layout.REDUCE,
    "load_local": layout.LOCAL_LOAD,
    "store_local": layout.LOCAL_STORE,
    "atomic_local": layout.LOCAL_ATOMIC,
    "load_private": layout.PRIVATE_LOAD,
    "store_private": layout.PRIVATE_STORE,
    "constant_load": layout.CONSTANT_LOAD,
    "constant_load_uniform": layout.CONSTANT_LOAD,
    "shuffle": layout.CROSS_LANE,
    "barrier": layout.BARRIER,
    "exit": layout.EXIT,
    "fence": layout.FENCE,
    "load_local_matrix": layout.LOCAL_LOAD,
    "store_local_matrix": layout.LOCAL_STORE,
    "copy_async": layout.ASYNC_COPY,
    "copy_bulk": layout.BULK_COPY,
    "group_commit": layout.GROUP_COMMIT,
    "group_wait": layout.GROUP_WAIT,
    "signal": layout.SIGNAL_ARRIVE,
    "signal_wait": layout.SIGNAL_WAIT,
    "cluster_arrive": layout.CLUSTER_ARRIVE,
    "cluster_wait": layout.CLUSTER_WAIT,
    "set_registers": layout.REGISTERS,
}
BYPASSING = frozenset({"cg", "cv", "volatile", "relaxed", "acquire"})
WIDE_SCOPES = frozenset({"gpu", "sys", "gl"})


class _Classes:
    """Values that share a token: those of one register of the function, and the results of an instruction that has more than two."""

    def __init__(self) -> None:
        self.parent: dict[object, object] = {}

    def find(self, key: object) -> object:
        """The class a value or a register belongs to."""
        root = key
        while (above := self.parent.get(root, root)) is not root:
            root = above
        while (above := self.parent.get(key, key)) is not root:
            self.parent[key], key = root, above
        return root

    def join(self, a: object, b: object) -> None:
        """Make two classes one."""
        a, b = self.find(a), self.find(b)
        if isinstance(b, int):
            a, b = b, a  # a register stands for its class
        if a is not b and a != b:
            self.parent[b] = a

    def of(self, value: Value) -> object:
        """The class of a value."""
        return self.find(_keys(value)[0])


def _keys(value: Value) -> list[object]:
    """Registers by number, other values by themselves."""
    if value.incoming >= 0:
        return [value.incoming]
    return list(value.registers) or [value]


def _classes(blocks: list[list[Node]]) -> _Classes:
    classes = _Classes()
    for nodes in blocks:
        for node in nodes:
            for value in (*node.reads, *node.writes):
                first, *others = _keys(value)
                for other in others:
                    classes.join(first, other)
            results = [value for value in node.writes if value.words] if len(node.writes) > 2 else []
            for value in results[1:]:
                classes.join(_keys(results[0])[0], _keys(value)[0])
    return classes


def tokens_of(blocks: list[list[Node]]) -> tuple[list[list[tuple[list[int], list[int]]]], int]:
    """For each node the tokens it reads and writes. Tokens of values that one block alone sees are used again."""
    classes = _classes(blocks)
    place: dict[object, int] = {}
    fixed: dict[object, int] = {}
    count = 0
    for index, nodes in enumerate(blocks):
        for node in nodes:
            for value in (*node.reads, *node.writes):
                found = classes.of(value)
                if (isinstance(found, int) or place.setdefault(found, index) != index) and found not in fixed:
                    fixed[found] = count
                    count += 1
    free: list[int] = []
    made = []
    for nodes in blocks:
        last = {classes.of(value): at for at, node in enumerate(nodes) for value in (*node.reads, *node.writes)}
        local: dict[object, int] = {}
        rows = []
        for at, node in enumerate(nodes):
            both: list[list[int]] = []
            for values in (node.reads, node.writes):
                numbers = []
                for found in dict.fromkeys(classes.of(value) for value in values):
                    number = fixed.get(found, local.get(found, -1))
                    if number < 0:
                        if not free:
                            free.append(count)
                            count += 1
                        number = local[found] = free.pop()
                    numbers.append(number)
                both.append(numbers)
            # Not a set: it would order values by their addresses in the host's memory.
            for found in dict.fromkeys(classes.of(value) for value in (*node.reads, *node.writes)):
                if last[found] == at and found in local:
                    free.append(local[found])
            rows.append((both[0], both[1]))
        made.append(rows)
    return made, count


def encode(
    blocks: list[list[Node]], order: list[int], timings: Mapping[str, Timing], instruction_bytes: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """The code table (rows by block number, addresses by code order), the first row of each block, the number of tokens."""
    _check(blocks, timings)
    numbers, count = tokens_of(blocks)
    reads = bank_reads(blocks, _classes(blocks).of)
    start = np.zeros(len(blocks) + 1, np.int32)
    np.cumsum([len(nodes) for nodes in blocks], out=start[1:])
    code = np.full((int(start[-1]), layout.CODE_COLUMNS), 0, np.int32)
    address = 0
    for index in order:
        for place, node in enumerate(blocks[index]):
            row = code[start[index] + place]
            _row(row, node, numbers[index][place], timings[node.name])
            row[layout.READS] = reads[index][place]
            row[layout.ADDRESS] = address
            address += instruction_bytes
    return code, start, count


def _row(row: np.ndarray, node: Node, tokens: tuple[list[int], list[int]], timing: Timing) -> None:
    reads, writes = tokens
    row[layout.KIND] = kind(node)
    row[layout.PIPE], row[layout.PIPE_ALTERNATIVE] = timing.pipe, timing.alternative
    row[layout.INTERVAL], row[layout.LATENCY] = round(timing.interval if node.interval < 0 else node.interval), round(timing.latency)
    row[layout.DST0] = writes[0] if writes else -1
    row[layout.DST1] = writes[-1] if len(writes) > 1 else -1
    row[layout.SRC0 : layout.SRC0 + layout.SRC_COUNT] = (reads[: layout.SRC_COUNT] + [-1] * layout.SRC_COUNT)[: layout.SRC_COUNT]
    row[layout.RECORD], row[layout.BYTES], row[layout.OFFSET] = node.record, node.bytes, _offset(node)
    row[layout.FLAGS] = _flags(node)
    row[layout.CLASS] = layout.CLASSES.index("matrix" if node.name.startswith(OPERATION) else MACHINE_OPERATIONS[node.name][0])
    row[layout.LINE] = node.source.line if node.source is not None else 0


def kind(node: Node) -> int:
    """What the engine does for a node."""
    if node.name.startswith(OPERATION):
        return layout.MATRIX
    if node.name == "branch":
        return layout.BRANCH if node.ends or repeats(node.source) else layout.ARITHMETIC
    if node.name == "signal" and node.source is not None and "init" in node.source.mods:
        return layout.SIGNAL_SET
    return KINDS.get(node.name, layout.ARITHMETIC)


def repeats(source: Operation | None) -> bool:
    """Whether an operation is a loop of its own in machine code (`prepare`)."""
    return source is not None and REPEATED in source.mods


def _offset(node: Node) -> int:
    return node.offset if node.record < 0 else 0


def _flags(node: Node) -> int:
    flags = node.flags | layout.GUARDED * node.guarded | layout.LAST_OF_SOURCE * node.last
    if "uniform" in node.name:
        flags |= layout.UNIFORM
    source = node.source
    if source is not None:
        if node.name == "signal":
            flags |= layout.AFTER_COPIES * (source.mods[:1] == ("copies",))
        if node.name == "load_global":
            flags |= layout.BYPASS * (source.cache in BYPASSING) | layout.READ_ONLY * (source.cache == "nc")
        if node.name == "fence":
            flags |= layout.DEVICE_SCOPE * bool(WIDE_SCOPES & set(source.mods))
        if source.op in ("atomic", "reduce_atomic"):
            flags |= layout.FLOAT_ATOMIC * (node.name != "atomic_local" and source.dtype.lstrip("b")[:1] == "f")
            flags |= layout.COMPARE_AND_SWAP * (source.mods[:1] == ("cas",))
            flags |= layout.REPEATS * repeats(source)
            flags |= layout.COUNTING * (source.op == "reduce_atomic" and source.mods[:1] == ("add",) and source.src[1] == Immediate(1))
    return flags


def _check(blocks: list[list[Node]], timings: Mapping[str, Timing]) -> None:
    missing = sorted({node.name for nodes in blocks for node in nodes} - set(timings))
    if missing:
        raise RequestError([Problem(f"simd.operations.{name}", None, "has no timing, and the instruction set uses it") for name in missing])
