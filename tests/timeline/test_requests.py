"""Workloads that are wrong: everything that is wrong is said at once, with its path; and those that never end say who waits for whom."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from archex.base.errors import RequestError
from archex.timeline import Builder, DeadlockError, EarlyError, MismatchError, Shared, read
from machines import ran, shipped

GOOD: dict[str, Any] = {
    "streams": ["a", "b"],
    "kernels": {"k": {"us": 10}},
    "buffers": {"x": {"bytes": "1 MiB"}, "h": {"bytes": "1 MiB", "memory": "pinned"}, "m": {"bytes": "1 MiB", "memory": "managed"}},
    "steps": [{"launch": "k", "stream": "a"}],
}


def touching(**touch: Any) -> dict[str, Any]:
    """A kernel that touches managed memory in a wrong way."""
    return {"kernels": {"k": {"us": 10, "touches": [{"buffer": "m"} | touch]}}}


WRONG: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"kernals": {}}, "kernals", "did you mean kernels?"),
    ({"devices": 0}, "devices", "at least 1"),
    ({"kernels": {"k": {}}}, "kernels.k", "must say how long it takes"),
    ({"kernels": {"k": {"us": -1}}}, "kernels.k.us", "at least 0"),
    ({"streams": {"a": {"device": 3}, "b": {}}}, "streams.a.device", "0 to 0"),
    ({"streams": ["a", "b", "a"]}, "streams", "is there more than once"),
    ({"kernels": {"k": {"us": float("inf")}}}, "kernels.k.us", "must be a number"),
    ({"kernels": {"k": {"us": float("nan")}}}, "kernels.k.us", "must be a number"),
    ({"steps": [{"work": float("inf")}]}, "steps[0].work", ""),
    ({"steps": [{"lunch": "k", "stream": "a"}]}, "steps[0]", "did you mean launch?"),
    ({"steps": [{"launch": "j", "stream": "a"}]}, "steps[0].launch", "is not a known kernel"),
    ({"steps": [{"launch": "k", "stream": "c"}]}, "steps[0].stream", "is not a known stream"),
    ({"steps": [{"launch": "k"}]}, "steps[0].stream", "is missing"),
    ({"steps": [{"copy": "h2d", "bytes": "5 parsecs", "stream": "a"}]}, "steps[0].bytes", "unit parsecs"),
    ({"steps": [{"copy": "h2d", "stream": "a"}]}, "steps[0].bytes", "is missing"),
    ({"steps": [{"copy": "h2d", "from": "x", "to": "x", "stream": "a"}]}, "steps[0].from", "must be a buffer of the host"),
    ({"steps": [{"copy": "h2d", "from": "h", "to": "x", "bytes": "2 MiB", "stream": "a"}]}, "steps[0].bytes", "more than buffer h has"),
    ({"steps": [{"collective": "send_receive", "bytes": 4, "streams": ["a"]}]}, "steps[0].streams", "must be two: who sends, who receives"),
    ({"steps": [{"copy": "peer", "bytes": 4, "stream": "a"}]}, "steps[0]", "must name two devices"),
    ({"steps": [{"replay": "g", "stream": "a"}]}, "steps[0].replay", "is not a known graph"),
    ({"steps": [{"repeat": 0, "steps": []}]}, "steps[0].repeat", "at least 1"),
    ({"steps": [{"launch": "k", "record": "e", "stream": "a"}]}, "steps[0]", "several things at once: launch, record"),
    ({"steps": [{"capture": "g", "steps": [{"sync": "a"}]}]}, "steps[0].steps[0]", "can't be captured"),
    ({"graphs": {"g": {"nodes": {"n": {"launch": "k", "after": ["m"]}}}}}, "graphs.g.nodes.n.after", "must be a node above"),
    ({"steps": [{"collective": "all_reduce", "bytes": 4, "stream": "a"}]}, "steps[0]", "needs `streams`"),
    ({"steps": [{"collective": "all_reduce", "bytes": 4, "streams": ["a"], "root": 0}]}, "steps[0].root", "and this is all_reduce"),
    ({"steps": [{"collective": "broadcast", "bytes": 4, "streams": ["a"], "root": 1}]}, "steps[0].root", "must be below 1"),
    ({"steps": [{"capture": "g", "steps": [{"copy": "peer", "bytes": 4, "stream": "a"}]}]}, "steps[0].steps[0]", "must name two devices"),
    (
        {"devices": 2, "graphs": {"g": {"nodes": {"n": {"collective": "broadcast", "bytes": 4, "streams": ["a"]}}}}},
        "graphs.g.nodes.n",
        "can't be a node",
    ),
    ({"kernels": {"k": {"launch": 3}}}, "kernels.k.launch", "must be the name of a launch, or a launch"),
    ({"kernels": {"k": {"us": 1, "caches": "warm"}}}, "kernels.k.caches", "is about a launch"),
    ({"kernels": {"k": {"us": 1, "memory": 2}}}, "kernels.k.memory", "must be 0 to 1"),
    ({"kernels": {"k": {"us": 1, "cache": "miss"}}}, "kernels.k.instructions", "is missing"),
    ({"name": [1]}, "name", "must be a text"),
    ({"steps": [{"repeat": 10**12, "steps": [{"work": "1 us"}]}]}, "steps", "1000000 are the most"),
    ({"steps": [{"capture": "g", "steps": []}, {"capture": "g", "steps": []}]}, "steps[1].capture", "is a graph already"),
    ({"steps": [{"capture": "g", "steps": [{"wait": "e", "stream": "a"}]}]}, "steps[0].steps[0].wait", "is not recorded before"),
    ({"steps": [{"collective": "all_reduce", "bytes": 4, "name": "x", "rank": "x", "ranks": 2, "stream": "a"}]}, "steps[0].rank", "number"),
    ({"steps": [{"work": "10 bytes"}]}, "steps[0].work", "unit bytes"),
    ({"threads": {"t": []}}, "steps", "either `steps`, or `threads`"),
    ({"steps": "launch"}, "steps", "must be a list of steps"),
    (touching(buffer="y"), "kernels.k.touches[0].buffer", "is not a known buffer"),
    (touching(buffer="h"), "kernels.k.touches[0].buffer", "memory: managed"),
    (touching(share=0), "kernels.k.touches[0].share", "above 0"),
    (touching(share=1.5), "kernels.k.touches[0].share", "0 to 1"),
    (touching(mode="wrote"), "kernels.k.touches[0].mode", "did you mean write?"),
    (touching(order="shuffled"), "kernels.k.touches[0].order", "random, sequential"),
    (touching(order="random", seed=-1), "kernels.k.touches[0].seed", "at least 0"),
    (touching(seed=4), "kernels.k.touches[0].seed", "is for `order: random`"),
    (touching(bytes="1 MiB"), "kernels.k.touches[0].bytes", "is not a known key"),
    ({"kernels": {"k": {"us": 1, "touches": "m"}}}, "kernels.k.touches", "must be a list of buffers"),
    ({"steps": [{"prefetch": "x", "stream": "a"}]}, "steps[0].prefetch", "must be a buffer with `memory: managed`, not device"),
    ({"steps": [{"prefetch": "m", "to": 1, "stream": "a"}]}, "steps[0].to", "device, host"),
    ({"steps": [{"copy": "h2d", "from": "m", "to": "x", "stream": "a"}]}, "steps[0].from", "a step `prefetch` moves it"),
    ({"steps": [{"capture": "g", "steps": [{"prefetch": "m", "stream": "a"}]}]}, "steps[0].steps[0]", "can't be captured"),
    ({"buffers": {"h": {"bytes": 4, "memory": "pinned", "device": 0}}}, "buffers.h.device", "pinned memory is the host's"),
)


@pytest.mark.parametrize(("change", "path", "said"), WRONG, ids=[path for _, path, _ in WRONG])
def test_a_wrong_input_is_named(change: dict[str, Any], path: str, said: str) -> None:
    read(GOOD)
    with pytest.raises(RequestError) as caught:
        read(GOOD | change)
    about = [str(problem) for problem in caught.value.problems if problem.path == path]
    assert any(said in line for line in about), caught.value.problems


def test_all_problems_at_once() -> None:
    with pytest.raises(RequestError) as caught:
        read({"kernels": {"k": {}}, "devices": "two", "steps": [{"launch": "j"}, {"wok": 1}, {"work": 3}]})
    assert {"kernels.k", "devices", "steps[0].launch", "steps[1]", "steps[2].work"} <= {p.path for p in caught.value.problems}


def test_the_builder_says_which_steps_there_are() -> None:
    with pytest.raises(AttributeError, match="no step lunch"):
        Builder().lunch("k")


def test_a_file_and_the_builder_say_the_same() -> None:
    work = Builder(streams=["a", "b"]).kernel("k", us=10).buffer("x", bytes="1 MiB").buffer("h", bytes="1 MiB", memory="pinned")
    work.buffer("m", bytes="1 MiB", memory="managed")
    assert parts_of(work.launch("k", stream="a").done()) == parts_of(read(GOOD))


def parts_of(workload: Any) -> Any:
    return (workload.kernels, workload.streams, workload.buffers, workload.threads)


def test_an_event_that_nobody_records() -> None:
    work = Builder(streams=["a", "b"]).kernel("k", us=1).wait("never", stream="a").launch("k", stream="a").sync("a")
    with pytest.raises(DeadlockError, match="event never, which is never recorded"):
        ran(work)


def test_a_cycle_of_waits_is_named() -> None:
    work = Builder(streams=["a", "b"])
    work.thread("one").wait("x", stream="a").sync("a").record("y", stream="a")
    work.thread("two").wait("y", stream="b").sync("b").record("x", stream="b")
    with pytest.raises(DeadlockError) as caught:
        ran(work)
    said = str(caught.value)
    assert said.count("waits for") == 6
    for part in ("thread one", "thread two", "event x", "event y"):
        assert part in said


def test_a_head_that_waits_for_what_stands_behind_it() -> None:
    """Two streams in one queue: the record that would end the wait never gets to the head."""
    work = Builder(streams=["a", "b"]).wait("x", stream="a").record("x", stream="b").sync("all")
    machine = shipped("h200")
    host = type(machine.host)(**{**vars(machine.host), "queues": 1})
    with pytest.raises(DeadlockError, match="record x on b waits for wait x on a"):
        ran(work, attrs.evolve(machine, host=host))


def meets(work: Builder) -> Any:
    return ran(work, attrs.evolve(shipped("h200"), collective=lambda kind, ranks, size, root: Shared(alone_ns=1000.0 + size)))


def ranks(work: Builder, *asked: tuple[str, int, int]) -> Builder:
    for thread, (kind, size, rank) in enumerate(asked):
        work.thread(f"t{thread}").collective(kind, bytes=size, name="sum", rank=rank, ranks=len(work._map["streams"]), stream=f"s{rank}")
    return work


def several() -> Builder:
    return Builder(devices=3, streams={f"s{n}": {"device": n} for n in range(3)})


def test_a_collective_begins_when_all_have_come() -> None:
    work = several().kernel("late", us=300).launch("late", stream="s2")
    work.collective("all_reduce", bytes=4096, streams=["s0", "s1", "s2"]).sync("all")
    found = [c for c in meets(work).commands if c.kind == "collective"]
    assert len({c.ended for c in found}) == 1
    assert found[0].ended > 300_000


def test_ranks_that_mean_different_collectives() -> None:
    with pytest.raises(MismatchError, match="rank 0 asks for all_reduce of 64 bytes among 3, rank 1 asks for all_reduce of 128"):
        meets(ranks(several(), ("all_reduce", 64, 0), ("all_reduce", 128, 1)))


def test_a_rank_that_never_comes() -> None:
    work = ranks(several(), ("all_reduce", 64, 0), ("all_reduce", 64, 2))
    work.thread("t0").sync("s0")
    with pytest.raises(DeadlockError, match="rank 1 of 3 never comes"):
        meets(work)


def test_ranks_that_mean_different_roots() -> None:
    work = several()
    for rank in (0, 1):
        work.thread(f"t{rank}").collective("broadcast", bytes=64, name="b", rank=rank, ranks=3, root=rank, stream=f"s{rank}")
    with pytest.raises(MismatchError, match=r"rank 0 asks for broadcast of 64 bytes among 3 with root 0, rank 1 .* with root 1"):
        meets(work)


def test_a_rank_may_be_ahead_by_more_than_one_exchange() -> None:
    """Calls of one name belong together by their order, not by when they come."""
    work = several().kernel("late", us=500)
    for rank in range(3):
        work.thread(f"t{rank}")
        if rank == 2:
            work.launch("late", stream="s2").sync("s2")
        work.repeat(3, lambda b, rank=rank: b.collective("all_reduce", bytes=64, name="sum", rank=rank, ranks=3, stream=f"s{rank}"))
    found = [c for c in meets(work.thread("t0").sync("s0")).commands if c.kind == "collective"]
    assert len(found) == 9
    assert len({c.ended for c in found}) == 3


def test_a_rank_that_stays_behind_by_one() -> None:
    work = several()
    for rank in range(3):
        times = 2 if rank else 1
        work.thread(f"t{rank}").repeat(
            times, lambda b, rank=rank: b.collective("all_reduce", bytes=64, name="sum", rank=rank, ranks=3, stream=f"s{rank}")
        )
        work.sync(f"s{rank}")
    with pytest.raises(DeadlockError, match="rank 0 of 3 never comes"):
        meets(work)


def test_two_collectives_that_ranks_call_in_opposite_order() -> None:
    work = several()
    for rank, names in enumerate(("st", "ts")):
        for name in names:
            work.thread(f"t{rank}").collective("all_reduce", bytes=64, name=name, rank=rank, ranks=2, stream=f"s{rank}")
        work.sync(f"s{rank}")
    with pytest.raises(DeadlockError) as error:
        meets(work)
    circle = [
        "rank 0 of collective s on s0",
        "rank 1 of collective s on s1",
        "rank 1 of collective t on s1",
        "rank 0 of collective t on s0",
    ]
    assert " waits for ".join(circle) in f"{error.value} waits for {' waits for '.join(str(error.value).split(' waits for ')[1:])}"


@pytest.mark.parametrize(("second", "said"), [
    (True, "rank 0 of collective s on s0 waits for rank 1 of collective s on s1 waits for rank 1 of collective t on s1 waits for rank 0 of "
     "collective t on s0 waits for rank 0 of collective s on s0"),
    (False, "waits for graph g0 on s0 waits for rank 0 of collective s on s0, to which rank 1 of 2 never comes"),
])  # fmt: skip
def test_collectives_in_graphs_that_never_begin(second: bool, said: str) -> None:
    work = several()
    for rank, names in enumerate(("st", "ts")):

        def steps(b: Builder, rank: int = rank, names: str = names) -> None:
            for name in names:
                b.collective("all_reduce", bytes=64, name=name, rank=rank, ranks=2, stream=f"s{rank}")

        work.capture(f"g{rank}", steps)
    work.replay("g0", stream="s0")
    if second:
        work.replay("g1", stream="s1")
    with pytest.raises(DeadlockError) as error:
        meets(work.sync("all"))
    assert said in str(error.value)


def test_a_graph_that_is_replayed_too_early() -> None:
    work = Builder().kernel("k", us=1).replay("g", stream="main").capture("g", lambda b: b.launch("k", stream="main"))
    with pytest.raises(EarlyError, match=r"steps\[0\]: graph g is not captured before replay needs it"):
        ran(work)


def test_ranks_of_one_device() -> None:
    work = Builder(devices=2, streams={"s0": {}, "s1": {}})
    with pytest.raises(MismatchError, match="ranks 0 and 1 are both of device 0"):
        meets(ranks(work, ("all_reduce", 64, 0), ("all_reduce", 64, 1)))


def test_a_first_launch_loads_its_program() -> None:
    def took(**given: Any) -> list[float]:
        return ran(Builder().kernel("k", us=1, **given).launch("k").launch("k").sync("all")).spans("launch")

    there, hit, miss = took(), took(cache="hit"), took(cache="miss", instructions=2000)
    host = shipped("h200").host
    assert hit[0] == pytest.approx(there[0] + host.load)
    assert miss[0] == pytest.approx(there[0] + host.load + 2000 * host.compile)
    assert there[1] == pytest.approx(hit[1]) == pytest.approx(miss[1])
