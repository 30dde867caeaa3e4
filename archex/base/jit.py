"""One switch and one cache for everything compiled.

`jit` compiles with numba, or returns the function unchanged under `ARCHEX_JIT=0`, so that one source serves both and a
debugger can stop inside. The cache folder of a pillar is named by a hash of every source its compiled code may come from, the library
versions and the bounds-check mode: numba's own key is the defining file only and would serve stale helpers.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from archex.base.kept import root

COMPILED = os.environ.get("ARCHEX_JIT", "1") != "0"
_ROOT = Path(__file__).resolve().parents[1]
#: Folders whose sources take part in compiled code. Pillars don't import each other: a change in one leaves the other's code as it is.
_SOURCES = ("base", "engine", "programs")
_PILLARS = ("engine", "programs")


@cache
def _fingerprint(pillar: str | None) -> str:
    import llvmlite
    import numba
    import numpy

    digest = hashlib.sha256()
    versions = (sys.version, numba.__version__, llvmlite.__version__, numpy.__version__)
    digest.update(repr((versions, os.environ.get("NUMBA_BOUNDSCHECK"))).encode())
    for folder in ("base", pillar) if pillar else _SOURCES:
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder(module: str) -> Path:
    """Where a module's compiled code is kept: `$ARCHEX_CACHE` or the user's cache folder, one folder a state of the sources."""
    pillar = next((name for name in _PILLARS if module.startswith(f"archex.{name}.")), None)
    return root() / "jit" / _fingerprint(pillar)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Compile in less time: no search for cyclic garbage (objects by the million are made, and all are in use), operators typed once."""
    was = gc.isenabled()
    gc.disable()
    try:
        with _typed_once() if COMPILED else contextlib.nullcontext():
            yield
    finally:
        if was:
            gc.enable()


