"""The built-in parts, one file each, grouped by mechanism. They come through the entry point a stranger's plugin uses.

Out: `archex_parts()`. Policies are plain functions; archex compiles them with their kind's signature.
"""

from __future__ import annotations

from archex import hookimpl
from archex.parts.part import Part

from archex_plugins.banking.hashed_banks import HashedBanks
from archex_plugins.banking.swizzled import Swizzled
from archex_plugins.banking.word_conflicts import WordConflicts
from archex_plugins.coalescing.by_group import ByGroup
from archex_plugins.coalescing.by_line import ByLine
from archex_plugins.indexing.hashed import Hashed
from archex_plugins.indexing.modulo import Modulo
from archex_plugins.interleaving.hashed_chunks import HashedChunks
from archex_plugins.interleaving.plain_chunks import PlainChunks
from archex_plugins.paging.by_lot import PagesByLot
from archex_plugins.paging.by_tree import ByTree
from archex_plugins.paging.coherent_access import CoherentAccess
from archex_plugins.paging.driver_migrated import DriverMigrated
from archex_plugins.paging.hardware_retry import HardwareRetry
from archex_plugins.paging.least_recent import LeastRecentPages
from archex_plugins.paging.only_asked import OnlyAsked
from archex_plugins.paging.whole_block import WholeBlock
from archex_plugins.placement.depth_first import DepthFirst
from archex_plugins.placement.in_order import InOrder
from archex_plugins.placement.least_held import LeastHeld
from archex_plugins.queueing.least_loaded import LeastLoadedQueues
from archex_plugins.queueing.round_robin import RoundRobinQueues
from archex_plugins.queueing.single import SingleQueue
from archex_plugins.registers.banked import BankedFile
from archex_plugins.registers.ported import PortedFile
from archex_plugins.replacement.fifo import Fifo
from archex_plugins.replacement.lru import Lru
from archex_plugins.replacement.pseudo_lru import PseudoLru
from archex_plugins.replacement.random import Random
from archex_plugins.replacement.rrip import Rrip
from archex_plugins.routing.hierarchy import Hierarchy
from archex_plugins.routing.mesh import Mesh
from archex_plugins.routing.ring import Ring
from archex_plugins.scheduling.cache_conscious import CacheConscious
from archex_plugins.scheduling.greedy_then_oldest import GreedyThenOldest
from archex_plugins.scheduling.greedy_then_waiting import GreedyThenWaiting
from archex_plugins.scheduling.loose_round_robin import LooseRoundRobin
from archex_plugins.scheduling.oldest_first import OldestFirst
from archex_plugins.scheduling.oldest_workgroup import OldestWorkgroup
from archex_plugins.scheduling.two_level import TwoLevel
from archex_plugins.structure import STRUCTURE
from archex_plugins.topology.full_mesh import FullMesh
from archex_plugins.topology.machines import Machines
from archex_plugins.topology.pcie_tree import TreeOfSwitches
from archex_plugins.topology.ring import RingOfDevices
from archex_plugins.topology.switched import Switched
from archex_plugins.topology.torus_2d import Torus

POLICIES: tuple[type[Part], ...] = (
    CacheConscious, GreedyThenOldest, GreedyThenWaiting, LooseRoundRobin, OldestFirst, OldestWorkgroup, TwoLevel,
    Fifo, Lru, PseudoLru, Random, Rrip,
    Hashed, Modulo, ByGroup, ByLine, HashedBanks, Swizzled, WordConflicts, HashedChunks, PlainChunks, DepthFirst, InOrder, LeastHeld,
    BankedFile, PortedFile, Hierarchy, Mesh, Ring,
    FullMesh, Machines, RingOfDevices, Switched, Torus, TreeOfSwitches,
    LeastLoadedQueues, RoundRobinQueues, SingleQueue,
    CoherentAccess, DriverMigrated, HardwareRetry, LeastRecentPages, PagesByLot, ByTree, OnlyAsked, WholeBlock,
)  # fmt: skip


@hookimpl
def archex_parts() -> list[type[Part]]:
    """Every built-in part."""
    return [*POLICIES, *STRUCTURE]
