"""Which line of a set goes when a new one comes.

`pick_victim(view, state, params) -> way`. `view`: `first`, `ways` and `last_use` (last_use[first + way] is the access that used it last,
larger is later), `index` (the set's number over all slices and instances of the level), `hit`. It is asked only when every way is in use.
The feedback functions are optional and find the way in `view.hit`. All share one `state` a level.
`state_words(spec, count, each)`: `count` is the sets of the level, `each` its ways.
"""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction

_VIEW = ("view", "state", "params")


class Replacement(Part):
    """Keeps what will be used again, as far as the past tells."""

    kind = "replacement"
    functions = (
        PolicyFunction("pick_victim", _VIEW, "a way, 0 to view.ways - 1", "on a fill into a full set"),
        PolicyFunction("note_hit", _VIEW, "nothing", "after a hit", required=False),
        PolicyFunction("note_fill", _VIEW, "nothing", "after a fill", required=False),
    )
