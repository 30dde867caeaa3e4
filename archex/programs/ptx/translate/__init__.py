"""Instructions -> operations, one module a family; `translate_routine` runs a whole body through them."""

from __future__ import annotations

from archex.base.errors import ProgramError, closest
from archex.programs.ptx.instance import Instance, Mark, Note, Output
from archex.programs.ptx.syntax import Label, Pragma
from archex.programs.ptx.translate import (  # noqa: F401 (each import enters its translators)
    arithmetic,
    asynchronous,
    bits,
    compare,
    control,
    cross_lane,
    matrix,
    memory,
    movement,
    unmodelled,
)
from archex.programs.ptx.translate.context import TRANSLATORS, Context


def translate_routine(instance: Instance, output: Output) -> None:
    """Append the operations of one instance of a routine."""
    for statement in instance.routine.body or ():
        if isinstance(statement, Label):
            output.items.append(Mark(instance.labels[statement.id], statement.name))
        elif isinstance(statement, Pragma):
            output.items.append(Note(statement.text))
        else:
            translator = TRANSLATORS.get(statement.name)
            if translator is None:
                meant = closest(statement.name, TRANSLATORS)
                hint = f"; did you mean `{meant}`?" if meant else ""
                raise ProgramError(f"unknown instruction `{statement.opcode}`{hint}", output.file, statement.line, statement.column)
            translator(Context(statement, instance, output))
