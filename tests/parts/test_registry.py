"""What a plugin can get wrong, asserted as whole messages, all at once."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import attrs
import pytest
from archex import hookimpl
from archex.base.errors import RequestError
from archex.parts.part import Part
from archex.parts.replacement import Replacement
from archex.parts.wave_scheduler import WaveScheduler
from archex.registry import load


def plugin(**functions: Any) -> ModuleType:
    module = ModuleType("mine")
    vars(module).update(functions)
    return module


def parts(*given: Any) -> ModuleType:
    @hookimpl
    def archex_parts() -> list[Any]:
        return list(given)

    return plugin(archex_parts=archex_parts)


def problems(module: Any) -> list[str]:
    with pytest.raises(RequestError) as caught:
        load({"mine": module})
    return [str(problem) for problem in caught.value.problems]


class Lottery(WaveScheduler):
    """Any ready wave."""

    name = "lottery"

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        return view.last


def test_a_part_is_found_by_kind_and_name() -> None:
    registry = load({"mine": parts(Lottery)})
    assert registry.parts["wave_scheduler", "lottery"].package == "mine"
    assert registry.names("wave_scheduler") == [
        "cache_conscious", "greedy_then_oldest", "greedy_then_waiting", "loose_round_robin", "lottery", "oldest_first",
        "oldest_workgroup", "two_level",
    ]  # fmt: skip


def test_blocked_plugins_stay_out() -> None:
    assert load({"mine": parts(Lottery)}, blocked=["mine"]).names("wave_scheduler") == load().names("wave_scheduler")


def test_misspelt_hook() -> None:
    @hookimpl
    def archex_part() -> list[type[Part]]:
        return []

    assert problems(plugin(archex_part=archex_part)) == [
        "plugins.mine.archex_part: is not a known hook (package mine); did you mean archex_parts? "
        "(choices: archex_config_dirs, archex_parts)"
    ]


def test_hook_without_its_mark() -> None:
    def archex_parts() -> list[type[Part]]:
        return []

    assert problems(plugin(archex_parts=archex_parts)) == ["plugins.mine.archex_parts: (package mine) isn't marked with @hookimpl"]


def test_hook_with_wrong_arguments() -> None:
    @hookimpl
    def archex_parts(config: Any) -> list[type[Part]]:
        return []

    (found,) = problems(plugin(archex_parts=archex_parts))
    assert found.startswith("plugins.mine: (package mine)")
    assert "config" in found


def test_hook_that_raises() -> None:
    @hookimpl
    def archex_parts() -> list[type[Part]]:
        raise RuntimeError("no licence")

    assert problems(plugin(archex_parts=archex_parts)) == ["plugins.mine.archex_parts: (package mine) failed: RuntimeError: no licence"]


def test_duplicate_names_both_packages() -> None:
    class Mine(Replacement):
        """Another LRU."""

        name = "lru"

        @staticmethod
        def pick_victim(view: Any, state: Any, params: Any) -> int:
            return 0

    assert problems(parts(Mine)) == [
        f"replacement.lru: is given by two packages, archex-sim (archex_plugins.replacement.lru) and mine ({__name__})"
    ]


def test_wrong_policy_signatures_are_reported_together() -> None:
    class NoFunction(WaveScheduler):
        """Forgets its policy."""

        name = "no_function"

    class WrongArguments(Replacement):
        """Takes what it can't get."""

        name = "wrong_arguments"

        @staticmethod
        def pick_victim(view: Any, ways: Any) -> int:
            return 0

    class WithSelf(WaveScheduler):
        """Wants an object."""

        name = "with_self"

        def pick_wave(self, view: Any, state: Any) -> int:
            return 0

    class Misspelt(WaveScheduler):
        """Feedback that nobody would call."""

        name = "misspelt"
        pick_wave = staticmethod(Lottery.pick_wave)

        @staticmethod
        def note_mis(event: Any, state: Any, params: Any) -> None:
            return None

    assert problems(parts(NoFunction, WrongArguments, WithSelf, Misspelt)) == [
        "replacement.wrong_arguments.pick_victim: pick_victim(view, ways) has the wrong signature (package mine): "
        "expected pick_victim(view, state, params) -> a way, 0 to view.ways - 1",
        "wave_scheduler.misspelt.note_mis: is not a function of a wave_scheduler (package mine); did you mean note_miss? "
        "(choices: pick_wave, note_issue, note_miss, note_fill)",
        "wave_scheduler.no_function.pick_wave: is missing (package mine): "
        "expected pick_wave(view, state, params) -> a slot whose ready bit is set, or -1",
        "wave_scheduler.with_self.pick_wave: must be a staticmethod (package mine): a policy has no self",
    ]


def test_numbers_need_unit_and_meaning() -> None:
    @attrs.frozen
    class Bare:
        window: int = 4

    class Thawed:
        pass

    class Numbers(WaveScheduler):
        """Numbers without units."""

        name = "numbers"
        Spec = Bare
        pick_wave = staticmethod(Lottery.pick_wave)

    class Loose(Numbers):
        """Not frozen."""

        name = "loose"
        Spec = Thawed

    assert problems(parts(Numbers, Loose, dict)) == [
        "plugins.mine: dict isn't a class derived from a kind's page in archex.parts",
        "wave_scheduler.loose.Spec: Thawed must be a class made with @attrs.frozen (package mine)",
        "wave_scheduler.numbers.Spec.window: needs a unit and a meaning (package mine): "
        "make it with number(), choice() or flag() of archex.parts.part",
    ]
