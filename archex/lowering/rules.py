"""An instruction set's text made ready: steps parsed, the rule for an operation found.

In: an `InstructionSetSpec`. Out: `Rules`, which answers with the steps for an operation and its attributes, or refuses it by name.
"""

from __future__ import annotations

import re

import attrs

from archex.base.errors import Problem, RequestError, UnsupportedError
from archex.parts.instruction_set import InstructionSetSpec
from archex.parts.machine_operations import MACHINE_OPERATIONS

_SINGLE = tuple("prologue memory_prologue local_base parameter parameter_uniform branch memory_wait product_wait before_copies".split())
_STEP = re.compile(r"\s*(?:([a-z]\w*)\s*=\s*)?([a-z][\w.]*)\s*([\w\s,]*?)\s*(?:@\s*(\w+))?\s*$")


@attrs.frozen
class Step:
    """`result = operation inputs @ guard`; operation is a machine operation, or the key of another expansion."""

    result: str
    operation: str
    inputs: tuple[str, ...]
    guard: str = ""


def parse_steps(text: str, path: str) -> tuple[Step, ...]:
    """Steps of one expansion."""
    found = []
    for part in text.split(";"):
        if not part.strip():
            continue
        match = _STEP.match(part)
        if match is None:
            raise RequestError([Problem(path, part.strip(), "is not a step `result = operation input, input @ guard`")])
        result, operation, inputs, guard = match.groups()
        names = tuple(name.strip() for name in inputs.split(",") if name.strip())
        found.append(Step(result or "", operation, names, guard or ""))
    return tuple(found)


def _pair(text: str) -> tuple[str, str]:
    before, _, after = text.partition(";")
    return before.strip(), after.strip()


class Rules:
    """Expansions by key, and the search for the one that fits an operation best."""

    def __init__(self, spec: InstructionSetSpec) -> None:
        self.spec = spec
        self.steps = {key: parse_steps(text, f"instruction_set.expansions.{key}") for key, text in spec.expansions.items()}
        self.by_operation: dict[str, list[tuple[frozenset[str], str]]] = {}
        for key in self.steps:
            operation, *needs = key.split(".")
            self.by_operation.setdefault(operation, []).append((frozenset(needs), key))
        for choices in self.by_operation.values():
            choices.sort(key=lambda choice: -len(choice[0]))
        self.specials = {name: parse_steps(text, f"instruction_set.specials.{name}") for name, text in spec.specials.items()}
        self.single = {name: parse_steps(getattr(spec, name), f"instruction_set.{name}") for name in _SINGLE}
        self.before_divergence, self.after_divergence = _pair(spec.divergence)
        self.before_guard, self.after_guard = _pair(spec.guard)
        self.immediate_free = frozenset(spec.immediate_free.split())
        self.immediate_none = frozenset(spec.immediate_none.split())
        self.uniform = dict(spec.uniform)
        self._found: dict[tuple[str, frozenset[str]], str] = {}
        self._check()

    def _check(self) -> None:
        known = self.steps.keys() | MACHINE_OPERATIONS.keys()
        problems = [
            Problem(f"instruction_set.expansions.{key}", step.operation, "is neither a machine operation nor an expansion")
            for key, steps in self.steps.items()
            for step in steps
            if step.operation not in known
        ]
        if problems:
            raise RequestError(problems)

    def key(self, operation: str, attributes: frozenset[str], opcode: str, line: int = 0) -> str:
        """The expansion with the most attributes that all hold."""
        found = self._found.get((operation, attributes))
        if found is None:
            for needs, key in self.by_operation.get(operation, ()):
                if needs <= attributes:
                    found = self._found[operation, attributes] = key
                    break
            else:
                raise UnsupportedError(
                    f"{opcode or operation}{f' (line {line})' if line else ''}: the instruction set has no expansion for it"
                )
        return found

    def special(self, name: str) -> tuple[Step, ...]:
        """How a hardware value is read."""
        return self.specials.get(name.split(".")[0], self.specials["default"])
