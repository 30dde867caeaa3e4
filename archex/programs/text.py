"""A function as text, for people and messages.

In: a function, block or operation. Out: lines such as `b3: add.s32 %r1 = %r2, 4`.
"""

from __future__ import annotations

from archex.programs.ir import Function, Immediate, Operand, Operation, Register, Space


def operand_text(function: Function, operand: Operand | None) -> str:
    """One operand."""
    if operand is None:
        return "_"
    if isinstance(operand, Register):
        name = function.register_names[operand.id]
        return name if function.register_names.count(name) == 1 or len(function.register_names) > 4000 else f"{name}#{operand.id}"
    if isinstance(operand, Immediate):
        return str(operand.bits) if operand.bits < 1 << 16 else hex(operand.bits)
    return f"[{operand.name}]"


def operation_text(function: Function, operation: Operation) -> str:
    """One operation."""
    guard = ""
    if operation.guard is not None:
        guard = f"@{'!' if operation.guard_negated else ''}{operand_text(function, operation.guard)} "
    name = ".".join(
        part
        for part in (
            operation.op,
            operation.space.name.lower() if operation.space != Space.NONE else "",
            operation.cache,
            *operation.mods,
            f"v{operation.vector}" if operation.vector > 1 else "",
            operation.dtype,
            operation.source_dtype if operation.source_dtype != operation.dtype else "",
        )
        if part
    )
    results = ", ".join(operand_text(function, register) for register in operation.dst)
    sources = ", ".join(operand_text(function, source) for source in operation.src)
    offset = f" {operation.offset:+d}" if operation.offset else ""
    target = f" -> {', '.join(f'b{index}' for index in operation.target)}" if operation.target else ""
    return " ".join(f"{guard}{name} {results + ' = ' if results else ''}{sources}{offset}{target}".split())


def function_text(function: Function) -> str:
    """All blocks."""
    lines = [f"{function.name}: local {function.local_bytes} B, private {function.private_bytes} B"]
    for index, block in enumerate(function.blocks):
        notes = "".join(f" {pragma}" for pragma in block.pragmas)
        lines.append(f"b{index}: {block.label}{notes} (meets again at b{block.reconverge})")
        lines += [f"    {operation_text(function, operation)}" for operation in block.operations]
        if block.next >= 0 and block.next != index + 1:
            lines.append(f"    next b{block.next}")
    return "\n".join(lines)
