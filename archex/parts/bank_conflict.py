"""How many passes an access to local memory takes.

`access_cycles(access, scratch, params) -> passes`. `access` and `scratch` are as in coalescing; `params[0]` is the banks, `params[1]` their
width in bytes, the part's own numbers follow.
"""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction


class BankConflict(Part):
    """Each bank gives one word a pass."""

    kind = "bank_conflict"
    functions = (PolicyFunction("access_cycles", ("access", "scratch", "params"), "1 to 4096 passes", "once a local memory instruction"),)
