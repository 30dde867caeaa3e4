"""Counts of a sampled launch that need no extrapolation: how often each block runs is known for all of it.

In: the counters of a sampled run carried on to the whole launch, how often blocks are entered in all of it, and what each memory
instruction asked for where it was simulated. Out: the counters, requests and sectors being those of the whole. What a workgroup does only
at its end, which a stretch may lack or have too often, counts as often as it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from archex.assembly import Device
from archex.base import layout as lay
from archex.engine import tables as t
from archex.engine.run import Engine
from archex.extrapolate import levels
from archex.lowering import WaveProgram
from archex.programs.buffers import place
from archex.programs.ir import Block, Function, Special
from archex.records.outcome import Outcome
from archex.suite.launch import Launch

#: Most of the second level that is dirty at a launch's end (h200/micro section 4: 16.5 MiB written again and again stay there, of 33 a
#: third comes to memory; reference: of a launch that only writes, 25 MB of the 50 stay).
DIRTY = 0.5
#: Counters of requests, and of sectors where there are any, by the instruction's kind.
_COUNTED: dict[tuple[int, ...], tuple[str, ...]] = {
    (lay.LOAD, lay.ASYNC_COPY): ("global_load_requests", "global_load_sectors"),
    (lay.STORE,): ("global_store_requests", "global_store_sectors"),
    (lay.PRIVATE_LOAD,): ("private_load_requests",),
    (lay.PRIVATE_STORE,): ("private_store_requests",),
}


def completed(outcome: Outcome, device: Device, program: Function, engine: Engine, alone: Callable[[], Engine]) -> dict[str, float]:
    """The counters of an outcome, those that need no extrapolation without it.

    `alone()`: an engine that has run a whole workgroup by itself, for instructions that no simulated workgroup has come to.
    """
    counters, machine = outcome.counters, outcome.machine
    entries = engine.state.entered
    if outcome.plan.kind != "whole" and len(outcome.work.entries):
        entries = outcome.work.entries
        counters = _with_accesses(counters, machine, entries, engine, alone, device)
        counters = _limited(counters, engine, outcome.launch, device)
    return _with_place_reads(counters, device, program, machine, entries)


def _with_accesses(
    counters: Mapping[str, float],
    machine: WaveProgram,
    entries: np.ndarray,
    engine: Engine,
    alone: Callable[[], Engine],
    device: Device,
) -> dict[str, float]:
    """The counters with the whole launch's requests and sectors. `entries`: times each block runs in it."""
    block = np.repeat(np.arange(len(entries)), np.diff(machine.block_start))
    memory = np.isin(machine.code[:, lay.KIND], [kind for kinds in _COUNTED for kind in kinds])
    each = _ratio(engine, block)
    missing = memory & (engine.state.entered[block] == 0) & (entries[block] > 0)
    if missing.any():
        each[missing] = _ratio(alone(), block)[missing]
    total = each * entries[block][:, None]
    found = dict(counters)
    for kinds, names in _COUNTED.items():
        chosen = np.isin(machine.code[:, lay.KIND], kinds)
        for name, value in zip(names, total[chosen].sum(0).tolist(), strict=False):
            found[name] = value
    return _written(found, found["global_store_sectors"] - counters["global_store_sectors"], device)


def _ratio(engine: Engine, block: np.ndarray) -> np.ndarray:
    each: np.ndarray = engine.state.accesses / np.maximum(engine.state.entered[block], 1)[:, None]
    return each


def _written(counters: dict[str, float], more: float, device: Device) -> dict[str, float]:
    """The counters of the levels below, when stores write so many more sectors than the stretch says: they go through to the second, or
    to other devices, in the shares that the stretch has."""
    before, sent = counters["l2_write_sectors"], counters["peer_written_sectors"]
    apart = sent / (before + sent) if sent else 0.0
    more = max(more, -before - sent)
    partitions = max(float(device.tables.levels[1, t.LEVEL_PARTITIONS]), 1.0)
    far = counters["far_written_sectors"] / before if before else 1.0 - 1.0 / partitions
    own = 1.0 - apart
    changed = {"vector_cache_written": 1.0, "l2_write_sectors": own, "far_written_sectors": own * far, "l2_lookups": own, "l2_hits": own}
    if sent:
        changed |= {"peer_written_sectors": apart, "link_out_bytes": apart * counters["link_out_bytes"] / sent}
    return counters | {name: max(counters[name] + share * more, 0.0) for name, share in changed.items()}


def _with_place_reads(
    counters: dict[str, float], device: Device, program: Function, machine: WaveProgram, entries: np.ndarray
) -> dict[str, float]:
    """The counters with the passes of reads of lanes' places in their workgroup, where these take the way of shuffles through local
    memory's banks."""
    operations, unit = device.spec["simd"].operations, device.tables.unit
    way = operations["shuffle"].pipe if "shuffle" in operations else None
    if unit[t.CROSS_LANE_PORT] < 0 or operations["read_special"].pipe != way:
        return counters
    reads = np.array(
        [min(len(_places(block)), names.count("read_special")) for block, names in zip(program.blocks, machine.operations, strict=True)]
    )
    return counters | {"local_memory_wavefronts": counters["local_memory_wavefronts"] + float(reads @ entries)}


def _places(block: Block) -> set[str]:
    """Coordinates of a lane that a block's operations read."""
    return {s.name for operation in block.operations for s in operation.src if isinstance(s, Special) and s.name.startswith("tid.")}


def _limited(counters: dict[str, float], engine: Engine, launch: Launch, device: Device) -> dict[str, float]:
    """The counters with memory's traffic within what a launch's buffers, and what may stay in the second level, leave possible.

    Where all fits there, memory is read once however long the launch. Where it does not, what is written comes to memory at last, but for
    what lies in the second level at the end: its share of what passes, and no more than DIRTY.
    """
    capacity, sector = levels(device)[0]
    reading, writing = engine.lines_held(1)
    line = int(device.tables.levels[1, t.LEVEL_LINE])
    addresses = place(launch.buffers)
    read = written = total = 0.0
    for buffer in (one for one in launch.buffers if not one.peer):
        first, last = addresses[buffer.name] // line, (addresses[buffer.name] + buffer.size - 1) // line
        is_read, is_written = (bool(((lines >= first) & (lines <= last)).any()) for lines in (reading, writing))
        total += buffer.size
        read += buffer.size if is_read else 0
        written += buffer.size if is_written or not is_read else 0
    found = dict(counters)
    if total <= capacity:
        before = found["dram_read_bytes"]
        share = min(max(read, float(engine.counters()["dram_read_bytes"])) / before, 1.0) if before else 1.0
        found["dram_read_bytes"] = share * before
        for level in ("l2", "memory_side_cache"):
            found[f"{level}_hits"] += (1.0 - share) * (found[f"{level}_lookups"] - found[f"{level}_hits"])
    written = min(written, found["global_store_sectors"] * sector)
    passing = written + found["dram_read_bytes"]
    if passing > capacity:
        stays = capacity * min(written / passing, DIRTY)
        found["dram_write_bytes"] = max(found["dram_write_bytes"], written - stays)
    return found
