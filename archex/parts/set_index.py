"""In which set of a slice a line lies: `set_index(line, sets, params) -> set`. `sets` is any count, not only a power of two."""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction


class SetIndex(Part):
    """Spreads lines over sets."""

    kind = "set_index"
    functions = (PolicyFunction("set_index", ("line", "sets", "params"), "a set, 0 to sets - 1", "on every look-up"),)
