"""Work that shares a device: compute units, memory, copy engines, links.

An activity has its time alone and what it takes of each resource meanwhile. It goes on at the pace of the resource that gives it the
smallest part of what it takes. Pooled resources (places of compute units, engines) are taken in order: by priority, then who began first;
who comes later gets what is left. Shared ones (bandwidths) give everybody the same, or less to who takes less; who has only some of its
places takes as much less of them, and who has none takes nothing.

Paces change only where something begins or ends, and only those of what shares a resource with it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping
from typing import Any

from archex.timeline.clock import Clock

#: A part of a nanosecond that is no work any more.
_NOTHING = 1e-9


class Resource:
    """capacity: how much there is, in whatever unit the demands have. pooled: given out in order, not shared."""

    __slots__ = ("capacity", "name", "pooled", "users")

    def __init__(self, name: str, capacity: float, pooled: bool = False) -> None:
        self.name, self.capacity, self.pooled = name, capacity, pooled
        self.users: list[Activity] = []

    def shares(self) -> list[float]:
        """What each user gets, as a part of what it takes, in the order of `users`."""
        if self.pooled:
            left, found = self.capacity, []
            for user in self.users:
                wants = user.demands[self]
                gets = wants if wants < left else left
                left -= gets
                found.append(gets / wants)
            return found
        wanted = [0.0 if user.held else user.demands[self] * user.placed for user in self.users]
        level = self.capacity
        if sum(wanted) > self.capacity:
            level = _level(sorted(wanted), self.capacity)
        return [1.0 if wants <= level else level / wants * user.placed for user, wants in zip(self.users, wanted, strict=True)]


def _level(wanted: list[float], capacity: float) -> float:
    """How much everybody may have so that all together have `capacity`, where some want less."""
    left = capacity
    for place, wants in enumerate(wanted):
        even = left / (len(wanted) - place)
        if wants >= even:
            return even
        left -= wants
    return capacity


def _no_more(activity: Activity) -> bool:
    return False


class Activity:
    """`work`: nanoseconds it takes alone. demands: resource -> how much of it, above 0. done: called at its end.

    more: called when its work is done: gives it further work (`work`, `held`) and says so, or says that this was the end. held: it stands
    still and takes no bandwidth, but keeps its places. placed: the part of its places that it has.
    """

    __slots__ = ("_since", "begun", "demands", "done", "held", "more", "order", "pace", "placed", "version", "work")

    def __init__(self, work: float, demands: Mapping[Resource, float], done: Callable[[], None], order: tuple[int, int]) -> None:
        self.work, self.demands, self.done, self.order = work, demands, done, order
        self.pace, self.version, self._since, self.begun = 0.0, 0, 0.0, -1.0
        self.held, self.placed = False, 1.0
        self.more: Callable[[Activity], bool] = _no_more

    def __lt__(self, other: Activity) -> bool:
        return self.order < other.order

    def advance(self, now: float) -> None:
        """Take off what was done since the pace was set."""
        self.work -= (now - self._since) * self.pace
        self._since = now


class Fluid:
    """All activities."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0

    def begin(
        self,
        work: float,
        demands: Mapping[Resource, float],
        done: Callable[[], None],
        priority: int = 0,
        more: Callable[[Activity], bool] | None = None,
    ) -> Activity:
        """Start work; `done` is called when it ends."""
        self._count += 1
        activity = Activity(work, {r: d for r, d in demands.items() if d > 0}, done, (-priority, self._count))
        activity.more = more or _no_more
        activity._since = self._clock.now
        if not activity.demands:
            self._set(activity, 1.0)
            return activity
        for resource in activity.demands:
            insort(resource.users, activity)
        self._renew(activity)
        return activity

    def _end(self, activity: Activity, version: int) -> None:
        if version != activity.version:
            return  # its pace has changed since
        activity.advance(self._clock.now)
        if activity.more(activity):
            self.change(activity)
            return
        for resource in activity.demands:
            resource.users.remove(activity)
        activity.version += 1
        activity.done()
        if activity.demands:
            self._renew(activity)

    def change(self, activity: Activity) -> None:
        """It has other work than before, or is held or let go."""
        activity.version += 1
        activity.pace = -1.0  # whatever its pace becomes, its end is another
        activity._since = self._clock.now
        self._renew(activity)

    def _renew(self, changed: Activity) -> None:
        """Paces of everything that shares a resource with what has begun or ended."""
        touched: dict[Activity, None] = {}
        for resource in changed.demands:
            touched.update(dict.fromkeys(resource.users))
        shares: dict[Any, dict[Activity, float]] = {}

        def share(resource: Resource, activity: Activity) -> float:
            if resource not in shares:
                shares[resource] = dict(zip(resource.users, resource.shares(), strict=True))
            return shares[resource][activity]

        for activity in list(touched):
            placed = min((share(resource, activity) for resource in activity.demands if resource.pooled), default=1.0)
            if placed != activity.placed:
                activity.placed = placed
                for resource in activity.demands:
                    if not resource.pooled:
                        touched.update(dict.fromkeys(resource.users))
        for activity in touched:
            pace = 0.0 if activity.held else activity.placed
            for resource in activity.demands:
                part = share(resource, activity)
                pace = part if part < pace else pace
            if pace != activity.pace or activity.version == 0:
                self._set(activity, pace)

    def _set(self, activity: Activity, pace: float) -> None:
        now = self._clock.now
        activity.advance(now)
        activity.pace = pace
        activity.version += 1
        if pace > 0 and activity.begun < 0:
            activity.begun = now
        if activity.held:
            return
        if activity.work <= _NOTHING:
            self._clock.at(now, self._end, activity, activity.version)
        elif pace > 0:
            self._clock.at(now + activity.work / pace, self._end, activity, activity.version)
