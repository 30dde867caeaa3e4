"""The description of a tensor that bulk copies of boxes take: one argument of 128 bytes, in an encoding of archex's own.

In: a buffer, extents and strides, the box a copy moves, how it lies in local memory. Out: sixteen 64-bit words, which only the interpreter
reads: a mark, the address, numbers of the form (rank, bytes of an element, swizzle, what stands outside, kind of number), extents, strides
in bytes, the box's extents in 12 bits each.
"""

from __future__ import annotations

import struct

import attrs

from archex.programs.buffers import DTYPES
from archex.programs.interpreter.atomics import FLOAT, SIGNED
from archex.programs.interpreter.boxes import BOX_BITS, MARK, MOST_DIMENSIONS
from archex.programs.interpreter.rounding import FORMATS

SIZE = 128
ALIGNMENT = 16  # of the address and of strides
SWIZZLES = (0, 32, 64, 128)
MOST_IN_BOX = 256
OUTSIDE = ("zero", "nan")


@attrs.frozen
class TensorMap:
    """A tensor in a buffer, the innermost dimension first.

    dims: extents in elements. strides: bytes from an element to the next of dimension 1, 2, .... box: elements a copy moves. swizzle: bytes
    of the rows whose 16-byte parts are exchanged in local memory, 0 for none. outside: what elements beyond the extents read as.
    """

    buffer: str
    dtype: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int = 0
    outside: str = "zero"
    offset: int = 0

    @property
    def span(self) -> int:
        """Bytes from the tensor's first element to behind its last."""
        return DTYPES[self.dtype][0] * self.dims[0] + sum((size - 1) * step for size, step in zip(self.dims[1:], self.strides, strict=True))

    def encode(self, address: int) -> bytes:
        """Its bytes, for a buffer at `address`."""
        size = DTYPES[self.dtype][0]
        kind = FLOAT + FORMATS[self.dtype] if self.dtype in FORMATS else SIGNED * (self.dtype[0] == "i")
        form = len(self.dims) | size << 8 | SWIZZLES.index(self.swizzle) << 16 | OUTSIDE.index(self.outside) << 24 | kind << 32
        box = sum(extent << (BOX_BITS * index) for index, extent in enumerate(self.box))
        dims = (*self.dims, *(1,) * MOST_DIMENSIONS)[:MOST_DIMENSIONS]
        strides = (*self.strides, *(0,) * MOST_DIMENSIONS)[: MOST_DIMENSIONS - 1]
        return struct.pack("<16Q", MARK, address + self.offset, form, *dims, *strides, box, 0, 0, 0)


def packed(dtype: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a tensor without gaps."""
    found, step = [], DTYPES[dtype][0]
    for extent in dims[:-1]:
        step *= extent
        found.append(step)
    return tuple(found)
