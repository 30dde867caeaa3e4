"""A workload as it is run: what kernels are, which streams there are, what each host thread does.

Out: frozen values. `check.read` makes them of a file or of the builder's map; nothing here is checked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class Touch:
    """Managed memory that a kernel touches: a share of a buffer's pages, the first ones in order or any by seed, each once a launch.

    stride: bytes from one touch to the next, where that is more than a page.
    """

    buffer: str
    share: float = 1.0
    writes: bool = False
    order: str = "sequential"
    seed: int = 0
    stride: int = 0


@attrs.frozen
class Kernel:
    """A kernel: a launch of a suite that is simulated, or a time that is given.

    work_ns: from its first instruction to its last, without what starting and ending it costs; None until it is simulated.
    cycles: the same in cycles of the compute units. units: how many compute units its workgroups fill; None: all. issue_share,
    memory_share: part of the issue slots of all compute units, and of the memory's rate, that it takes while it runs. described: the
    launch itself, where the workload says it. caches: `cold`, `warm`, or as the launch has it. cache: its program is loaded by its first
    launch, from the code cache (`hit`) or made of `instructions` (`miss`); empty: it is there. peers: what it sends to devices so many
    places further on, and gets from there, bytes a nanosecond with headers, mean over its work.
    """

    name: str
    launch: str = ""
    suite: str = ""
    path: str = ""
    work_ns: float | None = None
    cycles: float | None = None
    units: float | None = None
    issue_share: float = 0.0
    memory_share: float = 0.0
    argument_bytes: int = 0
    described: Mapping[str, Any] | None = None
    caches: str = ""
    cache: str = ""
    instructions: int = 0
    touches: tuple[Touch, ...] = ()
    peers: Mapping[int, tuple[float, float]] = attrs.field(factory=dict)


@attrs.frozen
class Stream:
    """Commands that run in order. Higher priorities take compute units first."""

    name: str
    device: int = 0
    priority: int = 0


@attrs.frozen
class Buffer:
    """Memory of a device, of the host (pinned or pageable), or managed: its pages begin on `device`, or on the host.

    untouched: nobody has touched it so far, so that its pages lie nowhere. advice: of `archex.timeline.advice`.
    """

    name: str
    bytes: int
    device: int | None = None
    memory: str = "device"
    untouched: bool = False
    advice: str = "none"


@attrs.frozen
class Node:
    """A node of a graph: a step, and the nodes it depends on by number."""

    step: Step
    after: tuple[int, ...] = ()


@attrs.frozen
class Step:
    """Something a host thread does: `do` names it, `what` its object (a kernel, an event, a graph), `given` its numbers.

    steps: what a repetition or a capture holds.
    """

    do: str
    what: str = ""
    stream: str = ""
    given: Mapping[str, Any] = attrs.field(factory=dict)
    steps: tuple[Step, ...] = ()
    path: str = ""


@attrs.frozen
class Workload:
    """A checked workload."""

    name: str
    devices: int
    kernels: Mapping[str, Kernel]
    streams: Mapping[str, Stream]
    buffers: Mapping[str, Buffer]
    graphs: Mapping[str, tuple[Node, ...]]
    threads: Mapping[str, tuple[Step, ...]]
