"""The rows of a job: launches on a design. Runs in a worker process.

In: a `Job`. Out: whole rows, whatever happens: what a device lacks is `unsupported`, a wrong program `error`, an error of ours too, with
its place. The steps are named as `package.module:function`, so that a parent needs none of their imports.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
import traceback
from collections import OrderedDict
from functools import cache
from typing import Any

from archex.base.errors import ArchexError, RequestError, UnsupportedError
from archex.records import schema
from archex.sweeps.jobs import Job, RowTask, resolve
from archex.sweeps.jobs import Steps as Steps
from archex.sweeps.shelf import fetch
from archex.sweeps.values import apply

_KEPT = 8
_devices: OrderedDict[tuple[Steps, str], Any] = OrderedDict()


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


def do(job: Job) -> list[tuple[int, dict[str, Any]]]:
    """(seq, row) of each row of a job."""
    return [(task.seq, _row(job, task)) for task in job.rows]


def _row(job: Job, task: RowTask) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        try:
            found = _simulated(job, task)
        except MemoryError:  # what is kept of earlier jobs may be what is in the way
            _devices.clear()
            gc.collect()
            found = _simulated(job, task)
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
        if isinstance(error, SystemError) and resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY:
            outcome = {"status": "killed", "error": "out of memory"}  # as a compiler says it that got none
        else:
            outcome = {"status": "error", "error": _bug(error)}
    costs = {"simulate_seconds": time.perf_counter() - started, "peak_memory_bytes": _peak()}
    known = {name: value for name, value in outcome.items() if value is not None}
    return schema.row(task.identity | costs | known)


def _simulated(job: Job, task: RowTask) -> dict[str, Any]:
    assembled = device(job.steps, job.design, apply(fetch(job.base), job.values))
    began = time.perf_counter()
    found: dict[str, Any] = resolve(job.steps.simulate)(assembled, fetch(task.launch), job.options)
    apart = sum(found.get(cost) or 0.0 for cost in ("trace_seconds", "compile_seconds"))
    return found | {"simulate_seconds": time.perf_counter() - began - apart}


def _bug(error: Exception) -> str:
    """An exception that nobody raised on purpose: what and where, in one line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "/".join(last.filename.split("/")[-2:])
    return f"{type(error).__name__} at {place}:{last.lineno}: {' '.join(str(error).split())[:500]}"


def _peak() -> int:
    """Bytes this process held at most. What `getrusage` tells counts, on Linux, the process that started this one too."""
    if sys.platform == "linux":
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
