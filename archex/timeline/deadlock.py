"""Why nothing goes on: who waits for whom, until it comes round, or until somebody who never comes.

In: a run in which nothing is left to happen and not all is done. Out: the chain as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from archex.base.errors import ArchexError
from archex.timeline.commands import Command
from archex.timeline.queues import Queue
from archex.timeline.walks import flat

if TYPE_CHECKING:
    from archex.timeline.calls import Thread
    from archex.timeline.meeting import Meeting
    from archex.timeline.run import Run


class DeadlockError(ArchexError):
    """The workload never ends."""


class EarlyError(ArchexError):
    """Something is used before it is made."""


def explain(run: Run) -> str:
    """The cycle, or the chain that ends at what never comes."""
    first: Any = next((thread for thread in run.threads if not thread.over), None)
    first = first or next(command for command in run.commands if command.ended < 0)
    chain: list[Any] = []
    names: list[str] = []
    here: Any = first
    while here is not None and here not in chain:
        chain.append(here)
        names.append(_name(here, run))
        here = _next(here, run)
    if here is None:
        return "deadlock: " + " waits for ".join(names) + _end(chain[-1], run)
    begin = chain.index(here)
    return "deadlock: " + " waits for ".join([*names[begin:], names[begin]])


def _name(one: Any, run: Run) -> str:
    if isinstance(one, str):
        return f"event {one}"
    if isinstance(one, Queue):
        return f"queue {one.number}, which is full"
    if isinstance(one, Command):
        meeting = _meeting(one, run)
        if meeting is None:
            return one.label()
        rank = next(rank for rank, called in meeting.called.items() if called is one)
        return f"rank {rank} of collective {meeting.name.partition('@')[0]} on {one.stream}"  # behind @: where it has no name
    return f"thread {one.name} at {one.at.path}" if one.at is not None else f"thread {one.name}"


def _next(one: Any, run: Run) -> Any:
    """What something waits for; None where nothing is known to come."""
    if isinstance(one, str):
        return next((thread for thread in run.threads if not thread.over and _will(thread, one)), None)
    if isinstance(one, Queue):
        return one.held[0] if one.held else None
    if isinstance(one, Command):
        if one.gate:
            return one.gate
        if one.queue is not None and one in one.queue.held and one.queue.held[0] is not one:
            return one.queue.held[0]
        meeting = _meeting(one, run)
        if meeting is not None and one in meeting.here.values():  # those who called it and stand behind something else
            return next((called for rank, called in meeting.called.items() if rank not in meeting.here), None)
        nodes = [other for other in run.commands if other.graph is one and other.ended < 0]  # of a graph; those that have come first
        nodes.sort(key=lambda node: node.started < 0)
        return next((other for other in (*one.waits_on, *nodes) if other.ended < 0), None)
    return one.waits_for


def _end(last: Any, run: Run) -> str:
    if isinstance(last, str):
        return ", which is never recorded"
    meeting = _meeting(last, run) if isinstance(last, Command) else None
    if meeting is not None and meeting.missing:
        return f", to which rank {', '.join(map(str, meeting.missing))} of {meeting.ranks} never comes"
    return ""


def _meeting(one: Command, run: Run) -> Meeting | None:
    """The exchange that a command is a rank's part of."""
    if one.kind != "collective":
        return None
    return next((meeting for meeting in run.meetings.values() if one in meeting.called.values()), None)


def _will(thread: Thread, event: str) -> bool:
    """Whether a thread would still record an event: somewhere from where it stands."""
    reached = False
    for step in flat(thread.steps):
        reached = reached or step is thread.at
        if reached and step.do == "record" and step.what == event:
            return True
    return False
