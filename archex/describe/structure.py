"""Turns a plain map into one part's frozen `Spec`, by the units, ranges and choices its fields state.

In: a map, the Spec class. Out: the Spec, or all problems under it. cattrs does the walking; a field's hook parses units. What is wrong
in several fields, at any depth, is collected into one list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
from cattrs import ClassValidationError, Converter, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from archex.base.errors import ABSENT, Problem, RequestError, unknown
from archex.base.names import join
from archex.base.units import Duration, Rate, parse, show
from archex.parts.part import Chosen, Meta, meta
from archex.registry import Registry


class _WrongError(ValueError):
    """Problems found below a field, with paths relative to it."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("; ".join(map(str, problems)))


class Structurer:
    """Structures Specs for one registry. Functions are generated once a class and reused over a sweep."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._converter = Converter(forbid_extra_keys=True, detailed_validation=True)
        self._functions: dict[type, Callable[[Any, Any], Any]] = {}

    def structure(self, cls: type, value: Any, path: str) -> Any:
        """`value` as a `cls`; RequestError with every problem, paths starting with `path`."""
        try:
            return self._structure(cls, value)
        except _WrongError as error:
            moved = [p._replace(path=_under(path, p.path)) for p in error.problems]
            raise RequestError(moved) from None

    def _structure(self, cls: type, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _WrongError(Problem("", value, "must be a map", tuple(f.name for f in attrs.fields(cls))))
        try:
            return self._function(cls)(dict(value), cls)
        except ClassValidationError as error:
            raise _WrongError(*_problems(error, cls, value)) from None

    def _function(self, cls: type) -> Callable[[Any, Any], Any]:
        if cls not in self._functions:
            hooks: dict[str, Any] = {field.name: override(struct_hook=self._hook(meta(field))) for field in attrs.fields(cls)}
            self._functions[cls] = make_dict_structure_fn(
                cls, self._converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=True, **hooks
            )
        return self._functions[cls]

    def _hook(self, known: Meta) -> Callable[[Any, Any], Any]:
        def one(value: Any) -> Any:
            if value is None and known.optional and not known.each:
                return None
            if known.nested is not None:
                return self._structure(known.nested, value)
            if known.policy:
                return self._policy(known, value)
            return leaf(value, known)

        def hook(value: Any, _: Any) -> Any:
            if known.each == "map":
                if not isinstance(value, Mapping):
                    raise _WrongError(Problem("", value, "must be a map of names"))
                # null: an entry of the file it starts from that this device lacks
                return dict(_each(((str(key), item) for key, item in value.items() if item is not None), one))
            if known.each == "list":
                if not isinstance(value, (list, tuple)):
                    raise _WrongError(Problem("", value, "must be a list"))
                return [item for _, item in _each(enumerate(value), one)]
            return one(value)

        return hook

    def _policy(self, known: Meta, value: Any) -> Chosen:
        name, numbers = (value.get("name"), value) if isinstance(value, Mapping) else (value, {})
        found = self.registry.find(known.policy, name, "")
        if isinstance(found, Problem):
            raise _WrongError(found)
        given = {key: item for key, item in numbers.items() if key != "name"}
        spec = self._structure(found.part.Spec, given)
        if wrong := found.part.check(spec):
            raise _WrongError(*(Problem(field, given.get(field, broken), rule, combined=True) for field, broken, rule in wrong))
        return Chosen(found.part, spec)


def leaf(value: Any, known: Meta) -> Any:
    """One number, name or flag, checked against its field."""
    if known.unit == "flag":
        if not isinstance(value, bool):
            raise _WrongError(Problem("", value, "must be true or false"))
        return value
    if known.unit == "name":
        if known.choices and value not in known.choices:
            raise _WrongError(unknown("", value, known.choices))
        if not isinstance(value, str):
            raise _WrongError(Problem("", value, "must be a name"))
        return value
    try:
        number = parse(value, known.unit)
    except ValueError as error:
        raise _WrongError(Problem("", value, str(error))) from None
    size = number.value if isinstance(number, (Duration, Rate)) else number
    for bound, broken, word in ((known.low, _less(size, known.low), "at least"), (known.high, _less(known.high, size), "at most")):
        if broken:
            raise _WrongError(Problem("", value, f"must be {word} {show(bound, known.unit)}"))
    return number


def _less(a: Any, b: Any) -> bool:
    return a is not None and b is not None and bool(a < b)


def _each(items: Any, one: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
    """`one` of every item; the problems of all items together."""
    done, problems = [], []
    for key, value in items:
        try:
            done.append((key, one(value)))
        except _WrongError as error:
            problems += [p._replace(path=_under(join(key), p.path)) for p in error.problems]
    if problems:
        raise _WrongError(*problems)
    return done


def _under(path: str, rest: str) -> str:
    return path + rest if rest.startswith("[") else join(path, rest)


def _problems(error: ClassValidationError, cls: type, value: Mapping[str, Any]) -> list[Problem]:
    """cattrs' group of exceptions as problems with paths relative to the class."""
    named, others = error.group_exceptions()
    fields = [field.name for field in attrs.fields(cls)]
    found: list[Problem] = []
    for exception in others:
        if not isinstance(exception, ForbiddenExtraKeysError):
            raise exception
        found += [unknown(str(key), ABSENT, fields, "key") for key in sorted(map(str, exception.extra_fields))]
    for exception, note in named:
        if isinstance(exception, _WrongError):
            found += [p._replace(path=_under(note.name, p.path)) for p in exception.problems]
        elif isinstance(exception, KeyError) and note.name not in value:
            field = meta(getattr(attrs.fields(cls), note.name))
            found.append(Problem(note.name, ABSENT, f"is missing: {field.meaning}" + _unit(field)))
        else:
            raise exception
    return found


def _unit(field: Meta) -> str:
    return "" if field.unit in ("", "name", "flag") else f" ({field.unit})"
