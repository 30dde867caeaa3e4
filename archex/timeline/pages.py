"""Where every page of managed memory is: on the host or on a device; what moves when some are asked for.

In: buffers, how much room devices have, who chooses. Out: `Moved`s. Nothing here has a time. Buffers begin at blocks of their own; a block
has room on a device as soon as one of its pages is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from archex.timeline.model import Buffer, Touch

HOST = -1


@attrs.frozen
class Paged:
    """A part `page_migration` as the event engine sees it: times in nanoseconds, rates in bytes a nanosecond.

    serve(faults, blocks): nanoseconds; None: nothing moves by itself. leaving(last_use, draws, count) and fetched(wanted, here) as the
    parts that decide have them. room: blocks on each device. dense: faults of a page of which everything is touched. page_service,
    page_back: what the driver does for each page that comes, or goes to the host; prefetch_call, prefetch_page: what of a prefetch the
    caller does. host_fault: from a touch by the host of what lies on a device until that begins to move.
    """

    page: int
    block: int
    keeps_copy: bool
    room: Sequence[int]
    leaving: Callable[[Any, Any, int], Any]
    fetched: Callable[[Any, Any], Any]
    serve: Callable[[int, int], float] | None = None
    batch: int = 1
    outstanding: int = 1
    latency: float = 0.0
    replay: str = "each"
    dense: int = 1
    page_service: float = 0.0
    page_back: float = 0.0
    host_fault: float = 0.0
    prefetch_call: float = 0.0
    prefetch_page: float = 0.0
    remote_rate: float | None = None
    remote_latency: float = 0.0


@attrs.frozen
class Moved:
    """Bytes that come, of them those that travel from other devices, bytes that left to make room and what is written back of these."""

    came: int
    between: Mapping[int, int]
    left: int
    written: int
    blocks: int


class Pages:
    """All pages of all managed buffers."""

    def __init__(self, buffers: Sequence[Buffer], paged: Paged) -> None:
        self.paged, self.per = paged, paged.block // paged.page
        self.begin: dict[str, int] = {}
        self.count: dict[str, int] = {}
        whole = 0
        for buffer in buffers:
            self.begin[buffer.name], self.count[buffer.name] = whole, -(-buffer.bytes // paged.page)
            whole += -(-self.count[buffer.name] // self.per) * self.per
        self.exists, self.dirty = np.zeros(whole, dtype=bool), np.zeros(whole, dtype=bool)
        self.where = np.full(whole, HOST, dtype=np.int32)
        self.due = np.zeros(whole, dtype=np.int64)  # the group that brings a page which is under way; 0: none
        self.used = np.zeros(whole // self.per, dtype=np.int64)
        devices = len(paged.room)
        self.held = np.zeros((devices, len(self.used)), dtype=np.int64)
        self.came, self.left = [0] * devices, [0] * devices  # bytes, of each device
        self._tick = 0
        self._lot = np.random.default_rng(0)
        for buffer in buffers:
            pages = self.of(buffer.name)
            self.exists[pages] = True
            if buffer.device is not None:
                self._settle(pages, buffer.device)
        self.fits = len(self.used) <= min(paged.room, default=0)

    def of(self, buffer: str) -> np.ndarray:
        """Pages of a buffer."""
        return np.arange(self.begin[buffer], self.begin[buffer] + self.count[buffer])

    def resident(self, device: int) -> int:
        """Bytes on a device."""
        return int((self.where == device).sum()) * self.paged.page

    def order(self, touches: Sequence[Touch]) -> tuple[np.ndarray, np.ndarray]:
        """Pages in the order in which a kernel touches them, and whether it writes them. Buffers are gone through side by side."""
        pages, writes, progress = [], [], []
        for touch in touches:
            own = self.of(touch.buffer)[:: max(1, touch.stride // self.paged.page)]
            many = max(1, math.ceil(touch.share * len(own) - 1e-9))
            own = own[:many] if touch.order == "sequential" else np.random.default_rng(touch.seed).permutation(own)[:many]
            pages.append(own)
            writes.append(np.full(many, touch.writes))
            progress.append((np.arange(many) + 0.5) / many)
        turn = np.argsort(np.concatenate(progress), kind="stable")
        return np.concatenate(pages)[turn], np.concatenate(writes)[turn]

    def faults(self, touches: Sequence[Touch]) -> int:
        """How many faults a page makes that is missing: one, where touches lie a page or more apart or in no order."""
        apart = min(max(touch.stride, 4096) if touch.order == "sequential" else self.paged.page for touch in touches)
        return max(1, self.paged.dense * 4096 // apart) if apart < self.paged.page else 1

    def touch(self, pages: np.ndarray, writes: np.ndarray) -> None:
        """A kernel is about to touch pages."""
        self._tick += 1
        self.used[pages // self.per] = self._tick
        self.dirty[pages[writes]] = True

    def wanted(self, pages: np.ndarray, device: int) -> np.ndarray:
        """Those of the pages that are elsewhere, each once."""
        return np.unique(pages[self.where[pages] != device])

    def neighbours(self, pages: np.ndarray, device: int) -> np.ndarray:
        """Pages that come when these are asked for."""
        blocks = np.unique(pages // self.per)
        shape = (len(self.used), self.per)
        wanted = np.zeros((len(blocks), self.per), dtype=bool)
        wanted[np.searchsorted(blocks, pages // self.per), pages % self.per] = True
        exists = self.exists.reshape(shape)[blocks]
        here = (self.where.reshape(shape)[blocks] == device) & exists
        mask = (np.asarray(self.paged.fetched(wanted, here)).astype(bool) | wanted) & ~here & exists
        place, page = np.nonzero(mask)
        return blocks[place] * self.per + page

    def bring(self, pages: np.ndarray, device: int) -> Moved:
        """Move pages to a device or to the host; others leave it where there is no room. The pages' blocks fit, all of them."""
        size, left, written = self.paged.page, 0, 0
        blocks = np.unique(pages // self.per)
        if device != HOST:
            held = self.held[device] > 0
            missing = int((~held[blocks]).sum()) - (self.paged.room[device] - int(held.sum()))
            if missing > 0:
                left, written = self._leave(device, missing, blocks)
        came, between = 0, {}
        for source in np.unique(self.where[pages]).tolist():
            own = pages[self.where[pages] == source]
            if source == device:
                continue
            came += len(own) * size
            if source != HOST:
                self.left[source] += len(own) * size
                kept = device == HOST and self.paged.keeps_copy
                between[source] = int(self.dirty[own].sum() if kept else len(own)) * size
        self._settle(pages, device)
        if device != HOST:
            self.came[device] += came
        else:
            self.dirty[pages] = False
        self._tick += 1
        self.used[blocks] = self._tick
        return Moved(came, between, left, written, len(blocks))

    def _settle(self, pages: np.ndarray, device: int) -> None:
        before = self.where[pages]
        for source in np.unique(before):
            if source != HOST:
                np.subtract.at(self.held[source], pages[before == source] // self.per, 1)
        self.where[pages] = device
        if device != HOST:
            np.add.at(self.held[device], pages // self.per, 1)

    def _leave(self, device: int, count: int, stay: np.ndarray) -> tuple[int, int]:
        """Bytes that leave, and those written back: blocks that are under way only where no others are left."""
        free = self.held[device] > 0
        free[stay] = False
        settled = free & ~self.due.reshape(len(free), self.per).any(axis=1)
        choices = np.flatnonzero(settled if int(settled.sum()) >= count else free)
        picked = np.asarray(self.paged.leaving(self.used[choices], self._lot.random(len(choices)), count))
        if len(np.unique(picked)) != count:
            raise ValueError(f"pick_leaving returned {len(picked)} places, not {count} different ones")
        pages = (choices[picked][:, None] * self.per + np.arange(self.per)).ravel()
        pages = pages[self.where[pages] == device]
        written = int(self.dirty[pages].sum()) if self.paged.keeps_copy else len(pages)
        self._settle(pages, HOST)
        self.dirty[pages] = False
        self.left[device] += len(pages) * self.paged.page
        return len(pages) * self.paged.page, written * self.paged.page
