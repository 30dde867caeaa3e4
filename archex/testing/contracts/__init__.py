"""Contracts: what every part of a kind must keep, as a test class a plugin derives from.

    class TestMine(WaveSchedulerContract):
        part = MyScheduler
        spec = {"window": 32}      # its numbers, as in a config

In: the part, its numbers. Out: tests. Functions are run as the engine calls them; a part that stands in a slot takes the place of the
device `tiny`'s own, and what its numbers leave out is as there.
"""

from archex.testing.contracts.around import CommandProcessorContract, CopyEngineContract, HostContract
from archex.testing.contracts.bank_conflict import BankConflictContract
from archex.testing.contracts.coalescing import CoalescingContract
from archex.testing.contracts.interleave import InterleaveContract
from archex.testing.contracts.link import LinkContract
from archex.testing.contracts.paging import PageEvictionContract, PageMigrationContract, PagePrefetchContract
from archex.testing.contracts.part import PartContract
from archex.testing.contracts.placement import PlacementContract
from archex.testing.contracts.register_file import RegisterFileContract
from archex.testing.contracts.replacement import ReplacementContract
from archex.testing.contracts.set_index import SetIndexContract
from archex.testing.contracts.storage import (
    AddressTranslationContract,
    AsyncCopyUnitContract,
    CacheContract,
    DispatcherContract,
    InstructionCacheContract,
    InterconnectContract,
    LocalMemoryContract,
    MemoryContract,
    ScalarCacheContract,
    VectorCacheContract,
)
from archex.testing.contracts.units import (
    ComputeUnitContract,
    InstructionSetContract,
    MatrixUnitContract,
    ScalarUnitContract,
    SimdContract,
    SpecialFunctionUnitContract,
)
from archex.testing.contracts.wave_scheduler import WaveSchedulerContract

#: kind -> the contract of its parts.
CONTRACTS: dict[str, type[PartContract]] = {
    "instruction_set": InstructionSetContract,
    "wave_scheduler": WaveSchedulerContract,
    "simd": SimdContract,
    "matrix_unit": MatrixUnitContract,
    "scalar_unit": ScalarUnitContract,
    "special_function_unit": SpecialFunctionUnitContract,
    "register_file": RegisterFileContract,
    "local_memory": LocalMemoryContract,
    "instruction_cache": InstructionCacheContract,
    "scalar_cache": ScalarCacheContract,
    "vector_cache": VectorCacheContract,
    "cache": CacheContract,
    "address_translation": AddressTranslationContract,
    "interconnect": InterconnectContract,
    "memory": MemoryContract,
    "async_copy_unit": AsyncCopyUnitContract,
    "dispatcher": DispatcherContract,
    "compute_unit": ComputeUnitContract,
    "link": LinkContract,
    "host": HostContract,
    "command_processor": CommandProcessorContract,
    "copy_engine": CopyEngineContract,
    "page_migration": PageMigrationContract,
    "replacement": ReplacementContract,
    "set_index": SetIndexContract,
    "coalescing": CoalescingContract,
    "bank_conflict": BankConflictContract,
    "interleave": InterleaveContract,
    "placement": PlacementContract,
    "page_eviction": PageEvictionContract,
    "page_prefetch": PagePrefetchContract,
}

__all__ = [
    "CONTRACTS",
    "AddressTranslationContract",
    "AsyncCopyUnitContract",
    "BankConflictContract",
    "CacheContract",
    "CoalescingContract",
    "CommandProcessorContract",
    "ComputeUnitContract",
    "CopyEngineContract",
    "DispatcherContract",
    "HostContract",
    "InstructionCacheContract",
    "InstructionSetContract",
    "InterconnectContract",
    "InterleaveContract",
    "LinkContract",
    "LocalMemoryContract",
    "MatrixUnitContract",
    "MemoryContract",
    "PageEvictionContract",
    "PageMigrationContract",
    "PagePrefetchContract",
    "PartContract",
    "PlacementContract",
    "RegisterFileContract",
    "ReplacementContract",
    "ScalarCacheContract",
    "ScalarUnitContract",
    "SetIndexContract",
    "SimdContract",
    "SpecialFunctionUnitContract",
    "VectorCacheContract",
    "WaveSchedulerContract",
]
