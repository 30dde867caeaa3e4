"""Every kind of part, its page, and the slots of a device in which it stands."""

from __future__ import annotations

import attrs

from archex.parts.address_translation import AddressTranslation
from archex.parts.async_copy_unit import AsyncCopyUnit
from archex.parts.bank_conflict import BankConflict
from archex.parts.cache import Cache
from archex.parts.coalescing import Coalescing
from archex.parts.command_processor import CommandProcessor
from archex.parts.compute_unit import ComputeUnit
from archex.parts.copy_engine import CopyEngine
from archex.parts.dispatcher import Dispatcher
from archex.parts.host import Host
from archex.parts.instruction_cache import InstructionCache
from archex.parts.instruction_set import InstructionSet
from archex.parts.interconnect import Interconnect
from archex.parts.interleave import Interleave
from archex.parts.link import Link
from archex.parts.local_memory import LocalMemory
from archex.parts.matrix_unit import MatrixUnit
from archex.parts.memory import Memory
from archex.parts.page_eviction import PageEviction
from archex.parts.page_migration import PageMigration
from archex.parts.page_prefetch import PagePrefetch
from archex.parts.part import Part
from archex.parts.placement import Placement
from archex.parts.register_file import RegisterFile
from archex.parts.replacement import Replacement
from archex.parts.scalar_cache import ScalarCache
from archex.parts.scalar_unit import ScalarUnit
from archex.parts.set_index import SetIndex
from archex.parts.simd import Simd
from archex.parts.special_function_unit import SpecialFunctionUnit
from archex.parts.vector_cache import VectorCache
from archex.parts.wave_scheduler import WaveScheduler

#: kind -> its page. Those of the second group decide for a part of the first, which names them.
KINDS: dict[str, type[Part]] = {
    page.kind: page
    for page in (
        InstructionSet, WaveScheduler, Simd, MatrixUnit, ScalarUnit, SpecialFunctionUnit, RegisterFile, LocalMemory, InstructionCache,
        ScalarCache,         VectorCache, Cache, AddressTranslation, Interconnect, Memory, AsyncCopyUnit, Dispatcher, ComputeUnit,
        Link,
        Host, CommandProcessor, CopyEngine, PageMigration,
        Replacement, SetIndex, Coalescing, BankConflict, Interleave, Placement, PageEviction, PagePrefetch,
    )
}  # fmt: skip


@attrs.frozen
class Slot:
    """A place in a device: its name (also the root key and the config group), the kind that fits, whether it may stay empty."""

    name: str
    kind: str
    optional: bool = False


SLOTS: dict[str, Slot] = {
    slot.name: slot
    for slot in (
        Slot("instruction_set", "instruction_set"),
        Slot("wave_scheduler", "wave_scheduler"),
        Slot("simd", "simd"),
        Slot("matrix_unit", "matrix_unit", optional=True),
        Slot("scalar_unit", "scalar_unit", optional=True),
        Slot("special_function_unit", "special_function_unit", optional=True),
        Slot("register_file", "register_file"),
        Slot("local_memory", "local_memory"),
        Slot("instruction_cache", "instruction_cache"),
        Slot("scalar_cache", "scalar_cache"),
        Slot("vector_cache", "vector_cache"),
        Slot("l2", "cache", optional=True),
        Slot("memory_side_cache", "cache", optional=True),
        Slot("address_translation", "address_translation", optional=True),
        Slot("fabric", "interconnect"),
        Slot("memory", "memory"),
        Slot("async_copy_unit", "async_copy_unit", optional=True),
        Slot("dispatcher", "dispatcher"),
        Slot("compute_unit", "compute_unit"),
        Slot("link", "link", optional=True),
        Slot("host", "host", optional=True),
        Slot("command_processor", "command_processor", optional=True),
        Slot("copy_engine", "copy_engine", optional=True),
        Slot("page_migration", "page_migration", optional=True),
    )
}
#: Slots that say how work reaches a device: what a kernel does once it runs there doesn't depend on them.
AROUND = ("host", "command_processor", "copy_engine", "link", "page_migration")
#: Root keys of the contract whose parts don't exist yet: they must be empty.
EMPTY_SLOTS = ("cost",)
