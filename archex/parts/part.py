"""What a part is: a class with a kind, a name, a `Spec` of numbers and pure policy functions.

In: nothing. Out: `Part`, the base of every kind's page, and the field makers with which a `Spec` states unit, range and meaning.
A part never acts: the engine reads its numbers as tables and calls its compiled functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import attrs

META = "archex"


@attrs.frozen
class Meta:
    """What is known about a field: `unit` (see `archex.base.units`), its meaning, and what may stand there.

    low, high: the allowed range, in the unit. choices: the allowed names. policy: the kind of part that the field names.
    nested: the class of a value that is itself a map; each: `map` or `list` when there are many of it.
    """

    unit: str
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    policy: str = ""
    nested: type | None = None
    each: str = ""
    optional: bool = False


def number(
    unit: str, meaning: str, *, low: float | None = 0, high: float | None = None, default: Any = attrs.NOTHING, each: str = ""
) -> Any:
    """A number in `unit`; with `default=None` it may be `null`, which means that the part has no such thing."""
    return _field(Meta(unit, meaning, low, high, each=each, optional=default is None), default)


def choice(meaning: str, choices: Sequence[str], *, default: Any = attrs.NOTHING) -> Any:
    """One of a few names."""
    return _field(Meta("name", meaning, choices=tuple(choices), optional=default is None), default)


def text(meaning: str, *, default: Any = attrs.NOTHING, each: str = "") -> Any:
    """A free name."""
    return _field(Meta("name", meaning, each=each, optional=default is None), default)


def flag(meaning: str, *, default: Any = attrs.NOTHING) -> Any:
    """True or false."""
    return _field(Meta("flag", meaning), default)


def policy(kind: str, meaning: str, *, default: Any = attrs.NOTHING) -> Any:
    """Another part, of `kind`, that decides for this one: its name, or a map of its name and numbers."""
    return _field(Meta("name", meaning, policy=kind, optional=default is None), default)


def nested(cls: type, meaning: str, *, each: str = "", default: Any = attrs.NOTHING) -> Any:
    """A group of fields (`each=""`), or a map of names to such groups (`each="map"`)."""
    return _field(Meta("", meaning, nested=cls, each=each, optional=default is None), default)


def _field(meta: Meta, default: Any) -> Any:
    if isinstance(default, (list, dict)):
        return attrs.field(factory=lambda: type(default)(default), metadata={META: meta})
    return attrs.field(default=default, metadata={META: meta})


def meta(field: Any) -> Meta:
    """What is known about an attrs field of a `Spec`."""
    found: Meta = field.metadata[META]
    return found


@attrs.frozen
class PolicyFunction:
    """A decision that a kind of part makes: the function's name, its arguments, what it returns and when it is called.

    An optional function that a part leaves out costs nothing: the engine never calls it.
    """

    name: str
    arguments: tuple[str, ...]
    returns: str
    meaning: str
    required: bool = True


@attrs.frozen
class Counter:
    """A number that the engine counts for a part: name, unit, meaning and the result column in which it ends."""

    name: str
    unit: str
    meaning: str
    column: str


@attrs.frozen
class NoNumbers:
    """The `Spec` of a policy without parameters."""


@attrs.frozen
class Chosen:
    """A policy as configured: which part decides, with which numbers."""

    part: type[Part]
    spec: Any


class Part:
    """Base of all parts. A kind's page derives from it once; a plugin derives its parts from that page."""

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    Spec: ClassVar[type] = NoNumbers
    functions: ClassVar[tuple[PolicyFunction, ...]] = ()
    counters: ClassVar[tuple[Counter, ...]] = ()

    @classmethod
    def parameters(cls, spec: Any) -> tuple[float, ...]:
        """What policy functions receive as `params`: every number and flag of the Spec, in order, as float64."""
        return cls.numbers(spec)

    @classmethod
    def numbers(cls, spec: Any, but: type = NoNumbers) -> tuple[float, ...]:
        """Every number and flag of the Spec, in order, without those of the Spec `but`."""
        common = {field.name for field in attrs.fields(but)}
        values = [getattr(spec, field.name) for field in attrs.fields(cls.Spec) if field.name not in common]
        return tuple(float(value) for value in values if isinstance(value, (int, float)))

    @classmethod
    def state_words(cls, spec: Any, count: int, each: int) -> int:
        """How many 64-bit words of `state` a policy needs, zeroed before each launch; the kind's page says what is counted."""
        return 0

    @classmethod
    def check(cls, spec: Any) -> list[tuple[str, Any, str]]:
        """Rules between fields that a range can't say, as (field, value, rule) of each broken one."""
        return []

    @classmethod
    def function(cls, name: str) -> Callable[..., Any] | None:
        """A policy function as a plain function, or None where the part leaves it out."""
        found = getattr(cls, name, None)
        return found if callable(found) else None
