"""The parts' policy functions, compiled with their kinds' signatures, with parameters and sizes of state.

In: a `DeviceSpec`. Out: the engine's `Policies`. What does not compile is a `RequestError` that names the part and the function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from archex.base.errors import ABSENT, Problem, RequestError
from archex.base.jit import jit
from archex.describe import DeviceSpec
from archex.describe.fit import instances
from archex.engine import policies as engine
from archex.engine.standard import coalesce_lines, ignore_set, ignore_wave
from archex.parts.part import Chosen, Part

Function = Callable[..., Any]
#: feedback function of a kind -> what the engine reports it as
WAVE_FEEDBACK = {"note_issue": engine.ISSUED, "note_miss": engine.MISSED, "note_fill": engine.FILLED}
SET_FEEDBACK = {"note_hit": engine.HIT, "note_fill": engine.FILLED_SET}


def compiled(spec: DeviceSpec) -> engine.Policies:
    """Every decision of a device."""
    scheduler = spec.slots["wave_scheduler"]
    local, memory, dispatcher, cache = spec["local_memory"], spec["memory"], spec["dispatcher"], spec["vector_cache"]
    unit, registers = spec["compute_unit"], spec.slots["register_file"]
    wave_note, wave_bits = feedback(scheduler.part, WAVE_FEEDBACK, ignore_wave)
    caches = [spec[name] for name in spec.memory_path[:-1]]
    notes = [feedback(level.replacement.part, SET_FEEDBACK, ignore_set) for level in caches]
    state = [
        level.replacement.part.state_words(
            level.replacement.spec, instances(spec, name) * level.size // level.line // level.ways, level.ways
        )
        for name, level in zip(spec.memory_path, caches, strict=False)
    ]
    return engine.Policies(
        pick_wave=_compile(scheduler.part, "pick_wave"),
        note_wave=_compile(scheduler.part, "note_wave", wave_note),
        coalesce=_compile(cache.coalescing.part, "coalesce"),
        access_cycles=_compile(local.access.part, "access_cycles"),
        map_address=_compile(memory.interleave.part, "map_address"),
        place_workgroup=_compile(dispatcher.placement.part, "place_workgroup"),
        read_cycles=_compile(registers.part, "read_cycles"),
        set_index=tuple(_compile(level.index.part, "set_index") for level in caches),
        pick_victim=tuple(_compile(level.replacement.part, "pick_victim") for level in caches),
        note_set=tuple(_compile(level.replacement.part, "note_set", note) for level, (note, _) in zip(caches, notes, strict=True)),
        wave_params=_params(scheduler),
        wave_state=scheduler.part.state_words(scheduler.spec, unit.waves // unit.schedulers, 1),
        wave_feedback=wave_bits,
        line_params=_params(cache.coalescing),
        local_params=_params(local.access, local.banks, local.bank_width),
        address_params=_params(memory.interleave, memory.channels, memory.chunk),
        place_params=_params(dispatcher.placement),
        read_params=_params(registers, registers.spec.banks),
        collectors=registers.spec.collectors,
        place_state=dispatcher.placement.part.state_words(dispatcher.placement.spec, unit.count, 1),
        index_params=tuple(_params(level.index) for level in caches),
        victim_params=tuple(_params(level.replacement) for level in caches),
        victim_state=tuple(state),
        victim_feedback=tuple(bits for _, bits in notes),
        coalesce_standard=cache.coalescing.part.function("coalesce") is coalesce_lines,
        local_period=local.access.part.period(local.access.spec, local.banks, local.bank_width),
    )


def _params(chosen: Chosen | Any, *before: float) -> np.ndarray:
    return np.array([*before, *chosen.part.parameters(chosen.spec)], dtype=np.float64)


def _compile(part: type[Part], kind: str, function: Function | None = None) -> Any:
    """A policy compiled as one of the engine's kinds; the part's function of that name unless given."""
    try:
        return _ready(function or part.function(kind), kind)
    except engine.PolicyError as error:
        raise RequestError([Problem(f"{part.kind}.{part.name}.{kind}", ABSENT, error.rule)]) from error


@cache
def _ready(function: Function, kind: str) -> Any:
    return engine.compile_policy(function, kind)


def feedback(part: type[Part], names: dict[str, int], nothing: Function) -> tuple[Function, int]:
    """One function for all feedback that a part wants, and the bits of what it wants."""
    wanted = [(part.function(name), bit) for name, bit in names.items() if part.function(name) is not None]
    if not wanted:
        return nothing, 0
    return _joined(tuple(wanted)), sum(bit for _, bit in wanted)


@cache
def _joined(wanted: tuple[tuple[Function, int], ...]) -> Function:
    """Calls the function of what is reported. A part's function returns nothing; the engine's form is a number."""
    (first, first_bit), (second, second_bit), (third, third_bit) = (
        [(jit(f, cache=False), bit) for f, bit in wanted] + [(_nothing, -1)] * 2
    )[:3]

    def note(seen: Any, state: Any, params: Any) -> int:
        if seen.what == first_bit:
            first(seen, state, params)
        if seen.what == second_bit:
            second(seen, state, params)
        if seen.what == third_bit:
            third(seen, state, params)
        return 0

    note.__module__, note.__qualname__ = wanted[0][0].__module__, wanted[0][0].__qualname__
    return note


@jit
def _nothing(seen: Any, state: Any, params: Any) -> None:
    """No function here."""
