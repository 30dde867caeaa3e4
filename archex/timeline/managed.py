"""What a workload says about managed memory, checked: who touches what of it, what is prefetched, and what can't be done to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archex.base.errors import Problem
from archex.timeline import fields as f
from archex.timeline.model import Buffer, Touch

MANAGED = "managed"
#: Steps about a buffer that must be managed.
STEPS = ("prefetch", "touch", "advise")


def touches(given: Any, path: str, known: Mapping[str, Any], buffers: Mapping[str, Buffer], problems: list[Problem]) -> tuple[Touch, ...]:
    """The managed memory that a kernel touches."""
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)) or not given:
        problems.append(Problem(path, given, "must be a list of buffers, each with what is done to it"))
        return ()
    found = []
    for place, item in enumerate(given):
        here = f"{path}[{place}]"
        before = len(problems)
        values = f.fields(item, f.TOUCH, here, known, problems)
        if len(problems) == before:
            is_managed(buffers[values["buffer"]], f"{here}.buffer", problems)
            found.append(touch(values["buffer"], values, here, problems))
    return tuple(found)


def touch(buffer: str, values: Mapping[str, Any], path: str, problems: list[Problem]) -> Touch:
    """Touches of a buffer from their fields."""
    order, seed = values.get("order", "sequential"), values.get("seed", 0)
    if values.get("share") == 0:
        problems.append(Problem(f"{path}.share", 0, "must be above 0 and at most 1"))
    if "seed" in values and order == "sequential":
        problems.append(Problem(f"{path}.seed", seed, "is for `order: random`"))
    return Touch(buffer, values.get("share", 1.0), values.get("mode", "read") == "write", order, seed, int(values.get("stride") or 0))


def step(do: str, buffer: Buffer, found: dict[str, Any], path: str, problems: list[Problem]) -> None:
    """A step of a host thread that is about managed memory."""
    is_managed(buffer, f"{path}.{do}", problems)
    if do == "touch" and None not in found.values():
        found["touch"] = touch(buffer.name, found, path, problems)


def is_managed(buffer: Buffer, path: str, problems: list[Problem]) -> None:
    """Only managed memory has pages that move."""
    if buffer.memory != MANAGED:
        problems.append(Problem(path, buffer.name, f"must be a buffer with `memory: managed`, not {buffer.memory}"))


def not_copied(buffer: Buffer | None, path: str, problems: list[Problem]) -> bool:
    """Whether a buffer can't be an end of a copy."""
    if buffer is None or buffer.memory != MANAGED:
        return False
    problems.append(Problem(path, buffer.name, "is managed memory, which kernels touch where it is; a step `prefetch` moves it"))
    return True


def placed(name: str, found: Mapping[str, Any], problems: list[Problem]) -> Buffer:
    """A buffer from its fields."""
    memory = found.get("memory", "device")
    if memory in ("pinned", "pageable") and "device" in found:
        problems.append(Problem(f"buffers.{name}.device", found["device"], f"is given, but {memory} memory is the host's"))
    device = found.get("device", 0) if memory == "device" else found.get("device") if memory == MANAGED else None
    untouched = found.get("untouched") is True
    if untouched and (memory != MANAGED or "device" in found):
        rule = "is for managed memory" if memory != MANAGED else "lies nowhere, and `device` says where it lies: give one of them"
        problems.append(Problem(f"buffers.{name}.untouched", True, rule))
    if memory != MANAGED and "advice" in found:
        problems.append(Problem(f"buffers.{name}.advice", found["advice"], "is for managed memory"))
    return Buffer(name, found.get("bytes") or 0, device, memory, untouched, found.get("advice") or "none")
