"""Operations between lanes: shuffles, votes, matches, reductions. A wave of 64 lanes is two groups of 32.

In: an encoded operation, the active lanes. Out: the destination row (through scratch, since lanes read each other) and the
mask of its predicate result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter.float_lane import float_lane
from archex.programs.interpreter.integer_lane import integer_lane
from archex.programs.interpreter.rounding import F32, NEAREST
from archex.programs.interpreter.table import ACTIVE, BUTTERFLY, DOWN, ELECT, MATCH_ALL, MATCH_ANY, SHUFFLE, UP, VOTE, VOTE_ALL, VOTE_ANY
from archex.programs.values import LOW32, leading_zeros, low_bits


@jit
def shuffle(r: Any, out: Any, a: Any, b: Any, c: Any, mode: Any, lanes: Any) -> Any:
    """Each lane takes the value of another; the mask of lanes whose source lay in range."""
    valid = np.int64(0)
    for i in range(lanes):
        lane = i & 31
        distance = r[b + i] & 31
        segment = (r[c + i] >> 8) & 31
        last = (lane & segment) | (r[c + i] & 31 & ~segment)
        if mode == UP:
            source = lane - distance
            good = source >= last
        elif mode == DOWN:
            source = lane + distance
            good = source <= last
        elif mode == BUTTERFLY:
            source = lane ^ distance
            good = source <= last
        else:
            source = (lane & segment) | (distance & ~segment)
            good = source <= last
        if good:
            valid |= np.int64(1) << i
        else:
            source = lane
        r[out + i] = r[a + ((i & 32) + source)]
    return valid


@jit
def vote(mode: Any, held: Any, act: Any) -> Any:
    """A group's answer: 1 or 0, or the ballot; `held` and `act` are 32 bits."""
    held &= act
    if mode == VOTE_ALL:
        return np.int64(held == act)
    if mode == VOTE_ANY:
        return np.int64(held != 0)
    if mode == 2:
        return np.int64(held == act or held == 0)
    return held


@jit
def reduce(op: Any, signed: Any, is_float: Any, flags: Any, r: Any, a: Any, act: Any, shift: Any) -> Any:
    """One value from all lanes of a group."""
    outcome = np.int64(0)
    begun = False
    for i in range(32):
        if (act >> i) & 1:
            value = r[a + (i + shift)]
            if is_float and flags & 64:
                value &= 0x7FFFFFFF
            if not begun:
                outcome, begun = value, True
            elif is_float:
                outcome = float_lane(op, np.int64(F32), np.int64(NEAREST), flags & 63, outcome, value, np.int64(0))
            else:
                outcome = low_bits(integer_lane(op, np.int64(32), signed, np.int64(0), outcome, value, np.int64(0), np.int64(0)), 32)
    return outcome


@outlined("i:iiiiipiiiiiii")
def cross(
    op: Any, mode: Any, signed: Any, is_float: Any, flags: Any, r: Any, out: Any, a: Any, b: Any, c: Any, held: Any, act: Any, lanes: Any
) -> Any:
    """One operation; writes row `out`, returns the mask of the predicate result."""
    if op == SHUFFLE:
        return shuffle(r, out, a, b, c, mode, lanes)
    answers = np.int64(0)
    for half in range(np.int64(lanes) >> 5):
        shift = half * 32
        here = (act >> shift) & LOW32
        if here == 0:
            continue
        value, answer = np.int64(0), np.int64(0)
        if op == ACTIVE:
            value = here
        elif op == ELECT:
            value = np.int64(63 - leading_zeros(here & -here))
            answer = here & -here
        elif op == MATCH_ANY or op == MATCH_ALL:
            for i in range(32):
                same = np.int64(0)
                for j in range(32):
                    if (here >> j) & 1 and r[a + (j + shift)] == r[a + (i + shift)]:
                        same |= np.int64(1) << j
                if op == MATCH_ALL:
                    if same == here:
                        answer |= np.int64(1) << i
                    else:
                        same = np.int64(0)
                r[out + (i + shift)] = same
            answers |= (answer & LOW32) << shift
            continue
        elif op == VOTE:
            value = vote(mode, (held >> shift) & LOW32, here)
            answer = np.int64(LOW32) if value != 0 else np.int64(0)
        else:
            value = reduce(mode, signed, is_float, flags, r, a, here, shift)
        for i in range(32):
            r[out + (i + shift)] = value
        answers |= answer << shift
    return answers
