"""A launch's traces: read where a recording is kept, interpreted where not, recorded where that is asked for.

In: a launch as it runs on a device, the hash of all that its trace depends on. Out: sources of traces. Recordings lie in files that all
processes map (`recorded`); a process keeps those that it has opened. They are made in the first run that would interpret a launch
whole anyway; a launch whose trace is too large, depends on the order of its waves, or fails is interpreted each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import OrderedDict
from pathlib import Path

import attrs

from archex.base.errors import ArchexError
from archex.base.kept import make_room, root
from archex.programs.arguments import LaunchLike
from archex.programs.ir import Function
from archex.programs.recording.record import record
from archex.programs.recording.recorded import Recorded, read, write
from archex.programs.recording.replay import ReplaySource
from archex.programs.trace import Traces, TraceSource

#: Bytes of the largest recording that is kept, and of all of them.
MOST_OF_ONE = 96 << 20
MOST = 2 << 30
#: Seconds since its last opening after which a recording may go: while a sweep uses more than fit, the rest is interpreted.
SPARED = 3600.0
#: Recordings, and launches found to have none, that a process remembers.
_OPEN = 256

_known: OrderedDict[Path, Recorded | None] = OrderedDict()


def folder() -> Path:
    """Where recordings are kept: beside programs and compiled code."""
    return root() / "traces"


def content_of(launch: LaunchLike) -> str:
    """What a launch hands to its program, as a hash: geometry, arguments, what its buffers hold."""
    digest = hashlib.sha256(repr((launch.grid, launch.block, launch.cluster, launch.dynamic_local_bytes)).encode())
    digest.update(repr((tuple(launch.arguments), tuple(launch.buffers))).encode())
    for buffer in launch.buffers:
        digest.update(len(buffer.data).to_bytes(8, "little") + buffer.data)
    return digest.hexdigest()


@attrs.frozen
class LaunchTraces:
    """The traces of one launch. key: the hash of all that they depend on; None: they are interpreted, and not kept."""

    function: Function
    launch: LaunchLike
    wave_width: int
    seed: int
    key: str | None

    def source(self, contexts: int) -> Traces:
        """A source for so many waves at once."""
        recorded = self._find()
        return ReplaySource(recorded, contexts) if recorded else self._interpreted(contexts)

    def whole(self, source: Traces, contexts: int) -> Traces:
        """The source for a run that reads all of the trace: recorded from `source`, which has started nothing, if it can be."""
        if self.key is None or not isinstance(source, TraceSource) or self._path() in _known:
            return source
        kept = None
        if source.repeatable:
            with contextlib.suppress(ArchexError):  # a fault is met again, where the order of waves is the engine's
                recorded = record(source, MOST_OF_ONE)
                kept = self._put(recorded) if recorded else None
            source = self._interpreted(contexts)
        _remember(self._path(), kept)
        return ReplaySource(kept, contexts) if kept else source

    def _interpreted(self, contexts: int) -> TraceSource:
        return TraceSource(self.function, self.launch, self.wave_width, contexts, seed=self.seed)

    def _path(self) -> Path:
        return folder() / str(self.key)

    def _find(self) -> Recorded | None:
        if self.key is None:
            return None
        path = self._path()
        if path not in _known:
            recorded = read(path)
            if recorded is None:
                return None
            with contextlib.suppress(OSError):
                os.utime(path)
            _remember(path, recorded)
        _known.move_to_end(path)
        return _known[path]

    def _put(self, recorded: Recorded) -> Recorded | None:
        """The recording as others will map it; None where there is no room for it."""
        path = self._path()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not make_room(path.parent, MOST - recorded.size, SPARED):
                return None
            write(path, recorded)
        except OSError:
            return None
        return read(path)


def _remember(path: Path, recorded: Recorded | None) -> None:
    _known[path] = recorded
    while len(_known) > _OPEN:
        _known.popitem(last=False)
