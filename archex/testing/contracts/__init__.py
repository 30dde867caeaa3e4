"""Contracts: what every part of a kind must keep, as a test class a plugin derives from.

    class TestMine(WaveSchedulerContract):
        part = MyScheduler
        spec = {"window": 32}      # its numbers, as in a config

In: the part, its numbers. Out: tests. Functions are run as the engine calls them.
"""

from archex.testing.contracts.bank_conflict import BankConflictContract
from archex.testing.contracts.coalescing import CoalescingContract
from archex.testing.contracts.interleave import InterleaveContract
from archex.testing.contracts.part import PartContract
from archex.testing.contracts.placement import PlacementContract
from archex.testing.contracts.register_file import RegisterFileContract
from archex.testing.contracts.replacement import ReplacementContract
from archex.testing.contracts.set_index import SetIndexContract
from archex.testing.contracts.wave_scheduler import WaveSchedulerContract

#: kind -> the contract of its parts.
CONTRACTS: dict[str, type[PartContract]] = {
    "wave_scheduler": WaveSchedulerContract,
    "replacement": ReplacementContract,
    "set_index": SetIndexContract,
    "coalescing": CoalescingContract,
    "bank_conflict": BankConflictContract,
    "interleave": InterleaveContract,
    "placement": PlacementContract,
    "register_file": RegisterFileContract,
}

__all__ = [
    "CONTRACTS",
    "BankConflictContract",
    "CoalescingContract",
    "InterleaveContract",
    "PartContract",
    "PlacementContract",
    "RegisterFileContract",
    "ReplacementContract",
    "SetIndexContract",
    "WaveSchedulerContract",
]
