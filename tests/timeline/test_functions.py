"""Functions of the host in streams: the stream waits, one thread does them one after another, and waking it costs its time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.testing.devices import described
from archex.timeline import Builder, Timeline, run
from archex.timeline.check import read
from archex.timeline.commands import Command
from archex.timeline.spent import spent
from archex.workloads import machine
from machines import changed, ran


def work(**given: Any) -> Builder:
    return Builder(**given).kernel("k", us=20).kernel("long", us=2000)


def functions(found: Timeline) -> list[Command]:
    return [c for c in found.commands if c.kind == "function"]


def test_a_stream_waits_for_its_function_and_others_do_not() -> None:
    steps = work(streams=["a", "b"]).launch("k", stream="a").call("300 us", stream="a").launch("k", stream="a").launch("k", stream="b")
    found = ran(steps.sync("all"))
    first, last, other = (c for c in found.commands if c.kind == "kernel")
    (function,) = functions(found)
    host = found.machine.host
    assert function.ended - first.ended == pytest.approx(host.latency + host.wake + 300e3)
    assert last.started >= function.ended + host.function_back
    assert other.ended < function.ended


def test_the_caller_goes_on() -> None:
    found = ran(work().launch("long").call("300 us"))
    assert found.spans("call")[0] == pytest.approx(found.machine.host.function)


def test_an_idle_stream_hands_its_function_over_without_an_interrupt() -> None:
    found = ran(work().call("50 us").sync("all"))
    (function,) = functions(found)
    assert function.ended - function.arrived == pytest.approx(found.machine.host.function_handed + found.machine.processor.packet + 50e3)
    late = ran(work().launch("k").sync("all").work("100 us").call("50 us").sync("all"))
    (function,) = functions(late)
    assert function.ended - function.started == pytest.approx(found.machine.host.function_handed + 50e3)


def test_functions_follow_each_other_awake() -> None:
    steps = work().launch("long")
    for _ in range(10):
        steps.call("5 us")
    first, *others = functions(ran(steps.sync("all")))
    machine = ran(steps).machine
    assert first.ended - first.started == pytest.approx(machine.host.latency + machine.host.wake + 5e3)
    assert [c.ended - c.started for c in others] == pytest.approx([machine.host.function_next + 5e3] * 9)


@pytest.mark.parametrize("streams", [1, 2, 4])
def test_one_thread_does_all_functions(streams: int) -> None:
    names = [f"s{n}" for n in range(streams)]
    steps = work(streams=names)
    for turn in range(8):
        steps.call("50 us", stream=names[turn % streams])
    found = ran(steps.sync("all"))
    spans = sorted((c.ended - 50e3, c.ended) for c in functions(found))
    assert all(begin >= before for (_, before), (begin, _) in pairwise(spans))
    assert found.total_ns == pytest.approx(8 * 50e3, rel=0.1)


def test_an_event_behind_a_function_happens_behind_it() -> None:
    steps = work(streams=["a", "b"]).call("100 us", stream="a").record("done", stream="a").wait("done", stream="b").launch("k", stream="b")
    found = ran(steps.sync("all"))
    kernel = next(c for c in found.commands if c.kind == "kernel")
    assert kernel.started > functions(found)[0].ended + found.machine.host.function_back


def test_nodes_of_graphs_are_as_in_a_stream() -> None:
    def captured(builder: Builder) -> Builder:
        return builder.launch("k").call("30 us").launch("k")

    found = ran(work().capture("g", captured).instantiate("g").replay("g").sync("all"))
    first, last = (c for c in found.commands if c.kind == "kernel")
    (function,) = functions(found)
    host = found.machine.host
    assert function.graph is not None
    assert function.ended - first.ended >= host.latency + host.wake + 30e3
    assert last.started >= function.ended + host.function_back
    named = work().graph("g", {"one": {"launch": "k"}, "two": {"call": "30 us", "after": ["one"]}}).replay("g").sync("all")
    assert functions(ran(named))[0].ended > 0


def test_dearer_functions_are_never_quicker() -> None:
    steps = work().launch("k").call("0 us").call("0 us").launch("k").sync("all")
    plain = ran(steps).total_ns
    for field in ("function", "function_next", "function_back", "wake"):
        assert ran(steps, changed("h200", "host", **{field: 50e3})).total_ns > plain, field


def test_where_the_time_went_says_it() -> None:
    found = ran(work().call("300 us").sync("all"))
    parts = {part.what: part.ns for part in spent(found)}
    assert parts["idle: function of the host"] > 300e3
    assert sum(parts.values()) == pytest.approx(found.total_ns)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"call": "10 GB"}, "steps[0].call: 10 GB"),
        ({"call": "-1 us"}, "steps[0].call: -1 us must be at least 0"),
        ({"call": None}, "steps[0].call: None"),
        ({"call": "k"}, "steps[0].call: k"),
        ({"call": [1]}, "steps[0].call"),
        ({"call": "10 us", "stream": "c"}, "steps[0].stream: c is not a known stream"),
        ({"call": "10 us"}, "steps[0].stream: is missing (choices: a, b)"),
        ({"call": "10 us", "work": "1 us", "stream": "a"}, "says several things at once: call, work"),
        ({"call": "10 us", "stream": "a", "mode": "poll"}, "steps[0].mode: is not a known key"),
        ({"cal": "10 us", "stream": "a"}, "did you mean call?"),
        ({"call": "10 us", "streams": ["a"], "stream": "a"}, "steps[0].streams: is not a known key"),
    ],
)
def test_wrong_functions_are_named(step: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError) as caught:
        read({"streams": ["a", "b"], "steps": [step]})
    assert any(said in str(problem) for problem in caught.value.problems), [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("to", ["host", "device"])
def test_a_prefetch_of_a_busy_stream_is_a_thread_s_and_its_call_returns(to: str) -> None:
    def prefetched(busy: bool) -> Timeline:
        start = {"device": 0} if to == "host" else {}
        work = Builder().buffer("x", bytes=16 << 20, memory="managed", **start).kernel("k", us=300)
        if busy:
            work.launch("k")
        workload = work.prefetch("x", to=to).record("e").sync("main").done()
        return run(workload, machine(described("h200"), workload))

    idle, busy = prefetched(False), prefetched(True)
    host = idle.machine.host
    assert busy.spans("prefetch")[0] == pytest.approx(host.copy + host.function)
    assert idle.spans("prefetch")[0] > 30 * busy.spans("prefetch")[0]
    (kernel,) = (c for c in busy.commands if c.kind == "kernel")
    alone, behind = (next(c.ended - c.started for c in found.commands if c.kind == "prefetch") for found in (idle, busy))
    assert behind == pytest.approx(alone, rel=0.02)
    (event,) = busy.happened("e")
    assert event > kernel.ended + host.wake + alone
