"""How many passes an access to local memory takes.

`access_cycles(access, scratch, params) -> passes`. `access` and `scratch` are as in coalescing; `params[0]` is the banks, `params[1]` their
width in bytes, the part's own numbers follow.
`period(spec, banks, width)`: by how many bytes any pattern may be moved without needing more or fewer passes; 0 (unless a part says
better): none such. The engine asks once for patterns that differ only so.
"""

from __future__ import annotations

from typing import Any

from archex.parts.part import Part, PolicyFunction


class BankConflict(Part):
    """Each bank gives one word a pass."""

    kind = "bank_conflict"
    functions = (PolicyFunction("access_cycles", ("access", "scratch", "params"), "1 to 4096 passes", "once a local memory instruction"),)

    @classmethod
    def period(cls, spec: Any, banks: int, width: int) -> int:
        """Bytes by which a pattern may be moved and takes as many passes; 0: none."""
        return 0
