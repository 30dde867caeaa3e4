"""Traces on demand: what each wave of a launch does, block by block, with the addresses it touches.

In: a function, a launch, a wave width, how many waves may be under way at once. Out: ring arrays (`base.layout`) that `refill`
fills for the workgroups bound by `start`; `count` runs workgroups without a trace. Anything with these methods can feed the
engine (`Traces`): this source interprets, `recording.replay` reads what was recorded.
Recorded addresses: global ones as they are; local and private operations the byte offset in their memory; generic with window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

import attrs
import numpy as np

from archex.base import layout
from archex.base.jit import link
from archex.programs.arguments import LaunchLike, check_extents, cluster_of, cluster_order, launch_values, parameter_block
from archex.programs.buffers import DTYPES, Buffer, place, table
from archex.programs.interpreter import table as n
from archex.programs.interpreter.control_slice import control_slice
from archex.programs.interpreter.encode import Tables, encode
from archex.programs.interpreter.faults import error_of
from archex.programs.interpreter.machine import Sizes, allocate, more_pages, power_of_two
from archex.programs.interpreter.memory import COLUMNS, read_elements
from archex.programs.interpreter.workgroups import Machine, run, start
from archex.programs.ir import CONSTANT_WINDOW, PARAMETER_WINDOW, Function, Space
from archex.programs.recording.repeatable import order_shows
from archex.programs.slice import timing_slice

#: IR operations a wave may execute before its loop is taken to be endless.
INSTRUCTION_LIMIT = 1 << 26
_NONE = np.zeros(0, dtype=np.int64)
_NO_COUNTS = np.zeros(1, dtype=np.int64)


class Traces(Protocol):
    """A source of traces, as the engine's driver sees it."""

    blocks: np.ndarray
    records: np.ndarray
    pool: np.ndarray
    cursor: np.ndarray

    @property
    def assumed(self) -> tuple[str, ...]: ...
    def start(self, workgroups: np.ndarray, slots: np.ndarray) -> None: ...
    def refill(self, slots: np.ndarray) -> None: ...
    def count(self, workgroups: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


@attrs.frozen(eq=False)
class Placed:
    """A launch's memory: buffers with their addresses, the parameter block, the program's own variables."""

    buffers: tuple[tuple[Buffer, int], ...]
    addresses: dict[str, int]
    parameters: bytes

    @classmethod
    def of(cls, function: Function, launch: LaunchLike) -> Placed:
        """Lay out everything a launch of `function` can touch."""
        check_extents(function, launch)
        addresses = place(launch.buffers)
        parameters = parameter_block(function, launch, addresses)
        placed = [(buffer, addresses[buffer.name]) for buffer in launch.buffers]
        bank = bytearray()
        for symbol in function.symbols.values():
            if symbol.space == Space.GLOBAL:
                placed.append(
                    (Buffer(f"variable {symbol.name}", "u8", symbol.size, data=symbol.data.ljust(symbol.size, b"\0")), symbol.offset)
                )
            elif symbol.space == Space.CONSTANT:
                bank.extend(bytes(max(0, symbol.offset + symbol.size - len(bank))))
                bank[symbol.offset : symbol.offset + len(symbol.data)] = symbol.data
        for name, base, data in (("constants", CONSTANT_WINDOW, bytes(bank)), ("parameters", PARAMETER_WINDOW, parameters)):
            if data:
                placed.append((Buffer(name, "u8", len(data), data=data), base))
        return cls(tuple(placed), addresses, parameters)

    def table(self, seed: int, written: bool) -> np.ndarray:
        """The compiled code's view; constants and parameters are never writable."""
        flat = table(self.buffers, seed, written)
        rows = flat[: len(self.buffers) * COLUMNS].reshape(-1, COLUMNS)
        for row in rows:
            if row[0] in (CONSTANT_WINDOW, PARAMETER_WINDOW):
                row[7] = -1
        return flat


class TraceSource:
    """Interprets a launch. `contexts`: waves under way at once; slot s holds contexts s * waves .. (s + 1) * waves - 1.

    Workgroups of a cluster lie in slots that follow one another from a multiple of the cluster's size on, in `cluster_order`; they are
    started together, and refilling one refills all.

    mode `timing` executes what `chosen` (default: the timing slice) names and records all addresses; `functional` executes
    everything. repeatable: the traces are the same in whatever order they are asked for; then waves don't wait at barriers."""

    def __init__(
        self, function: Function, launch: LaunchLike, wave_width: int, contexts: int, mode: str = "timing", *, seed: int = 0,
        chosen: Sequence[AbstractSet[int]] | None = None, limit: int = INSTRUCTION_LIMIT, block_ring: int = 64, tracing: bool = True,
    ) -> None:  # fmt: skip
        self.function, self.launch, self.width, self.seed, self.limit = function, launch, wave_width, seed, limit
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        self.waves_per_workgroup = max(1, -(-threads // wave_width))
        self.placed = Placed.of(function, launch)
        self.cluster = cluster_of(function, launch)
        self.cluster_size = math.prod(self.cluster)
        self.chosen = chosen
        self._assumed: dict[tuple[int, int], int] = {}
        if chosen is None and mode == "timing":
            found = timing_slice(function, self._one_buffer())
            self.chosen = found.operations
            self._assumed = {(a.block, a.operation): a.value for a in found.assumed}
        self.repeatable = self.chosen is not None and order_shows(function, self.chosen) is None
        self.tables = self._encode(self.chosen, tracing)
        self._machine = self._allocate(self.tables, contexts, tracing, block_ring)
        self._counter: tuple[Tables, Machine] | None = None
        m, shape = self._machine, self._machine.shape
        if tracing:
            self.blocks = m.ring.reshape(-1, int(shape[n.BLOCK_RING]), 2)
            self.records = m.records.reshape(-1, int(shape[n.RECORD_RING]), layout.RECORD_COLUMNS)
            self.pool = m.pool.reshape(-1, int(shape[n.POOL_RING]), wave_width)
        self.cursor = m.cursor.reshape(-1, layout.CURSOR_COLUMNS)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Comparisons taken as decided instead of executed, in words."""
        found = []
        for (block, index), value in self._assumed.items():
            operation = self.function.blocks[block].operations[index]
            found.append(f"line {operation.line}: `{operation.opcode or operation.op}` taken as {'true' if value else 'false'}")
        return tuple(found)

    def _one_buffer(self) -> Callable[[int, int], bool]:
        """Whether two pointer parameters (by their offsets) lead into one buffer."""
        pairs = zip(self.function.parameters, self.launch.arguments, strict=True)
        names = {parameter.offset: str(argument.value) for parameter, argument in pairs if argument.kind == "buffer"}
        return lambda a, b: names.get(a, a) == names.get(b, b)

    @property
    def slots(self) -> int:
        """Workgroups that can be under way at once."""
        return len(self.cursor) // self.waves_per_workgroup

    def _encode(self, chosen: Sequence[AbstractSet[int]] | None, recorded: bool) -> Tables:
        values = launch_values(self.function, self.launch)
        waits = not self.repeatable
        tables = encode(self.function, self.placed.parameters, values, self.width, chosen, recorded, self._assumed, waits)
        groups = set(tables.code[:, n.GROUP].tolist())
        link(*(kind for group, kind in n.COMPILED_APART if group in groups))
        return tables

    def _allocate(self, tables: Tables, contexts: int, tracing: bool, block_ring: int) -> Machine:
        together = self.waves_per_workgroup * self.cluster_size
        sizes = Sizes(
            contexts=max(1, contexts // together) * together, waves=self.waves_per_workgroup, lanes=self.width, cluster=self.cluster,
            local_bytes=self.function.local_bytes + self.launch.dynamic_local_bytes, private_bytes=self.function.private_bytes,
            buffers=len(self.placed.buffers), limit=self.limit, grid=self.launch.grid, block=self.launch.block, tracing=tracing,
            block_ring=block_ring,
            record_ring=power_of_two(max(128, 2 * tables.slots)), pool_ring=power_of_two(max(32, 2 * tables.slots)),
        )  # fmt: skip
        return allocate(tables, sizes, self.placed.table(self.seed, tables.writes_memory))

    def start(self, workgroups: np.ndarray, slots: np.ndarray) -> None:
        """Bind workgroup numbers to free slots, whole clusters at once."""
        workgroups, slots = np.asarray(workgroups, dtype=np.int64), np.asarray(slots, dtype=np.int64)
        size = self.cluster_size
        if size > 1 and (len(slots) % size or not np.array_equal(slots % size, np.arange(len(slots)) % size)):
            raise ValueError(f"clusters of {self.cluster_size} workgroups need as many slots that follow one another")
        start(self._machine, workgroups, slots)

    def refill(self, slots: np.ndarray) -> None:
        """Run the workgroups of `slots` until their rings are full or they are finished."""
        slots = np.asarray(slots, dtype=np.int64)
        while True:
            with np.errstate(all="ignore"):
                done = run(self._machine, slots, _NONE, _NO_COUNTS)
            if done >= len(slots):
                return
            self._machine = self._resume(self._machine, self.tables)
            slots = slots[done:]

    def count(self, workgroups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Executions of each block, and active lanes summed over them, of each workgroup: int64[len, blocks] both. Whole clusters."""
        if self._counter is None:
            chosen = self.chosen
            if chosen is not None:
                chosen = control_slice(self.function, chosen)
            tables = self._encode(chosen, False)
            self._counter = tables, self._allocate(tables, 1, False, 1)
        tables, machine = self._counter
        counts, machine = self._run_all(tables, machine, np.asarray(workgroups, dtype=np.int64))
        self._counter = tables, machine
        return counts[:, :, 0], counts[:, :, 1]

    def _run_all(self, tables: Tables, machine: Machine, workgroups: np.ndarray) -> tuple[np.ndarray, Machine]:
        if len(workgroups) % self.cluster_size:
            raise ValueError(f"clusters of {self.cluster_size} workgroups are run whole")
        counts = np.zeros((len(workgroups), 2 * len(tables.blocks)), dtype=np.int64)
        at = 0
        while at < len(workgroups):
            with np.errstate(all="ignore"):
                at += int(run(machine, _NONE, workgroups[at:], counts[at:].reshape(-1)))
            if at < len(workgroups):
                machine = self._resume(machine, tables)
        return counts.reshape(len(workgroups), -1, 2), machine

    def _resume(self, machine: Machine, tables: Tables) -> Machine:
        if machine.fault[n.F_KIND] == n.NEED_PAGES:
            return more_pages(machine)
        raise error_of(machine.fault, tables.sources, self.function, machine.shape)

    def run_all(self, workgroups: np.ndarray) -> np.ndarray:
        """Run whole workgroups one after another on this source's own memory; block counts as `count` gives them."""
        counts, self._machine = self._run_all(self.tables, self._machine, np.asarray(workgroups, dtype=np.int64))
        return counts[:, :, 0]

    def read(self, name: str, start: int = 0, count: int | None = None) -> Any:
        """Elements of a buffer as memory holds them now."""
        index = sorted(range(len(self.placed.buffers)), key=lambda i: self.placed.buffers[i][1])
        at = next(i for i, which in enumerate(index) if self.placed.buffers[which][0].name == name)
        buffer = self.placed.buffers[index[at]][0]
        size, _, kind = DTYPES[buffer.dtype]
        bits = np.zeros(buffer.size // size - start if count is None else count, dtype=np.int64)
        with np.errstate(all="ignore"):
            read_elements(self._machine.table, self._machine.pages, np.int64(at * COLUMNS), np.int64(start), bits)
        return bits.astype(f"u{size}").view(kind)


def run_functional(
    function: Function, launch: LaunchLike, wave_width: int = 32, seed: int = 0, limit: int = INSTRUCTION_LIMIT
) -> TraceSource:
    """Execute a whole launch, workgroup after workgroup; `read(buffer)` of what is returned gives the memory it leaves."""
    source = TraceSource(function, launch, wave_width, 1, "functional", seed=seed, limit=limit, tracing=False)
    source.run_all(cluster_order(launch.grid, source.cluster))
    return source
