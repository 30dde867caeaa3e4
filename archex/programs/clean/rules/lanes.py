"""Exchanges between lanes that hand each lane what it holds already."""

from __future__ import annotations

from archex.programs.clean.rules.kind import Knowledge, Outcome, becomes, constant_bits, rule
from archex.programs.ir import Immediate, Operand, Operation, Special

#: Lanes among which the language's shuffles exchange, whatever a device's wave is, and the bits of a lane's number.
_LANES, _BITS = 32, 5


@rule("shuffle")
def wave_number(operation: Operation, known: Knowledge) -> Outcome:
    """`tid.x >> 5` read from one lane, where the program requires workgroups of whole rows of 32: the same in all of them.

    Sources write it to say that the number is one for all; assemblers know it where they know the workgroup.
    """
    required = known.function.required_threads
    if operation.mods != ("idx",) or required is None or required[0] % _LANES:
        return False
    if any(other is not None for other in operation.dst[1:]):
        return False
    value, lane, segment = operation.src[:3]
    if constant_bits(segment) != _LANES - 1 or not isinstance(lane, Immediate) or lane.bits >= _LANES:
        return False
    shift = known.operation(value)
    if shift is None or shift.op != "shr" or (constant_bits(shift.src[1]) or 0) < _BITS:
        return False
    return becomes(operation, known, value) if _is_column(shift.src[0], known) else False


def _is_column(operand: Operand, known: Knowledge) -> bool:
    """Whether this is `tid.x`."""
    move = known.operation(operand)
    if move is not None and move.op == "move":
        operand = move.src[0]
    return isinstance(operand, Special) and operand.name == "tid.x"
