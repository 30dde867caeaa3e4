"""Checks one part that a plugin hands over: its kind, its name, its numbers and its policy functions.

In: a class. Out: what is wrong with it, each with a path. `archex plugins check` and the contract tests use the same checks.
"""

from __future__ import annotations

import inspect
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, closest, unknown
from archex.base.names import NAME
from archex.base.units import UNITS
from archex.parts.kinds import KINDS
from archex.parts.part import META, Meta, NoNumbers, Part


def check_part(part: Any, package: str) -> list[Problem]:
    """Everything that is wrong with a part."""
    if not (isinstance(part, type) and issubclass(part, Part)):
        return [Problem(f"plugins.{package}", part, "isn't a class derived from a kind's page in archex.parts")]
    path = f"{part.kind or '?'}.{part.name or part.__name__}"
    page = KINDS.get(part.kind)
    if page is None or not issubclass(part, page):
        return [unknown(f"{path}.kind", part.kind, KINDS, f"kind (package {package}: derive from the kind's page)")]
    problems = []
    if not NAME.match(part.name):
        problems.append(Problem(f"{path}.name", part.name, f"must be a lower-case name (package {package})"))
    if not (isinstance(part.Spec, type) and issubclass(part.Spec, page.Spec)) and page.Spec is not NoNumbers:
        problems.append(Problem(f"{path}.Spec", part.Spec, f"must derive from {page.Spec.__name__} (package {package})"))
    return problems + _check_spec(part, path, package) + _check_functions(part, path, package)


def _check_spec(part: type[Part], path: str, package: str) -> list[Problem]:
    if not attrs.has(part.Spec) or part.Spec.__setattr__ is object.__setattr__:
        return [Problem(f"{path}.Spec", part.Spec, f"must be a class made with @attrs.frozen (package {package})")]
    problems = []
    for field in attrs.fields(part.Spec):
        found = field.metadata.get(META)
        if not isinstance(found, Meta):
            rule = f"needs a unit and a meaning (package {package}): make it with number(), choice() or flag() of archex.parts.part"
            problems.append(Problem(f"{path}.Spec.{field.name}", ABSENT, rule))
        elif not found.meaning:
            problems.append(Problem(f"{path}.Spec.{field.name}", ABSENT, f"needs a meaning (package {package})"))
        elif found.unit and found.unit not in UNITS:
            problems.append(unknown(f"{path}.Spec.{field.name}", found.unit, UNITS, "unit"))
        elif found.policy and found.policy not in KINDS:
            problems.append(unknown(f"{path}.Spec.{field.name}", found.policy, KINDS, "kind"))
    return problems


def _check_functions(part: type[Part], path: str, package: str) -> list[Problem]:
    problems = []
    names = [function.name for function in part.functions]
    for declared in part.functions:
        given = part.function(declared.name)
        if given is None:
            if declared.required:
                problems.append(Problem(f"{path}.{declared.name}", ABSENT, f"is missing (package {package}): {_form(declared)}"))
            continue
        if not isinstance(inspect.getattr_static(part, declared.name), staticmethod):
            problems.append(Problem(f"{path}.{declared.name}", ABSENT, f"must be a staticmethod (package {package}): a policy has no self"))
            continue
        arguments = tuple(inspect.signature(given).parameters)
        if arguments != declared.arguments:
            shown = f"{declared.name}({', '.join(arguments)})"
            problems.append(Problem(f"{path}.{declared.name}", shown, f"has the wrong signature (package {package}): {_form(declared)}"))
    own = [name for name, value in vars(part).items() if isinstance(value, staticmethod) and not name.startswith("_")]
    for name in own:
        nearest = closest(name, names)
        if name not in names and nearest:
            problems.append(
                Problem(f"{path}.{name}", ABSENT, f"is not a function of a {part.kind} (package {package})", tuple(names), nearest)
            )
    return problems


def _form(declared: Any) -> str:
    return f"expected {declared.name}({', '.join(declared.arguments)}) -> {declared.returns}"
