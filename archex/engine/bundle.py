"""A named tuple of arrays as one pointer in compiled code, its arrays as plain grids of words.

In: a NamedTuple of contiguous arrays, compiled functions, tuples of such functions, other bundles. Out: an object that compiled functions
take as an argument of one machine word and read by field name, as if it were the tuple; an array `a` allows `a[i]`, `a[i, j]`, rows and
`a.shape`, indices not negative; a function is called. Tuples of dozens of arrays by value cost hundreds of words a call, and Python's
negative indices a comparison an access; both make compilation slow. Interpreted, it is the tuple. With NUMBA_BOUNDSCHECK=1 the arrays
are ordinary, checked ones.
"""

from __future__ import annotations

import functools
import operator
import os
from typing import Any

import numpy as np

from archex.base.jit import COMPILED

CHECKED = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")
#: Elements of what is read all the time and never written: half the room, and compiled code reads them as words all the same.
NARROW: Any = np.int32 if COMPILED and not CHECKED else np.int64

if COMPILED:
    import numba
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
    from numba.extending import NativeValue, lower_builtin, lower_getattr, lower_getattr_generic, models, register_model, typeof_impl, unbox

    from archex.base.jit import intrinsic

    _WORD = ir.IntType(64)
    _NARROW = (types.int32,)  # read as words

    class GridType(types.Type):
        """Elements in C order: a pointer and the extents. `columns`: the last extent where it is the same in every launch, else 0."""

        def __init__(self, dtype: Any, ndim: int, columns: int = 0) -> None:
            self.dtype, self.ndim, self.columns = dtype, ndim, columns
            super().__init__(name=f"Grid({dtype}, {ndim}, {columns})")

    @register_model(GridType)
    class _GridModel(models.StructModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            members = [("data", types.CPointer(kind.dtype)), *((f"extent{k}", types.int64) for k in range(kind.ndim))]
            super().__init__(manager, kind, members)

    def _indices(grid: Any, index: Any) -> Any:
        """(numba type of the index, result) of grid[index], or None."""
        kind: Any
        parts: Any = index if isinstance(index, types.BaseTuple) else ()
        if not isinstance(grid, GridType):
            return None
        if isinstance(index, types.Integer):
            number, kind = 1, types.int64
        elif 0 < len(parts) <= grid.ndim and all(isinstance(part, types.Integer) for part in parts):
            number, kind = len(parts), types.UniTuple(types.int64, len(parts))
        else:
            return None
        if number < grid.ndim:
            return kind, GridType(grid.dtype, grid.ndim - number, grid.columns)
        return kind, types.int64 if grid.dtype in _NARROW else grid.dtype

    @infer_global(operator.getitem)
    class _GetItem(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            found = _indices(*arguments)
            return None if found is None else signature(found[1], arguments[0], found[0])

    @infer_global(operator.setitem)
    class _SetItem(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            found = _indices(*arguments[:2])
            if found is None or isinstance(found[1], GridType):
                return None
            return signature(types.none, arguments[0], found[0], arguments[0].dtype)

    def _place(context: Any, builder: Any, kind: Any, grid: Any, index_kind: Any, index: Any) -> tuple[Any, Any]:
        """(pointer to the element or first element of a row, the grid's structure)."""
        parts = cgutils.create_struct_proxy(kind)(context, builder, value=grid)
        indices = cgutils.unpack_tuple(builder, index) if isinstance(index_kind, types.BaseTuple) else [index]
        offset = indices[0]
        for k in range(1, kind.ndim):
            known = kind.columns and k == kind.ndim - 1
            offset = builder.mul(offset, _WORD(kind.columns) if known else getattr(parts, f"extent{k}"))
            if k < len(indices):
                offset = builder.add(offset, indices[k])
        return builder.gep(parts.data, [offset], inbounds=True), parts

    @lower_builtin(operator.getitem, GridType, types.Any)
    def _get(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        kind = sig.args[0]
        pointer, parts = _place(context, builder, kind, arguments[0], sig.args[1], arguments[1])
        if not isinstance(sig.return_type, GridType):
            found = builder.load(pointer)
            return builder.sext(found, _WORD) if kind.dtype in _NARROW else found
        row = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        row.data = pointer
        skipped = kind.ndim - sig.return_type.ndim
        for k in range(sig.return_type.ndim):
            setattr(row, f"extent{k}", getattr(parts, f"extent{k + skipped}"))
        return row._getvalue()

    @lower_builtin(operator.setitem, GridType, types.Any, types.Any)
    def _set(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointer, _ = _place(context, builder, sig.args[0], arguments[0], sig.args[1], arguments[1])
        builder.store(arguments[2], pointer)
        return context.get_dummy_value()

    @infer_getattr
    class _GridAttributes(AttributeTemplate):
        key = GridType

        def resolve_shape(self, kind: Any) -> Any:
            return types.UniTuple(types.int64, kind.ndim)

    @lower_getattr(GridType, "shape")
    def _shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        parts = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        return cgutils.pack_array(builder, [getattr(parts, f"extent{k}") for k in range(kind.ndim)])

    def _ordinary(context: Any, builder: Any, kind: Any, grid: Any, value: Any, begin: Any, count: Any) -> Any:
        """An array of `count` elements from `begin` on, owned by nobody."""
        if isinstance(grid, GridType):
            parts = cgutils.create_struct_proxy(grid)(context, builder, value=value)
            data, extent = parts.data, parts.extent0
        else:
            source = context.make_array(grid)(context, builder, value)
            data, extent = source.data, source.nitems
        count = extent if count is None else count
        size = _WORD(context.get_abi_sizeof(context.get_data_type(grid.dtype)))
        array = context.make_array(kind)(context, builder)
        array.data = builder.gep(data, [begin])
        array.shape, array.strides = cgutils.pack_array(builder, [count]), cgutils.pack_array(builder, [size])
        array.nitems, array.itemsize = count, size
        array.meminfo = array.parent = ir.Constant(ir.IntType(8).as_pointer(), None)
        return array._getvalue()

    @intrinsic
    def segment(typing_context: Any, grid: Any, start: Any, length: Any) -> Any:
        """Part of a one-dimensional grid as an ordinary array, for a policy."""

        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            return _ordinary(context, builder, sig.return_type, grid, *arguments)

        return types.Array(grid.dtype, 1, "C")(grid, types.int64, types.int64), generate

    @intrinsic
    def whole(typing_context: Any, grid: Any) -> Any:
        """A one-dimensional grid as an ordinary array, for a policy."""

        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            return _ordinary(context, builder, sig.return_type, grid, arguments[0], _WORD(0), None)

        return types.Array(grid.dtype, 1, "C")(grid), generate

    class BundleType(types.Type):
        """A pointer to the words of `fields` (a numba NamedTuple type); `constant`: they never change under compiled code."""

        def __init__(self, fields: Any, constant: bool) -> None:
            self.fields, self.constant = fields, constant
            super().__init__(name=f"Bundle({fields}, {constant})")

    @register_model(BundleType)
    class _BundleModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, ir.IntType(8).as_pointer())

    @infer_getattr
    class _BundleAttributes(AttributeTemplate):
        key = BundleType

        def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
            if name in kind.fields.fields:
                return kind.fields[kind.fields.fields.index(name)]
            return None

    @lower_getattr_generic(BundleType)
    def _read_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
        index = kind.fields.fields.index(name)
        pointer = builder.bitcast(value, context.get_value_type(kind.fields).as_pointer())
        place = cgutils.gep_inbounds(builder, pointer, 0, index)
        field = kind.fields[index]
        if not kind.constant:
            return builder.load(place)
        parts = cgutils.create_struct_proxy(field)(context, builder)
        for k in range(len(place.type.pointee.elements)):  # word by word: what is not used goes away early
            loaded = builder.load(cgutils.gep_inbounds(builder, place, 0, k))
            loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
            parts[k] = loaded
        return parts._getvalue()

    class Function:
        """A compiled function as others call it: by the address of its machine code, looked up once."""

        def __init__(self, compiled: Any, form: Any) -> None:
            result = compiled.get_compile_result(form)
            self.compiled, self.kind = compiled, types.FunctionType(form)  # it lives as long as this
            self.words = [0, id(compiled), result.library.get_pointer_to_function(result.fndesc.llvm_func_name)]

    def _words(field: Any, columns: bool) -> tuple[Any, list[int]]:
        """(numba type, or data type, dimensions and columns of an array; the words) of a field. `columns`: theirs are always as many."""
        if isinstance(field, Bundle):
            return field.kind, [field.address]
        if isinstance(field, Function):
            return field.kind, field.words
        if isinstance(field, tuple):
            return types.UniTuple(field[0].kind, len(field)), [word for function in field for word in function.words]
        if not field.flags.c_contiguous:
            raise ValueError("arrays of a bundle lie in one piece")
        address, form = field.ctypes.data, (field.dtype, field.ndim, field.shape[-1] if columns else 0)
        return form, [0, 0, field.size, field.itemsize, address, *field.shape, *field.strides] if CHECKED else [address, *field.shape]

    @functools.cache
    def _kind(name: Any, forms: tuple[Any, ...]) -> BundleType:
        """The type of a tuple of class `name`; what holds arrays only never changes."""
        kinds = [_array(*form) if isinstance(form, tuple) else form for form in forms]
        return BundleType(types.NamedTuple(kinds, name), all(isinstance(form, tuple) for form in forms))

    def _array(dtype: Any, ndim: int, columns: int) -> Any:
        """The numba type of an array in a bundle."""
        element = numba.from_dtype(dtype)
        return types.Array(element, ndim, "C") if CHECKED else GridType(element, ndim, columns)

    class Bundle:
        """The words of a NamedTuple, kept with its fields themselves."""

        def __init__(self, fields: Any, tables: frozenset[str]) -> None:
            self.fields = fields
            name: Any = type(fields)
            forms, words = zip(*(_words(field, key in tables) for key, field in zip(name._fields, fields, strict=True)), strict=True)
            self.kind = _kind(name, forms)
            self.words = np.array([word for some in words for word in some], np.int64)
            self.address = self.words.ctypes.data

    @typeof_impl.register(Bundle)
    def _type_of(value: Any, context: Any) -> Any:
        return value.kind

    @unbox(BundleType)
    def _unbox(kind: Any, value: Any, context: Any) -> Any:
        address = context.pyapi.object_getattr_string(value, "address")
        pointer = context.pyapi.long_as_voidptr(address)
        context.pyapi.decref(address)
        return NativeValue(context.builder.bitcast(pointer, ir.IntType(8).as_pointer()))

    def bundle(fields: Any, tables: frozenset[str] = frozenset()) -> Any:
        """The tuple as compiled code takes it. `tables`: its arrays that have as many columns in every launch."""
        return Bundle(fields, tables)

    def function(compiled: Any, form: Any) -> Any:
        """A function compiled with the signature `form`, as a field of a bundle."""
        return Function(compiled, form)

else:

    def bundle(fields: Any, tables: frozenset[str] = frozenset()) -> Any:
        """The tuple itself."""
        return fields

    def function(compiled: Any, form: Any) -> Any:
        """The function itself."""
        return compiled

    def segment(grid: Any, start: int, length: int) -> Any:
        """Part of a one-dimensional array, for a policy."""
        return grid[start : start + length]

    def whole(grid: Any) -> Any:
        """The array itself, for a policy."""
        return grid
