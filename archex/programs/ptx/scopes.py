"""Names inside one function: registers, variables and labels by nested scope.

In: declarations in order. Out: register numbers, scopes, and a suggestion for a name that isn't there.
"""

from __future__ import annotations

import re

from archex.base.errors import closest
from archex.programs.ir import Register
from archex.programs.ptx.syntax import Routine, Vector

#: Special registers; `.x .y .z .w` follow where a value has parts.
SPECIALS = frozenset(
    """tid ntid laneid warpid nwarpid ctaid nctaid smid nsmid gridid is_explicit_cluster clusterid nclusterid cluster_ctaid
    cluster_nctaid cluster_ctarank cluster_nctarank lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi
    clock64 globaltimer globaltimer_lo globaltimer_hi total_smem_size aggr_smem_size dynamic_smem_size current_graph_exec
    reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap""".split()
)
_NUMBERED = re.compile(r"pm[0-7](_64)?$|envreg([0-9]|[12][0-9]|3[01])$|reserved_smem_offset_[01]$")
_PARTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


def special_name(text: str) -> str | None:
    """`tid.x` for `%tid.x`; None for anything that is no special register."""
    if not text.startswith("%"):
        return None
    name = text[1:]
    head = name.split(".", 1)[0]
    return name if head in SPECIALS or _NUMBERED.match(head) else None


class Scopes:
    """The open scopes of one function while it is parsed."""

    def __init__(self, routine: Routine) -> None:
        self.routine = routine
        self.stack = [0]
        self._single: list[dict[str, Register | Vector]] = [{}]
        self._ranges: list[dict[str, tuple[str, int]]] = [{}]
        self._found: dict[tuple[int, str], Register | Vector] = {}

    @property
    def current(self) -> int:
        return self.stack[-1]

    def open(self) -> None:
        self.routine.scope_parent.append(self.current)
        self.stack.append(len(self.routine.scope_parent) - 1)
        self._single.append({})
        self._ranges.append({})

    def close(self) -> None:
        self.stack.pop()
        self._single.pop()
        self._ranges.pop()

    def new(self, dtype: str, name: str) -> Register:
        self.routine.register_dtypes.append(dtype)
        self.routine.register_names.append(name)
        return Register(len(self.routine.register_dtypes) - 1)

    def declare(self, name: str, dtype: str, count: int | None, lanes: int) -> Register | None:
        """`%r` or `%r<count>`, `lanes` > 1 for vector registers. A range makes its registers when they are first used."""
        if count is not None:
            self._ranges[-1][name] = (dtype, count)
            return None
        if lanes == 1:
            register = self.new(dtype, name)
            self._single[-1][name] = register
            return register
        self._single[-1][name] = Vector(tuple(self.new(dtype, f"{name}.{'xyzw'[i]}") for i in range(lanes)))
        return None

    def register(self, text: str) -> Register | Vector | None:
        """The register a name stands for in the innermost scope that has it."""
        key = (self.current, text)
        found = self._found.get(key)
        if found is None:
            found = self._look(text)
            if found is not None:
                self._found[key] = found
        return found

    def _look(self, text: str) -> Register | Vector | None:
        for depth in range(len(self.stack) - 1, -1, -1):
            single = self._single[depth].get(text)
            if single is not None:
                return single
            ranged = self._from_range(text, depth)
            if ranged is not None:
                return ranged
        head, dot, part = text.rpartition(".")
        if dot and part in _PARTS:
            vector = self._look(head)
            if isinstance(vector, Vector) and _PARTS[part] < len(vector.items):
                return vector.items[_PARTS[part]]  # type: ignore[return-value]
        return None

    def _from_range(self, text: str, depth: int) -> Register | None:
        ranges = self._ranges[depth]
        at = len(text)
        while at > 1 and text[at - 1].isdigit():
            at -= 1
            known = ranges.get(text[:at])
            if known is not None and (text[at] != "0" or at == len(text) - 1) and int(text[at:]) < known[1]:
                register = self.new(known[0], text)
                self._single[depth][text] = register
                return register
        return None

    def hint(self, text: str) -> str:
        """What may have been meant by an unknown register, as the end of a message."""
        head = text.rstrip("0123456789")
        for ranges in reversed(self._ranges):
            if head in ranges and head != text:
                return f"; `{head}<{ranges[head][1]}>` ends at `{head}{ranges[head][1] - 1}`"
        meant = closest(text, [name for single in self._single for name in single])
        return f"; did you mean `{meant}`?" if meant else ""
