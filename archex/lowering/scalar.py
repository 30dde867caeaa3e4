"""Registers of the function that can live on the scalar unit: the same in all lanes, made and used by integer operations only.

In: `Facts`. Out: register numbers. A register that a memory address, a float operation or an exchange between lanes reads stays a
vector register; a predicate is there only for choices between such registers.
"""

from __future__ import annotations

from archex.lowering.facts import Facts
from archex.programs.ir import Operation, Register
from archex.programs.operands import writes

MAKERS = frozenset(
    {"add", "sub", "mul_lo", "mad_lo", "and", "or", "xor", "not", "shl", "shr", "move", "neg", "select", "bitfield_extract", "convert"}
)
READERS = MAKERS | {"matrix_async", "compare", "min", "max", "branch", "mul_wide", "mad_wide"}


def scalar_registers(known: Facts) -> set[int]:
    """Registers fit for the scalar unit."""
    fit = set(known.uniform)
    operations = [operation for block in known.function.blocks for operation in block.operations]
    fit -= {operation.guard.id for operation in operations if operation.guard is not None}
    predicates = {number for number, dtype in enumerate(known.function.register_dtypes) if dtype == "pred"}
    changed = True
    while changed:
        before = len(fit)
        for operation in operations:
            for register in writes(operation):
                if register.id in fit and not _makes(operation, fit | known.named.keys(), predicates):
                    fit.discard(register.id)
            if operation.op not in READERS or ("f" in operation.dtype and operation.op != "matrix_async"):
                fit -= {source.id for source in operation.src if isinstance(source, Register)}
            elif operation.op != "select" or not all(register.id in fit for register in writes(operation)):
                fit -= {source.id for source in operation.src if isinstance(source, Register) and source.id in predicates}
        changed = len(fit) != before
    return fit


def leading_to_products(known: Facts, fit: set[int]) -> set[int]:
    """Of these registers, those that say where operands of products beside the wave lie, and what they are made of."""
    operations = [operation for block in known.function.blocks for operation in block.operations]
    found = {
        source.id
        for operation in operations
        if operation.op == "matrix_async"
        for source in operation.src
        if isinstance(source, Register) and source.id in fit
    }
    changed = True
    while changed:
        before = len(found)
        for operation in operations:
            if any(register.id in found for register in writes(operation)):
                found |= {source.id for source in operation.src if isinstance(source, Register) and source.id in fit}
        changed = len(found) != before
    return found


def _makes(operation: Operation, fit: set[int], predicates: set[int]) -> bool:
    first = next(writes(operation))
    if operation.op == "compare":
        if first.id not in predicates or operation.source_dtype.startswith(("f", "b16", "pred")) or len(operation.src) != 2:
            return False
    elif operation.op not in MAKERS or operation.dtype.startswith(("f", "pred")) or "f" in operation.source_dtype:
        return False
    if operation.guard is not None:
        return False
    return all(not isinstance(source, Register) or source.id in fit for source in operation.src)
