"""A PTX file and an entry's name -> the function everything else reads.

In: a path (or a parsed module) and an entry. Out: an `ir.Function` with calls inlined, blocks, reconvergence and memory slots;
cleaned up unless asked not to.
"""

from __future__ import annotations

from pathlib import Path

from archex.base.errors import ProgramError, closest
from archex.programs import graph
from archex.programs.fragments import expand
from archex.programs.ir import Block, Function, Operation, Parameter
from archex.programs.ptx.instance import Instance, Mark, Note, Output
from archex.programs.ptx.layout import Layout
from archex.programs.ptx.parser import parse
from archex.programs.ptx.syntax import Module, Routine, Variable
from archex.programs.ptx.translate import translate_routine


def load_function(path: str | Path, entry: str = "", clean: bool = True) -> Function:
    """Read a file and build one entry; the entry's name may be left out where there is only one."""
    path = Path(path)
    function = build_function(parse(path.read_text(errors="replace"), str(path)), entry)
    if clean:
        from archex.programs.clean import clean as clean_up

        function = clean_up(function)
    return function


def build_function(module: Module, entry: str = "") -> Function:
    """Build one entry of a parsed module."""
    routine = _entry(module, entry)
    function = Function(routine.name, source=module.file, line=routine.line)
    _promises(routine, function)
    function.parameters = _parameters(routine)
    output = Output(function, module, Layout(module, routine, function), module.file)
    output.parameters = {parameter.name: parameter for parameter in function.parameters}
    instance = Instance(routine, output)
    translate_routine(instance, output)
    function.blocks = cut(output)
    graph.remove_unreachable(function)
    expand(function)
    graph.finish(function)
    return function


def _entry(module: Module, name: str) -> Routine:
    defined = {key: routine for key, routine in module.entries.items() if routine.body is not None}
    if not defined:
        raise ProgramError("the file defines no `.entry`", module.file)
    if not name and len(defined) == 1:
        return next(iter(defined.values()))
    if name not in defined:
        meant = closest(name, defined)
        hint = f"; did you mean `{meant}`?" if meant else ""
        raise ProgramError(f"no entry `{name}`{hint} (entries: {', '.join(defined)})", module.file)
    return defined[name]


def _promises(routine: Routine, function: Function) -> None:
    given = routine.directives
    if given.get("maxntid"):
        threads = 1
        for extent in given["maxntid"]:
            threads *= extent
        function.max_threads = threads
    if given.get("reqntid"):
        x, y, z = (*given["reqntid"], 1, 1)[:3]
        function.required_threads = (x, y, z)
        function.max_threads = x * y * z
    if given.get("minnctapersm"):
        function.min_groups = given["minnctapersm"][0]
    if given.get("maxnreg"):
        function.max_registers = given["maxnreg"][0]
    if given.get("reqnctapercluster"):
        x, y, z = (*given["reqnctapercluster"], 1, 1)[:3]
        function.required_cluster = (x, y, z)


def _parameters(routine: Routine) -> list[Parameter]:
    found: list[Parameter] = []
    at = 0
    for variable in routine.parameters:
        assert isinstance(variable, Variable)
        at = -(-at // variable.align) * variable.align
        found.append(Parameter(variable.name, variable.dtype, variable.size, variable.align, at))
        at += variable.size
    return found


def cut(output: Output) -> list[Block]:
    """Blocks out of the flat output; labels become block numbers."""
    blocks: list[Block] = [Block()]
    where: dict[int, int] = {}
    open_block = True  # whether the last block may take more operations
    for item in output.items:
        current = blocks[-1]
        if isinstance(item, Mark):
            if current.operations or not open_block:
                blocks.append(Block(label=item.name))
            elif not current.label:
                current.label = item.name
            open_block = True
            where[item.label] = len(blocks) - 1
        elif isinstance(item, Note):
            if open_block:
                current.pragmas += (item.text,)
        else:
            if not open_block:
                blocks.append(Block())
                open_block = True
            blocks[-1].operations.append(item)
            open_block = item.op not in graph.ENDS
    if open_block:
        blocks[-1].operations.append(Operation("exit", opcode="ret"))
    for index, block in enumerate(blocks):
        last = block.operations[-1] if block.operations else None
        ends = last is not None and last.op in graph.ENDS and (last.guard is None or last.op == "branch_index")
        block.next = -1 if ends else index + 1
        for operation in block.operations:
            if operation.target:
                operation.target = tuple(where[label] for label in operation.target)
    return blocks
