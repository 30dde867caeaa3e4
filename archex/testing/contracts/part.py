"""What holds for a part of any kind.

In: the part, its numbers. Out: tests that a kind's contract inherits, and the part's functions as the engine calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np

from archex.describe.structure import Structurer
from archex.engine.policies import ARGUMENTS, compile_policy
from archex.parts.part import META, Part
from archex.registry import Registered, Registry
from archex.registry.check import check_part


class PartContract:
    """Holds for every part."""

    part: ClassVar[type[Part]]
    spec: ClassVar[dict[str, Any]] = {}

    def made(self) -> Any:
        """The part's Spec from its numbers."""
        registry = Registry({(self.part.kind, self.part.name): Registered(self.part, "test", "")})
        return Structurer(registry).structure(self.part.Spec, self.spec, self.part.kind)

    def params(self, *before: float) -> np.ndarray:
        return np.array([*before, *self.part.parameters(self.made())], dtype=np.float64)

    def state(self, count: int, each: int) -> np.ndarray:
        return np.zeros(self.part.state_words(self.made(), count, each), dtype=np.int64)

    def policy(self, name: str) -> Callable[..., int]:
        """A policy function as the engine calls it: compiled, or plain under ARCHEX_JIT=0 (then a debugger stops in it)."""
        return compile_policy(getattr(self.part, name), name)  # type: ignore[no-any-return]

    def test_declares_what_its_kind_asks_for(self) -> None:
        assert [str(problem) for problem in check_part(self.part, "test")] == []

    def test_says_what_the_hardware_does(self) -> None:
        assert self.part.__doc__, "the class needs a docstring"

    def test_numbers_have_unit_and_meaning(self) -> None:
        for field in attrs.fields(self.part.Spec):
            assert field.metadata[META].meaning, field.name

    def test_numbers_are_frozen(self) -> None:
        assert attrs.fields(self.part.Spec) == () or "__setattr__" in vars(self.part.Spec)

    def test_compiles_with_the_signature_of_its_kind(self) -> None:
        for declared in self.part.functions:
            function = self.part.function(declared.name)
            if function is not None and declared.name in ARGUMENTS:
                compile_policy(function, declared.name)

    def test_counters_have_unit_meaning_and_column(self) -> None:
        for counter in self.part.counters:
            assert all((counter.name, counter.unit, counter.meaning, counter.column)), counter
