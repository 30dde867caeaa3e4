"""Exchanges in which several devices take part: none begins before all have come, and all must mean the same one.

A rank's first call of a name belongs to the first calls of the others, its second to their second, however far ahead a host is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archex.base.errors import ArchexError
from archex.timeline.commands import Command
from archex.timeline.machine import Shared

if TYPE_CHECKING:
    from archex.timeline.run import Run


class MismatchError(ArchexError):
    """Ranks of one collective ask for different things."""


class Meeting:
    """One collective: what its ranks asked for, the command that each called, who has come."""

    def __init__(self, name: str, ranks: int) -> None:
        self.name, self.ranks = name, ranks
        self.asked: dict[int, tuple[str, int, int, int]] = {}  # rank -> kind, bytes, root, device
        self.called: dict[int, Command] = {}
        self.here: dict[int, Command] = {}

    def ask(self, rank: int, ranks: int, kind: str, size: int, root: int, command: Command) -> None:
        """A rank's call; MismatchError if it is of another collective than the others'."""
        mine, device = (kind, size, ranks, root), command.device
        for other, (its_kind, its_size, its_root, _) in self.asked.items():
            theirs = (its_kind, its_size, self.ranks, its_root)
            if theirs != mine:
                said = [
                    f"rank {r} asks for {k} of {b} bytes among {n}" + (f" with root {top}" if root != its_root else "")
                    for r, (k, b, n, top) in ((other, theirs), (rank, mine))
                ]
                raise MismatchError(f"collective {self.name}: {said[0]}, {said[1]}")
        for other, (*_, its_device) in self.asked.items():
            if its_device == device:
                raise MismatchError(f"collective {self.name}: ranks {other} and {rank} are both of device {device}")
        self.asked[rank] = (kind, size, root, device)
        self.called[rank] = command

    @property
    def missing(self) -> list[int]:
        """Ranks that never called."""
        return [rank for rank in range(self.ranks) if rank not in self.asked]

    def come(self, rank: int, command: Command, run: Run) -> None:
        """A rank's command is at the head of its queue. The last one starts the exchange."""
        command.started = run.clock.now
        self.here[rank] = command
        if len(self.here) < self.ranks:
            return
        kind, size, root, _ = self.asked[rank]
        assert run.machine.collective is not None
        found: Shared = run.machine.collective(kind, [self.asked[r][3] for r in range(self.ranks)], size, root)
        demands = {run.links[name]: share for name, share in found.links.items()}
        for one in self.here.values():
            device = run.devices[one.device]
            demands |= {device.units: found.units, device.memory: found.memory_share}
            one.about, one.alone = found.about, found.alone_ns

        def done() -> None:
            for one in self.here.values():
                one.end(run.clock.now)
            for one in self.here.values():
                if one.graph is None:
                    run.devices[one.device].engines.end()

        run.fluid.begin(found.alone_ns, demands, done)