if COMPILED:
    import warnings

    import numba
    from numba import extending
    from numba.core import codegen, compiler
    from numba.core import config as _numba_config

    # Functions as arguments of compiled functions are how policies are called; numba calls that experimental, once a process.
    warnings.filterwarnings("ignore", category=numba.NumbaExperimentalFeatureWarning)
    intrinsic: Any = extending.intrinsic
    _config: Any = _numba_config
    _library: Any = codegen
    _compiler: Any = compiler
    _colours: Any = numba.core.errors.termcolor()
    _colours._markup = lambda words, color=None, style=None: words  # numba words, and colours, why each form it tries for a call fails

    def jit(function: Any = None, **options: Any) -> Any:
        """Compile with numba (no Python fallback, numpy's division rules, cached on disk).

        A plugin's helper isn't cached: the folder's name doesn't cover its sources, and numba would serve a stale one.
        """
        if function is None:
            return lambda given: jit(given, **options)
        _config.CACHE_DIR = str(cache_folder(function.__module__))  # numba asks for it as it takes the function
        settings = {"cache": function.__module__.partition(".")[0] == "archex", "error_model": "numpy"} | options
        signature = settings.pop("signature", None)  # given: compiled at once, for this only
        return (numba.njit(**settings) if signature is None else numba.njit(signature, **settings))(function)

    class _Part(_library.JITCodeLibrary):  # type: ignore[misc]
        """What a function compiled to, for its callers only: linked as it is, optimised and turned into machine code as part of them."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    _typed: dict[tuple[int, ...], Any] = {}  # by identity: a type is one object while somebody has it, and this keeps it

    @contextlib.contextmanager
    def _typed_once() -> Iterator[None]:
        """What a built-in function or operator gives for arguments of some types is found once.

        numba goes through all rules it has for it, those of arrays first, at each call in each of the functions: a fifth of compiling.
        """
        kind: Any = numba.types.Function
        look = kind.get_call_type

        def get_call_type(self: Any, context: Any, arguments: Any, keywords: Any) -> Any:
            if keywords:
                return look(self, context, arguments, keywords)
            key = (id(self), *map(id, arguments))
            if key not in _typed:
                _typed[key] = look(self, context, arguments, keywords), self, arguments
            return _typed[key][0]

        kind.get_call_type = get_call_type
        try:
            yield
        finally:
            kind.get_call_type = look

    #: Passes of numba's for what these sources don't contain: nested functions, `with`, literal unrolling, array expressions, ...
    #: Behind each of them numba looks at the whole function anew.
    _UNUSED = frozenset(
        """WithLifting InlineClosureLikes MakeFunctionToJitFunction InlineInlinables FindLiterallyCalls LiteralUnroll
        LiteralPropagationSubPipelinePass InlineOverloads NopythonRewrites DumpParforDiagnostics""".split()
    )

    class _LeanCompiler(_compiler.Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            (passes,) = super().define_pipelines()
            lean = _compiler.PassManager(passes.pipeline_name)
            for kind, words in passes.passes:
                if kind.__name__ not in _UNUSED:
                    lean.add_pass(kind, words)
            lean.finalize()
            return [lean]

    class _PartCompiler(_LeanCompiler):
        def define_pipelines(self) -> Any:
            state = self.state
            state.flags.no_compile = True
            state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
            state.library.__class__ = _Part
            return super().define_pipelines()

        def compile_extra(self, function: Any) -> Any:
            made = super().compile_extra(function)._replace(entry_point={}.popitem)  # numba's key; refuses calls from Python
            self.state.targetctx.insert_user_function(made.entry_point, made.fndesc, [made.library])
            return made

    def jit_bare(function: Any = None, **options: Any) -> Any:
        """As `jit`, for functions that allocate nothing and are called by compiled ones only: no reference counts, no entry from Python.

        Both cost time in compiling, the first in tight loops too. No machine code and no cache of its own either: numba would optimise
        and emit each level of a call tree again, all of what it calls included.
        """
        bare = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _PartCompiler, "cache": False}
        return jit(function, **(bare | options))

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
    _waiting: list[tuple[str, Any, Any, str, bool]] = []
    _cells: dict[str, Any] = {}  # where the address of a function not yet compiled will be

    def outlined(signature: str, kind: str = "", entry: bool = False) -> Any:
        """Compile a function apart from its callers.

        numba links every callee into its caller and optimises it again at each level, which makes deep call trees slow to compile;
        what is outlined is compiled once and called through its symbol. `signature`: result, then arguments, of `p` pointer to
        int64, `i` int64 (truth too), `f` float64, `v` nothing: `"i:ppi"`. `link` must run before a caller is compiled or loaded.
        kind: the function is compiled once `link` is given this kind, which must be before it runs; all it shares a kind with are
        reached through those marked `entry`.
        """
        if _CHECKED:
            return jit
        result, arguments = signature.split(":")
        types = numba.types.void if result == "v" else _TYPES[result]

        def enter(function: Any) -> Any:
            form = types(*(_TYPES[letter] for letter in arguments))
            name = f"archex.{function.__module__}.{function.__name__}"
            _waiting.append((name, form, function, kind, entry))
            return numba.types.ExternalFunction(name, form)

        return enter

    def link(*kinds: str) -> None:
        """Compile, or load from the cache, what was outlined since the last call and what waits for these kinds; make it known by name."""
        import llvmlite.binding

        with compiling():
            for waiting in tuple(_waiting):
                name, form, function, kind, entry = waiting
                if kind and kind not in kinds:
                    if entry and name not in _cells:
                        _stand_in(name, form)
                    continue
                _config.CACHE_DIR = str(cache_folder(function.__module__))
                made = numba.cfunc(form, cache=True, error_model="numpy", pipeline_class=_LeanCompiler)(function)
                llvmlite.binding.add_symbol(name, made.address)
                if name in _cells:
                    _cells[name].value = made.address
                _linked.append(made)
                _waiting.remove(waiting)

    def _stand_in(name: str, form: Any) -> None:
        """Give a name to code that jumps to where the function's cell says."""
        import ctypes

        import llvmlite.binding
        from llvmlite import ir

        word = ir.IntType(64)
        kinds = {_TYPES["p"]: word.as_pointer(), _TYPES["i"]: word, _TYPES["f"]: ir.DoubleType(), numba.types.void: ir.VoidType()}
        shape = ir.FunctionType(kinds[form.return_type], [kinds[argument] for argument in form.args])
        cell = _cells[name] = ctypes.c_int64(0)
        module = ir.Module()
        function = ir.Function(module, shape, "jump")
        builder = ir.IRBuilder(function.append_basic_block())
        place = builder.inttoptr(word(ctypes.addressof(cell)), shape.as_pointer().as_pointer())
        result = builder.call(builder.load(place), function.args)
        if form.return_type == numba.types.void:
            builder.ret_void()
        else:
            builder.ret(result)
        machine = llvmlite.binding.Target.from_default_triple().create_target_machine(opt=1)
        engine = llvmlite.binding.create_mcjit_compiler(llvmlite.binding.parse_assembly(str(module)), machine)
        engine.finalize_object()
        llvmlite.binding.add_symbol(name, engine.get_function_address("jump"))
        _linked.append(engine)

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

    def outlined(signature: str, kind: str = "", entry: bool = False) -> Any:
        """Leave the function as it is."""
        return lambda function: function

    def link(*kinds: str) -> None:
        """Nothing to do."""

    jit_bare = jit
