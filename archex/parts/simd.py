"""The vector unit next to each wave scheduler: pipes, timings, what branches and guards cost."""

from __future__ import annotations

import attrs

from archex.parts.part import Counter, Part, choice, number
from archex.parts.timing import UnitSpec


@attrs.frozen(kw_only=True)
class SimdSpec(UnitSpec):
    """Vector lanes and their costs."""

    lanes: int = number("count", "lanes that work at a time", low=1)
    guard_extra: float = number("cycles", "a predicate as guard or branch condition is ready so much later than as a value", default=0)
    queued_extra: float = number(
        "cycles", "an instruction for a variable-latency pipe reads a fixed-latency result so much later", default=0
    )
    wave_interval: float = number("cycles", "cycles at least between two issues of one wave", low=1, default=1)
    branch_taken: float = number("cycles", "cycles until a wave issues again after a taken branch")
    branch_not_taken: float = number("cycles", "cycles until a wave issues again after a branch not taken")
    branch_interval: float = number("cycles", "cycles at least between two taken branches of a scheduler", default=0)
    divergence: float = number("cycles", "cycles added when a block is entered with another set of active lanes")
    cross_lane_port: str = choice("memory port that cross-lane instructions pass", ("none", "vector_cache", "local_memory"), default="none")


class Simd(Part):
    """Lanes in lock step: an instruction of a wave passes them in wave width / lanes steps."""

    kind = "simd"
    Spec = SimdSpec
    counters = (
        Counter("wave_instructions", "instructions", "instructions issued, a wave each", "wave_instructions"),
        Counter("lane_instructions", "instructions", "the same times active lanes", "lane_instructions"),
    )
