"""Feed an engine with traces until a launch, or the planned part of it, has run.

In: an engine, a source of traces, the workgroups in dispatch order, moments at which to look. Out: samples of (cycle, instructions).
The engine asks for workgroups and for more of a wave's trace; nothing else passes between the two.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from archex.base.errors import ProgramError
from archex.engine import tables
from archex.engine.run import Engine
from archex.programs.trace import Traces
from archex.sampling import Sample

#: Looks over a planned run.
LOOKS = 96
#: Wave-instructions between two looks where nobody needs them: between looks no interrupt from the keyboard is heard.
HEARD = 4_000_000


class Driver:
    """One run of an engine. `trace_seconds`: time spent in the source of traces."""

    def __init__(self, engine: Engine, source: Traces, order: np.ndarray, file: str = "") -> None:
        self.engine, self.source, self.order, self.file = engine, source, order, file
        self.next = 0
        self.trace_seconds = 0.0
        self.samples: list[Sample] = [Sample(0.0, 0.0, dict.fromkeys(engine.counters(), 0))]

    @property
    def instructions(self) -> int:
        """Wave-instructions issued so far."""
        return self.engine.counters()["wave_instructions"]

    def run(self, expected: float = 0.0, stop: int = 0, look: Callable[[], bool] | None = None) -> bool:
        """Run to the end, or until `stop` wave-instructions (0: the end); True at the end.

        `expected` wave-instructions space the looks (0: nobody needs any); `look()` is called at each, True to stop there.
        """
        step = max(1, int((stop or expected) / LOOKS)) if stop or expected else HEARD
        target = self.instructions + step
        while True:
            code = self.engine.run(stop_instructions=target)
            if code == tables.NEED_WORKGROUPS:
                self._start()
            elif code == tables.NEED_TRACE:
                self._refill()
            elif code == tables.WINDOW:
                done = self._look(float(self.engine.now))
                if (look and look()) or (stop and done >= stop):
                    return False
                target = done + step
            elif code == tables.DONE:
                self._look(float(self.engine.last_end()))
                return True
            elif code == tables.STUCK:
                raise ProgramError("every wave waits at a barrier that others never reach", self.file)
            else:
                raise RuntimeError(f"the engine returned {code}")

    def _look(self, cycle: float) -> int:
        counters = self.engine.counters()
        self.samples.append(Sample(cycle, float(counters["wave_instructions"]), counters, self.engine.issued(), self.engine.begun()))
        return counters["wave_instructions"]

    def _start(self) -> None:
        slots = self.engine.free_slots()[: len(self.order) - self.next]
        workgroups = self.order[self.next : self.next + len(slots)]
        began = time.perf_counter()
        self.source.start(workgroups, slots)
        self.source.refill(slots)
        self.trace_seconds += time.perf_counter() - began
        self.engine.push(slots, workgroups)
        self.next += len(slots)

    def _refill(self) -> None:
        began = time.perf_counter()
        self.source.refill(self.engine.requests())
        self.trace_seconds += time.perf_counter() - began
