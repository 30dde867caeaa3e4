"""What stopped a run, in words: a `ProgramError` at the source line of the operation.

In: the fault array and the encoded function. Out: an exception.
"""

from __future__ import annotations

import numpy as np

from archex.base.errors import ArchexError, ProgramError, UnsupportedError
from archex.base.layout import CLUSTER_SHIFT
from archex.programs.interpreter import table as n
from archex.programs.ir import BYTES_BITS, Function, Operation


def _place(address: int) -> str:
    """A local address in words."""
    if address < 1 << CLUSTER_SHIFT:
        return f"local memory address {address}"
    return f"local memory address {address % (1 << CLUSTER_SHIFT)} of workgroup {_rank(address)} of the cluster"


def _rank(address: int) -> int:
    return (address >> CLUSTER_SHIFT) - 1 if address >> CLUSTER_SHIFT else address


def _text(kind: int, value: int, extra: int, limits: np.ndarray) -> str:
    texts = {
        n.NO_BUFFER: f"accesses {extra} bytes at {value:#x}, which lie in no buffer",
        n.MISALIGNED: f"an address is not a multiple of the {extra} bytes accessed",
        n.OUT_OF_LOCAL: f"accesses {extra} bytes at {_place(value)}; the workgroup has {int(limits[n.LOCAL_BYTES])}",
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
        n.MANY_LANES: f"{value} lanes of a wave give the order: one lane has to",
        n.MANY_BARRIERS: "lanes of a wave name barriers in local memory with different counts, or wait for different ones",
        n.NOT_SET_UP: f"nothing has set up a barrier at {_place(value)}",
        n.TOO_MANY_ARRIVALS: f"the barrier at {_place(value)} gets more arrivals than the {extra} of a phase",
        n.BAD_COUNT: f"a barrier for {value} arrivals: 1 to {extra} are possible",
        n.NEVER_SIGNALLED: f"waits at the barrier at {_place(value)} for its phase {extra}, which nobody ends",
        n.NEVER_MET: "the cluster's barrier is never reached by some live waves of the cluster",
        n.BAD_SIZE: f"{value} bytes: a copy takes a multiple of 16, and a barrier counts up to {2 ** (BYTES_BITS - 1) - 1}",
        n.NO_TENSOR: f"describes no tensor: at {value:#x} lies no argument of the kind tensor_map with {extra} dimensions",
        n.OUT_OF_CLUSTER: f"names workgroup {_rank(value)} of a cluster of {int(limits[n.CLUSTER])}",
    }
    return texts.get(kind, f"fault {kind}")


def error_of(fault: np.ndarray, sources: tuple[Operation, ...], function: Function, shape: np.ndarray) -> ArchexError:
    """The exception for a fault that is not a request for more pages."""
    kind, source = int(fault[n.F_KIND]), int(fault[n.F_SOURCE])
    if source >= 0:
        operation = sources[source]
    else:
        block = function.blocks[-1 - source]
        operation = block.operations[0] if block.operations else Operation("nop")
    text = _text(kind, int(fault[n.F_VALUE]), int(fault[n.F_EXTRA]), shape)
    name = operation.opcode or operation.op
    if kind in (n.MANY_LANES, n.MANY_BARRIERS):
        return UnsupportedError(f"{name} (line {operation.line}): {text}")
    return ProgramError(f"`{name}`: {text}" if operation.line else text, function.source, operation.line)
