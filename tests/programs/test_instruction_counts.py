"""Executed instructions against silicon: the first thing a lowering has to get right."""

from __future__ import annotations

import pytest
from lowered import counts, launches, program, silicon

SMALL = (
    "copy_f1[n=262144]", "triad_f4[n=262144]", "gelu_h8[n=1048576]", "softmax_h[rows=512,cols=2048]", "transpose_pad[n=1024]",
    "gather[n=16777216,table=65536]", "reduce_f4[n=16777216]", "sgemm_naive[M=512,N=512,K=512]", "dfma_chain[ilp=1,warps=1]",
    "divmod[n=4194304,d=7919,reps=1]", "strided[n=8388608,stride=2]", "histogram[n=67108864,bins=256]",
    "triton_softmax[rows=512,cols=2048]",
)  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_small_kernels_execute_what_silicon_executes(name: str) -> None:
    assert counts(launches()[name], 4)[0] == pytest.approx(float(silicon()[name]["warp_instructions"]), rel=0.04)


@pytest.mark.parametrize("name", [name for name in launches() if name.startswith(("spill[", "live["))])
def test_spilling_kernels_spill_what_silicon_spills(name: str) -> None:
    row = silicon()[name]
    _, loads, stores = counts(launches()[name], 2, "load_private", "store_private")
    assert loads == pytest.approx(float(row["local_load_requests"]), rel=0.2)
    assert stores == pytest.approx(float(row["local_store_requests"]), rel=0.2)


@pytest.mark.slow
def test_nine_of_ten_launches_are_within_ten_percent() -> None:
    wrong = {}
    for name, launch in launches().items():
        executed = counts(launch, 64)[0]
        error = executed / float(silicon()[name]["warp_instructions"]) - 1
        if abs(error) > 0.1:
            wrong[name] = round(error, 3)
    assert len(launches()) == 236
    assert len(wrong) <= 10, wrong


def test_a_kernel_that_does_not_spill_on_silicon_does_not_spill_here() -> None:
    spilled = set()
    for name, launch in launches().items():
        small = launch.registers("sm90") <= 64 and name.split("[")[0] not in ("live", "layernorm_f")
        if (
            small
            and float(silicon()[name]["local_load_requests"] or 0) == 0
            and program(str(launch.ptx), launch.registers("sm90"))[1].spill_bytes
        ):
            spilled.add(name)
    assert not spilled
