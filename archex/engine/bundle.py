"""A named tuple of arrays as one pointer in compiled code.

In: a NamedTuple of arrays. Out: an object that compiled functions take as an argument of one machine word and read by field name,
as if it were the tuple. Tuples of dozens of arrays passed by value cost hundreds of words a call and make compilation slow.
The fields never change while compiled code runs (their elements do), which the compiler is told. Interpreted, it is the tuple.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import COMPILED

if COMPILED:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import NativeValue, infer_getattr, intrinsic, lower_getattr_generic, models, register_model, typeof_impl, unbox

    class BundleType(types.Type):  # type: ignore[misc]
        """A pointer to the words of `fields` (a numba NamedTuple type); `constant`: they never change under compiled code."""

        def __init__(self, fields: Any, constant: bool) -> None:
            self.fields, self.constant = fields, constant
            super().__init__(name=f"Bundle({fields}, {constant})")

    @register_model(BundleType)
    class _BundleModel(models.PrimitiveModel):  # type: ignore[misc]
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, ir.IntType(8).as_pointer())

    @infer_getattr
    class _BundleAttributes(AttributeTemplate):  # type: ignore[misc]
        key = BundleType

        def generic_resolve(self, kind: Any, name: str) -> Any:
            if name in kind.fields.fields:
                return kind.fields[kind.fields.fields.index(name)]
            return None

    @lower_getattr_generic(BundleType)  # type: ignore[untyped-decorator]
    def _read_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
        index = kind.fields.fields.index(name)
        words = context.get_value_type(kind.fields)
        pointer = builder.bitcast(value, words.as_pointer())
        place = cgutils.gep_inbounds(builder, pointer, 0, index)
        loaded = builder.load(place)
        if kind.constant:
            loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        field = kind.fields[index]
        if context.enable_nrt:
            context.nrt.incref(builder, field, loaded)
        return loaded

    class Bundle:
        """The words of a NamedTuple of arrays, kept with the arrays themselves."""

        def __init__(self, arrays: Any) -> None:
            import numba

            self.arrays = arrays
            self.kind = BundleType(numba.typeof(arrays), True)
            words: list[int] = []
            for array in arrays:
                if not array.flags.c_contiguous:
                    raise ValueError("arrays of a bundle lie in one piece")
                words += [0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides]
            self.words = np.array(words, np.int64)
            self.address = self.words.ctypes.data

    @typeof_impl.register(Bundle)  # type: ignore[untyped-decorator]
    def _type_of(value: Any, context: Any) -> Any:
        return value.kind

    @unbox(BundleType)  # type: ignore[untyped-decorator]
    def _unbox(kind: Any, value: Any, context: Any) -> Any:
        address = context.pyapi.object_getattr_string(value, "address")
        pointer = context.pyapi.long_as_voidptr(address)
        context.pyapi.decref(address)
        return NativeValue(context.builder.bitcast(pointer, ir.IntType(8).as_pointer()))

    @intrinsic  # type: ignore[untyped-decorator]
    def in_frame(typing_context: Any, fields: Any) -> Any:
        """A bundle of any NamedTuple's fields that lives as long as the calling function runs."""
        kind = BundleType(fields, False)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = cgutils.alloca_once_value(builder, arguments[0])
            return builder.bitcast(place, ir.IntType(8).as_pointer())

        return kind(fields), generate

    def bundle(arrays: Any) -> Any:
        """The tuple as compiled code takes it."""
        return Bundle(arrays)

else:

    def in_frame(fields: Any) -> Any:
        """The tuple itself."""
        return fields

    def bundle(arrays: Any) -> Any:
        """The tuple itself."""
        return arrays
