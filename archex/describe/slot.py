"""One slot: its content as a checked `SlotSpec`.

In: a slot, its map, which paths were overridden. Out: a `SlotSpec`, or a `RequestError` with everything wrong in the slot. What was right
once is kept: a sweep changes one slot of a device, the others are looked up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from archex.base.errors import ABSENT, Problem, RequestError
from archex.describe.device import SlotSpec
from archex.describe.provenance import provenance
from archex.describe.structure import Structurer
from archex.parts.kinds import KINDS, Slot
from archex.registry import Registered, Registry

_KEPT = 1024


class SlotDescriber:
    """Describes slots with the parts of one registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._structurer = Structurer(registry)
        self._known: dict[tuple[str, str, str], SlotSpec] = {}

    def describe(self, slot: Slot, content: Any, overridden: Collection[str]) -> SlotSpec:
        """`content` as the slot's part."""
        kind = slot.kind.replace("_", " ")
        if not isinstance(content, Mapping):
            raise RequestError([Problem(slot.name, content, f"must be a map of the {kind}'s numbers")])
        name = content.get("name", KINDS[slot.kind].name)
        if not name:
            rule = f"is missing: which {kind} this is"
            raise RequestError([Problem(f"{slot.name}.name", ABSENT, rule, tuple(self._registry.names(slot.kind)))])
        mine = sorted(path for path in overridden if path == slot.name or path.startswith(f"{slot.name}."))
        key = (slot.name, repr(content), repr(mine))
        if key not in self._known:
            found = self._registry.find(slot.kind, name, f"{slot.name}.name")
            if isinstance(found, Problem):
                raise RequestError([found])
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = self._made(slot, found, content, mine)
        return self._known[key]

    def _made(self, slot: Slot, found: Registered, content: Mapping[str, Any], overridden: Collection[str]) -> SlotSpec:
        numbers = {key: value for key, value in content.items() if key not in ("name", "sources")}
        sources, problems = provenance(slot.name, content.get("sources") or {}, numbers, overridden)
        try:
            spec = self._structurer.structure(found.part.Spec, numbers, slot.name)
        except RequestError as error:
            raise RequestError(problems + error.problems) from None
        for field, value, rule in found.part.check(spec):
            problems.append(Problem(f"{slot.name}.{field}", numbers.get(field, value), rule, combined=True))
        if problems:
            raise RequestError(problems)
        return SlotSpec(slot.name, found.part, spec, found.package, found.source_hash, sources)
