"""The engine as its users see it: one launch on one device, run in steps.

In: device tables, policies, a lowered program, the launch's geometry, trace rings. Out: return codes, counters, cycles, what the
driver must supply next. A driver's loop is:

    code = engine.run()
    NEED_WORKGROUPS -> take `engine.free_slots()`, start workgroups there, `engine.push(slots, workgroups)`
    NEED_TRACE      -> refill the rings of `engine.requests()`
    WINDOW          -> read `counters()`, set other stop conditions
    DONE            -> `cycles()`
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.allocate import allocate, allocate_memory, level_cells
from archex.engine.aside import has_asides
from archex.engine.core import Trace
from archex.engine.entry import entered
from archex.engine.outstanding import active_cycles, waiting
from archex.engine.policies import ARGUMENTS, RESULTS, Policies, PolicyError, functions_of, name_of, raised_by
from archex.engine.prepare import prepare
from archex.engine.servers import BACKLOG, LAST
from archex.engine.state import (
    DIRTY_SHIFT,
    EMPTY,
    FAULT,
    FAULT_VALUE,
    FREED,
    G_LIVE,
    G_UNIT,
    G_WORKGROUP,
    I_INSTANCES,
    I_PORT_WRITE,
    I_SECTOR,
    I_WAYS,
    I_WHOLE,
    I_WRITE,
    L_WAVES,
    LAST_END,
    LIVE,
    LOG_WAVE,
    LOG_WORKGROUP,
    LOGGED,
    NOT_STARTED,
    NOW,
    PENDING_SHIFT,
    QUEUE_HEAD,
    QUEUE_TAIL,
    SECTOR_MASK,
    STARVED,
    STOP_INSTRUCTIONS,
    STOP_WORKGROUPS,
    U_ISSUED,
    U_MIDDLE,
    U_NEAR,
    U_ROOM_HEAD,
    W_GROUP,
    Memory,
)


class Engine:
    """One launch on one device. All state is in `state` and `memory`."""

    def __init__(
        self, tables: tab.DeviceTables, policies: Policies, program: tab.ProgramTables, geometry: tab.Geometry, rings: Any,
        caches: Memory | None = None, log: int = 0,
    ) -> None:  # fmt: skip
        """`rings`: anything with the arrays `blocks, records, pool, cursor`; `caches`: the memory of the launch before, kept warm;
        `log`: room for so many instructions of a wave that is followed."""
        if len(tables.levels) < 2:
            raise ValueError("a memory path needs a vector cache and at least one level below it")
        self.policies = policies
        self.core, self.paths, sizes = prepare(tables, policies, program, geometry)
        self.trace = Trace(rings.blocks, rings.records, rings.pool, rings.cursor)
        self.cluster = geometry.cluster
        self.slots = len(rings.cursor) // (geometry.waves_per_workgroup * self.cluster) * self.cluster
        self.state = allocate(self.core, sizes, policies, self.slots, log)
        self.memory = allocate_memory(self.paths, sizes, policies, self.state, caches)
        self._used = np.zeros(self.slots, bool)
        self._run = entered(
            self.core, self.paths, self.state, self.memory, self.trace, policies, has_asides(program.code), bool(len(tables.peer_latency))
        )

    @property
    def now(self) -> int:
        """Cycles simulated so far."""
        return int(self.state.scalars[NOW])

    @property
    def not_started(self) -> int:
        """Workgroups of the grid not yet dispatched."""
        return int(self.state.scalars[NOT_STARTED])

    @property
    def running(self) -> int:
        """Workgroups resident now."""
        return int(self.state.scalars[LIVE])

    @property
    def queued(self) -> int:
        """Workgroups started by the driver that wait for a place."""
        return int(self.state.scalars[QUEUE_TAIL] - self.state.scalars[QUEUE_HEAD])

    def run(self, stop_instructions: int = 0, stop_workgroups: int = 0) -> int:
        """Go on; a return code of `tables`. Stop conditions are totals since the launch began, 0 none."""
        scalars = self.state.scalars
        scalars[STOP_INSTRUCTIONS], scalars[STOP_WORKGROUPS] = stop_instructions, stop_workgroups
        p = self.policies
        try:
            code = int(self._run())
        except Exception as error:
            if culprit := raised_by(p, error):
                said = f"{type(error).__name__}: {error}".rstrip(": ")
                raise PolicyError(*culprit, f"raised {said}") from error
            raise
        if code == tab.BAD_POLICY:
            kind = tuple(ARGUMENTS)[int(scalars[FAULT])]
            found = functions_of(p, kind)[0]
            raise PolicyError(kind, name_of(found), f"returned {int(scalars[FAULT_VALUE])}; {RESULTS[kind]}")
        return code

    def follow(self, workgroup: int, wave: int) -> None:
        """Log this wave of this workgroup, as far as there is room."""
        self.state.scalars[[LOG_WORKGROUP, LOG_WAVE, LOGGED]] = workgroup, wave, 0

    def runs(self, workgroup: int) -> bool:
        """Whether this workgroup is resident now."""
        return bool(((self.state.groups[:, G_WORKGROUP] == workgroup) & (self.state.groups[:, G_LIVE] > 0)).any())

    @property
    def log(self) -> np.ndarray:
        """The instructions logged so far: columns LOG_* of `state`."""
        return self.state.log[: int(self.state.scalars[LOGGED])]

    def free_slots(self) -> np.ndarray:
        """Context slots that hold no workgroup, those of a cluster all or none; forget those that ended since the last call."""
        freed = int(self.state.scalars[FREED])
        self._used[self.state.freed[:freed]] = False
        self.state.scalars[FREED] = 0
        size = self.cluster
        return np.flatnonzero(~self._used if size == 1 else ~self._used.reshape(-1, size).any(1).repeat(size))

    def push(self, slots: Any, workgroups: Any) -> None:
        """Queue workgroups whose traces have begun in these context slots, in order of dispatch."""
        scalars = self.state.scalars
        capacity = len(self.state.started)
        for slot, workgroup in zip(slots, workgroups, strict=True):
            self.state.started[scalars[QUEUE_TAIL] % capacity] = (slot, workgroup)
            scalars[QUEUE_TAIL] += 1
            self._used[slot] = True

    def requests(self, share: float = 0.5) -> np.ndarray:
        """Context slots of workgroups whose rings are dry or less than `share` full of blocks and not finished."""
        cursor = self.trace.cursor
        waves = int(self.core.launch[L_WAVES])
        contexts = self.slots * waves
        room = share * self.trace.blocks.shape[1]
        low = (cursor[:contexts, lay.FINISHED] == 0) & (cursor[:contexts, lay.BLOCK_TAIL] - cursor[:contexts, lay.BLOCK_HEAD] < room)
        per_slot = low.reshape(self.slots, waves).any(1)
        if not self._used.all():
            self.free_slots()
        wanted = set(np.flatnonzero(per_slot & self._used).tolist())
        starved = self.state.starved[: int(self.state.scalars[STARVED])]
        wanted.update(int(self.state.waves[w, W_GROUP]) for w in starved)
        return np.array(sorted(wanted), np.int64)

    def counters(self) -> dict[str, int]:
        """Counters by name, and `stall_<reason>` in wave-cycles, those of waves that wait now included."""
        values = {name: int(value) for (name, _, _), value in zip(tab.COUNTERS, self.state.counters, strict=True)}
        schedulers, units = active_cycles(self.state)
        values["scheduler_active_cycles"] += schedulers
        values["unit_active_cycles"] += units
        stalls = self.state.stalls + waiting(self.core, self.state)
        values |= {f"stall_{name}": int(value) for name, value in zip(tab.REASON_NAMES, stalls, strict=True)}
        return values

    def last_end(self) -> int:
        """Cycle of the latest completion so far (waves ended, writes retired); while waves run, at least now."""
        ended = int(self.state.scalars[LAST_END])
        return max(ended, self.now) if self.running or self.not_started else ended

    def cycles(self) -> int:
        """Cycles of the launch as a counter in hardware has them, start, drain and write-back included."""
        return self.last_end() + self.write_back_cycles() + int(self.core.device[tab.DRAIN_CYCLES])

    def write_back_cycles(self) -> int:
        """Cycles until what the second levels hold for memory alone is below them, where there are several: nothing keeps them alike,
        so others see a launch's results only from the level they share."""
        levels = self.paths.levels_int
        row = levels[1]
        if row[I_INSTANCES] == 1 or row[I_WRITE] != tab.WRITE_BACK or len(levels) < 3 or levels[2, I_PORT_WRITE] < 0:
            return 0
        tags, _, status = level_cells(row, self.memory.cells)
        dirty = np.where(tags != EMPTY, (status >> DIRTY_SHIFT) & SECTOR_MASK, 0).reshape(int(row[I_INSTANCES]), -1)
        sectors = np.bitwise_count(dirty).sum(1)
        first = int(levels[2, I_PORT_WRITE])
        servers = self.memory.servers[first : first + len(sectors)]
        waiting = np.maximum(servers[:, BACKLOG] - (self.last_end() - servers[:, LAST]), 0.0)
        return int((waiting + sectors * row[I_SECTOR] / self.paths.levels[2, tab.LEVEL_PORT_WRITE]).max())

    def dirty_share(self, level: int) -> float:
        """Share of the sectors of the lines in a cache level that are dirty; of nobody's lines too."""
        row = self.paths.levels_int[level]
        tags, _, status = level_cells(row, self.memory.cells)
        held = tags != EMPTY
        dirty = int(np.bitwise_count((status[held] >> DIRTY_SHIFT) & SECTOR_MASK).sum())
        return dirty / max(int(held.sum()) * int(row[I_WHOLE]).bit_count(), 1)

    def lines_held(self, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Lines that a cache level holds of what has been read, and of what has been written."""
        row = self.paths.levels_int[level]
        tags, _, status = level_cells(row, self.memory.cells)
        dirty = (status >> DIRTY_SHIFT) & SECTOR_MASK
        clean = (status | (status >> PENDING_SHIFT)) & ~dirty & int(row[I_WHOLE])
        return ~tags[(tags != EMPTY) & (clean != 0)], ~tags[(tags != EMPTY) & (dirty != 0)]

    def links_rate(self) -> float:
        """Bytes a cycle that links to the other devices whose memory is used carry together, one way; 0 where none is."""
        first = self.paths.peer_ways[::2, 0]  # of each way there
        return float(self.paths.peer_links[np.unique(first)].sum())

    def issued(self) -> np.ndarray:
        """Wave-instructions that each compute unit has issued."""
        return self.state.units[:, U_ISSUED].copy()

    def begun(self) -> np.ndarray:
        """Blocks that the waves of each context have begun."""
        return self.trace.cursor[: self.slots * int(self.core.launch[L_WAVES]), lay.BEGUN].copy()

    def units_of_waves(self) -> np.ndarray:
        """The compute unit of each context's wave."""
        return self.state.groups[: self.slots, G_UNIT].repeat(int(self.core.launch[L_WAVES]))

    def started(self) -> np.ndarray:
        """Workgroups that each compute unit has started."""
        return self.state.units[:, U_ROOM_HEAD].copy()

    def keep_code(self) -> None:
        """Begin with the program in every instruction cache, as a launch of it before has left it."""
        state = self.state
        lines = state.near_order.shape[1]
        for order, column in ((state.near_order, U_NEAR), (state.middle_order, U_MIDDLE)):
            order[:] = np.arange(1, lines + 1)
            state.units[:, column] = lines

    def resident(self) -> int:
        """Waves resident now."""
        return int((self.state.waves[:, W_GROUP] >= 0).sum())

    def displace(self, level: int, dirty: float) -> None:
        """Let a cache level hold nobody's lines only, as if much more than it holds had passed through."""
        tags, _, _ = level_cells(self.paths.levels_int[level], self.memory.cells)
        tags[:] = EMPTY
        self.fill(level, 1.0, dirty)

    def fill(self, level: int, filled: float, dirty: float) -> float:
        """Give the empty ways of a cache level lines of nobody's, a share of them dirty: the state a long launch has reached. Returns the
        share of the level's ways that were given such lines.

        `filled`: share of the ways to be in use then. What is there stays; the new lines are older than anything else.
        """
        row = self.paths.levels_int[level]
        tags, used, status = level_cells(row, self.memory.cells)
        ways, whole = int(row[I_WAYS]), int(row[I_WHOLE])
        room = np.minimum((tags == EMPTY).cumsum(1), 1 << 30)  # the how-many-th empty way this is
        missing = np.maximum(round(filled * ways) - (tags != EMPTY).sum(1, keepdims=True), 0)
        new = (tags == EMPTY) & (room <= missing)
        tags[new] = ~((1 << 50) + np.arange(tags.size).reshape(tags.shape)[new])
        turn = room + np.arange(len(tags))[:, None]
        marked = new & (np.floor(turn * dirty) > np.floor((turn - 1) * dirty))  # spread evenly
        status[new] = whole
        status[marked] = whole | (whole << DIRTY_SHIFT)
        used[new] = 0
        return float(new.mean())
