"""The road to the kernel and between devices: what a host does, in which order its commands run, when each ends.

In: a workload (a map, or the `Builder`'s) whose kernels have their times, a `Machine` (what calls cost, queues, engines, links). Out: a
`Timeline`: when each command passed which station, what it waited for. Kernels, copies and exchanges that run side by side share compute
units and bandwidths (`fluid`). Nothing here simulates a kernel.
"""

from archex.timeline.builder import Builder
from archex.timeline.check import read
from archex.timeline.deadlock import DeadlockError, EarlyError
from archex.timeline.machine import Machine, Shared
from archex.timeline.meeting import MismatchError
from archex.timeline.model import Kernel, Workload
from archex.timeline.run import Timeline, run

__all__ = ["Builder", "DeadlockError", "EarlyError", "Kernel", "Machine", "MismatchError", "Shared", "Timeline", "Workload", "read", "run"]
