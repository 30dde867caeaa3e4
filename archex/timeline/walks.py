"""Ways through the steps of a workload: as they are given, and as they are run.

In: steps. Out: each of them with its path, those that a graph can hold, how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from archex.timeline.model import Step

#: What a graph can hold.
NODES = ("launch", "copy", "collective", "call")
#: Steps that a thread may do, and a graph hold, with all their repetitions.
MOST = 1_000_000


def counted(steps: Sequence[Step]) -> int:
    """How many steps are done, repetitions and all."""
    return sum(step.given["times"] * counted(step.steps) if step.do == "repeat" else 1 for step in steps)


def is_node(step: Step) -> bool:
    """Whether a graph can hold a step: what one device does, or starts."""
    return step.do in NODES and "streams" not in step.given


def unrolled(steps: Sequence[Step]) -> Iterator[Step]:
    """Steps with their repetitions one by one."""
    for step in steps:
        if step.do == "repeat":
            for _ in range(step.given["times"]):
                yield from unrolled(step.steps)
        else:
            yield step


def walk(steps: Any, path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Every step as it is given, with its path."""
    for place, step in enumerate(steps if isinstance(steps, (list, tuple)) else ()):
        if isinstance(step, Mapping):
            yield step, f"{path}[{place}]"
            yield from walk(step.get("steps"), f"{path}[{place}].steps")


def recorded(threads: Sequence[tuple[str, str, Any]]) -> Iterator[tuple[str, str]]:
    """Events that anybody records or waits for: who waits for one that nobody records is told when it runs."""
    for _, path, steps in threads:
        for step, where in walk(steps, path):
            for key in ("record", "wait", "sync_event"):
                if isinstance(step.get(key), str):
                    yield step[key], where


def captured(threads: Sequence[tuple[str, str, Any]]) -> Iterator[tuple[str, str]]:
    """Graphs that are captured, and where."""
    for _, path, steps in threads:
        for step, where in walk(steps, path):
            if isinstance(step.get("capture"), str):
                yield step["capture"], where


def flat(steps: Sequence[Step]) -> Iterator[Step]:
    """Steps and those within their repetitions, each once."""
    for step in steps:
        yield step
        yield from flat(step.steps) if step.do == "repeat" else ()
