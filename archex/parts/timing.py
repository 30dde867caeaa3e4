"""Numbers that several pages share: an execution pipe, and the timing of a machine operation.

Out: `PipeSpec`, `OperationSpec`, `UnitSpec`: what a SIMD, a scalar unit and a special-function unit consist of.
"""

from __future__ import annotations

import attrs

from archex.parts.part import choice, flag, nested, number, text


@attrs.frozen
class PipeSpec:
    """An execution pipe: it takes one wave-instruction, is held for the operation's interval, and delivers after its latency."""

    shared_by: str = choice("who has one of these pipes", ("scheduler", "compute_unit"), default="scheduler")
    reason: str = choice(
        "stall reason of a wave that waits for a result of this pipe",
        ("dependency", "memory", "local_memory", "matrix", "execution_unit"),
        default="dependency",
    )
    full: str = choice(
        "stall reason of a wave that waits for it while others use it", ("execution_unit", "memory_queue"), default="execution_unit"
    )
    queue: int = number("count", "instructions that may wait before the pipe without holding their wave", default=0)
    variable: bool = flag("results come by scoreboard, not after a fixed number of cycles", default=False)


@attrs.frozen
class OperationSpec:
    """How a machine operation runs: on which pipe, how long it holds it, and when its result may be used."""

    pipe: str = text("the pipe that takes it, by name")
    interval: float = number("cycles", "cycles the pipe is held by one wave-instruction")
    latency: float = number("cycles", "cycles from issue until a dependent instruction may issue")
    alternative: str | None = text("a second pipe that may take it instead", default=None)


@attrs.frozen
class UnitSpec:
    """A unit that executes: its pipes and the timing of each machine operation it carries out."""

    pipes: dict[str, PipeSpec] = nested(PipeSpec, "execution pipes by name", each="map")
    operations: dict[str, OperationSpec] = nested(OperationSpec, "timing of each machine operation by name", each="map")
