"""What holds for a part of any kind.

In: the part, its numbers. Out: tests that a kind's contract inherits: what the registry checks, and the part in the device `tiny`, whose
parts it replaces: numbers are checked, the device assembles, a program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import attrs
import numpy as np

from archex.assembly import Device, assemble
from archex.base.errors import RequestError, UnsupportedError
from archex.base.options import Options
from archex.describe import DeviceSpec, describe
from archex.describe.fit import fit
from archex.describe.structure import Structurer
from archex.engine.policies import ARGUMENTS, compile_policy
from archex.parts.part import META, Part, meta
from archex.registry import Registered, Registry
from archex.registry.check import check_part
from archex.simulate import simulate
from archex.testing.change import numbers, scaled
from archex.testing.devices import compose, installed
from archex.testing.launches import exercise

#: Columns of a row that two equal runs may differ in.
RUN_COSTS = ("simulate_seconds", "trace_seconds", "compile_seconds", "peak_memory_bytes")


class PartContract:
    """Holds for every part.

    part, spec: the part and its numbers, as in a config. places: where it stands in a device, slots or fields of slots.
    costs, gains: numbers of which more never makes a device faster, or slower. program: what is run to see it (`launches`).
    """

    part: ClassVar[type[Part]]
    spec: ClassVar[dict[str, Any]] = {}
    device: ClassVar[str] = "tiny"
    places: ClassVar[tuple[str, ...]] = ()
    costs: ClassVar[tuple[str, ...]] = ()
    gains: ClassVar[tuple[str, ...]] = ()
    program: ClassVar[str] = "everything"
    #: A change of what waves meet can cost a little even where it helps: who goes first changes too.
    slack: ClassVar[float] = 0.01

    # --- the part by itself

    def made(self) -> Any:
        """The part's Spec from its numbers."""
        return self.structurer.structure(self.part.Spec, self.spec, self.part.kind)

    @cached_property
    def structurer(self) -> Structurer:
        """What makes a Spec of numbers."""
        return Structurer(self.registry())

    def registry(self) -> Registry:
        """What is installed, and the part."""
        found = installed()
        mine = Registered(self.part, "test", "")
        return Registry({**found.parts, (self.part.kind, self.part.name): mine}, found.config_dirs)

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
        for declared in self.part.functions:  # those that the engine calls
            function = self.part.function(declared.name)
            if function is not None and declared.name in ARGUMENTS:
                compile_policy(function, declared.name)

    def test_counters_have_unit_meaning_and_column(self) -> None:
        for counter in self.part.counters:
            assert all((counter.name, counter.unit, counter.meaning, counter.column)), counter

    # --- the part in a device

    def config(self, **numbers: Any) -> dict[str, Any]:
        """The device with the part in its places; what `spec` leaves out is as the device's own part has it. `numbers` come on top."""
        config = compose(self.device)
        known = {field.name for field in attrs.fields(self.part.Spec)}
        for place in self.places:
            slot, _, field = place.partition(".")
            above, key = (config[slot], field) if field else (config, slot)
            before = above.get(key)
            kept = {name: value for name, value in before.items() if name in known} if isinstance(before, dict) else {}
            above[key] = kept | self.spec | numbers | {"name": self.part.name}
        return config

    def described(self, **numbers: Any) -> DeviceSpec:
        """The device, checked."""
        return self.checked(self.config(**numbers))

    def checked(self, config: dict[str, Any]) -> DeviceSpec:
        """A device of what is installed and the part."""
        return describe(config, self.registry())

    def run(self, device: DeviceSpec | Device) -> dict[str, Any]:
        """The columns of the exercise on a device; of the one for any device where it can't run the kind's own."""
        built = assemble(device) if isinstance(device, DeviceSpec) else device
        try:
            return simulate(built, exercise(self.program), Options(sampling="off"))
        except UnsupportedError:
            return simulate(built, exercise(), Options(sampling="off"))

    def test_a_device_with_it_runs_a_program(self) -> None:
        device = assemble(self.described())
        first, second = self.run(device), self.run(device)
        assert first["cycles"] > 0
        assert first["wave_instructions"] > 0
        same = [name for name in first if name not in RUN_COSTS]
        assert [first[name] for name in same] == [second[name] for name in same], "the same device, the same launch, another result"

    def test_numbers_are_checked(self) -> None:
        """A value of the wrong kind or beyond its range is refused by name, and so is a number that the part doesn't have."""
        place = self.places[0]
        for field in attrs.fields(self.part.Spec):
            known = meta(field)
            if known.nested is None and known.policy == "" and known.each == "":
                for wrong in ("what?", *([known.low - 1] if known.low is not None else [])):
                    if known.unit != "name" or known.choices:
                        assert self.refusals(place, field.name, wrong), f"{field.name} may be {wrong}"
        assert self.refusals(place, "no_such_number", 1)

    def refusals(self, place: str, field: str, value: Any) -> list[str]:
        """What is said about one number, by its path."""
        try:
            self.structurer.structure(self.part.Spec, self.spec | {field: value}, place)
        except RequestError as error:
            return [str(problem) for problem in error.problems if problem.path.startswith(f"{place}.{field}")]
        return []

    def changes(self, paths: tuple[str, ...], factor: float) -> Iterator[tuple[str, DeviceSpec]]:
        """(path, the device with that number so many times as large), where such a device is a right one."""
        device, slot = self.described(), self.places[0].partition(".")[0]
        for path in paths:
            spec = scaled(device[slot], path, factor)
            changed = attrs.evolve(device, slots={**device.slots, slot: attrs.evolve(device.slots[slot], spec=spec)})
            if spec != device[slot] and not self.part.check(spec) and not fit(changed, ()):
                yield path, changed

    def test_what_costs_more_is_never_faster(self) -> None:
        before = self.run(self.described())["time_ns"] if self.costs else 0
        times = {path: self.run(changed)["time_ns"] for path, changed in self.changes(self.costs, 3)}
        assert {path: time for path, time in times.items() if time < (1 - self.slack) * before} == {}

    def test_what_gives_more_is_never_slower(self) -> None:
        before = self.run(self.described())["time_ns"] if self.gains else 0
        times = {path: self.run(changed)["time_ns"] for path, changed in self.changes(self.gains, 2)}
        assert {path: time for path, time in times.items() if time > (1 + self.slack) * before} == {}

    def test_laws_name_numbers_of_the_part(self) -> None:
        for path in (*self.costs, *self.gains):
            assert list(numbers(self.made(), path)) or "*" in path, path
