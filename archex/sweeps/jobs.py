"""What a worker is given: some launches on one design, by reference to what the shelf holds.

Out: `Job`, small enough that sending it costs nothing; `archex.sweeps.work.do` turns it into rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import attrs

from archex.base.options import Options


@attrs.frozen
class Steps:
    """The steps of the path that a row takes, each a function of the one before, named so that a parent needs none of their imports."""

    describe: str = "archex.sweeps.work:describe"  # config, overridden keys, choices -> spec
    assemble: str = "archex.assembly:assemble"  # spec -> device
    read_folder: str = "archex.suite.launch:read_folder"  # folder, globs -> {id: launch}
    simulate: str = "archex.simulate:simulate"  # device, launch, options -> columns
    trace: str = "archex.tracing:trace"  # device, launch, options, wave -> events


def resolve(name: str) -> Callable[..., Any]:
    """The function at `package.module:function`."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


@attrs.frozen
class RowTask:
    """One row to do: its number among the rows to do, the columns known beforehand, the launch on the shelf."""

    seq: int
    identity: dict[str, Any]
    launch: str


@attrs.frozen
class Job:
    """Rows of one design. base: key of its composed config on the shelf; values: what is set on it; design: its fingerprint."""

    base: str
    values: tuple[tuple[str, Any], ...]
    design: str
    rows: tuple[RowTask, ...]
    options: Options
    steps: Steps
