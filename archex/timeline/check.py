"""A map, as a file or the builder gives it, as a checked `Workload`; everything that is wrong at once, each with its path.

In: the map; how many devices there are and what its parameters are, if the command line says it. Out: a `Workload`, or one `RequestError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from archex.base.errors import ABSENT, Problem, RequestError, unknown
from archex.timeline import fields as f
from archex.timeline import managed
from archex.timeline.model import Buffer, Kernel, Node, Step, Stream, Workload
from archex.timeline.parameters import filled
from archex.timeline.walks import MOST, NODES, captured, counted, is_node, recorded, unrolled

#: What may stand in a capture beside nodes: order only.
_ORDER = ("record", "wait")


def read(given: Any, devices: int | None = None, values: Mapping[str, Any] | None = None) -> Workload:
    """The workload. values: of parameters, in place of those of the file."""
    reader = _Reader(devices)
    found = reader.workload(filled(given, values or {}, devices))
    if reader.problems:
        raise RequestError(reader.problems)
    return found


class _Reader:
    def __init__(self, devices: int | None) -> None:
        self.problems: list[Problem] = []
        self._devices = devices
        self._known: dict[str, Any] = {}
        self._graphs: dict[str, tuple[Node, ...]] = {}
        self._buffers: dict[str, Buffer] = {}
        self._streams: dict[str, Stream] = {}

    def workload(self, given: Any) -> Workload:
        if not isinstance(given, Mapping):
            raise RequestError([Problem("workload", given, "must be a map", f.ROOT)])
        for key in given:
            if key not in f.ROOT:
                self.problems.append(unknown(str(key), ABSENT, f.ROOT, "key"))
        count = given.get("devices", 1) if self._devices is None else self._devices
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            self.problems.append(Problem("devices", count, "must be a whole number of at least 1"))
            count = 1
        threads = self._threads(given)
        self._known = {
            "devices": count, "kernel": self._section(given, "kernels"), "stream": {}, "buffer": self._section(given, "buffers"),
            "event": {name for name, path in recorded(threads)}, "graph": {**self._section(given, "graphs"), **dict(captured(threads))},
        }  # fmt: skip
        for name, item in self._known["buffer"].items():
            found = f.fields(item, f.BUFFER, f"buffers.{name}", self._known, self.problems)
            self._buffers[name] = managed.placed(name, found, self.problems)
        kernels = {name: self._kernel(name, item) for name, item in self._known["kernel"].items()}
        self._streams = self._stream_section(given)
        self._known["stream"] = self._streams
        for name, item in self._section(given, "graphs").items():
            self._graphs[name] = self._graph(name, item)
        made = {name: self._steps(steps, path) for name, path, steps in threads}
        for name, path, _ in threads:
            self._short(made[name], path)
        if not isinstance(given.get("name", ""), (str, int)):
            self.problems.append(Problem("name", given["name"], "must be a text"))
        return Workload(str(given.get("name", "")), count, kernels, self._streams, self._buffers, self._graphs, made)

    def _section(self, given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        found = given.get(name) or {}
        if not isinstance(found, Mapping):
            self.problems.append(Problem(name, found, "must be a map of names"))
            return {}
        return found

    def _threads(self, given: Mapping[str, Any]) -> list[tuple[str, str, Sequence[Any]]]:
        """(name, path, steps) of each host thread."""
        if ("steps" in given) == ("threads" in given):
            self.problems.append(Problem("steps", ABSENT, "must say what the host does: either `steps`, or `threads` with steps for each"))
            return []
        named = {"main": given["steps"]} if "steps" in given else self._section(given, "threads")
        found: list[tuple[str, str, Sequence[Any]]] = []
        for name, steps in named.items():
            path = "steps" if "steps" in given else f"threads.{name}"
            if isinstance(steps, (list, tuple)):
                found.append((str(name), path, steps))
            else:
                self.problems.append(Problem(path, steps, "must be a list of steps"))
        return found

    def _kernel(self, name: str, item: Any) -> Kernel:
        path = f"kernels.{name}"
        found = f.fields(item, f.KERNEL, path, self._known, self.problems)
        ways = [key for key in ("launch", "us", "cycles") if key in found]
        if len(ways) != 1 and isinstance(item, Mapping):
            self.problems.append(Problem(path, ABSENT, "must say how long it takes, in one way", ("launch", "us", "cycles")))
        if "launch" not in found and ("suite" in found or "path" in found):
            self.problems.append(Problem(path, ABSENT, "names where a launch is, but no launch", ("launch",)))
        if "launch" not in found and "caches" in found:
            self.problems.append(Problem(f"{path}.caches", found["caches"], "is about a launch that is simulated"))
        if found.get("cache") == "miss" and "instructions" not in found:
            self.problems.append(Problem(f"{path}.instructions", ABSENT, "is missing: what the program has, which must be made"))
        given = item.get("touches") if isinstance(item, Mapping) else None
        touches = managed.touches(given, f"{path}.touches", self._known, self._buffers, self.problems)
        us, launch = found.get("us"), found.get("launch") or ""
        described = launch if isinstance(launch, Mapping) else None
        return Kernel(
            name, "" if described else launch, found.get("suite") or "", found.get("path") or "", None if us is None else us * 1e3,
            found.get("cycles"), found.get("units"), 0.0, found.get("memory") or 0.0, found.get("arguments") or 0, described,
            found.get("caches") or "", found.get("cache") or "", int(found.get("instructions") or 0), touches,
        )  # fmt: skip

    def _stream_section(self, given: Mapping[str, Any]) -> dict[str, Stream]:
        found = given.get("streams")
        if found is None:
            return {f"stream{n}" if self._known["devices"] > 1 else "main": Stream(f"stream{n}", n) for n in range(self._known["devices"])}
        if isinstance(found, (list, tuple)):
            for name in dict.fromkeys(name for name in map(str, found) if list(map(str, found)).count(name) > 1):
                self.problems.append(Problem("streams", name, "is there more than once"))
            found = {str(name): {} for name in found}
        if not isinstance(found, Mapping) or not found:
            self.problems.append(Problem("streams", given["streams"], "must be a list of names, or a map of names"))
            return {}
        made = {}
        for name, item in found.items():
            values = f.fields(item or {}, f.STREAM, f"streams.{name}", self._known, self.problems)
            made[str(name)] = Stream(str(name), values.get("device", 0), values.get("priority", 0))
        if "all" in made:
            self.problems.append(Problem("streams.all", ABSENT, "is the name for every stream; choose another"))
        return made

    # --- steps

    def _steps(self, given: Any, path: str) -> tuple[Step, ...]:
        if not isinstance(given, (list, tuple)):
            self.problems.append(Problem(path, given, "must be a list of steps"))
            return ()
        made = [self._step(item, f"{path}[{place}]") for place, item in enumerate(given)]
        return tuple(step for step in made if step is not None)

    def _short(self, steps: Sequence[Step], path: str) -> bool:
        """Whether steps can be done one by one."""
        count = counted(steps)
        if count > MOST:
            self.problems.append(Problem(path, count, f"is how many steps that comes to; {MOST} are the most"))
        return count <= MOST

    def _step(self, given: Any, path: str) -> Step | None:
        verbs = [key for key in given if key in f.STEPS] if isinstance(given, Mapping) else []
        if len(verbs) != 1:
            rule = "must be a map with one of these keys" if len(verbs) == 0 else f"says several things at once: {', '.join(verbs)}"
            near = [unknown(path, key, f.STEPS, "step") for key in given if key not in f.STEPS] if isinstance(given, Mapping) else []
            hint = near[0].suggestion if near else None
            self.problems.append(Problem(path, ABSENT, rule, tuple(f.STEPS), hint))
            return None
        do = verbs[0]
        what, form = f.STEPS[do]
        before = len(self.problems)
        value = f.one(given[do], what, f"{path}.{do}", self._known, self.problems)
        found = f.fields(given, form, path, self._known, self.problems, (do,))
        stream = self._stream(do, found, given, path)
        inner: tuple[Step, ...] = ()
        if do == "capture" and "steps" in given and isinstance(value, str):
            if value in self._graphs:
                self.problems.append(Problem(f"{path}.capture", value, "is a graph already; choose another name"))
            self._graphs[value] = self._captured(given["steps"], f"{path}.steps")
        elif do == "repeat":
            found["times"], value = value, ""
            inner = self._steps(given.get("steps", []), f"{path}.steps")
        elif do in ("work", "call"):
            found["ns"], value = (value or 0.0) * 1e9, ""
        elif do == "copy":
            self._copy(found, value, path, stream)
        elif do == "collective":
            self._collective(found, value, path)
        elif do in managed.STEPS and value in self._buffers:
            managed.step(do, self._buffers[value], found, path, self.problems)
        if len(self.problems) > before:
            return None
        return Step(do, str(value), stream, found, inner, path)

    def _stream(self, do: str, found: dict[str, Any], given: Any, path: str) -> str:
        """The stream of a step; where there is only one it needn't be named."""
        if "stream" not in f.STEPS[do][1] or "streams" in given:
            return ""
        if "stream" in given:
            return str(found.pop("stream", ""))
        if len(self._streams) != 1:
            self.problems.append(Problem(f"{path}.stream", ABSENT, "is missing", tuple(self._streams)))
            return ""
        return next(iter(self._streams))

    def _copy(self, found: dict[str, Any], way: str, path: str, stream: str) -> None:
        ends = [self._buffers.get(found.pop(end, "")) for end in ("from", "to")]
        named = [end for end in ends if end is not None]
        if named and "bytes" not in found:
            found["bytes"] = min(end.bytes for end in named)
        if "bytes" not in found:
            self.problems.append(Problem(f"{path}.bytes", ABSENT, "is missing: how many, or buffers `from` and `to`"))
        for end, name in zip(ends, ("from", "to"), strict=True):
            if managed.not_copied(end, f"{path}.{name}", self.problems):
                continue
            if end is not None and found.get("bytes", 0) > end.bytes:
                self.problems.append(Problem(f"{path}.bytes", found["bytes"], f"is more than buffer {end.name} has ({end.bytes})"))
            host = (way == "h2d" and name == "from") or (way == "d2h" and name == "to")
            if end is not None and host != (end.device is None):
                side = "the host" if host else "a device"
                self.problems.append(Problem(f"{path}.{name}", end.name, f"must be a buffer of {side} in a copy {way}"))
            if end is not None and host and end.device is None:
                found.setdefault("memory", end.memory)
        if way == "peer":
            sides = [end.device if end is not None else found.get(key) for end, key in zip(ends, ("source", "target"), strict=True)]
            if None in sides or sides[0] == sides[1]:
                rule = "must name two devices, as `source` and `target` or by buffers `from` and `to`"
                self.problems.append(Problem(path, ABSENT, rule))
            found["source"], found["target"] = sides
        elif "source" in found or "target" in found:
            self.problems.append(Problem(path, ABSENT, "names a source or a target device, which only a copy peer has"))
        if way == "fill" and ends[0] is not None:
            self.problems.append(Problem(f"{path}.from", ends[0].name, "has nothing to give: a fill writes one value"))
        if way in ("d2d", "peer", "fill") and "memory" in found:
            self.problems.append(Problem(f"{path}.memory", found["memory"], "is about the host's memory, of which this copy has none"))
        found.setdefault("memory", "pinned")

    def _collective(self, found: dict[str, Any], kind: str, path: str) -> None:
        several = "streams" in found
        if several and ("rank" in found or "ranks" in found):
            self.problems.append(Problem(f"{path}.streams", ABSENT, "is for all ranks at once; `rank` and `ranks` are for one of them"))
        if not several and not {"rank", "ranks", "name"} <= set(found):
            self.problems.append(Problem(path, ABSENT, "needs `streams` (a rank on each), or `name`, `rank`, `ranks` and a stream"))
        if not several and (found.get("rank") or 0) >= (found.get("ranks") or 1 << 30):
            self.problems.append(Problem(f"{path}.rank", found["rank"], f"must be below {found['ranks']}, the number of ranks"))
        count = len(found["streams"] or ()) if several else found.get("ranks") or 1
        if kind == "send_receive" and count != 2:
            self.problems.append(Problem(f"{path}.{'streams' if several else 'ranks'}", count, "must be two: who sends, who receives"))
        if "root" in found and kind not in ("broadcast", "reduce"):
            self.problems.append(Problem(f"{path}.root", found["root"], f"is of a broadcast or a reduce, and this is {kind}"))
        elif found.get("root") and found["root"] >= max(count, 1):
            self.problems.append(Problem(f"{path}.root", found["root"], f"must be below {count}, the number of ranks"))
        if several and all(isinstance(name, str) for name in found["streams"] or ()):
            devices = [self._streams[name].device for name in found["streams"] or () if name in self._streams]
            if len(set(devices)) < len(devices):
                self.problems.append(Problem(f"{path}.streams", ", ".join(found["streams"]), "must be streams of different devices"))

    # --- graphs

    def _captured(self, given: Any, path: str) -> tuple[Node, ...]:
        """Nodes of captured steps: each behind the one before it in its stream, and behind events it waits for."""
        last: dict[str, tuple[int, ...]] = {}
        events: dict[str, tuple[int, ...]] = {}
        nodes: list[Node] = []
        steps = self._steps(given, path)
        for step in unrolled(steps) if self._short(steps, path) else ():
            before = last.get(step.stream, ())
            if step.do == "record":
                events[step.what] = before
            elif step.do == "wait":
                if step.what not in events:
                    self.problems.append(Problem(f"{step.path}.wait", step.what, "is not recorded before in this capture"))
                last[step.stream] = tuple(dict.fromkeys((*before, *events.get(step.what, ()))))
            elif is_node(step):
                nodes.append(Node(step, before))
                last[step.stream] = (len(nodes) - 1,)
            else:
                choices = (*NODES, *_ORDER, "repeat")
                self.problems.append(Problem(step.path, f"{step.do} {step.what}", "can't be captured in a graph", choices))
        return tuple(nodes)

    def _graph(self, name: str, given: Any) -> tuple[Node, ...]:
        """Nodes that name what they come after."""
        path = f"graphs.{name}"
        if not isinstance(given, Mapping) or not isinstance(given.get("nodes"), Mapping):
            self.problems.append(Problem(f"{path}.nodes", ABSENT, "must be a map of names to a launch or a copy, each with `after`"))
            return ()
        numbers: dict[str, int] = {}
        nodes = []
        for place, (node, item) in enumerate(given["nodes"].items()):
            here = f"{path}.nodes.{node}"
            after = item.get("after", []) if isinstance(item, Mapping) else []
            plain = {key: value for key, value in item.items() if key != "after"} if isinstance(item, Mapping) else item
            if isinstance(plain, dict) and "stream" not in plain and self._streams:
                plain["stream"] = next(iter(self._streams))
            step = self._step(plain, here)
            if step is not None and not is_node(step):
                self.problems.append(Problem(here, f"{step.do} {step.what}", "can't be a node of a graph", NODES))
            behind = []
            for other in after if isinstance(after, (list, tuple)) else [after]:
                if other in numbers:
                    behind.append(numbers[other])
                else:
                    rule = "must be a node above this one"
                    self.problems.append(Problem(f"{here}.after", other, rule, tuple(numbers)))
            numbers[str(node)] = place
            nodes.append(Node(step or Step(""), tuple(behind)))
        return tuple(nodes)
