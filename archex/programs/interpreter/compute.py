"""One operation of a wave that stays in registers: dispatch to row loops or lane functions, then the blend of inactive lanes.

In: an encoded operation, the lanes that take part (`act`) and those that still exist (`live`). Out: registers or predicates.
A row that all live lanes write goes straight to its place; otherwise it is computed into scratch and blended.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.convert_lane import compare_float, convert_lane, test_float
from archex.programs.interpreter.cross_lane import cross
from archex.programs.interpreter.float_lane import float_lane, packed_lane
from archex.programs.interpreter.integer_lane import integer_lane
from archex.programs.interpreter.rows import compare_row, float_row, integer_row, select_row
from archex.programs.values import below, low_bits, sign_extend


@jit
def place(operand: Any, base: Any) -> Any:
    """Lane offset of an operand's row."""
    return (operand >> 1) + (operand & 1) * base


@outlined("v:pipiiiiiii")
def lane_rows(code: Any, o: Any, r: Any, d: Any, a: Any, b: Any, c: Any, e: Any, act: Any, lanes: Any) -> Any:
    """Operations without a row loop, lane by lane."""
    group, op, width, mode, flags = code[o + n.GROUP], code[o + n.OP], code[o + n.WIDTH], code[o + n.MODE], code[o + n.FLAGS]
    result, extend, signed = code[o + n.RESULT], code[o + n.EXTEND], code[o + n.SIGNED]
    for i in range(lanes):
        if (act >> i) & 1 == 0:
            continue
        if group == n.INTEGER_LANE:
            value = low_bits(integer_lane(op, width, signed, mode, r[a + i], r[b + i], r[c + i], r[e + i]), result)
        elif group == n.CONVERT:
            value = convert_lane(width, signed, mode, flags, r[a + i])
        elif signed:
            value = packed_lane(op, width, mode, flags, r[a + i], r[b + i], r[c + i])
        else:
            value = float_lane(op, width, mode, flags, r[a + i], r[b + i], r[c + i])
        if extend > 0:
            value = low_bits(sign_extend(value, result), extend)
        r[d + i] = value


@outlined("i:iiipiiii")
def lane_comparison(op: Any, form: Any, flags: Any, r: Any, a: Any, b: Any, act: Any, lanes: Any) -> Any:
    """Mask of the lanes for which a comparison or a property of a float holds."""
    mask = np.int64(0)
    for i in range(lanes):
        if (act >> i) & 1:
            if op >= 100:
                holds = test_float(op - 100, form, r[a + i])
            else:
                holds = compare_float(op, form, flags, r[a + i], r[b + i])
            if holds:
                mask |= np.int64(1) << i
    return mask


@outlined("i:iipiiiiii")
def carry_row(subtract: Any, width: Any, r: Any, d: Any, a: Any, b: Any, entering: Any, act: Any, lanes: Any) -> Any:
    """Sum or difference with a carry in; the mask of carries out."""
    out = np.int64(0)
    for i in range(lanes):
        x, y, carry = r[a + i], r[b + i], (entering >> i) & 1
        if subtract:
            value = x - y - carry
            borrowed = below(x, y) or (carry == 1 and x == y)
        else:
            value = x + y + carry
            borrowed = (value >> 32) & 1 == 1
            if width == 64:
                borrowed = below(value, x) or (carry == 1 and value == x)
        r[d + i] = low_bits(value, width)
        if borrowed and (act >> i) & 1:
            out |= np.int64(1) << i
    return out


@jit
def logic(op: Any, a: Any, b: Any) -> Any:
    """Predicates of all lanes at once."""
    if op == n.P_MOVE:
        return a
    if op == n.P_NOT:
        return ~a
    if op == n.P_AND:
        return a & b
    if op == n.P_OR:
        return a | b
    return a ^ b


@jit
def blend(r: Any, d: Any, source: Any, act: Any, lanes: Any) -> Any:
    """Active lanes of a row into another."""
    for i in range(lanes):
        chosen = -((act >> i) & 1)
        r[d + i] = (r[d + i] & ~chosen) | (r[source + i] & chosen)


@outlined("i:pippiiiii")
def other_groups(code: Any, o: Any, r: Any, p: Any, base: Any, first_predicate: Any, out: Any, act: Any, lanes: Any) -> Any:
    """Groups that a kernel's inner loops seldom use."""
    group = code[o + n.GROUP]
    a, b, c = place(code[o + n.A], base), place(code[o + n.B], base), place(code[o + n.C], base)
    answer = np.int64(0)
    if group == n.COMPARE_LANE:
        answer = lane_comparison(code[o + n.OP], code[o + n.WIDTH], code[o + n.FLAGS], r, a, b, act, lanes)
    elif group == n.CARRY:
        entering = p[first_predicate + code[o + n.C]]
        answer = carry_row(code[o + n.OP], code[o + n.WIDTH], r, out, a, b, entering, act, lanes)
    elif group == n.CROSS:
        held = p[first_predicate + code[o + n.D]]
        answer = cross(
            code[o + n.OP], code[o + n.MODE], code[o + n.SIGNED], code[o + n.WIDTH], code[o + n.FLAGS], r, out, a, b, c, held, act, lanes
        )
    else:
        lane_rows(code, o, r, out, a, b, c, place(code[o + n.D], base), act, lanes)
    return answer


@outlined("v:pippiiiiii")
def compute(code: Any, o: Any, r: Any, p: Any, base: Any, first_predicate: Any, scratch: Any, act: Any, live: Any, lanes: Any) -> Any:
    """Execute one operation for the lanes `act` (at least one)."""
    group, op = code[o + n.GROUP], code[o + n.OP]
    if group == n.PREDICATE:
        at = first_predicate + code[o + n.DST]
        value = logic(op, p[first_predicate + code[o + n.A]], p[first_predicate + code[o + n.B]])
        p[at] = (p[at] & ~act) | (value & act)
        return
    a, b = place(code[o + n.A], base), place(code[o + n.B], base)
    if group == n.COMPARE_ROW:
        value = compare_row(op, r, a, b, lanes)
        at = first_predicate + code[o + n.PRED]
        p[at] = (p[at] & ~act) | (value & act)
        return
    d = place(code[o + n.DST], base)
    whole = act == live and group != n.CROSS
    out = d if whole else scratch
    if group == n.INTEGER_ROW:
        integer_row(op, r, out, a, b, place(code[o + n.C], base), lanes)
    elif group == n.SELECT:
        select_row(r, out, a, b, p[first_predicate + code[o + n.C]], lanes)
    elif group == n.FLOAT_ROW:
        float_row(op, r, out, a, b, place(code[o + n.C], base), lanes)
    else:
        value = other_groups(code, o, r, p, base, first_predicate, out, act, lanes)
        if code[o + n.PRED] >= 0:
            at = first_predicate + code[o + n.PRED]
            p[at] = (p[at] & ~act) | (value & act)
        if group == n.COMPARE_LANE:
            return
    if not whole:
        blend(r, d, scratch, act, lanes)
