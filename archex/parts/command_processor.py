"""What takes commands from queues and starts kernels: one front end, or several engines beside one another.

Queues are dealt out to engines; an engine takes one packet after another. A command at the head of a queue waits there for what it
depends on, and those behind it wait too. Between dependent kernels of one stream passes the dispatcher's `gap`; nodes of a graph follow
at a pace of their own.

An engine that has one queue stays with it. One that has several goes round those that wait: what was waited for is found when its turn
comes (`look` at each that waits in vain), taking the queue up again costs `turn`, and leaving it with a command that waits `leave`.
"""

from __future__ import annotations

import attrs

from archex.parts.part import Part, number


@attrs.frozen(kw_only=True)
class CommandProcessorSpec:
    """How fast commands are taken, and what their order costs."""

    engines: int = number("count", "engines that take commands at a time", low=1, high=64)
    packet: float = number("s", "what an engine takes for a packet")
    event: float = number("s", "writing an event with its time; one without time takes none")
    hop: float = number("s", "from a command's end until one of another queue that waited for it can start")
    cross: float = number("s", "the same where a kernel follows a copy, or a copy what another engine does, and stood waiting", default=0)
    kernels: int = number("count", "kernels that run at a time", low=1, high=4096)
    mapped: int = number("count", "queues that hardware holds; of more each has a turn", low=1, high=4096)
    remap: float = number("s", "taking up a queue that another has to give way to", default=0)
    turn: float = number("s", "an engine takes up a queue that waited, while others of its queues hold commands", default=0)
    look: float = number("s", "it looks at a queue that still waits; what waits is found half a round later", default=0)
    leave: float = number("s", "it leaves a queue whose next command has to wait, for another of its queues", default=0)
    graph_start: float = number("s", "a graph's packet beside a plain one: its nodes are fetched from memory")
    graph_node: float = number("s", "from the last instruction of a node to the first of one that depends on it; at most as in a stream")
    graph_issue: float = number("s", "between the starts of two nodes of a graph that are free at one moment", default=0)
    graph_fan: int = number("count", "nodes that follow one node of a graph without more ado", low=1, default=1 << 20)
    graph_wide: float = number("s", "how much later they start where they are more", default=0)


class CommandProcessor(Part):
    """Takes packets in the order of their queues and starts what they ask for."""

    kind = "command_processor"
    Spec = CommandProcessorSpec
