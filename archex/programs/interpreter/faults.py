"""What stopped a run, in words: a `ProgramError` at the source line of the operation.

In: the fault array and the encoded function. Out: an exception.
"""

from __future__ import annotations

import numpy as np

from archex.base.errors import ProgramError
from archex.programs.interpreter import table as n
from archex.programs.ir import Function, Operation


def _text(kind: int, value: int, extra: int, limits: np.ndarray) -> str:
    texts = {
        n.NO_BUFFER: f"accesses {extra} bytes at {value:#x}, which lie in no buffer",
        n.MISALIGNED: f"an address is not a multiple of the {extra} bytes accessed",
        n.OUT_OF_LOCAL: f"accesses {extra} bytes at local memory address {value}; the workgroup has {int(limits[n.LOCAL_BYTES])}",
        n.OUT_OF_PRIVATE: f"accesses {extra} bytes at private memory address {value}; a thread has {int(limits[n.PRIVATE_BYTES])}",
        n.READ_ONLY: "writes memory that is only read (constants, parameters)",
        n.DIVERGED_BARRIER: f"barrier reached by {value} of {extra} live lanes of a wave: the others never reach it",
        n.BAD_BARRIER: f"barrier {value} does not exist (0 to {n.BARRIERS - 1})",
        n.DEADLOCK: f"barrier {value} is never reached by some live lanes of the workgroup",
        n.TOO_LONG: f"a wave runs past the instruction limit of {int(limits[n.LIMIT])}: does this loop end?",
        n.TRAPPED: "trap reached",
        n.TOO_DEEP: f"divergent branches nest deeper than {n.STACK_DEPTH}",
        n.BAD_INDEX: f"branch index {value} has no target",
        n.PART_OF_GROUP: f"{value} of a group of 32 lanes take part in a matrix operation that all of them do together",
        n.FELL_OFF: "lanes run past the end of the function",
    }
    return texts.get(kind, f"fault {kind}")


def error_of(fault: np.ndarray, sources: tuple[Operation, ...], function: Function, shape: np.ndarray) -> ProgramError:
    """The exception for a fault that is not a request for more pages."""
    kind, source = int(fault[n.F_KIND]), int(fault[n.F_SOURCE])
    if source >= 0:
        operation = sources[source]
    else:
        block = function.blocks[-1 - source]
        operation = block.operations[0] if block.operations else Operation("nop")
    text = _text(kind, int(fault[n.F_VALUE]), int(fault[n.F_EXTRA]), shape)
    name = operation.opcode or operation.op
    return ProgramError(f"`{name}`: {text}" if operation.line else text, function.source, operation.line)
