"""Runs the contract of a part outside of a test run: for `archex plugins check`.

In: a registered part, its numbers. Out: how many laws there are, and each that is broken, as a line.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

from archex.base.errors import ArchexError, RequestError
from archex.registry import Registered, Registry
from archex.testing.contracts import CONTRACTS
from archex.testing.numbers import files_of, shipped, without_source


class Kept(NamedTuple):
    """A part's laws: how many, and what is said of each broken one."""

    path: str
    laws: int
    broken: tuple[str, ...]


def kept(registry: Registry, registered: Registered) -> Kept:
    """The contract of a part with the numbers that its config file gives it."""
    part = registered.part
    path = f"{part.kind}.{part.name}"
    contract = type("Contract", (CONTRACTS[part.kind],), {"part": part, "spec": shipped(registry, part.kind, part.name)})()
    try:
        contract.made()
    except RequestError as error:
        missing = "; ".join(problem.path.partition(".")[2] for problem in error.problems)
        where = f"in conf/{contract.places[0]}/{part.name}.yaml" if "." not in contract.places[0] else "as defaults of its Spec"
        return Kept(path, 1, (f"{path}: has no numbers to be tried with ({missing}): give them {where}",))
    laws = list(_laws(contract))
    said = [_broken(path, name, getattr(contract, name)) for name in laws]
    for file in files_of(registry, part.kind, part.name):
        said += [f"{path}: breaks the law 'every number has a source': {wrong} ({file.name})" for wrong in without_source(file)]
    return Kept(path, len(laws) + 1, tuple(line for line in said if line))


def _laws(contract: Any) -> Iterator[str]:
    return (name for name in dir(contract) if name.startswith("test_"))


def _broken(path: str, name: str, law: Any) -> str:
    """What a broken law says; nothing if it holds."""
    title = name.removeprefix("test_").replace("_", " ")
    try:
        law()
    except AssertionError as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        line = linecache.getline(frame.filename, frame.lineno or 0).strip().removeprefix("assert ")
        given = str(error).splitlines()
        return f"{path}: breaks the law '{title}': {given[0] if given else line}"
    except ArchexError as error:
        return f"{path}: breaks the law '{title}': {str(error).splitlines()[0]}"
    except Exception as error:  # a policy that raises is what this command is for
        return f"{path}: breaks the law '{title}': {type(error).__name__}: {error}"
    return ""
