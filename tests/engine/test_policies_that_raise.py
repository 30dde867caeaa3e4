"""A policy that raises is named with what it said, compiled or not; one that leaves the debugger isn't taken for that."""

from __future__ import annotations

from bdb import BdbQuit
from typing import Any

import pytest
from archex.base import layout as lay
from archex.base.jit import COMPILED, jit
from archex.engine.policies import MISSED, PolicyError
from tests.engine.synthetic import MEMORY, affine, device, op, policies, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")


@jit
def refuse(number: int) -> int:
    if number >= 0:
        raise ValueError("nowhere")
    return number


def picks(view: Any, state: Any, params: Any) -> int:
    if view.cycle >= 0:
        raise ValueError("out of ideas")
    return 0


def places(line: int, sets: int, params: Any) -> int:
    return refuse(sets)


def maps(address: int, params: Any) -> int:
    return refuse(address)


def notes(event: Any, state: Any, params: Any) -> int:
    if event.slot >= 0:
        raise RuntimeError
    return 0


WRONG = [
    ({"pick_wave": picks}, "policy pick_wave ({0}.picks): raised ValueError: out of ideas"),
    ({"set_index": places}, "policy set_index ({0}.places): raised ValueError: nowhere"),
    ({"map_address": maps}, "policy map_address ({0}.maps): raised ValueError: nowhere"),
    ({"note_wave": notes, "wave_feedback": MISSED}, "policy note_wave ({0}.notes): raised RuntimeError"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=lambda value: next(iter(value)) if isinstance(value, dict) else None)
def test_it_is_named(wrong: dict[str, Any], said: str) -> None:
    tables = device(slots=4)
    code = program([op(lay.LOAD, MEMORY, 1, 0, 0, (), 0, 4), op(dst=1, src=(0,))], [EXIT])
    with pytest.raises(PolicyError) as caught:
        simulate(tables, code, lambda workgroup, wave: ([(0, 32), (1, 32)], [affine(1 << 30)], []), chosen=policies(tables, **wrong))
    assert str(caught.value) == said.format(__name__)


@pytest.mark.skipif(COMPILED, reason="a debugger stops in uncompiled code only")
def test_leaving_the_debugger() -> None:
    def stopped(view: Any, state: Any, params: Any) -> int:
        raise BdbQuit

    tables = device(slots=4)
    with pytest.raises(BdbQuit):
        simulate(
            tables,
            program([op(dst=0)], [EXIT]),
            lambda workgroup, wave: ([(0, 32), (1, 32)], [], []),
            chosen=policies(tables, pick_wave=stopped),
        )
