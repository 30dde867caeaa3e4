"""One slot: its content as a checked `SlotSpec`.

In: a slot, its map, which paths were overridden. Out: a `SlotSpec`, or a `RequestError` with everything wrong in the slot. What was right
once is kept: a sweep changes one slot of a device, the others are looked up.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, RequestError
from archex.describe.device import SlotSpec
from archex.describe.provenance import provenance
from archex.describe.structure import Structurer
from archex.parts.kinds import KINDS, Slot
from archex.parts.part import Chosen
from archex.registry import Registered, Registry

_KEPT = 1024
_SEEN = 512
#: What a slot is known by: its name, its content, the overridden paths in it.
_Key = tuple[str, Any, tuple[str, ...]]


class SlotDescriber:
    """Describes slots with the parts of one registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._structurer = Structurer(registry)
        self._known: dict[_Key, tuple[SlotSpec, int]] = {}  # and which map it was last
        # The same map as before is found without reading it as text: (the map, a copy that shows whether it was changed since, its spec).
        self._seen: dict[_Key, tuple[Any, Any, SlotSpec]] = {}

    def describe(self, slot: Slot, content: Any, overridden: Sequence[str]) -> SlotSpec:
        """`content` as the slot's part. overridden: the paths in this slot that the command line set."""
        here = (slot.name, id(content), tuple(overridden))
        seen = self._seen.get(here)
        if seen is not None and seen[1] == content:
            return seen[2]
        key = (slot.name, _exact(content), tuple(sorted(overridden)))
        spec, last = self._known.get(key, (None, 0))
        if spec is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            spec = self._described(slot, content, sorted(overridden))
        elif last == id(content):  # the same map for the second time: it will come again
            if len(self._seen) >= _SEEN:
                self._seen.clear()
            self._seen[here] = (content, deepcopy(content), spec)
        self._known[key] = (spec, id(content))
        return spec

    def _described(self, slot: Slot, content: Any, overridden: list[str]) -> SlotSpec:
        kind = slot.kind.replace("_", " ")
        if not isinstance(content, Mapping):
            raise RequestError([Problem(slot.name, content, f"must be a map of the {kind}'s numbers")])
        name = content.get("name", KINDS[slot.kind].name)
        if not name:
            rule = f"is missing: which {kind} this is"
            raise RequestError([Problem(f"{slot.name}.name", ABSENT, rule, tuple(self._registry.names(slot.kind)))])
        found = self._registry.find(slot.kind, name, f"{slot.name}.name")
        if isinstance(found, Problem):
            raise RequestError([found])
        return self._made(slot, found, content, overridden)

    def _made(self, slot: Slot, found: Registered, content: Mapping[str, Any], overridden: list[str]) -> SlotSpec:
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
        return SlotSpec(slot.name, found.part, spec, found.package, found.source_hash, sources, self._policies(spec))

    def _policies(self, spec: Any) -> dict[str, str]:
        """field -> hash of the source of the policy that it names."""
        named = {field.name: getattr(spec, field.name) for field in attrs.fields(type(spec))}
        chosen = {field: value.part for field, value in named.items() if isinstance(value, Chosen)}
        return {field: self._registry.parts[part.kind, part.name].source_hash for field, part in chosen.items()}


def _exact(content: Any) -> Any:
    """A key that is equal for equal content of equal types (`1` is not `true`), in the same order."""
    try:
        return marshal.dumps(content, 2)  # of this version: no references, so equal content has equal bytes
    except ValueError:  # something that YAML doesn't make
        return repr(content)
