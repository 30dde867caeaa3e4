"""Launches that were measured on an H200, run on the model of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from archex.assembly import assemble
from archex.base import folders
from archex.base.options import Options
from archex.reports import reference
from archex.simulate import simulate
from archex.suite.launch import Launch, read_folder
from archex.testing.devices import described

FOLDER = folders.reference() / "h200"


@cache
def silicon() -> reference.Reference:
    """What was measured."""
    return reference.read(FOLDER)


def launches(names: Sequence[str] = ()) -> dict[str, Launch]:
    """Launches by name, in the order of the names; all of them if none is named."""
    found = read_folder(FOLDER, list(names)) if names else read_folder(FOLDER)
    return {name: found[name] for name in names or found}


def run(launch: Launch, options: Options = Options()) -> dict[str, Any]:  # noqa: B008 (frozen)
    """What the model says of a launch."""
    return simulate(assemble(described("h200")), launch, options)
