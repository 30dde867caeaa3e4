"""What is wrong in a program, a launch or a buffer is said in one message with its PTX line."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base.errors import ProgramError, UnsupportedError
from archex.programs.arguments import Argument
from archex.programs.buffers import FIRST_ADDRESS
from archex.programs.trace import TraceSource
from draining import drain
from running import floats, reference, run_functional, source, whole, work


def fault(body: str, threads: int = 64, width: int = 32, **options: int) -> str:
    """The message of running a small kernel with one buffer of 1 KiB; both modes must say the same."""
    launch = work(1, threads, whole("O", 256))
    with pytest.raises(ProgramError) as whole_run:
        run_functional(source(body), launch, width, **options)
    with pytest.raises(ProgramError) as timed:
        drain(TraceSource(source(body), launch, width, 64, **options), 1)
    assert str(timed.value) == str(whole_run.value)
    return str(whole_run.value)


START = "ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x;"


def test_an_address_in_no_buffer() -> None:
    body = f"{START} mad.wide.u32 rd1, r0, 64, rd0;\n st.global.u32 [rd1], r0; ret;"
    assert fault(body) == f"k.ptx:9: `st.global.u32`: accesses 4 bytes at {FIRST_ADDRESS + 1024:#x}, which lie in no buffer"
    assert "which lie in no buffer" in fault(f"{START} ld.global.u32 r1, [rd0+-4]; st.global.u32 [rd0], r1; ret;")
    assert "at 0x0, which lie in no buffer" in fault("mov.u64 rd0, 0; mov.u32 r0, 1; st.global.u32 [rd0], r0; ret;")
    with pytest.raises(ProgramError, match=r"copy.*\.ptx:\d+: `ld\.global.*in no buffer"):
        run_functional(reference("k_copy_f1"), work(2, 128, floats("A", 200), floats("C", 256), 256))


def test_an_address_that_is_not_aligned() -> None:
    text = fault(f"{START} mad.wide.u32 rd1, r0, 2, rd0; ld.global.u32 r1, [rd1]; st.global.u32 [rd0], r1; ret;")
    assert text == "k.ptx:8: `ld.global.u32`: an address is not a multiple of the 4 bytes accessed"


def test_memory_of_the_workgroup_and_of_a_thread_ends() -> None:
    body = ".shared .b8 s[128]; mov.u32 r0, %tid.x; mov.u32 r1, s; mad.lo.u32 r1, r0, 4, r1; st.shared.u32 [r1], r0; ret;"
    assert "local memory address 128; the workgroup has 128" in fault(body)
    assert "private memory address 16; a thread has 16" in fault(
        ".local .b8 l[16]; mov.u64 rd0, l; mov.u32 r0, 1; st.local.u32 [rd0+16], r0; ret;"
    )


def test_constants_are_not_written() -> None:
    from archex.programs.build import build_function
    from archex.programs.ptx.parser import parse

    text = """.version 8.0
.target sm_90
.address_size 64
.const .align 4 .b32 table[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 o) { .reg .b64 a; .reg .b32 v; mov.u64 a, table; cvta.const.u64 a, a; ld.u32 v, [a+8];
 st.u32 [a], v; ret; }"""
    with pytest.raises(ProgramError, match=r"k\.ptx:6: `st\.u32`: writes memory that is only read"):
        run_functional(build_function(parse(text, "k.ptx"), "k"), work(1, 1, whole("O", 4)))


def test_barriers_that_some_lanes_never_reach() -> None:
    text = fault(f"{START} setp.lt.u32 p0, r0, 16; @!p0 bra D;\n bar.sync 0;\n D: st.global.u32 [rd0], r0; ret;", 32)
    assert text == "k.ptx:9: `bar.sync`: barrier reached by 16 of 32 live lanes of a wave: the others never reach it"
    text = fault(f"{START} setp.lt.u32 p0, r0, 32; @p0 bra A; bar.sync 1; bra D; A: bar.sync 2; D: st.global.u32 [rd0], r0; ret;")
    assert "is never reached by some live lanes of the workgroup" in text
    assert "barrier 16 does not exist" in fault("mov.u32 r0, 16; bar.sync r0; ret;")


def test_exited_lanes_count_as_arrived() -> None:
    body = f"{START} setp.lt.u32 p0, r0, 40; @!p0 exit; bar.sync 0; mad.wide.u32 rd1, r0, 4, rd0; st.global.u32 [rd1], r0; ret;"
    run = run_functional(source(body), work(1, 96, whole("O", 256)))
    assert np.array_equal(run.read("O")[:40], np.arange(40))
    assert not run.read("O")[40:].any()


def test_a_loop_without_an_end() -> None:
    text = fault(f"{START}\n L: add.u32 r0, r0, 1; bra L;", limit=1000)
    assert "instruction limit of 1000" in text
    assert text.startswith("k.ptx:9:")
    with pytest.raises(ProgramError, match="instruction limit"):
        TraceSource(source(f"{START} L: add.u32 r0, r0, 1; bra L;"), work(1, 32, whole("O", 4)), 32, 1, limit=1000).count(np.arange(1))


def test_traps() -> None:
    assert fault("mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 63; @p0 trap; ret;") == "k.ptx:8: `trap`: trap reached"


def test_extents_and_arguments() -> None:
    kernel = reference("k_copy_f1")
    a, c = floats("A", 32), floats("C", 32)
    with pytest.raises(ProgramError, match=r"grid is \[0, 1, 1\]: every extent must be at least 1"):
        TraceSource(kernel, work(0, 32, a, c, 32), 32, 1)
    with pytest.raises(ProgramError, match="takes 3 arguments, the launch gives 2"):
        TraceSource(kernel, work(1, 32, a, c), 32, 1)
    with pytest.raises(ProgramError, match=r"argument 2 \(f64\) has 8 bytes, parameter `.*` has 4"):
        TraceSource(kernel, work(1, 32, a, c, Argument("f64", 1.0)), 32, 1)
    with pytest.raises(ProgramError, match=r"block has 512 threads, `.*` allows 256"):
        TraceSource(reference("k_sgemm_128"), work(1, 512, a, a, c, 128, 128, 8), 32, 16)


def test_what_is_not_modelled_is_named() -> None:
    with pytest.raises(UnsupportedError, match=r"%current_graph_exec \(line \d+\)"):
        run_functional(
            source("mov.u64 rd1, %current_graph_exec; ld.param.u64 rd0, [o]; st.global.u64 [rd0], rd1; ret;"), work(1, 32, whole("O", 4))
        )
    fewer = source(".shared .b64 b; mov.u32 r0, b; mbarrier.arrive_drop.shared.b64 rd0, [r0]; ret;")
    with pytest.raises(UnsupportedError, match=r"mbarrier\.arrive_drop.* \(line \d+\): later phases with fewer arrivals"):
        run_functional(fewer, work(1, 32, whole("O", 4)))
