"""When the order of waves could show in a trace: both sides of the rule, and that what it lets through doesn't depend on the order."""

from __future__ import annotations

import numpy as np
import pytest
from archex.programs.ir import Function
from archex.programs.recording.repeatable import order_shows
from archex.programs.slice import timing_slice
from archex.programs.trace import TraceSource
from draining import drain
from running import reference, source, whole, work

#: Behind each of these stands an address that hangs on register r1.
USES = "and.b32 r1, r1, 31; mad.wide.u32 rd1, r1, 4, rd0; st.global.u32 [rd1], r0; ret;"
START = "ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; mov.u32 r1, r0; mad.wide.u32 rd2, r0, 4, rd0; "
LOCAL = ".shared .align 8 .b8 s[1024]; mov.u32 r3, s; mad.lo.u32 r3, r0, 4, r3; "

SAME = {
    "nothing passes between waves": "",
    "a load of what the launch began with": "ld.global.nc.u32 r1, [rd2];",
    "local memory that addresses don't hang on": LOCAL + "st.shared.u32 [r3], r0; bar.sync 0; ld.shared.u32 r2, [r3];",
    "local memory that nobody writes": LOCAL + "ld.shared.u32 r1, [r3];",
    "an atomic whose result no address hangs on": "atom.global.add.u32 r2, [rd0], 1;",
    "a thread's own memory": ".local .align 4 .b8 l[8]; mov.u64 rd3, l; st.local.u32 [rd3], r0; ld.local.u32 r1, [rd3];",
    "lanes of one wave": "shfl.sync.bfly.b32 r1, r0, 1, 31, -1;",
    "one barrier of all, twice": "bar.sync 0; bar.sync 0;",
    "a barrier under a guard": "setp.lt.u32 p0, r0, 32; @p0 bar.sync 0;",
    "lanes that meet": "bar.warp.sync -1;",
}
SHOWS = {
    "a store that feeds an address": ("st.global.u32 [rd2], r0; bar.sync 0; ld.global.u32 r1, [rd2+4];", "store"),
    "local memory that feeds an address": (LOCAL + "st.shared.u32 [r3], r0; bar.sync 0; ld.shared.u32 r1, [r3];", "store"),
    "an atomic that feeds an address": ("atom.global.add.u32 r1, [rd0], 1;", "atomic"),
    "a local atomic that feeds an address": (LOCAL + "atom.shared.add.u32 r1, [r3], 1;", "atomic"),
    "an atomic that a load may see": ("red.global.add.u32 [rd0], 1; ld.global.u32 r1, [rd0];", "reduce_atomic"),
    "a copy that feeds an address": (
        LOCAL + "cp.async.ca.shared.global [r3], [rd2], 4; cp.async.wait_all; bar.sync 0; ld.shared.u32 r1, [r3];",
        "async_copy",
    ),
    "two barriers": ("bar.sync 0; bar.sync 1;", "barrier"),
    "a barrier named by a register": ("bar.sync r1;", "barrier"),
    "a barrier of so many threads": ("bar.sync 0, 64;", "barrier"),
    "a barrier not waited at": ("bar.arrive 0, 64;", "barrier"),
    "a barrier that answers": ("setp.lt.u32 p0, r0, 7; bar.red.popc.u32 r1, 0, p0;", "barrier"),
    "a barrier in memory": (LOCAL + "mbarrier.init.shared.b64 [s], 1;", "mbarrier"),
    "a cluster's barrier": ("barrier.cluster.arrive; barrier.cluster.wait;", "cluster_barrier"),
    "a clock that steers": ("mov.u32 r1, %clock;", "move"),
}


def kernel(body: str) -> Function:
    return source(START + body + USES)


def shown(function: Function) -> str | None:
    found = order_shows(function, timing_slice(function).operations)
    return found and found.op


@pytest.mark.parametrize("name", SAME)
def test_what_the_order_of_waves_cannot_show_by(name: str) -> None:
    assert shown(kernel(SAME[name])) is None


@pytest.mark.parametrize("name", SHOWS)
def test_what_the_order_of_waves_could_show_by(name: str) -> None:
    body, culprit = SHOWS[name]
    assert shown(kernel(body)) == culprit


@pytest.mark.parametrize("name", [name for name, body in SAME.items() if "atom" not in body])
def test_the_order_of_waves_does_not_show(name: str) -> None:
    """All waves in turn through large rings, and block by block through small ones, several workgroups at a time or one."""
    launch = work(3, 128, whole("O", 1024))
    found = [drain(TraceSource(kernel(SAME[name]), launch, 32, waves, block_ring=ring), 3, chunk) for waves, ring, chunk in SIZES]
    assert found[1:] == found[:-1]


SIZES = ((12, 64, 1 << 30), (4, 1, 1), (8, 2, 1))


def test_where_nothing_passes_a_wave_does_not_wait_for_others() -> None:
    """One that is far behind, its rings full, holds nobody up: the engine may get any wave's trace as far as it likes."""
    loop = """bar.sync 0; setp.lt.u32 p0, r0, 32; @!p0 bra E; mov.u32 r5, 0;
      L: ld.global.nc.u32 r6, [rd2]; add.u32 r5, r5, 1; setp.lt.u32 p1, r5, 50; @p1 bra L;
      E: bar.sync 0; """
    traces = TraceSource(kernel(loop), work(1, 64, whole("O", 1024)), 32, 2, block_ring=4)
    assert traces.repeatable
    traces.start(np.array([0]), np.array([0]))
    traces.refill(np.array([0]))
    slow, quick = (traces.cursor[wave].tolist() for wave in (0, 1))
    assert slow[0] == 4
    assert slow[6] == 0  # not finished
    assert quick[6] == 1


def test_barriers_that_lanes_never_reach_are_found_all_the_same() -> None:
    from archex.base.errors import ProgramError

    body = "setp.lt.u32 p0, r0, 7; @p0 bar.sync 0; "
    with pytest.raises(ProgramError, match="barrier"):
        drain(TraceSource(kernel(body), work(1, 32, whole("O", 1024)), 32, 1), 1)


def test_kernels_of_the_reference_on_both_sides() -> None:
    assert shown(reference("k_histogram")) is None
    assert shown(reference("k_sgemm_tiledILi16E")) is None
    assert shown(reference("k_lds_chase")) == "store"
