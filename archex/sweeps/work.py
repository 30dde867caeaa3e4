"""One row: a launch on a design. Runs in a worker process.

In: a `Task`. Out: a whole row, whatever happens: what a device lacks is `unsupported`, a wrong program `error`, an error of ours too, with
its place. The steps are named as `package.module:function`, so that a parent needs none of their imports.
"""

from __future__ import annotations

import resource
import sys
import time
import traceback
from collections import OrderedDict
from functools import cache
from typing import Any

import attrs

from archex.base.errors import ArchexError, RequestError, UnsupportedError
from archex.base.options import Options
from archex.records import schema
from archex.sweeps.jobs import Steps as Steps
from archex.sweeps.jobs import resolve

_KEPT = 8
_devices: OrderedDict[tuple[Steps, str], Any] = OrderedDict()


@attrs.frozen
class Task:
    """A launch on a design, with the columns that are known beforehand."""

    identity: dict[str, Any]
    config: dict[str, Any]
    design: str  # key of the design: tasks of one design share its assembled device
    launch: Any
    options: Options
    steps: Steps


@cache
def _registry() -> Any:
    from archex.registry import load

    return load()


def describe(config: dict[str, Any], overridden: tuple[str, ...] = (), choices: dict[str, str] | None = None) -> Any:
    """The described device, of the installed parts."""
    from archex.describe import describe as described

    return described(config, _registry(), overridden=overridden, choices=choices)


def device(steps: Steps, design: str, config: dict[str, Any]) -> Any:
    """The assembled device of a design, kept for the next tasks."""
    key = (steps, design)
    if key not in _devices:
        _devices[key] = resolve(steps.assemble)(resolve(steps.describe)(config))
        while len(_devices) > _KEPT:
            _devices.popitem(last=False)
    _devices.move_to_end(key)
    return _devices[key]


def do(task: Task) -> dict[str, Any]:
    """The row of a task."""
    started = time.perf_counter()
    try:
        found = resolve(task.steps.simulate)(device(task.steps, task.design, task.config), task.launch, task.options)
        outcome = {"status": "ok"} | found
    except UnsupportedError as error:
        outcome = {"status": "unsupported", "error": error.reason}
    except RequestError as error:
        outcome = {"status": "error", "error": "; ".join(map(str, error.problems))}
    except ArchexError as error:
        outcome = {"status": "error", "error": str(error)}
    except MemoryError:
        outcome = {"status": "killed", "error": "out of memory"}
    except Exception as error:
        if type(error).__name__ == "BdbQuit":  # somebody left the debugger: the run ends, it isn't this row's error
            raise
        outcome = {"status": "error", "error": _bug(error)}
    costs = {"simulate_seconds": time.perf_counter() - started, "peak_memory_bytes": _peak()}
    known = {name: value for name, value in outcome.items() if value is not None}
    return schema.row(task.identity | costs | known)


def killed(task: Task, cause: str) -> dict[str, Any]:
    """The row of a task whose process died."""
    return schema.row(task.identity | {"status": "killed", "error": cause})


def _bug(error: Exception) -> str:
    """An exception that nobody raised on purpose: what and where, in one line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "/".join(last.filename.split("/")[-2:])
    return f"{type(error).__name__} at {place}:{last.lineno}: {' '.join(str(error).split())[:500]}"


def _peak() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
