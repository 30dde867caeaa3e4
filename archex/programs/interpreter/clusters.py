"""Workgroups of a cluster: addresses in each other's local memory, and their common barrier.

In: local addresses, own ones or mapped to a rank of the cluster (`layout.CLUSTER_SHIFT`); waves at the cluster's barrier. Out: places in
the array of local memories; waves made ready. The workgroups of a cluster lie in slots that follow one another, by rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.base.layout import CLUSTER_SHIFT
from archex.programs.interpreter import table as n
from archex.programs.interpreter.memory import insert
from archex.programs.values import low_bits, shift_right

MAPPED = 1 << CLUSTER_SHIFT  # addresses from here on name a rank
WITHIN = MAPPED - 1


@jit
def local_word(address: Any, local_at: Any, shape: Any) -> Any:
    """The index in `local` of the word at a local address; `local_at`: where the own workgroup's memory begins."""
    if address < MAPPED:
        return local_at + (address >> 3)
    words = shape[n.LOCAL_WORDS]
    slot = local_at // words
    first = slot - slot % shape[n.CLUSTER]
    return (first + (address >> CLUSTER_SHIFT) - 1) * words + ((address & WITHIN) >> 3)


@outlined("i:iippi")
def local_bits(address: Any, size: Any, local: Any, shape: Any, local_at: Any) -> Any:
    """The bits at a local address."""
    return low_bits(shift_right(local[local_word(address, local_at, shape)], (address & 7) * 8), size * 8)


@outlined("v:iiippi")
def put_local(address: Any, size: Any, value: Any, local: Any, shape: Any, local_at: Any) -> Any:
    """Change the bits at a local address."""
    at = local_word(address, local_at, shape)
    local[at] = insert(local[at], address, size, value)


@jit
def outside(address: Any, size: Any, shape: Any) -> Any:
    """A fault number where `size` bytes at a local address do not lie in the memory of a workgroup of the cluster."""
    if address < 0 or (address & WITHIN) + size > shape[n.LOCAL_BYTES]:
        return n.OUT_OF_LOCAL
    return n.NO_FAULT if address >> CLUSTER_SHIFT <= shape[n.CLUSTER] else n.OUT_OF_CLUSTER


@jit
def ranked(address: Any, targets: Any, rank: Any) -> Any:
    """A local address in the workgroup of a rank where `targets` names any."""
    return address if targets == 0 else (address & WITHIN) | ((np.int64(rank) + 1) << CLUSTER_SHIFT)


@jit
def chosen(targets: Any, rank: Any) -> Any:
    """Whether a rank takes part; rank 0 stands for the own workgroup where `targets` names none."""
    return rank == 0 if targets == 0 else (targets >> rank) & 1 == 1


@outlined("i:iipp")
def meet(slot: Any, waves: Any, shape: Any, x: Any) -> Any:
    """Open the barrier of the cluster whose first slot is `slot` where all its live waves have arrived; whether a wave goes on.

    A wave counts its arrivals; a phase ends when every wave has arrived once more or is done.
    """
    first, last = slot * waves, (slot + shape[n.CLUSTER]) * waves
    least = np.int64(-1)
    for c in range(first, last):
        at = c * n.CONTEXT_COLUMNS
        if x[at + n.STATUS] != n.DONE and (least < 0 or x[at + n.ARRIVED] < least):
            least = x[at + n.ARRIVED]
    woken = False
    for c in range(first, last):
        at = c * n.CONTEXT_COLUMNS
        if x[at + n.STATUS] == n.WAIT and x[at + n.WAITING] == n.MET and x[at + n.ARRIVED] <= least:
            x[at + n.STATUS] = n.READY
            woken = True
    return woken
