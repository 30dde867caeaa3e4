"""The way into compiled code: the main loop, the steps compiled apart from it, a device's policies by their addresses.

In: the tuples of a launch, its policies, whether its code has steps aside. Out: a function of no arguments that goes on with the launch.
numba's own way in would find the types of all arguments and the addresses of all policies anew, a millisecond a call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from archex.base.jit import COMPILED, compiling, jit
from archex.engine.aside import aside, never
from archex.engine.bundle import bundle, function
from archex.engine.core import Calls, Functions, Links, Trace, Whole, run_core
from archex.engine.global_memory import global_access
from archex.engine.local_memory import local_access
from archex.engine.memory_path import read_line, write_line
from archex.engine.peers import read_any, write_any
from archex.engine.policies import Policies, signature
from archex.engine.state import TABLES, Core, Memory, Paths, State

#: How lines are written and read, without and with other devices' memory.
_LINES = {False: (write_line, read_line), True: (write_any, read_any)}
_TABLES = TABLES | {Trace: frozenset(("blocks", "records", "cursor"))}


def entered(
    core: Core, paths: Paths, state: State, memory: Memory, trace: Trace, policies: Policies, asides: bool, peers: bool
) -> Callable[[], int]:
    """The main loop over this launch, to be called as often as it returns. `asides`: its code has instructions for `aside`; `peers`: it
    uses memory of other devices."""
    parts = [bundle(part, _TABLES[type(part)]) for part in (core, paths, state, memory, trace)]
    functions = _functions(*(getattr(policies, kind) for kind in Functions._fields))
    calls = _steps(*(getattr(part, "kind", None) for part in (*parts, functions)))(asides, peers)
    whole = bundle(Whole._make((*parts, functions, calls)))
    return functools.partial(_main_loop(getattr(whole, "kind", None)), whole)


@functools.cache
def _functions(*policies: Any) -> Any:
    """A device's policies as the core calls them."""
    found = []
    for kind, given in zip(Functions._fields, policies, strict=True):
        form = signature(kind) if COMPILED else None
        found.append(tuple(function(one, form) for one in given) if isinstance(given, tuple) else function(given, form))
    return bundle(Functions(*found))


@functools.cache
@compiling()
def _main_loop(whole: Any) -> Any:
    """The main loop for a launch of this type, past numba's dispatcher."""
    if not COMPILED:
        return run_core
    from numba import types

    made = jit(run_core.py_func, signature=types.int64(whole), _nrt=False, no_cfunc_wrapper=True)
    (result,) = made.overloads.values()
    return result.entry_point


@functools.cache
@compiling()
def _steps(core: Any, paths: Any, state: Any, memory: Any, trace: Any, functions: Any) -> Any:
    """The steps compiled apart from the main loop for tuples of these types (or as they are).

    As a function of whether the program has asides at all, and uses other devices' memory: those steps are compiled only then.
    """
    if not COMPILED:
        return lambda asides, peers: Calls(global_access, local_access, aside, Links(*_LINES[peers]))
    from numba import types

    i64, f64 = types.int64, types.float64
    pair = types.UniTuple(i64, 2)

    def apart(step: Any, form: Any) -> Any:
        return function(jit(step.py_func, signature=form, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True), form)

    @functools.cache
    def links_for(peers: bool) -> Any:
        write = apart(_LINES[peers][0], f64(paths, functions, memory, i64, i64, i64, i64, i64, f64))
        return bundle(Links(write, apart(_LINES[peers][1], f64(paths, functions, write.kind, memory, i64, i64, i64, f64, f64, i64))))

    links = links_for(False)
    far = apart(global_access, pair(core, paths, functions, links.kind, state, memory, trace, *[i64] * 8))
    near = apart(local_access, pair(core, functions, state, memory, trace, *[i64] * 9))
    form = pair(core, paths, functions, links.kind, state, memory, trace, *[i64] * 5)

    @functools.cache
    def calls(asides: bool, peers: bool) -> Any:
        return bundle(Calls(far, near, apart(aside if asides else never, form), links_for(peers)))

    return calls
