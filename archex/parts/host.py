"""The way from a program on the processor to the device: what calls cost, packets, queues in host memory, doorbells.

`pick_queue(stream, queues, waiting, state, params) -> queue`, plain Python, asked once for each stream of a device when its first command
is given: `stream` counts those of the device as they are made, `queues` is how many queues there are, `waiting` the commands that wait in
each, `state` a list of the policy's own that starts empty.

A command is written as a packet into a ring in host memory, a doorbell tells the device, which fetches the packet. A full ring makes
the host wait. All times are of one thread's processor and of one way over the link to the device.
"""

from __future__ import annotations

import attrs

from archex.parts.part import Part, PolicyFunction, choice, nested, number


@attrs.frozen(kw_only=True)
class HostCopySpec:
    """A point of the rate at which the processor copies: what is larger comes from the next level of its caches."""

    size: int = number("B", "copies up to this size", low=1)
    rate: float = number("B/s", "the processor's copies of that size into a pinned buffer", low=1)
    back: float = number("B/s", "and out of one", low=1)


@attrs.frozen(kw_only=True)
class HostSpec:
    """What calls cost on the processor, and how commands travel."""

    launch: float = number("s", "call that launches a kernel, until it returns")
    launch_behind: float = number("s", "of that, what comes behind the doorbell", default=0)
    argument: float = number("s", "for a byte of arguments beside that", default=0)
    copy: float = number("s", "call that starts a copy")
    copy_within: float = number("s", "call that copies within a device")
    fill: float = number("s", "call that fills memory of a device")
    record: float = number("s", "call that records an event with its time")
    record_plain: float = number("s", "call that records one without")
    wait: float = number("s", "call that makes a stream wait for an event")
    query: float = number("s", "call that asks whether an event has happened")
    synchronize: float = number("s", "call that waits for a stream on which there is nothing to wait for")
    poll: float = number("s", "from a command's end seen in host memory until a thread that polls goes on, beside `synchronize`")
    wake: float = number("s", "the same for a thread that sleeps until an interrupt")
    capture: float = number("s", "beginning and end of the capture of a graph")
    capture_node: float = number("s", "for each command captured")
    instantiate: float = number("s", "making a captured graph executable")
    instantiate_node: float = number("s", "for each of its nodes")
    update_node: float = number("s", "changing the parameters of a node of such a graph")
    graph_launch: float = number("s", "call that launches a graph")
    graph_launch_node: float = number("s", "for each of its nodes")
    graph_launch_copy: float = number("s", "for each of its copies between host and device, beside that")
    function: float = number("s", "call that puts a function of the host into a stream", default=0)
    function_handed: float = number("s", "from there until its thread begins it, where it waits for nothing; else `wake`", default=0)
    function_next: float = number("s", "from the end of one such function to the next of its stream", default=0)
    function_back: float = number("s", "from the end of one until the device goes on", default=0)
    load: float = number("s", "loading a program whose machine code is in the code cache")
    compile: float = number("s", "for each instruction of one that has to be compiled first")
    packet: int = number("B", "a command in a ring", low=8, default=64)
    queues: int = number("count", "rings of a device that a process has", low=1, high=1024)
    depth: int = number("count", "commands that a ring holds", low=1, high=1 << 20)
    submission: str = choice("who writes rings: the program itself, or the operating system for it", ("user_mode", "kernel_mode"))
    system_call: float = number("s", "handing a command to the operating system, its lock included", default=0)
    doorbell: float = number("s", "what the posted write of a doorbell holds up the processor; part of the calls' times", default=0)
    latency: float = number("s", "one way over the link between host and device")
    copies: list[HostCopySpec] = nested(HostCopySpec, "rates of the processor's own copies, by size, increasing", each="list")


class Host(Part):
    """One processor thread a caller, rings in host memory, a link to each device."""

    kind = "host"
    Spec = HostSpec
    functions = (
        PolicyFunction(
            "pick_queue", ("stream", "queues", "waiting", "state", "params"), "a queue, 0 to queues - 1", "once for each stream of a device"
        ),
    )

    @classmethod
    def check(cls, spec: HostSpec) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        sizes = [point.size for point in spec.copies]
        if not sizes or sizes != sorted(set(sizes)):
            found.append(("copies", sizes, "must have points with increasing sizes"))
        if spec.launch_behind > spec.launch:
            found.append(("launch_behind", spec.launch_behind, "must be at most the whole call"))
        return found
