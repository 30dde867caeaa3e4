"""Copies by lane through the vector cache: the banks they write, line by line; what stands before copies; loads with all lanes off."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.laws.launches import device, launch, machine_operations, run

COPIES = 4
LOCAL = ".shared .align 16 .b8 tile[20480];\n"
WAIT = "cp.async.commit_group;\ncp.async.wait_group 0;\n"


def copies(run_of: int, step: int, pitch: int, local_step: int, local_pitch: int, width: int = 4) -> str:
    """A wave's copies whose lanes lie `step` and `local_step` bytes apart, and so do rows of `run_of` lanes by the pitches."""
    text = f"and.b32 %r12, %r1, {run_of - 1};\nshr.u32 %r13, %r1, {run_of.bit_length() - 1};\n"
    text += f"mul.lo.s32 %r14, %r12, {step};\nmad.lo.s32 %r14, %r13, {pitch}, %r14;\ncvt.u64.u32 %d4, %r14;\nadd.s64 %d5, %d1, %d4;\n"
    text += f"mul.lo.s32 %r16, %r12, {local_step};\nmad.lo.s32 %r16, %r13, {local_pitch}, %r16;\nmov.u32 %r17, tile;\n"
    text += "add.s32 %r16, %r16, %r17;\nmov.f32 %f0, 0f00000000;\n"
    return text + f"cp.async.ca.shared.global [%r16], [%d5], {width};\n" * COPIES + WAIT


@pytest.mark.parametrize(
    ("shape", "steps"),
    [
        ((32, 4, 0, 4, 0), 1),
        ((32, 4, 0, 16, 0), 4),
        ((32, 4, 0, 128, 0), 32),
        ((32, 4, 0, 132, 0), 1),
        ((32, 16, 0, 4, 0), 4),
        ((32, 128, 0, 4, 0), 32),
        ((32, 128, 0, 128, 0), 32),
        ((16, 16, 4096, 512, 4), 25),
        ((8, 16, 4096, 512, 4), 11),
        ((8, 4, 4096, 144, 4), 4),
        ((32, 8, 0, 16, 0, 8), 4),
        ((32, 8, 0, 136, 0, 8), 2),
    ],
)
def test_lines_are_written_in_order_and_wait_for_their_banks(tmp_path: Path, shape: tuple[int, ...], steps: int) -> None:
    """Measured: h200_copies, twice these cycles a copy where one wave copies."""
    work = launch(tmp_path, copies(*shape), local=LOCAL)
    few, many = (run(device("h200", async_copy_unit__piece=cost), work)["cycles"] for cost in (200, 300))
    assert many - few == pytest.approx(COPIES * steps * 100, rel=0.3)


COPY, LOAD = "cp.async.cg.shared.global [%r16], [%d1], 16;\n", "ld.volatile.shared.f32 %f0, [%r16];\n"
ADDRESS = "shl.b32 %r16, %r1, 4;\nmov.u32 %r17, tile;\nadd.s32 %r16, %r16, %r17;\nmov.f32 %f0, 0f00000000;\n"


@pytest.mark.parametrize(
    ("between", "loads"),
    [("", 3), (WAIT, 3), ("membar.gl;\n", 3), (LOAD, 7), ("bar.sync 0;\n", 6), ("st.volatile.shared.u32 [%r16], %r1;\n", 6)],
)
def test_the_assembler_reads_nothing_before_copies(tmp_path: Path, between: str, loads: int) -> None:
    """Three loads with all lanes off stand before the first copy of a block, and of those behind a barrier or an access of local memory."""
    found = machine_operations(device("h200"), launch(tmp_path, ADDRESS + COPY + between + COPY + WAIT, local=LOCAL))
    assert found["load_local"] == loads


def test_loads_with_all_lanes_off_take_their_turns(tmp_path: Path) -> None:
    """Measured: one cycle of the port each, as those that load."""
    body = ADDRESS + "setp.gt.s32 %p1, %r0, {bound};\n" + 2 * ("@%p1 " + LOAD.replace("%r16", "%r17"))
    off, on = (run(device("h200"), launch(tmp_path, body.format(bound=bound), local=LOCAL, n=1)) for bound in (5, 0))
    assert off["local_memory_wavefronts"] == on["local_memory_wavefronts"] > 0
