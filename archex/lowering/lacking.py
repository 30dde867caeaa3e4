"""What a device does without: operations of a program that its units lack, and whether registers can do the work instead.

In: an operation, the device's `Abilities`. Out: further attributes for the choice of an expansion (`registers`: the work goes through
registers), or `UnsupportedError` that names what is missing.
"""

from __future__ import annotations

from archex.base.errors import UnsupportedError
from archex.parts.abilities import Abilities
from archex.programs.ir import Operation

#: Operations on groups of products beside their wave; without such products there is nothing to wait for.
_BESIDE = frozenset({"matrix_fence", "matrix_commit", "matrix_wait"})
_COPIES = frozenset({"async_commit", "async_wait"})
_NAMES = {"bulk": "bulk copies", "tensor": "copies of boxes of a tensor", "multicast": "copies to several compute units"}
THROUGH_REGISTERS = frozenset({"registers"})


def lacking(operation: Operation, abilities: Abilities) -> frozenset[str]:
    """Attributes that say what registers must do; nothing for most operations."""
    if operation.op in _BESIDE:
        beside = any(shape.source == "local_memory" for shape in abilities.shapes.values())
        return frozenset() if beside else THROUGH_REGISTERS
    if operation.op == "async_copy":
        return frozenset() if operation.width in abilities.copy_widths else THROUGH_REGISTERS
    if operation.op in _COPIES:
        return frozenset() if abilities.copy_widths else THROUGH_REGISTERS
    if operation.op == "bulk_copy":
        for need in ("bulk", "tensor", "multicast"):
            asked = need == "bulk" or any(part.startswith(need) for part in operation.mods)
            if asked and need not in abilities.copies:
                raise UnsupportedError(f"{operation.opcode} (line {operation.line}): the device has no {_NAMES[need]}")
    return frozenset()
