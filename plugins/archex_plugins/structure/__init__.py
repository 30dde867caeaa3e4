"""Parts that are numbers only: what each looks like stands on the page of its kind. One name a kind, so far."""

from __future__ import annotations

from archex.parts.address_translation import AddressTranslation
from archex.parts.async_copy_unit import AsyncCopyUnit
from archex.parts.cache import Cache
from archex.parts.command_processor import CommandProcessor
from archex.parts.compute_unit import ComputeUnit
from archex.parts.copy_engine import CopyEngine
from archex.parts.dispatcher import Dispatcher
from archex.parts.instruction_cache import InstructionCache
from archex.parts.instruction_set import InstructionSet
from archex.parts.interconnect import Interconnect
from archex.parts.local_memory import LocalMemory
from archex.parts.matrix_unit import MatrixUnit
from archex.parts.memory import Memory
from archex.parts.part import Part
from archex.parts.scalar_cache import ScalarCache
from archex.parts.scalar_unit import ScalarUnit
from archex.parts.simd import Simd
from archex.parts.special_function_unit import SpecialFunctionUnit
from archex.parts.vector_cache import VectorCache


class InOrderUnit(ComputeUnit):
    """Waves issue in order, each scheduler with its own SIMD."""

    name = "in_order"


class PipelinedSimd(Simd):
    """Pipes with an issue interval and a latency."""

    name = "pipelined"


class UniformUnit(ScalarUnit):
    """Pipes for what is the same in all lanes."""

    name = "pipelined"


class TableUnit(SpecialFunctionUnit):
    """Table look-up and interpolation, pipelined."""

    name = "pipelined"


class MatrixPipe(MatrixUnit):
    """One pipe that takes a shape after the other."""

    name = "pipelined"


class AsyncCopies(AsyncCopyUnit):
    """Copies that pass the memory path without registers."""

    name = "copy_engine"


class BankedMemory(LocalMemory):
    """Banks of words behind a crossbar of lanes."""

    name = "banked"


class PrefetchedCode(InstructionCache):
    """A buffer a scheduler, two levels behind it, the next lines fetched ahead."""

    name = "prefetching"


class BroadcastCache(ScalarCache):
    """Two levels that give one word to all lanes."""

    name = "two_level"


class LaneCache(VectorCache):
    """Tags and banked data, misses to one line merged."""

    name = "banked"


class SlicedCache(Cache):
    """Set-associative slices, each serving one request after the other."""

    name = "set_associative"


class TranslationBuffer(AddressTranslation):
    """One level of translations."""

    name = "single_level"


class Crossbar(Interconnect):
    """Every port reaches every slice; ports, groups and the whole have finite rates."""

    name = "crossbar"


class Channels(Memory):
    """Independent channels with open rows."""

    name = "channels"


class DeviceDispatcher(Dispatcher):
    """One start after the other, device-wide."""

    name = "serial"


class FrontEnd(CommandProcessor):
    """Takes packets, keeps the order of each queue, starts kernels."""

    name = "in_order_queues"


class DirectionEngines(CopyEngine):
    """Engines for each direction, one copy after another on each."""

    name = "by_direction"


STRUCTURE: tuple[type[Part], ...] = (
    InstructionSet, InOrderUnit, PipelinedSimd, MatrixPipe, AsyncCopies, UniformUnit, TableUnit, BankedMemory, PrefetchedCode,
    BroadcastCache, LaneCache, SlicedCache, TranslationBuffer, Crossbar, Channels, DeviceDispatcher, FrontEnd,
    DirectionEngines,
)  # fmt: skip
