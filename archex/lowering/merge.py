"""Loads and stores of neighbouring addresses as one wide access.

In: a block's form and what is known of alignments. Out: the form with accesses joined: the first keeps its memory record and moves
more bytes,
the others are gone. Only elements of 4 or 8 bytes of one kind in one space, nothing between them that might touch the same memory.
"""

from __future__ import annotations

import attrs

from archex.lowering.alignment import zeros
from archex.lowering.facts import Facts
from archex.lowering.form import Form, Item, Value
from archex.programs.ir import Immediate, Register, Space

SPACES = (Space.GLOBAL, Space.LOCAL, Space.PRIVATE)
#: Nothing is joined across these: memory may be another behind them.
_SEPARATE = frozenset(
    """barrier fence atomic reduce_atomic exit async_copy async_commit async_wait bulk_copy bulk_commit bulk_wait mbarrier cluster_barrier
    matrix_load matrix_store matrix_async matrix_fence matrix_commit matrix_wait""".split()
)
PLAIN = frozenset({"", "nc", "ca"})


def merge_accesses(known: Facts, made: Form, most: int) -> None:
    """Join what fits within `most` bytes."""
    for groups in _groups(made):
        for group in groups:
            _join(known, made, group, most)


def _groups(made: Form) -> list[list[list[Item]]]:
    """Accesses with one base, kind and element size that nothing separates."""
    found: list[list[list[Item]]] = []
    open_loads: dict[object, list[Item]] = {}
    open_stores: dict[object, list[Item]] = {}

    def close(*groups: dict[object, list[Item]]) -> None:
        for group in groups:
            found.append([items for items in group.values() if len(items) > 1])
            group.clear()

    for item in made.items:
        operation = item.operation
        if operation.op in _SEPARATE:
            close(open_loads, open_stores)
            continue
        if operation.op not in ("load", "store") or operation.space == Space.PARAMETER or operation.space == Space.CONSTANT:
            continue
        key = _key(item)
        if operation.op == "load":
            if operation.cache != "nc":
                close(open_stores)
            if key is not None:
                open_loads.setdefault(key, []).append(item)
        else:
            # Stores beside one another with one base do not touch; another base might.
            if any(other != key for other in open_stores):
                close(open_stores)
            for other in [other for other in open_loads if "nc" not in str(other)]:
                found.append([open_loads.pop(other)])
            if key is not None:
                open_stores.setdefault(key, []).append(item)
    close(open_loads, open_stores)
    return found


def _key(item: Item) -> object | None:
    operation = item.operation
    if operation.space not in SPACES or item.guard is not None or operation.cache not in PLAIN or operation.mods:
        return None
    if operation.width not in (4, 8) or operation.width * operation.vector >= 16:
        return None
    base = item.sources[0]
    name = id(base) if isinstance(base, Value) else base
    return operation.space, name, operation.width, operation.vector, operation.cache


def _join(known: Facts, made: Form, group: list[Item], most: int) -> None:
    if len(group) < 2:
        return
    base = group[0].operation.src[0]
    aligned = known.alignment.get(base.id, 0) if isinstance(base, Register) else zeros(base, {}) if isinstance(base, Immediate) else 0
    size = group[0].operation.width * group[0].operation.vector
    by_offset: dict[int, Item] = {}
    for item in group:
        by_offset.setdefault(item.operation.offset, item)
    for wide in (16, 8):
        if wide > most or wide <= size or 1 << aligned < wide:
            continue
        for offset in sorted(by_offset):
            if offset % wide:
                continue
            parts = [by_offset.get(offset + step * size) for step in range(wide // size)]
            present = [part for part in parts if part is not None and not part.gone]
            full = len(present) == len(parts) or (
                wide == 16 and size == 4 and len(present) == 3 and present[0].operation.op == "load" and parts[3] is None
            )
            if not full:
                continue
            _merge(made, present, wide // size)
            for step in range(wide // size):
                by_offset.pop(offset + step * size, None)


def _merge(made: Form, parts: list[Item], count: int) -> None:
    order = sorted(parts, key=made.items.index)
    # Loads move up to the first, stores down to the last.
    leader = order[0] if parts[0].operation.op == "load" else order[-1]
    first = parts[0].operation
    leader.operation = attrs.evolve(first, vector=first.vector * count)
    leader.sources = [leader.sources[0], *[source for part in parts for source in part.sources[1:]]]
    leader.results = [result for part in parts for result in part.results]
    for result in leader.results:
        if result is not None:
            result.item = leader
    for part in parts:
        part.gone = part is not leader
