"""The unit that multiplies small matrices: shapes by type of operands, how long each holds the unit, where operands come from.

A shape is what one wave-instruction does: an m x k by k x n product added to an m x n accumulator, in `n_most / n` steps of `n`
columns. The lowering maps a program's product onto the shapes of its types by ceil(products / (m n k)); a device without a fitting
shape says `unsupported`.
"""

from __future__ import annotations

import attrs

from archex.parts.part import Counter, Part, choice, flag, nested, number, text
from archex.parts.timing import PipeSpec

#: Types of elements, as programs name them.
ELEMENTS = ("f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "e4m3", "e5m2")
#: Prefix of the machine operation of a shape: `matrix.NAME`.
OPERATION = "matrix."


@attrs.frozen(kw_only=True)
class ShapeSpec:
    """One shape: extents of a step, types, costs of a wave-instruction."""

    m: int = number("count", "rows of the accumulator that a wave's instruction covers", low=1, high=256)
    n: int = number("count", "columns of one step", low=1, high=256)
    k: int = number("count", "length of the products that are summed", low=1, high=512)
    n_most: int | None = number(
        "count", "most columns of one instruction, in steps of `n`; left out: one step", default=None, low=1, high=1024
    )
    elements: str = text("types of the operands, parted by spaces")
    accumulators: str = text("types of the accumulator, parted by spaces")
    interval: float = number("cycles", "cycles a step holds the unit", low=0.1, high=10000)
    least: float = number("cycles", "cycles an instruction holds it at least", default=0, high=10000)
    latency: float = number("cycles", "from the start of the last step until a dependent instruction may issue", high=10000)
    source: str = choice(
        "where the second operand comes from; local memory: the instruction runs beside its wave, which waits for it by group",
        ("registers", "local_memory"),
        default="registers",
    )
    sparse: bool = flag("the first operand is stored without its zeros, two of four: `k` counts the zeros too", default=False)


@attrs.frozen(kw_only=True)
class MatrixUnitSpec:
    """Pipe and shapes."""

    pipes: dict[str, PipeSpec] = nested(PipeSpec, "execution pipes by name; the shapes run on the first", each="map")
    shapes: dict[str, ShapeSpec] = nested(ShapeSpec, "shapes by name", each="map")


class MatrixUnit(Part):
    """Products of small matrices, one unit next to each wave scheduler."""

    kind = "matrix_unit"
    Spec = MatrixUnitSpec
    counters = (
        Counter("matrix_instructions", "instructions", "matrix operations issued", "matrix_instructions"),
        Counter("matrix_cycles", "cycles", "cycles in which a matrix pipe was held", "matrix_active_pct"),
    )

    @classmethod
    def check(cls, spec: MatrixUnitSpec) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        if len(spec.pipes) != 1:
            found.append(("pipes", ", ".join(spec.pipes), "must be one pipe"))
        for name, shape in spec.shapes.items():
            for field in ("elements", "accumulators"):
                for given in getattr(shape, field).split():
                    if given not in (*ELEMENTS, "s32"):
                        found.append((f"shapes.{name}.{field}", given, f"must be among {' '.join(ELEMENTS)} s32"))
            if shape.n_most is not None and shape.n_most % shape.n:
                found.append((f"shapes.{name}.n_most", shape.n_most, f"must be a multiple of n ({shape.n})"))
        return found
