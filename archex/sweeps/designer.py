"""A point becomes a design: composed, its settings split off, described. What only values tell apart is never done twice.

In: a `Point`. Out: a `Design`, with a device or with the problems that kept it from being one; never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from archex.base.errors import ArchexError, Problem, RequestError
from archex.base.options import Options
from archex.sweeps.bases import Base
from archex.sweeps.compose import Composed, Composer
from archex.sweeps.jobs import Steps, resolve
from archex.sweeps.points import Assignment, Design, Point
from archex.sweeps.settings import KEYS, Settings, Suite, split
from archex.sweeps.shelf import Shelf

#: Of a design for which it is unclear which launches are meant.
NO_SETTINGS = Settings(Suite("", Path()), Options())


class Designer:
    """Makes the designs of one request."""

    def __init__(self, composer: Composer, steps: Steps, shelf: Shelf) -> None:
        self._composer, self._steps, self._shelf = composer, steps, shelf
        self._keys: WeakKeyDictionary[Base, str] = WeakKeyDictionary()
        self._settings: WeakKeyDictionary[Base, dict[str, tuple[Settings | None, list[Problem]]]] = WeakKeyDictionary()

    @cached_property
    def _describe(self) -> Any:
        return resolve(self._steps.describe)

    def design(self, point: Point) -> Design:
        """The design of a point."""
        try:
            composed = self._composer.compose(point.assignments)
        except RequestError as error:
            said = self._said(point.assignments)
            return Design(point.index, point.assignments, _device(point), {}, said, problems=tuple(error.problems))
        settings, problems = self._split(composed)
        problems = [*composed.problems, *problems]
        base, config, values = self._based(composed)
        spec, choices = None, composed.base.choices
        try:
            spec = self._describe(config, composed.overridden, choices)
        except RequestError as error:
            problems += error.problems
        except ArchexError as error:
            problems.append(Problem("device", choices.get("device", ""), str(error)))
        return Design(
            point.index,
            point.assignments,
            choices.get("device", ""),
            config,
            settings or self._said(point.assignments),
            base,
            values,
            spec.fingerprint if spec is not None and not problems else None,
            spec,
            tuple(problems),
        )

    def _split(self, composed: Composed) -> tuple[Settings | None, list[Problem]]:
        """The settings of a design, split once for all designs that say the same about them."""
        if not composed.whole:
            return _split(composed)
        known = self._settings.setdefault(composed.base, {})
        said = repr([(key, value) for key, value in composed.values if key.partition(".")[0] in KEYS])
        if said not in known:
            known[said] = _split(composed)
        return known[said]

    def _based(self, composed: Composed) -> tuple[str, dict[str, Any], tuple[tuple[str, Any], ...]]:
        """(key of what lies on the shelf, the device's config, the values that make it of that)."""
        config = _of_device(composed.config)
        if not composed.whole:
            return self._shelf.put(config), config, ()
        if composed.base not in self._keys:
            self._keys[composed.base] = self._shelf.put(_of_device(composed.base.config))
        values = tuple((key, value) for key, value in composed.values if key.partition(".")[0] not in KEYS)
        return self._keys[composed.base], config, values

    def _said(self, assignments: Sequence[Assignment]) -> Settings:
        """The settings of a design whose config is wrong: what it says about settings alone, so that its rows name its launches."""
        try:
            composed = self._composer.compose([a for a in assignments if a.key.split(".")[0] in KEYS])
        except RequestError:
            return NO_SETTINGS
        return self._split(composed)[0] or NO_SETTINGS


def _split(composed: Composed) -> tuple[Settings | None, list[Problem]]:
    settings, _, problems = split({key: value for key, value in composed.config.items() if key in KEYS})
    return settings, problems


def _of_device(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in KEYS}


def _device(point: Point) -> str:
    """The device that a point names."""
    return next((str(a.value) for a in point.assignments if a.key == "device"), "")
