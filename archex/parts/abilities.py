"""What a device can do beside plain operations, as the lowering asks for it: shapes of its matrix unit, copies that pass its registers.

In: the matrix unit's and the asynchronous copy unit's `Spec`, or None where a device lacks the part. Out: `Abilities`, plain data.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from archex.parts.async_copy_unit import AsyncCopyUnitSpec, abilities
from archex.parts.matrix_unit import MatrixUnitSpec, ShapeSpec


@attrs.frozen(kw_only=True)
class Abilities:
    """lanes: of a wave. shapes: of the matrix unit, by name. copy_widths: bytes a lane that copies past registers move. copies: which
    further copies there are (`async_copy_unit.ABILITIES`)."""

    lanes: int = 32
    shapes: Mapping[str, ShapeSpec] = attrs.field(factory=dict)
    copy_widths: tuple[int, ...] = ()
    copies: tuple[str, ...] = ()


def abilities_of(lanes: int, matrix: MatrixUnitSpec | None, copies: AsyncCopyUnitSpec | None) -> Abilities:
    """What a device with these parts can do."""
    return Abilities(
        lanes=lanes,
        shapes=dict(matrix.shapes) if matrix is not None else {},
        copy_widths=tuple(copies.small_widths) if copies is not None else (),
        copies=tuple(sorted(abilities(copies))),
    )


#: Plain operations only.
NOTHING = Abilities()
