"""Policies: the decisions a part may take, as plain functions with fixed signatures, and how they are compiled.

In: a Python function and its kind. Out: a compiled first-class function the core calls without being compiled again; under
ARCHEX_JIT=0 the function itself. A policy sees views (tuples of numbers and whole arrays with an offset), its own `state`
(int64 words, zeroed at each launch) and its `params` (float64), and returns one int64. What it returns is range-checked.
`scratch` (SCRATCH words, zeroed once, shared by the policies that take it) is working space whose word 0 is a generation
number: add 1 and treat what carries an older number as empty.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from archex.base.errors import ArchexError
from archex.base.jit import COMPILED, cache_folder, compiling
from archex.base.kept import sources

NONE = -1  # "no wave", "no unit"
ISSUED, MISSED, FILLED = 1, 2, 4  # what an `Event` reports; bits of `wave_feedback`
HIT, FILLED_SET = 1, 2  # what a `SetView` reports; bits of `victim_feedback`
SCRATCH = 1024  # words of working space for `coalesce` and `access_cycles`
GROUP_AGES = 1024  # ages of the waves of one workgroup are the same when divided by this


class WaveView(NamedTuple):
    """What a wave scheduler sees: slots that could issue now, the age of each slot's wave, the slot that issued last (-1 none)."""

    ready: int  # bit a slot
    age: np.ndarray  # int64: start order of the wave in slot i is age[first + i], smaller is older; see GROUP_AGES
    first: int
    last: int
    cycle: int
    slots: int
    memory: int = 0  # of `ready`, the slots whose next instruction is one of memory


class Event(NamedTuple):
    """Something that happened to a wave of this scheduler: `line` is the vector-cache line (its number), -1 on an issue."""

    slot: int
    line: int
    cycle: int
    what: int  # ISSUED, MISSED or FILLED


class SetView(NamedTuple):
    """One set of a cache: last use of way i is last_use[first + i] (a count of accesses, larger is more recent)."""

    first: int
    ways: int
    last_use: np.ndarray
    index: int  # type: ignore[assignment]  # (hides a tuple's method) number of the set, over all slices and instances of the level
    hit: int  # way just hit or filled (feedback), else -1
    what: int  # feedback: HIT or FILLED_SET, else 0


class Access(NamedTuple):
    """The addresses of one wave-wide memory instruction: addresses[i] of lane i, -1 where inactive."""

    addresses: np.ndarray  # int64
    lanes: int
    bytes: int  # a lane
    store: int  # 1 for stores and atomics


class PlaceView(NamedTuple):
    """What a dispatcher sees: unit u can take a workgroup from cycle available[u] on (never if that is huge); `order` of filling."""

    available: np.ndarray  # int64
    held: np.ndarray  # int64: workgroups it holds now
    order: np.ndarray  # int64: unit at each position of the filling order
    last: int  # position in `order` that was served last, -1 at first
    cycle: int
    workgroup: int


#: kind -> (argument names, argument types in words); every policy returns int64
ARGUMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "pick_wave": (("view", "WaveView"), ("state", "int64[]"), ("params", "float64[]")),
    "note_wave": (("event", "Event"), ("state", "int64[]"), ("params", "float64[]")),
    "set_index": (("line", "int64"), ("sets", "int64"), ("params", "float64[]")),
    "pick_victim": (("view", "SetView"), ("state", "int64[]"), ("params", "float64[]")),
    "note_set": (("view", "SetView"), ("state", "int64[]"), ("params", "float64[]")),
    "coalesce": (
        ("access", "Access"),
        ("line", "int64"),
        ("sector", "int64"),
        ("lines", "int64[]"),
        ("sectors", "int64[]"),
        ("scratch", "int64[]"),
        ("params", "float64[]"),
    ),
    "access_cycles": (("access", "Access"), ("scratch", "int64[]"), ("params", "float64[]")),
    "map_address": (("address", "int64"), ("params", "float64[]")),
    "place_workgroup": (("view", "PlaceView"), ("state", "int64[]"), ("params", "float64[]")),
    "read_cycles": (("registers", "int64[]"), ("count", "int64"), ("params", "float64[]")),
}
#: what a policy's result must be, for messages
RESULTS = {
    "pick_wave": "a slot whose bit is set in view.ready, or -1",
    "note_wave": "anything (ignored)",
    "set_index": "0 <= set < sets",
    "pick_victim": "0 <= way < view.ways",
    "note_set": "anything (ignored)",
    "coalesce": "the number of lines written, 1 to 2 x lanes",
    "access_cycles": "1 to 4096 passes",
    "map_address": "0 <= channel < params[0]",
    "place_workgroup": "a unit with view.available[unit] <= view.cycle, or -1",
    "read_cycles": "1 to 64 cycles",
}


class PolicyError(ArchexError):
    """A policy of the wrong form, or one that raised or returned nonsense: names the kind, the function and the rule."""

    def __init__(self, kind: str, name: str, rule: str) -> None:
        super().__init__(f"policy {kind} ({name}): {rule}")
        self.kind, self.name, self.rule = kind, name, rule


@functools.cache
def signature(kind: str) -> Any:
    """The numba signature of a policy kind."""
    from numba import types

    ints, floats, i64 = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C"), types.int64
    named = {
        "int64": i64,
        "int64[]": ints,
        "float64[]": floats,
        "WaveView": types.NamedTuple((i64, ints, i64, i64, i64, i64, i64), WaveView),
        "Event": types.NamedUniTuple(i64, 4, Event),
        "SetView": types.NamedTuple((i64, i64, ints, i64, i64, i64), SetView),
        "Access": types.NamedTuple((ints, i64, i64, i64), Access),
        "PlaceView": types.NamedTuple((ints, ints, ints, i64, i64, i64), PlaceView),
    }
    return i64(*(named[kind_of] for _, kind_of in ARGUMENTS[kind]))


