"""A workload built in Python: the same map that a file holds, made by calls.

    work = Builder("overlap", streams=["copies", "kernels"])
    work.kernel("scale", us=20)
    work.copy("h2d", bytes="64 MiB", stream="copies").record("there", stream="copies")
    work.wait("there", stream="kernels").launch("scale", stream="kernels").sync("kernels")
    workload = work.done()

Out: `done()`, a checked `Workload`; `as_map()`, what `archex timeline` reads from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from archex.timeline.check import read
from archex.timeline.fields import STEPS
from archex.timeline.model import Workload


class Builder:
    """Steps are methods named as in a file (`launch`, `copy`, `record`, ...); `from_` stands for the key `from`."""

    def __init__(self, name: str = "", *, devices: int = 1, streams: Sequence[str] | Mapping[str, Any] | None = None) -> None:
        self._map: dict[str, Any] = {"name": name, "devices": devices, "kernels": {}, "buffers": {}, "graphs": {}}
        if streams is not None:
            self._map["streams"] = streams if isinstance(streams, Mapping) else list(streams)
        self._threads: dict[str, list[dict[str, Any]]] = {"main": []}
        self._thread = "main"

    def kernel(self, name: str, **given: Any) -> Builder:
        """A kernel: `launch` (with `suite` or `path`), `us` or `cycles`; `units`, `memory`, `arguments`."""
        self._map["kernels"][name] = given
        return self

    def buffer(self, name: str, **given: Any) -> Builder:
        """A buffer: `bytes`, `device` or `memory`; of managed memory `untouched`, `advice`."""
        self._map["buffers"][name] = given
        return self

    def graph(self, name: str, nodes: Mapping[str, Any]) -> Builder:
        """A graph by its nodes."""
        self._map["graphs"][name] = {"nodes": dict(nodes)}
        return self

    def thread(self, name: str) -> Builder:
        """Further steps are of this host thread."""
        self._threads.setdefault(name, [])
        self._thread = name
        return self

    def step(self, do: str, what: Any, **given: Any) -> Builder:
        """A step."""
        self._threads[self._thread].append({do: what} | {key.rstrip("_"): value for key, value in given.items()})
        return self

    def __getattr__(self, name: str) -> Callable[..., Builder]:
        if name not in STEPS:
            raise AttributeError(f"a workload has no step {name} (steps: {', '.join(STEPS)})")
        return lambda what, **given: self.step(name, what, **given)

    def repeat(self, times: int, build: Callable[[Builder], Any]) -> Builder:
        """What `build` adds, so many times."""
        steps = self._threads[self._thread]
        inner: list[dict[str, Any]] = []
        self._threads[self._thread] = inner
        build(self)
        steps.append({"repeat": times, "steps": inner})
        self._threads[self._thread] = steps
        return self

    def capture(self, name: str, build: Callable[[Builder], Any]) -> Builder:
        """What `build` adds, as a graph."""
        self.repeat(1, build)
        self._threads[self._thread][-1] = {"capture": name, "steps": self._threads[self._thread][-1]["steps"]}
        return self

    def as_map(self) -> dict[str, Any]:
        """What a file would hold."""
        used = {name: steps for name, steps in self._threads.items() if steps or name != "main"}
        plain = {key: value for key, value in self._map.items() if value not in ({}, "")}
        return plain | ({"threads": used} if set(used) - {"main"} else {"steps": self._threads["main"]})

    def done(self) -> Workload:
        """The workload, checked."""
        return read(self.as_map())
