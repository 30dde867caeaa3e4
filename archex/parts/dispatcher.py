"""Gives workgroups to compute units: how fast, in which order, and what beginning and end of a launch cost."""

from __future__ import annotations

import attrs

from archex.base.units import Duration
from archex.parts.part import Counter, Part, nested, number, policy


@attrs.frozen(kw_only=True)
class StartCostSpec:
    """A point of the cost curve of a start."""

    waves: int = number("count", "waves of the workgroup", low=1)
    cycles: float = number("cycles", "cycles between two such starts on one compute unit")


@attrs.frozen(kw_only=True)
class DispatcherSpec:
    """Rates and costs of starting workgroups."""

    launch: Duration = number("duration", "before the first workgroup starts")
    drain: Duration = number("duration", "after the last write has retired")
    gap: Duration = number("duration", "between two launches that run back to back, beside `launch` and `drain`")
    start_interval: Duration = number("duration", "between two starts, device-wide")
    end_interval: Duration = number("duration", "between two ends taken, device-wide; only then a place is free, a launch over")
    cluster_interval: Duration = number(
        "duration", "between two ends beside that, for each cluster of workgroups", default=Duration(0.0, "cycles")
    )
    relaunch: Duration = number("duration", "from a workgroup's end until the next one runs in its place")
    wave_start: Duration = number("duration", "from a workgroup's start to its first instruction")
    start_cost: list[StartCostSpec] = nested(StartCostSpec, "cost of a start on one compute unit, by size, interpolated", each="list")
    placement: object = policy("placement", "decides which compute unit gets the next workgroup")


class Dispatcher(Part):
    """One queue of workgroups for the whole device."""

    kind = "dispatcher"
    Spec = DispatcherSpec
    counters = (Counter("workgroups_started", "workgroups", "workgroups started", "occupancy_pct"),)

    @classmethod
    def check(cls, spec: DispatcherSpec) -> list[tuple[str, object, str]]:
        waves = [point.waves for point in spec.start_cost]
        if not waves or waves != sorted(set(waves)):
            return [("start_cost", waves, "must have points with increasing waves")]
        return []