_compiled: dict[tuple[str, Any], Any] = {}
#: Packages whose policies are kept on disk once compiled: all that they call is in them or in what a plugin stands on. Of a stranger's
#: nobody knows what it calls, and numba, which looks at the policy's own file only, would serve a stale one.
_KEPT = ("archex.engine", "archex_plugins")


def _keep(function: Callable[..., int]) -> bool:
    """Whether a policy is kept; says where to numba, which asks for it as it takes the function."""
    module = str(getattr(function, "__module__", ""))
    package = next((name for name in _KEPT if module.startswith(f"{name}.")), None)
    if package is None or function.__closure__:  # what a closure holds is another object in each process
        return False
    import numba

    folder = cache_folder("")
    numba.core.config.CACHE_DIR = str(folder.with_name(f"{folder.name}-{_sources(package)}"))  # type: ignore[attr-defined]
    return True


@functools.cache
def _sources(package: str) -> str:
    """Hash of the sources of a package and of the kinds of part."""
    digest = hashlib.sha256(sources("parts"))
    for place in sys.modules[package].__path__:
        for path in sorted(Path(place).rglob("*.py")):
            digest.update(str(path.relative_to(place)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def compile_policy(function: Callable[..., int], kind: str) -> Any:
    """Check a policy's form and compile it with its kind's signature; a mistake is a `PolicyError`."""
    if kind not in ARGUMENTS:
        raise PolicyError(kind, str(function), f"unknown kind; kinds: {', '.join(ARGUMENTS)}")
    plain = getattr(function, "py_func", function)
    name = name_of(plain)
    expected = tuple(argument for argument, _ in ARGUMENTS[kind])
    found = tuple(inspect.signature(plain).parameters)
    if len(found) != len(expected):
        raise PolicyError(kind, name, f"takes ({', '.join(found)}), expected ({', '.join(expected)})")
    if not COMPILED:
        return plain
    key = (kind, plain)
    if key not in _compiled:
        import numba

        options: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "cache": _keep(plain)}
        try:
            with compiling():
                result = numba.njit(signature(kind), **options)(plain)
        except numba.core.errors.NumbaError as error:
            said = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Failed in ")]
            first = said[0] if said else type(error).__name__
            raise PolicyError(kind, name, f"does not compile: {first} (it must return {RESULTS[kind]})") from error
        _compiled[key] = result
    return _compiled[key]


class Policies(NamedTuple):
    """Every decision of one device, compiled, with parameters and the words of state each needs.

    `note_wave`, `note_set` are called only where the feedback flags ask for them. Per level (vector cache first): set_index,
    pick_victim, note_set. `coalesce_standard` says that affine accesses may take the engine's own fast path.
    """

    pick_wave: Any
    note_wave: Any
    coalesce: Any
    access_cycles: Any
    map_address: Any
    place_workgroup: Any
    read_cycles: Any
    set_index: tuple[Any, ...]
    pick_victim: tuple[Any, ...]
    note_set: tuple[Any, ...]
    wave_params: np.ndarray  # float64
    wave_state: int  # words a scheduler
    wave_feedback: int  # bits: 1 note issues, 2 note misses, 4 note fills
    line_params: np.ndarray  # coalesce
    local_params: np.ndarray  # access_cycles: banks, bank bytes, then the part's own
    address_params: np.ndarray  # map_address: channels, chunk bytes, then the part's own
    place_params: np.ndarray
    place_state: int
    index_params: tuple[np.ndarray, ...]
    victim_params: tuple[np.ndarray, ...]
    victim_state: tuple[int, ...]  # words a level
    victim_feedback: tuple[int, ...]  # bits: 1 note hits, 2 note fills
    coalesce_standard: bool = True
    read_params: np.ndarray = np.zeros(0)
    collectors: int = 1  # instructions of a scheduler whose operands can be gathered at a time
    local_period: int = 0  # bytes by which a pattern in local memory may be moved and still takes as many passes; 0: none


def as_written(function: Any) -> Any:
    """A policy as it was written."""
    return getattr(function, "py_func", function)


def name_of(function: Any) -> str:
    """A policy as messages name it: module and function."""
    written = as_written(function)
    return f"{getattr(written, '__module__', '?')}.{getattr(written, '__qualname__', written)}"


def functions_of(policies: Policies, kind: str) -> tuple[Any, ...]:
    """A device's policies of one kind: one, or one a cache level."""
    found = getattr(policies, kind)
    return found if isinstance(found, tuple) else (found,)


def raised_by(policies: Policies, error: Exception) -> tuple[str, str] | None:
    """(kind, name) of the policy that raised: the one on the stack, or, as compiled code leaves no stack, the one that can raise."""
    if type(error).__name__ == "BdbQuit":
        return None
    plain = [(kind, getattr(function, "py_func", function)) for kind in ARGUMENTS for function in functions_of(policies, kind)]
    codes = set()
    trace = error.__traceback__
    while trace is not None:
        codes.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    for kind, function in plain:
        if function.__code__ in codes:
            return kind, name_of(function)
    able = [(kind, name_of(function)) for kind, function in plain if COMPILED and _can_raise(function, set())]
    return able[0] if able else None


def _can_raise(function: Any, seen: set[Any]) -> bool:
    """Whether a function, or one it calls by a name of its module, holds a raise or an assert."""
    plain = getattr(function, "py_func", function)
    code = getattr(plain, "__code__", None)
    if code is None or code in seen:
        return False
    seen.add(code)
    if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code)):
        return True
    return any(_can_raise(plain.__globals__.get(name), seen) for name in code.co_names)
