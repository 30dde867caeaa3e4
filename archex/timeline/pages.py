"""Where every page of managed memory is: on the host, on a device, nowhere until it is touched; what moves when some are asked for.

In: buffers, how much room devices have, who chooses. Out: `Moved`s. Nothing here has a time. Buffers begin at blocks of their own; a block
has room on a device as soon as one of its pages is there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from archex.timeline.advice import Advised
from archex.timeline.model import Buffer, Touch
from archex.timeline.paged import Moved, Paged

HOST = -1
#: Where pages are that nobody has touched.
NOWHERE = -2


class Pages:
    """All pages of all managed buffers."""

    def __init__(self, buffers: Sequence[Buffer], paged: Paged) -> None:
        self.paged, self.per = paged, paged.block // paged.page
        self.begin: dict[str, int] = {}
        self.count: dict[str, int] = {}
        self.bytes = {buffer.name: buffer.bytes for buffer in buffers}
        whole = 0
        for buffer in buffers:
            self.begin[buffer.name], self.count[buffer.name] = whole, -(-buffer.bytes // paged.page)
            whole += -(-self.count[buffer.name] // self.per) * self.per
        self.exists, self.dirty = np.zeros(whole, dtype=bool), np.zeros(whole, dtype=bool)
        self.where = np.full(whole, HOST, dtype=np.int32)
        self.due = np.zeros(whole, dtype=np.int64)  # the group that brings a page which is under way; 0: none
        self.used, self.flying = (np.zeros(whole // self.per, dtype=np.int64) for _ in range(2))  # of blocks; pages that are under way
        devices = len(paged.room)
        self.held = np.zeros((devices, len(self.used)), dtype=np.int64)
        self.came, self.left, self.made = [0] * devices, [0] * devices, [0] * devices  # bytes, of each device
        self.advised = Advised(whole, devices)
        self.fresh = np.zeros(whole, dtype=bool)  # come to the host, not written there since
        self.hosted, self.returned = np.zeros(len(self.used), dtype=bool), np.zeros(len(self.used), dtype=bool)
        self._tick = 0
        self._lot = np.random.default_rng(0)
        for buffer in buffers:
            pages = self.of(buffer.name)
            self.exists[pages] = True
            self.advised.set(pages, buffer.advice)
            if buffer.untouched:
                self.where[pages] = NOWHERE
            if buffer.device is not None:
                self._settle(pages, buffer.device)
            if buffer.device is None and not buffer.untouched:
                self.hosted[pages // self.per] = True
        self.fits = len(self.used) <= min(paged.room, default=0)

    def of(self, buffer: str) -> np.ndarray:
        """Pages of a buffer."""
        return np.arange(self.begin[buffer], self.begin[buffer] + self.count[buffer])

    def resident(self, device: int) -> int:
        """Bytes on a device."""
        return int(((self.where == device) | self.advised.copies[device]).sum()) * self.paged.page

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

    def pieces(self, touches: Sequence[Touch]) -> int:
        """In how many pieces of 4 KiB, the processor's pages, a page is touched: one, where touches lie a page or more apart."""
        found = 1
        for touch in touches:
            if touch.order == "sequential":
                found = max(found, min(self.paged.page, self.bytes[touch.buffer]) // max(touch.stride, 4096))
        return found

    def touch(self, pages: np.ndarray, writes: np.ndarray) -> None:
        """A kernel is about to touch pages."""
        self._tick += 1
        self.used[pages // self.per] = self._tick
        self.dirty[pages[writes]] = True

    def begin_on_host(self, pages: np.ndarray) -> int:
        """Those of the pages that are nowhere are made on the host; how many."""
        made = np.unique(pages[self.where[pages] == NOWHERE])
        self.where[made] = HOST
        return len(made)

    def has(self, pages: np.ndarray, device: int) -> np.ndarray:
        """Which of the pages who reads them finds: there, as a copy, or mapped."""
        if not self.advised.given:
            return np.asarray(self.where[pages] == device)
        return np.asarray(self.holds(pages, device) | self.advised.mapped[device, pages] & (self.where[pages] == HOST))

    def holds(self, pages: np.ndarray, device: int) -> np.ndarray:
        """Which of the pages are there, or a copy of them."""
        if not self.advised.given:
            return np.asarray(self.where[pages] == device)
        return np.asarray((self.where[pages] == device) | self.advised.copies[device, pages])

    def stays(self, pages: np.ndarray, device: int) -> np.ndarray:
        """Which of the pages a device reaches on the host, by what is advised."""
        return np.asarray(self.advised.stay(pages) & (self.where[pages] < 0) & (device != HOST))

    def absent(self, buffer: str, device: int) -> np.ndarray:
        """Pages of a buffer that a prefetch moves."""
        pages = self.of(buffer)
        return np.asarray(pages[~self.holds(pages, device)])

    def lacks(self, pages: np.ndarray, device: int, writes: np.ndarray | None = None) -> np.ndarray:
        """Which of the pages fault: those that are elsewhere, and those of which others have copies where they are written."""
        missing = ~self.has(pages, device)
        return missing if writes is None or not self.advised.given else missing | writes & self.advised.copied(pages)

    def wanted(self, pages: np.ndarray, device: int, writes: np.ndarray | None = None) -> np.ndarray:
        """Those of the pages that fault, each once."""
        return np.unique(pages[self.lacks(pages, device, writes)])

    def _blocks(self, pages: np.ndarray) -> np.ndarray:
        """Blocks of pages that are in order, each once."""
        blocks = pages // self.per
        return np.asarray(blocks[np.diff(blocks, prepend=-1) != 0])

    def _places(self, pages: np.ndarray) -> list[int]:
        """Where some of the pages are."""
        return (np.flatnonzero(np.bincount(self.where[pages] - NOWHERE)) + NOWHERE).tolist()

    def neighbours(self, pages: np.ndarray, device: int) -> np.ndarray:
        """Pages that come when these, in order, are asked for; in order, too."""
        blocks = self._blocks(pages)
        whole = (blocks[:, None] * self.per + np.arange(self.per)).ravel()
        shape = (len(blocks), self.per)
        wanted = np.zeros(shape, dtype=bool)
        wanted[np.searchsorted(blocks, pages // self.per), pages % self.per] = True
        exists = self.exists[whole].reshape(shape)
        here = self.has(whole, device).reshape(shape) & exists
        beside = np.asarray(self.paged.fetched(wanted & ~here, here)).astype(bool) & ~here
        if self.advised.given:
            beside &= ~self.stays(whole, device).reshape(shape)
        mask = (beside | wanted) & exists
        place, page = np.nonzero(mask)
        return blocks[place] * self.per + page

    def bring(self, pages: np.ndarray, device: int, written: np.ndarray | None = None, forced: bool = False) -> Moved:
        """Move pages, in order, to a device or to the host; others leave it where there is no room. The pages' blocks fit, all of them.

        written: those that are about to be written: nobody else has a copy then. Pages that stay on the host are mapped, unless they
        are `forced` to move.
        """
        advised, size, left, gone = self.advised, self.paged.page, 0, 0
        blocks = self._blocks(pages)
        mapped = pages[:0]
        if advised.given and not forced:
            far = self.stays(pages, device)
            mapped, pages = pages[far], pages[~far]
            self.begin_on_host(mapped)
            advised.mapped[device, mapped] = True
        if device != HOST and len(pages):
            taken, held = self._blocks(pages), self.held[device] > 0
            missing = int((~held[taken]).sum()) - (self.paged.room[device] - int(held.sum()))
            if missing > 0:
                left, gone = self._leave(device, missing, taken)
        shared = advised.mostly(pages)
        if advised.given:
            shared &= (self.where[pages] != NOWHERE) & (self.where[pages] != device)
            if written is not None:
                shared &= ~np.isin(pages, written)
        came, between, made, moving_blocks = 0, {}, 0, np.zeros(len(self.used), dtype=bool)
        had = advised.copies[device, pages]
        for source in self._places(pages):
            here = self.where[pages] == source
            own = pages[here & ~had]
            if source == NOWHERE:
                made = len(own)
                self.dirty[own] = True  # nobody else has these zeros
            if source in (device, NOWHERE):
                continue
            came += len(own) * size
            moving_blocks[own // self.per] = True
            if source != HOST:
                self.left[source] += int((here & ~shared).sum()) * size
                kept = device == HOST and self.paged.keeps_copy
                between[source] = int(self.dirty[own].sum() if kept else len(own)) * size
        crossing = pages[~had & (self.where[pages] != device) & (self.where[pages] != NOWHERE)]
        begins = np.diff(crossing, prepend=-2) != 1
        runs = int(begins.sum()) - len(self._blocks(crossing[begins]))
        moving = pages[~shared]
        claims = moving[advised.copied(moving)] if advised.given else moving[:0]
        moving_blocks[claims // self.per] = True
        self._drop(moving, device)
        self._settle(moving, device)
        self._copy(pages[shared & ~had], device)
        if device != HOST:
            self.came[device] += came
            self.made[device] += made * size
        self._tick += 1
        self.used[blocks] = self._tick
        count = int(moving_blocks.sum())
        new, again = self._back(pages, made > 0, moving_blocks) if device == HOST else (0, 0)
        return Moved(came, between, left, gone, count, max(runs, 0), len(blocks) - count, made, len(mapped), len(claims), new, again)

    def _back(self, pages: np.ndarray, made: bool, moving: np.ndarray) -> tuple[int, int]:
        """Pages are the host's: blocks of which it makes the first page, and those that come to it for the first time."""
        self.dirty[pages], self.fresh[pages] = False, True
        blocks = self._blocks(pages)
        new, again = int((~self.hosted[blocks]).sum()) if made else 0, int((moving & ~self.returned).sum())
        self.hosted[blocks] = True
        self.returned |= moving
        return new, again

    def stored(self, pages: np.ndarray) -> int:
        """The host writes pages that it has: how many of them for the first time since they came."""
        found = np.unique(pages[self.fresh[pages]])
        self.fresh[found] = False
        return len(found)

    def coming(self, pages: np.ndarray, device: int) -> np.ndarray:
        """Which of the pages are under way, so that they can't be had; who has a page of which a copy is made still has it."""
        return np.asarray((self.due[pages] > 0) & ~((self.where[pages] == device) & self.advised.copied(pages)))

    def fly(self, pages: np.ndarray, group: int) -> None:
        """Pages, each once, are under way from now on, in a group."""
        np.add.at(self.flying, pages[self.due[pages] == 0] // self.per, 1)
        self.due[pages] = group

    def land(self, pages: np.ndarray, group: int) -> None:
        """Those of the pages that no other group brings since are there."""
        own = pages[self.due[pages] == group]
        np.subtract.at(self.flying, own // self.per, 1)
        self.due[own] = 0

    def alone(self, pages: np.ndarray) -> None:
        """Pages that are about to be written where they are: nobody has a copy any more."""
        self._drop(pages[self.advised.copied(pages)], HOST)

    def _copy(self, pages: np.ndarray, device: int) -> None:
        if not self.advised.given:
            return
        self.advised.copies[device, pages] = True
        if device != HOST:
            np.add.at(self.held[device], pages // self.per, 1)

    def _drop(self, pages: np.ndarray, to: int) -> None:
        """Copies of pages are worth nothing from now on; `to` has the page itself."""
        if not self.advised.given:
            return
        for holder in range(-1, len(self.held)):
            own = pages[self.advised.copies[holder, pages]]
            self.advised.copies[holder, own] = False
            if holder != HOST:
                np.subtract.at(self.held[holder], own // self.per, 1)
                self.left[holder] += len(own) * self.paged.page * (holder != to)

    def _settle(self, pages: np.ndarray, device: int) -> None:
        before = self.where[pages]
        for source in self._places(pages):
            if source >= 0:
                np.subtract.at(self.held[source], pages[before == source] // self.per, 1)
        self.where[pages] = device
        if device != HOST:
            np.add.at(self.held[device], pages // self.per, 1)

    def _leave(self, device: int, count: int, stay: np.ndarray) -> tuple[int, int]:
        """Bytes that leave, and those written back: blocks that are under way only where no others are left."""
        free = self.held[device] > 0
        free[stay] = False
        settled = free & (self.flying == 0)
        choices = np.flatnonzero(settled if int(settled.sum()) >= count else free)
        picked = np.asarray(self.paged.leaving(self.used[choices], self._lot.random(len(choices)), count))
        if len(np.unique(picked)) != count:
            raise ValueError(f"pick_leaving returned {len(picked)} places, not {count} different ones")
        whole = (choices[picked][:, None] * self.per + np.arange(self.per)).ravel()
        copies, pages = whole[self.advised.copies[device, whole]], whole[self.where[whole] == device]
        self.advised.copies[device, copies] = False
        np.subtract.at(self.held[device], copies // self.per, 1)
        known = self.advised.copies[HOST, pages] | (~self.dirty[pages] & self.paged.keeps_copy)
        self.advised.copies[HOST, pages] = False
        self._settle(pages, HOST)
        self.dirty[pages] = False
        size = (len(pages) + len(copies)) * self.paged.page
        self.left[device] += size
        return size, int((~known).sum()) * self.paged.page
