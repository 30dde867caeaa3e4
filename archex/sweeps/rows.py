"""The rows of a design: one for each launch of its suite, or for each variant, with the columns that are known beforehand.

In: a plan and its designs. Out: `Program`s, whose launches lie on the plan's shelf, and the identities of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import attrs

from archex.records import provenance
from archex.sweeps.protocols import Planned
from archex.sweeps.settings import Settings


@attrs.frozen
class Program:
    """A row of every design: a launch, or one variant of it."""

    launch: str
    variant: str | None
    key: str  # on the shelf
    fingerprint: str
    lanes: int


class Rows:
    """Of the designs of one plan."""

    def __init__(self, plan: Planned) -> None:
        self._plan = plan
        self._programs: dict[tuple[Any, int], list[Program]] = {}

    def of(self, design: Any) -> list[tuple[Program, dict[str, Any]]]:
        """The columns known beforehand of each row of a design."""
        settings: Settings = design.settings
        named = {
            "suite": settings.suite.name,
            "device": design.device,
            "overrides": design.overrides,
            "device_fingerprint": design.fingerprint,
        }
        stand_in = design.fingerprint or provenance.of_config(dict(design.config) or {"device": design.device, "": design.overrides})
        return [
            (
                program,
                named
                | {
                    "launch": program.launch,
                    "variant": program.variant,
                    "program_fingerprint": program.fingerprint,
                    "point_id": provenance.point_id(stand_in, program.fingerprint, settings.options),
                },
            )
            for program in self.programs(settings.suite, settings.options.seed)
        ]

    def programs(self, suite: Any, seed: int) -> list[Program]:
        """What a design with this suite runs."""
        if (suite, seed) not in self._programs:
            self._programs[suite, seed] = [
                Program(launch_id, variant, self._plan.shelf.put(launch), provenance.program_fingerprint(launch, seed), _lanes(launch))
                for launch_id, launch, variant in programs(self._plan.launches[suite], suite.variants)
            ]
        return self._programs[suite, seed]


def programs(launches: Mapping[str, Any], variants: str) -> Iterator[tuple[str, Any, str | None]]:
    """(id, launch, the one variant it stands for) of each row; under `suite.variants=all` a launch is a row for each of its variants."""
    for launch_id, launch in launches.items():
        alternatives = getattr(launch, "variants", ())
        if variants == "all" and alternatives:
            yield from ((launch_id, attrs.evolve(launch, variants=(one,)), one.name) for one in alternatives)
        else:
            yield launch_id, launch, None


def _lanes(launch: Any) -> int:
    """A guess at a launch's size: its lanes, over all its programs."""
    variants = getattr(launch, "variants", ())
    if variants:
        return sum(_lanes(variant.launch) for variant in variants)
    parts = getattr(launch, "sequence", None) or (launch,)
    return sum(prod(part.grid) * prod(part.block) for part in parts)
