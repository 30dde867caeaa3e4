"""The whole path of a workload on a device, on one page.

In: a checked `Workload`, an assembled `Device`, `Options`. Out: a `Timeline`.

    kernels   = each launch that is named, simulated alone: its time, what it takes of the device  (simulate; kept on disk)
    machine   = what calls, queues, engines and copies of the device cost                          (describe)
    timeline  = host threads, queues and devices run side by side                                  (timeline)
    rows      = one a command, one a call                                                          (records.timelines)
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs

from archex.assembly import Device
from archex.assembly.exchanges import exchanges
from archex.base import kept
from archex.base.errors import ABSENT, Problem, RequestError
from archex.base.options import Options
from archex.describe import DeviceSpec
from archex.parts.part import META, meta
from archex.records.provenance import point_id, program_fingerprint
from archex.simulate import hold, prepare, simulate
from archex.suite.launch import Launch, read_one
from archex.timeline import Kernel, Machine, Timeline, Workload, run
from archex.timeline.managed import MANAGED
from archex.timeline.model import Step
from archex.timeline.paged import Paged

#: How a unit of a Spec becomes one of the event engine: nanoseconds, bytes a nanosecond.
_SCALE = {"s": 1e9, "B/s": 1e-9}
#: Slots without which no timeline can be made.
NEEDED = ("host", "command_processor", "copy_engine")
#: What of a simulated kernel is kept.
_KEPT = ("work_ns", "units", "issue_share", "memory_share", "peers")
#: Bytes of kept kernels.
_MOST = 16 << 20


def timeline(workload: Workload, device: Device, options: Options, launches: Callable[[Kernel], Launch]) -> Timeline:
    """Run a workload. launches: the launch that a kernel names."""
    return run(timed(workload, device, options, launches), machine(device.spec, workload))


def machine(spec: DeviceSpec, workload: Workload) -> Machine:
    """The device as the event engine sees it; RequestError for what a workload needs and the device lacks."""
    rule = "is missing: a timeline needs to know how work reaches the device"
    problems = [Problem(slot, ABSENT, rule) for slot in NEEDED if spec.get(slot) is None]
    if problems:
        raise RequestError(problems)
    problems = _too_large(spec, workload)
    if spec.get("link") is None and any(step.do == "collective" or step.what == "peer" for step in _steps(workload)):
        problems.append(Problem("link", ABSENT, "is missing: the workload exchanges data between devices"))
    if problems:
        raise RequestError(problems)
    dispatcher, clock, memory, host = spec["dispatcher"], spec.clock_hz, spec["memory"], spec.slots["host"]
    params = host.part.parameters(host.spec)
    pick = host.part.function("pick_queue")
    assert pick is not None
    launch, drain = (float(int(part.cycles(clock))) / clock * 1e9 for part in (dispatcher.launch, dispatcher.drain))
    return Machine(
        host=scaled(host.spec),
        processor=scaled(spec["command_processor"]),
        copies=scaled(spec["copy_engine"]),
        pick_queue=lambda stream, queues, waiting, state: pick(stream, queues, waiting, state, params),
        launch_ns=launch,
        drain_ns=drain,
        gap_ns=dispatcher.gap.cycles(clock) / clock * 1e9,
        clock_hz=clock,
        units=spec["compute_unit"].count,
        memory_rate=memory.bandwidth * memory.efficiency * 1e-9,
        devices=workload.devices,
        paged=_paged(spec, workload),
        **_together(spec, workload.devices),
    )


def _paged(spec: DeviceSpec, workload: Workload) -> Paged | None:
    """What becomes of managed memory; nothing where there is none."""
    managed = [buffer for buffer in workload.buffers.values() if buffer.memory == MANAGED]
    if not managed:
        return None
    slot = spec.slots.get("page_migration")
    if slot is None:
        raise RequestError([Problem("page_migration", ABSENT, "is missing: the workload has managed memory")])
    part, params, found = slot.part, slot.part.parameters(slot.spec), vars(scaled(slot.spec))
    serve = part.function("serve")
    leaving, fetched = found.pop("eviction"), found.pop("prefetch")
    leave, fetch = leaving.part.function("pick_leaving"), fetched.part.function("pick_fetched")
    leave_params, fetch_params = (one.part.parameters(one.spec) for one in (leaving, fetched))
    room = []
    for device in range(workload.devices):
        own = sum(buffer.bytes for buffer in workload.buffers.values() if buffer.memory == "device" and buffer.device == device)
        begins = sum(-(-buffer.bytes // slot.spec.block) for buffer in managed if buffer.device == device)
        room.append((spec["memory"].capacity - own) // slot.spec.block)
        if room[-1] < max(1, begins):
            rule = f"leave {room[-1]} blocks of device {device} for managed memory, of which {begins} begin there"
            raise RequestError([Problem("buffers", own, rule)])
    if serve is not None and found.get("remote_rate") is None:
        found["remote_rate"] = spec["copy_engine"].rate_to_device * 1e-9
    if found.get("remote_rate") is not None and found.get("remote_pending") and found["remote_latency"]:
        found["remote_rate"] = min(found["remote_rate"], slot.spec.remote_pending / found["remote_latency"])
    known = {field.name for field in attrs.fields(Paged)}
    return Paged(
        room=room,
        serve=None if serve is None else lambda faults, blocks: serve(faults, blocks, params) * 1e9,
        leaving=lambda last_use, draws, count: leave(last_use, draws, count, leave_params),
        fetched=lambda wanted, here: fetch(wanted, here, fetch_params),
        **{name: value for name, value in found.items() if name in known},
    )


def _together(spec: DeviceSpec, devices: int) -> dict[str, Any]:
    """What joins devices; nothing where there is no link."""
    if spec.get("link") is None:
        return {}
    found = exchanges(spec, devices)
    return {"links": found.links, "collective": found.collective, "peer": found.peer, "way": found.way}


def scaled(spec: Any) -> Any:
    """A Spec's fields with times in nanoseconds and rates in bytes a nanosecond."""
    found: dict[str, Any] = {}
    for field in attrs.fields(type(spec)):
        value = getattr(spec, field.name)
        if field.metadata.get(META) is not None and meta(field).nested is not None:
            value = [scaled(item) for item in value]
        elif field.metadata.get(META) is not None and isinstance(value, (int, float)) and meta(field).unit in _SCALE:
            value = value * _SCALE[meta(field).unit]
        found[field.name] = value
    return SimpleNamespace(**found)


