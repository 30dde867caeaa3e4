"""Any line, by a generator whose seed is a number of the part: the same seed makes the same choices."""

from __future__ import annotations

from typing import Any

import attrs
from archex.base.jit import jit
from archex.parts.part import number
from archex.parts.replacement import Replacement

FACTOR, ADDEND, MODULUS = 1103515245, 12345, 1 << 31  # a linear congruence whose product fits in 64 bits


@attrs.frozen(kw_only=True)
class RandomNumbers:
    """Where the generator begins."""

    seed: int = number("count", "another seed, other choices", low=0, high=2**31 - 1, default=0)


@jit
def after(value: int) -> int:
    """The generator's next value."""
    return (value * FACTOR + ADDEND) % MODULUS


class Random(Replacement):
    """Drops a line by lot: no stride and no scan is its worst case, and none its best."""

    name = "random"
    Spec = RandomNumbers

    @classmethod
    def state_words(cls, spec: RandomNumbers, count: int, each: int) -> int:
        return 1

    @staticmethod
    def pick_victim(view: Any, state: Any, params: Any) -> int:
        if state[0] == 0:  # as at the launch's begin; MODULUS stands for the value 0
            state[0] = after(int(params[0]) + 1)
        state[0] = after(state[0] % MODULUS)
        drawn = (state[0] >> 12) * view.ways >> 19  # the upper bits are the good ones
        if state[0] == 0:
            state[0] = MODULUS
        return drawn
