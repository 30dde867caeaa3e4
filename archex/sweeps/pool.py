"""Work on all cores: one task at a time a process, and a process that dies costs only its own task.

In: tasks, the path of the function that does one (`package.module:function`), a function that says what a dead process's task becomes.
Out: (index, result) as they are finished. The standard library's pool fails every waiting task when one worker dies.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from archex.sweeps.jobs import resolve as resolve

Task = TypeVar("Task")


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    tasks: Sequence[Task], work: str, workers: int, killed: Callable[[Task, str], Any], preload: Sequence[str] = ()
) -> Iterator[tuple[int, Any]]:
    """Do every task; in this process when one worker is enough (so that a debugger can stop in it).

    preload: modules that are imported once, before the workers are split off.
    """
    if workers <= 1 or len(tasks) <= 1:
        do = resolve(work)
        for index, task in enumerate(tasks):
            yield index, do(task)
        return
    context: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
    context.set_forkserver_preload(list(preload))
    yield from _run_processes(context, tasks, work, min(workers, len(tasks)), killed)


def _run_processes(
    context: Any, tasks: Sequence[Task], work: str, workers: int, killed: Callable[[Task, str], Any]
) -> Iterator[tuple[int, Any]]:
    waiting = list(range(len(tasks)))[::-1]
    busy: dict[Connection, tuple[Any, int]] = {}

    def start() -> tuple[Any, Connection]:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    def give(process: Any, connection: Connection) -> None:
        if waiting:
            index = waiting.pop()
            with suppress(BrokenPipeError):  # already dead: the wait below finds it closed
                connection.send(tasks[index])
            busy[connection] = (process, index)
        else:
            connection.close()
            process.join()

    try:
        for _ in range(workers):
            give(*start())
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                process, index = busy.pop(connection)
                try:
                    result = connection.recv()
                except (EOFError, ConnectionResetError):
                    process.join()
                    yield index, killed(tasks[index], _cause(process.exitcode))
                    if waiting:
                        give(*start())
                    continue
                give(process, connection)  # before the caller uses the result, so that the process is never idle
                yield index, result
    finally:
        for connection, (process, _) in busy.items():
            process.kill()
            connection.close()
            process.join()


def _serve(connection: Connection, work: str) -> None:
    """A worker's whole life. An interrupt from the terminal is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    do = resolve(work)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(do(task))


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        return f"its process was ended by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"its process ended with code {code}"
