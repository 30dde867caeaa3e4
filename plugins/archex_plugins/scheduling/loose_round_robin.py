"""Loose round-robin: every wave in turn, waves that can't issue are passed over."""

from __future__ import annotations

from archex.engine.standard import pick_round_robin
from archex.parts.wave_scheduler import WaveScheduler


class LooseRoundRobin(WaveScheduler):
    """Goes round the slots, starting behind the one that issued last."""

    name = "loose_round_robin"
    pick_wave = staticmethod(pick_round_robin)
