"""A launch: a program, its geometry, its arguments and the memory they point to.

In: a folder with `launches.json` (CONTRACT: launch folders). Out: `Launch`es by id; everything wrong in the folder at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import attrs

from archex.base.errors import Problem, RequestError, closest
from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer

#: A budget that limits nothing, for launches that name none.
MOST_REGISTERS = 255
#: Of a folder with more launches an error does not list them.
_LISTED = 64


@attrs.frozen
class Variant:
    """Another program for the same work. requires: what a device must have (`matrix`, `local_memory`, `wave`, `async_copy`)."""

    name: str
    requires: dict[str, Any]
    launch: Launch


@attrs.frozen
class Launch:
    """One kernel launch, or several run back to back (`sequence`, whose own geometry then means nothing).

    grid, block, cluster: extents. dynamic_local_bytes: workgroup memory beside the program's own. caches: `cold`, or `warm` (one
    untimed run first). register_counts: registers a thread, by instruction set where they differ;
    accumulator_counts: further ones that hold sums. buffers: each once, in the
    order of first use. flops: floating-point operations of the work, where stated. devices: of the machine, where buffers lie on several.
    """

    id: str
    ptx: Path = Path()
    entry: str = ""
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    cluster: tuple[int, int, int] = (1, 1, 1)
    dynamic_local_bytes: int = 0
    caches: str = "cold"
    register_counts: int | dict[str, int] | None = None
    arguments: tuple[Argument, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    flops: float | None = None
    variants: tuple[Variant, ...] = ()
    sequence: tuple[Launch, ...] = ()
    accumulator_counts: dict[str, int] = attrs.field(factory=dict)
    devices: int = 1

    @property
    def steps(self) -> tuple[Launch, ...]:
        """What is run, one after another."""
        return self.sequence or (self,)

    def registers(self, instruction_set: str, promised: int | None = None) -> int:
        """The register budget on an instruction set: what the launch says, else what the program promises, else no limit."""
        given = self.register_counts
        if isinstance(given, Mapping):
            given = given.get(instruction_set)
        return given or promised or MOST_REGISTERS

    def accumulators(self, instruction_set: str) -> int:
        """Accumulators a thread on an instruction set that counts them apart."""
        return self.accumulator_counts.get(instruction_set, 0)


def matches(name: str, glob: str) -> bool:
    """Whether a launch id fits a glob: `*` and `?` are wildcards, brackets are themselves, an exact id always fits."""
    return name == glob or fnmatchcase(name, glob.replace("[", "[[]"))


def read_one(folder: Path, name: str, path: str, described: Mapping[str, Any]) -> Launch:
    """A launch that is described elsewhere, as `launches.json` would; programs and files are those of the folder. path: for problems."""
    from archex.suite.reading import Reader

    reader = Reader(folder)
    found = reader.entry(name, path, dict(described), ())
    if reader.problems:
        raise RequestError([problem._replace(source=None) for problem in reader.problems])
    return found


def read_folder(folder: str | Path, only: Sequence[str] = ("*",)) -> dict[str, Launch]:
    """The launches of a folder that one of the globs of `only` fits, in the file's order."""
    from archex.suite.reading import Reader

    reader = Reader(Path(folder))
    found = reader.read()
    problems = list(reader.problems)
    for glob in only:
        if not problems and not any(matches(name, glob) for name in found):
            choices = tuple(found) if len(found) <= _LISTED else ()
            problems.append(Problem("suite.only", glob, f"fits no launch of {folder}", choices, closest(glob, found)))
    if problems:
        raise RequestError(problems)
    return {name: launch for name, launch in found.items() if any(matches(name, glob) for glob in only)}
