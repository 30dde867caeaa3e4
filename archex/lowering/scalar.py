"""Registers of the function that can live on the scalar unit: the same in all lanes, made and used by integer operations only.

In: `Facts`. Out: register numbers. A register that a memory address, a float operation or an exchange between lanes reads stays a
vector register.
"""

from __future__ import annotations

from archex.lowering.facts import Facts
from archex.programs.ir import Operation, Register
from archex.programs.operands import writes

MAKERS = frozenset({"add", "sub", "mul_lo", "mad_lo", "and", "or", "xor", "not", "shl", "shr", "move", "neg"})
READERS = MAKERS | {"matrix_async", "compare", "min", "max", "select", "branch", "mul_wide", "mad_wide", "convert"}


def scalar_registers(known: Facts) -> set[int]:
    """Registers fit for the scalar unit."""
    fit = {register for register in known.uniform if known.function.register_dtypes[register] != "pred"}
    operations = [operation for block in known.function.blocks for operation in block.operations]
    changed = True
    while changed:
        before = len(fit)
        for operation in operations:
            for register in writes(operation):
                if register.id in fit and not _makes(operation, fit | known.named.keys()):
                    fit.discard(register.id)
            if operation.op not in READERS or "f" in operation.dtype:
                fit -= {source.id for source in operation.src if isinstance(source, Register)}
        changed = len(fit) != before
    return fit


def _makes(operation: Operation, fit: set[int]) -> bool:
    if operation.op not in MAKERS or operation.guard is not None or operation.dtype.startswith(("f", "pred")):
        return False
    return all(not isinstance(source, Register) or source.id in fit for source in operation.src)
