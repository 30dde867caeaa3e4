"""One switch and one cache for everything compiled.

`jit` compiles with numba, or returns the function unchanged under `ARCHEX_JIT=0`, so that one source serves both and a
debugger can stop inside. The cache folder is named by a hash of every compiled source, the library versions and the
bounds-check mode: numba's own key is the defining file only and would serve stale helpers.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

COMPILED = os.environ.get("ARCHEX_JIT", "1") != "0"
_ROOT = Path(__file__).resolve().parents[1]
#: Folders whose sources take part in compiled code.
_SOURCES = ("base", "engine", "programs")


def _fingerprint() -> str:
    import llvmlite
    import numba
    import numpy

    digest = hashlib.sha256()
    versions = (sys.version, numba.__version__, llvmlite.__version__, numpy.__version__)
    digest.update(repr((versions, os.environ.get("NUMBA_BOUNDSCHECK"))).encode())
    for folder in _SOURCES:
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled code is kept: `$ARCHEX_CACHE` or the user's cache folder, one folder a state of the sources."""
    base = os.environ.get("ARCHEX_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "archex")
    return Path(base) / "jit" / _fingerprint()


if COMPILED:
    import warnings

    import numba
    from numba import extending
    from numba.core import config as _numba_config

    # Functions as arguments of compiled functions are how policies are called; numba calls that experimental, once a process.
    warnings.filterwarnings("ignore", category=numba.NumbaExperimentalFeatureWarning)
    intrinsic: Any = extending.intrinsic
    _config: Any = _numba_config
    _config.CACHE_DIR = str(cache_folder())

    def jit(function: Any = None, **options: Any) -> Any:
        """Compile with numba (no Python fallback, numpy's division rules, cached on disk).

        A plugin's helper isn't cached: the folder's name doesn't cover its sources, and numba would serve a stale one.
        """
        if function is None:
            return lambda given: jit(given, **options)
        settings = {"cache": function.__module__.partition(".")[0] == "archex", "error_model": "numpy"} | options
        signature = settings.pop("signature", None)  # given: compiled at once, for this only
        return (numba.njit(**settings) if signature is None else numba.njit(signature, **settings))(function)

    def jit_bare(function: Any = None, **options: Any) -> Any:
        """As `jit`, for functions that allocate nothing and are called by compiled ones only: no reference counts, no entry from Python.

        Both cost time in compiling, the first in tight loops too.
        """
        return jit(function, **({"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True} | options))

    def _data_of(context: Any, array: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return numba.types.CPointer(array.dtype)(array), code

    _data: Any = intrinsic(_data_of)
    _carray: Any = numba.carray  # type: ignore[attr-defined]

    @jit
    def unowned(array: Any) -> Any:
        """A flat view that takes no part in reference counting.

        Every call that hands an ordinary array on may count it up and down atomically (10 ns); make these views once, at the
        outermost compiled function, from flattened arrays that its caller keeps alive.
        """
        return _carray(_data(array), array.size)

    @jit
    def _address(array: Any) -> Any:
        """The address of a flat array's first element: indexed like the array, one word as an argument, nothing checked."""
        return _data(array)

    _CHECKED = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")  # then indices are checked, and nothing is outlined
    pointer = unowned if _CHECKED else _address
    _TYPES = {"p": numba.types.CPointer(numba.types.int64), "i": numba.types.int64, "f": numba.types.float64}
    _waiting: list[tuple[str, Any, Any]] = []

    def outlined(signature: str) -> Any:
        """Compile a function apart from its callers.

        numba links every callee into its caller and optimises it again at each level, which makes deep call trees slow to compile;
        what is outlined is compiled once and called through its symbol. `signature`: result, then arguments, of `p` pointer to
        int64, `i` int64 (truth too), `f` float64, `v` nothing: `"i:ppi"`. `link` must run before a caller is compiled or loaded.
        """
        if _CHECKED:
            return jit
        result, arguments = signature.split(":")
        types = numba.types.void if result == "v" else _TYPES[result]

        def enter(function: Any) -> Any:
            kind = types(*(_TYPES[letter] for letter in arguments))
            name = f"archex.{function.__module__}.{function.__name__}"
            _waiting.append((name, kind, function))
            return numba.types.ExternalFunction(name, kind)

        return enter

    def link() -> None:
        """Compile, or load from the cache, what was outlined since the last call, and make it known by name."""
        import llvmlite.binding

        while _waiting:
            name, kind, function = _waiting[0]
            made = numba.cfunc(kind, cache=True, error_model="numpy")(function)
            llvmlite.binding.add_symbol(name, made.address)
            _linked.append(made)
            del _waiting[0]

    _linked: list[Any] = []  # code lives as long as these

else:

    def jit(function: Any = None, **options: Any) -> Any:
        """Leave the function as it is."""
        return function if function is not None else (lambda f: f)

    def unowned(array: Any) -> Any:
        """The array itself."""
        return array

    def pointer(array: Any) -> Any:
        """The array itself."""
        return array

    def outlined(signature: str) -> Any:
        """Leave the function as it is."""
        return lambda function: function

    def link() -> None:
        """Nothing to do."""

    jit_bare = jit
