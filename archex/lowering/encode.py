"""Scheduled nodes into the table of machine code that the engine runs.

In: nodes of each block in issue order, the code order of the blocks, timings by machine operation. Out: `code`, `block_start`, the number of
scoreboard tokens. A token stands for the registers of one value; a register of the function has one token in all blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from archex.base import layout
from archex.base.errors import Problem, RequestError
from archex.lowering.emit import Node
from archex.lowering.form import Value
from archex.parts.machine_operations import MACHINE_OPERATIONS

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
    "matrix": layout.MATRIX,
}
BYPASSING = frozenset({"cg", "cv", "volatile", "relaxed", "acquire"})
WIDE_SCOPES = frozenset({"gpu", "sys", "gl"})


class Timing(Protocol):
    """When and where a machine operation runs: pipe numbers (alternative -1: none), cycles."""

    pipe: int
    alternative: int
    interval: float
    latency: float


class _Tokens:
    """Numbers for values: one for each register of the function and each value from outside, the rest reused within blocks."""

    def __init__(self) -> None:
        self.registers: dict[int, int] = {}
        self.outside: dict[Value, int] = {}
        self.free: list[int] = []
        self.count = 0

    def fresh(self) -> int:
        self.count += 1
        return self.count - 1

    def fixed(self, value: Value) -> int:
        """The token of a value that other blocks see, or -1."""
        register = value.incoming if value.incoming >= 0 else value.registers[0] if value.registers else -1
        if register >= 0:
            if register not in self.registers:
                self.registers[register] = self.fresh()
            return self.registers[register]
        return self.outside.get(value, -1)


def tokens_of(blocks: list[list[Node]]) -> tuple[list[list[tuple[list[int], list[int]]]], int]:
    """For each node the tokens it reads and writes."""
    tokens = _Tokens()
    seen: dict[Value, int] = {}
    for index, nodes in enumerate(blocks):
        for node in nodes:
            for value in (*node.reads, *node.writes):
                if tokens.fixed(value) < 0 and seen.setdefault(value, index) != index:
                    tokens.outside[value] = tokens.fresh()
    found = []
    for nodes in blocks:
        last = {value: place for place, node in enumerate(nodes) for value in (*node.reads, *node.writes)}
        local: dict[Value, int] = {}
        made = []
        for place, node in enumerate(nodes):
            numbers: list[list[int]] = []
            for values in (node.reads, node.writes):
                mine = []
                for value in values:
                    number = tokens.fixed(value)
                    if number < 0:
                        if value not in local:
                            local[value] = tokens.free.pop() if tokens.free else tokens.fresh()
                        number = local[value]
                    mine.append(number)
                numbers.append(list(dict.fromkeys(mine)))
            for value in {*node.reads, *node.writes}:
                if last[value] == place and value in local:
                    tokens.free.append(local[value])
            made.append((numbers[0], numbers[1]))
        found.append(made)
    return found, tokens.count


def encode(blocks: list[list[Node]], order: list[int], timings: Mapping[str, Timing], instruction_bytes: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The code table (rows by block number, addresses by code order), the first row of each block, the number of tokens."""
    _check(blocks, timings)
    numbers, count = tokens_of(blocks)
    start = np.zeros(len(blocks) + 1, np.int32)
    np.cumsum([len(nodes) for nodes in blocks], out=start[1:])
    code = np.full((int(start[-1]), layout.CODE_COLUMNS), 0, np.int32)
    address = 0
    for index in order:
        for place, node in enumerate(blocks[index]):
            row = code[start[index] + place]
            _row(row, node, numbers[index][place], timings[node.name])
            row[layout.ADDRESS] = address
            address += instruction_bytes
    return code, start, count


def _row(row: np.ndarray, node: Node, tokens: tuple[list[int], list[int]], timing: Timing) -> None:
    reads, writes = tokens
    row[layout.KIND] = layout.BRANCH if node.name == "branch" and node.ends else KINDS.get(node.name, layout.ARITHMETIC)
    row[layout.PIPE], row[layout.PIPE_ALTERNATIVE] = timing.pipe, timing.alternative
    row[layout.INTERVAL], row[layout.LATENCY] = round(timing.interval), round(timing.latency)
    row[layout.DST0] = writes[0] if writes else -1
    row[layout.DST1] = writes[-1] if len(writes) > 1 else -1
    row[layout.SRC0 : layout.SRC0 + layout.SRC_COUNT] = (reads[: layout.SRC_COUNT] + [-1] * layout.SRC_COUNT)[: layout.SRC_COUNT]
    row[layout.RECORD], row[layout.BYTES], row[layout.OFFSET] = node.record, node.bytes, _offset(node)
    row[layout.FLAGS] = _flags(node)
    row[layout.CLASS] = layout.CLASSES.index(MACHINE_OPERATIONS[node.name][0])
    row[layout.LINE] = node.source.line if node.source is not None else 0


def _offset(node: Node) -> int:
    return node.offset if node.record < 0 else 0


def _flags(node: Node) -> int:
    flags = layout.GUARDED * node.guarded | layout.LAST_OF_SOURCE * node.last
    if "uniform" in node.name:
        flags |= layout.UNIFORM
    source = node.source
    if source is not None:
        if node.name == "load_global":
            flags |= layout.BYPASS * (source.cache in BYPASSING) | layout.READ_ONLY * (source.cache == "nc")
        if node.name == "fence":
            flags |= layout.DEVICE_SCOPE * bool(WIDE_SCOPES & set(source.mods))
    return flags


def _check(blocks: list[list[Node]], timings: Mapping[str, Timing]) -> None:
    missing = sorted({node.name for nodes in blocks for node in nodes} - set(timings))
    if missing:
        raise RequestError([Problem(f"simd.operations.{name}", None, "has no timing, and the instruction set uses it") for name in missing])
