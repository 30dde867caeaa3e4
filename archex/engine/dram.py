"""Memory channels: data transfer, row activations, turn-around between reads and writes, address translation.

In: an address, how many accesses of the smallest size, the time. Out: cycles of waiting. Writes collect on a channel and go
out in batches, so a turn-around is paid once a batch.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import mix
from archex.engine.bundle import whole
from archex.engine.servers import wait
from archex.engine.state import (
    DI_ACCESS,
    DI_ACTIVATE,
    DI_BANKS,
    DI_BATCH,
    DI_CHANNEL,
    DI_CHANNELS,
    DI_CHUNK,
    DI_ROW,
    FAULT,
    FAULT_VALUE,
)
from archex.engine.translation import translate

FAULT_MAP_ADDRESS = 7
_ACTIVATES = tab.COUNTER_INDEX["dram_activates"]
_READ = tab.COUNTER_INDEX["dram_read_bytes"]
_WRITE = tab.COUNTER_INDEX["dram_write_bytes"]


@jit
def channel_of(map_address: Any, address_params: Any, channels: int, scalars: Any, address: int) -> int:
    """The channel of an address, as the policy has it."""
    channel = map_address(address, whole(address_params))
    if channel < 0 or channel >= channels:
        scalars[FAULT] = FAULT_MAP_ADDRESS
        scalars[FAULT_VALUE] = channel
        return 0
    return channel


@jit
def row_of(dram_int: Any, address: int) -> tuple[int, int]:
    """(row, bank) of an address within its channel."""
    round_bytes = dram_int[DI_CHUNK] * dram_int[DI_CHANNELS]
    turn = address // round_bytes
    local = turn * dram_int[DI_CHUNK] + (address - turn * round_bytes) % dram_int[DI_CHUNK]
    row = local // dram_int[DI_ROW]
    return row, (row + mix(row)) % dram_int[DI_BANKS]


@jit
def open_row(rows: Any, counters: Any, channel: int, bank: int, row: int) -> int:
    """1 when the access opens a row, 0 when its row is open."""
    if rows[channel, bank] == row:
        return 0
    rows[channel, bank] = row
    counters[_ACTIVATES] += 1
    return 1


@jit
def activate_wait(dram: Any, dram_int: Any, servers: Any, channel: int, now: float) -> float:
    """Wait for the right to open a row."""
    if dram_int[DI_ACTIVATE] < 0:
        return 0.0
    return wait(servers, dram_int[DI_ACTIVATE] + channel, now, dram_int[DI_CHANNELS] / dram[tab.DRAM_ACTIVATES])


@jit
def refresh_wait(dram: Any, dram_int: Any, channel: int, bank: int, now: float) -> float:
    """Wait until a bank's refresh is over. Each bank is refreshed once an interval, the banks one after another."""
    interval = dram[tab.DRAM_REFRESH_INTERVAL]
    if interval <= 0.0:
        return 0.0
    phase = now / interval + mix(channel * dram_int[DI_BANKS] + bank) / 1048576.0
    passed = (phase - int(phase)) * interval
    return max(dram[tab.DRAM_REFRESH] - passed, 0.0)


@jit
def access_cost(dram: Any, dram_int: Any) -> float:
    """Cycles a channel needs to move one access."""
    if dram[tab.DRAM_BYTES] <= 0.0:
        return 0.0
    return dram_int[DI_ACCESS] * dram_int[DI_CHANNELS] / dram[tab.DRAM_BYTES]


@jit
def dram_read(paths: Any, map_address: Any, memory: Any, address: int, accesses: int, now: float) -> float:
    """Cycles a read waits beyond the bare latency."""
    channel = channel_of(map_address, paths.address_params, paths.dram_int[DI_CHANNELS], memory.scalars, address)
    memory.counters[_READ] += accesses * paths.dram_int[DI_ACCESS]
    delay = wait(memory.servers, paths.dram_int[DI_CHANNEL] + channel, now, accesses * access_cost(paths.dram, paths.dram_int))
    row, bank = row_of(paths.dram_int, address)
    if open_row(memory.rows, memory.counters, channel, bank, row) != 0:
        delay = max(delay, activate_wait(paths.dram, paths.dram_int, memory.servers, channel, now))
    delay += refresh_wait(paths.dram, paths.dram_int, channel, bank, now + delay)
    if paths.translation[tab.TRANSLATION_ENTRIES] > 0.0 and paths.translation[tab.TRANSLATION_EARLY] == 0.0:
        delay += translate(paths, memory, 0, address, now)
    return delay


@jit
def dram_write(paths: Any, map_address: Any, memory: Any, address: int, accesses: int, now: float) -> float:
    """Cycles until the channel has room for this write (its queue drains behind it)."""
    channel = channel_of(map_address, paths.address_params, paths.dram_int[DI_CHANNELS], memory.scalars, address)
    memory.counters[_WRITE] += accesses * paths.dram_int[DI_ACCESS]
    row, bank = row_of(paths.dram_int, address)
    opened = open_row(memory.rows, memory.counters, channel, bank, row)
    delay = 0.0
    if opened != 0:
        delay = activate_wait(paths.dram, paths.dram_int, memory.servers, channel, now)
    server = paths.dram_int[DI_CHANNEL] + channel
    memory.writes[channel] += accesses
    if memory.writes[channel] >= paths.dram_int[DI_BATCH]:
        cost = memory.writes[channel] * access_cost(paths.dram, paths.dram_int) + 2.0 * paths.dram[tab.DRAM_TURNAROUND]
        memory.writes[channel] = 0
        return max(delay, wait(memory.servers, server, now, cost))
    return max(delay, wait(memory.servers, server, now, 0.0))