def _steps(workload: Workload) -> Iterator[Step]:
    """Every step of every thread and every node of a graph, those in repetitions too."""
    left = [step for steps in workload.threads.values() for step in steps]
    left += [node.step for nodes in workload.graphs.values() for node in nodes]
    while left:
        yield (step := left.pop())
        left += step.steps


def _too_large(spec: DeviceSpec, workload: Workload) -> list[Problem]:
    """Buffers that a device has no room for."""
    problems = []
    for device in range(workload.devices):
        here = [buffer for buffer in workload.buffers.values() if buffer.device == device and buffer.memory == "device"]
        whole, most = sum(buffer.bytes for buffer in here), spec["memory"].capacity
        if whole > most:
            problems.append(Problem("buffers", whole, f"is what buffers of device {device} have together; its memory has {most} bytes"))
    return problems


def timed(workload: Workload, device: Device, options: Options, launches: Callable[[Kernel], Launch]) -> Workload:
    """The workload with the time of every kernel that is launched."""
    used = {step.what for step in _steps(workload) if step.do == "launch"}
    found = {
        name: _timed(kernel, device, options, launches, workload.devices) if name in used else kernel
        for name, kernel in workload.kernels.items()
    }
    return attrs.evolve(workload, kernels=found)


def _timed(kernel: Kernel, device: Device, options: Options, launches: Callable[[Kernel], Launch], devices: int) -> Kernel:
    if kernel.cycles is not None:
        return attrs.evolve(kernel, work_ns=kernel.cycles / device.clock_hz * 1e9)
    if kernel.work_ns is not None:
        return kernel
    launch = launches(kernel)
    if there := _bytes_there(launch):
        if max(there) >= devices:
            rule = f"must be more than {max(there)}: kernel {kernel.name} has a buffer on a device that many places further on"
            raise RequestError([Problem("devices", devices, rule)])
        launch = _on_machine(launch, devices)
    if kernel.caches:
        launch = attrs.evolve(
            launch,
            caches=kernel.caches,
            variants=tuple(attrs.evolve(one, launch=attrs.evolve(one.launch, caches=kernel.caches)) for one in launch.variants),
        )
    found = _simulated(device, launch, options)
    if kernel.units is not None:
        found["units"] = kernel.units
    return attrs.evolve(kernel, **found)


