"""How the lanes' addresses become lines and sectors.

`coalesce(access, line, sector, lines, sectors, scratch, params) -> count`. `access`: `addresses` (one a lane, -1 inactive), `lanes`,
`bytes` (a lane), `store`. It writes the number of each line to look up to `lines` and the bits of its sectors to `sectors`. A line may come
more than once: each time is a look-up of its own, and what an earlier one has asked for is on its way. `scratch` is working space
whose word 0 is a generation number: add 1 and treat what carries an older number as empty.
"""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction

_ARGUMENTS = ("access", "line", "sector", "lines", "sectors", "scratch", "params")


class Coalescing(Part):
    """Merges what lanes of one instruction want from one line."""

    kind = "coalescing"
    functions = (PolicyFunction("coalesce", _ARGUMENTS, "the number of lines written", "once a global memory instruction"),)
