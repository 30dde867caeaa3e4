"""Oldest first: age decides every time, with no preference for the wave that issued last."""

from __future__ import annotations

from typing import Any

from archex.parts.wave_scheduler import WaveScheduler

from archex_plugins.scheduling.choose import oldest


class OldestFirst(WaveScheduler):
    """Takes the ready wave that started first."""

    name = "oldest_first"

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        return oldest(view.ready, view.age, view.first)