def _simulated(device: Device, launch: Launch, options: Options) -> dict[str, Any]:
    """What a launch takes of the device, simulated or from an earlier run; host and queues are no part of what it is kept under, links
    only where it has buffers on other devices."""
    options = attrs.evolve(options, repeat=1)
    spec, there = device.spec, _bytes_there(launch)
    key = point_id(spec.fingerprint if there else spec.kernel_fingerprint, program_fingerprint(launch, options.seed), options)
    path = kept.root() / "kernels" / f"{key}.json"
    with suppress(OSError, ValueError):
        known = json.loads(path.read_text())
        if set(known) == set(_KEPT):
            peers = {int(distance): tuple(rates) for distance, rates in known["peers"].items()}
            return dict(known) | {"peers": peers}
    row = simulate(device, launch, options)
    work = (row["cycles"] - row["launch_drain_cycles"]) / row["clock_hz"] * 1e9
    units, count = _units(device, _chosen(launch, row.get("variant") or "")), device.spec["compute_unit"].count
    found = {
        "work_ns": work,
        "units": units,
        "issue_share": (row.get("issue_active_pct") or 0.0) / 100 * units / count,
        "memory_share": min(1.0, (row.get("bandwidth_pct") or 0.0) / 100),
        # Of several peers each has its buffers' part of what passes.
        "peers": {
            distance: (size * row["link_out_bytes"] / sum(there.values()) / work, size * row["link_in_bytes"] / sum(there.values()) / work)
            for distance, size in there.items()
        },
    }
    with suppress(OSError):
        kept.put(path, [json.dumps(found).encode()])
        kept.make_room(path.parent, _MOST)
    return found


def _bytes_there(launch: Launch) -> dict[int, int]:
    """Bytes of a launch's buffers on other devices, by distance."""
    found: dict[int, int] = {}
    for step in (*launch.steps, *(one for variant in launch.variants for one in variant.launch.steps)):
        for buffer in step.buffers:
            if buffer.peer:
                found[buffer.peer] = found.get(buffer.peer, 0) + buffer.size
    return found


def _on_machine(launch: Launch, devices: int) -> Launch:
    """The launch where there are so many devices."""
    variants = tuple(attrs.evolve(one, launch=_on_machine(one.launch, devices)) for one in launch.variants)
    sequence = tuple(_on_machine(one, devices) for one in launch.sequence)
    return attrs.evolve(launch, devices=devices, variants=variants, sequence=sequence)


def _chosen(launch: Launch, variant: str) -> Launch:
    """The program that was run, of a launch with variants, and the first of those that are run one after another."""
    for one in launch.variants:
        if variant == one.name or variant.startswith(f"{one.name}+"):
            return _chosen(one.launch, variant)
    return _chosen(launch.sequence[0], variant) if launch.sequence else launch


def _units(device: Device, launch: Launch) -> float:
    """Compute units that a launch's workgroups fill, as many on each as there is room for."""
    program, code = prepare(device, launch)
    held, _ = hold(device, launch, program, code)
    return min(float(device.spec["compute_unit"].count), math.prod(launch.grid) / held.workgroups)


def from_folders(read: Callable[[Path], Mapping[str, Launch]], suites: Path, chosen: Path, beside: Path) -> Callable[[Kernel], Launch]:
    """Where a kernel's launch is looked up: its `path` (from the workload's folder), its `suite` of those shipped, or the suite chosen.

    The program of a launch that the workload describes itself is looked up there, too, or beside the workload.
    """
    folders: dict[Path, Mapping[str, Launch]] = {}

    def find(kernel: Kernel) -> Launch:
        folder = beside / kernel.path if kernel.path else suites / kernel.suite if kernel.suite else chosen
        if kernel.suite and not folder.is_dir():
            names = sorted(place.name for place in suites.iterdir() if (place / "launches.json").exists())
            raise RequestError([Problem(f"kernels.{kernel.name}.suite", kernel.suite, "is not a known suite", tuple(names))])
        if kernel.described is not None:
            where = folder if kernel.path or kernel.suite else beside
            return read_one(where, kernel.name, f"kernels.{kernel.name}.launch", kernel.described)
        if folder not in folders:
            folders[folder] = read(folder)
        launches = folders[folder]
        if kernel.launch not in launches:
            from archex.base.errors import closest

            near = closest(kernel.launch, launches)
            rule = f"is no launch of {folder.name}"
            raise RequestError([Problem(f"kernels.{kernel.name}.launch", kernel.launch, rule, () if near else tuple(launches)[:12], near)])
        return launches[kernel.launch]

    return find
