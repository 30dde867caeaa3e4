"""Managed memory that the host touches, that nobody has touched, that is advised, against an H200 (`h200_host`)."""

from __future__ import annotations

from statistics import mean
from typing import Any

import pytest
from archex.timeline import Builder
from test_host_more import KIB, MIB, measured, paged, rows

ORDER = tuple(rows("managed_order.csv"))
HOST, ADVICE = tuple(rows("managed_host.csv")), tuple(rows("managed_advice.csv"))
LEAST = 64 * KIB


def buffer(size: int, **given: Any) -> Builder:
    return Builder().buffer("x", bytes=max(size, LEAST), memory="managed", **given)


def touching(work: Builder, mode: str, **touch: Any) -> float:
    """Microseconds between events around a kernel that touches the buffer and does next to nothing else."""
    work.kernel("k", us=1, touches=[{"buffer": "x", "mode": mode} | touch])
    return paged(work.record("a").launch("k").record("z").sync("all")).elapsed("a", "z") / 1e3


def last_touch(work: Builder) -> float:
    return paged(work).spans("touch")[-1] / 1e3


def far(given: dict[str, str]) -> dict[str, int]:
    return {"stride": int(given["stride"])}


def test_the_host_takes_back_what_is_on_the_device_fault_by_fault() -> None:
    """64 KiB and 2 MiB apart, read and written, in order and in none."""
    errors = []
    for given, us in measured(HOST, "um_host_walk_total"):
        if (stride := int(given["stride"])) >= LEAST:
            order = {"order": "random", "seed": 1} if given["order"] == "random" else {}
            work = buffer(stride * int(given["touches"]), device=0).touch("x", mode=given["host"], stride=stride, **order)
            errors.append(abs(last_touch(work) / us - 1))
    assert len(errors) == 8
    assert mean(errors) <= 0.07


def test_the_host_writes_what_comes_back() -> None:
    """Of 2 MiB to 1 GiB, each 4 KiB; the other host."""
    found = [(int(given["bytes"]), us) for given, us in measured(tuple(rows("managed.csv")), "um_host_write_back")]
    errors = [abs(last_touch(buffer(size, device=0).touch("x", mode="write")) / us - 1) for size, us in found if size >= 2 * MIB]
    assert mean(errors) <= 0.08


def test_the_host_is_the_first_to_touch() -> None:
    errors = []
    for given, us in measured(HOST, "um_host_first_total"):
        work = buffer(int(given["stride"]) * int(given["touches"]), untouched=True).touch("x", mode=given["host"], **far(given))
        errors.append(abs(last_touch(work) / us - 1))
    assert mean(errors) <= 0.07
    whole = [(int(given["bytes"]), us) for given, us in measured(HOST, "um_host_first_write") if int(given["bytes"]) >= 8 * MIB]
    assert mean(abs(last_touch(buffer(size, untouched=True).touch("x", mode="write")) / us - 1) for size, us in whole) <= 0.07


def test_the_device_is_the_first_to_touch() -> None:
    """A page of each block, or each page, of 8 and more; all of 2 MiB to 128 MiB."""
    errors = []
    for given, us in measured(HOST, "um_device_first_threads"):
        if int(given["stride"]) >= LEAST and 8 <= (pages := int(given["pages"])) <= 512:
            errors.append(abs(touching(buffer(int(given["stride"]) * pages, untouched=True), "write", **far(given)) / us - 1))
    assert mean(errors) <= 0.1
    for mode in ("read", "write"):
        found = [(int(given["bytes"]), us) for given, us in measured(HOST, "um_device_first") if given["device"] == mode]
        assert mean(abs(touching(buffer(size, untouched=True), mode) / us - 1) for size, us in found if size >= 2 * MIB) <= 0.18


def test_pages_of_blocks_that_lie_together_or_apart() -> None:
    """Batches of up to 256 pages: 1 to 32 of each of 1 to 128 blocks, as far apart as they can be."""
    errors = []
    for given, us in measured(ORDER, "um_batch"):
        blocks, pages = int(given["blocks"]), int(given["pages_of_each"])
        errors.append(abs(touching(buffer(blocks * 2 * MIB), "read", stride=2 * MIB // pages) / us - 1))
    assert len(errors) == 38
    assert mean(errors) <= 0.08


@pytest.mark.parametrize(("order", "bound"), [("sequential", 0.12), ("random", 0.17)])
def test_thousands_of_pages_a_touch_each(order: str, bound: float) -> None:
    """256 to 4,096 pages, all waves there at a time."""
    errors = []
    for given, us in measured(ORDER, "um_open"):
        if (given["order"], given["shared_KiB"], given["stride"]) == (order, "0", str(64 * KIB)):
            any_order = {"order": "random", "seed": 1} if order == "random" else {}
            errors.append(abs(touching(buffer(64 * KIB * int(given["pages"])), "read", stride=64 * KIB, **any_order) / us - 1))
    assert len(errors) == 5
    assert mean(errors) <= bound


def test_pages_that_stay_on_the_host() -> None:
    """Mapped by a fault each, then reached over the link."""
    errors = []
    for given, us in measured(ADVICE, "um_host_preferred_threads"):
        if int(given["stride"]) >= LEAST and 16 <= (pages := int(given["pages"])) <= 256:
            errors.append(abs(touching(buffer(int(given["stride"]) * pages, advice="prefer_host"), "read", **far(given)) / us - 1))
    assert mean(errors) <= 0.12
    for name, mode in (("um_host_preferred_read_again", "read"), ("um_host_preferred_write", "write")):
        found = [(int(given["bytes"]), us) for given, us in measured(ADVICE, name)]
        assert mean(abs(touching(buffer(size, advice="map_host"), mode) / us - 1) for size, us in found) <= 0.1


def test_copies_cost_who_writes() -> None:
    """The host, each 4 KiB; a kernel, a touch of each page. A kernel that writes all of it takes ten times as long as modelled."""
    for given, us in measured(ADVICE, "um_mostly_host_write"):
        if (size := int(given["bytes"])) >= LEAST:
            work = buffer(size, advice="read_mostly").prefetch("x").sync("all").touch("x", mode="write")
            assert last_touch(work) == pytest.approx(us, rel=0.21)
    errors = []
    for given, us in measured(ADVICE, "um_mostly_write_threads"):
        if int(given["stride"]) <= LEAST and (pages := int(given["pages"])) >= 16:
            work = buffer(int(given["stride"]) * pages, advice="read_mostly").prefetch("x").sync("all")
            errors.append(abs(touching(work, "write", **far(given)) / us - 1))
    assert mean(errors) <= 0.15


@pytest.mark.parametrize(("advice", "names"), [
    ("read_mostly", ("um_advise_read_mostly_call",)), ("prefer_host", ("um_advise_preferred_call",)),
    ("map_host", ("um_advise_preferred_call", "um_advise_accessed_by_call")),
])  # fmt: skip
def test_calls_that_advise(advice: str, names: tuple[str, ...]) -> None:
    """Preferring and mapping are two calls there."""
    for size in (2 * MIB, 64 * MIB):
        us = sum(us for name in names for given, us in measured(ADVICE, name) if int(given["bytes"]) == size)
        assert paged(buffer(size).advise("x", as_=advice)).total_ns / 1e3 == pytest.approx(us, rel=0.31 if size == 2 * MIB else 0.03)
