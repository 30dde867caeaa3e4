"""Executed instructions against silicon: the first thing a lowering has to get right."""

from __future__ import annotations

import pytest
from archex.parts.matrix_unit import OPERATION
from lowered import abilities, counts, launches, program, silicon

SMALL = (
    "copy_f1[n=262144]", "triad_f4[n=262144]", "gelu_h8[n=1048576]", "softmax_h[rows=512,cols=2048]", "transpose_pad[n=1024]",
    "gather[n=16777216,table=65536]", "reduce_f4[n=16777216]", "sgemm_naive[M=512,N=512,K=512]", "dfma_chain[ilp=1,warps=1]",
    "divmod[n=4194304,d=7919,reps=1]", "strided[n=8388608,stride=2]", "histogram[n=67108864,bins=256]",
    "triton_softmax[rows=512,cols=2048]",
)  # fmt: skip

#: Of the kernels with matrix products, asynchronous copies and clusters, one each.
MATRIX = (
    "hgemm_wmma[stages=2,M=1024,N=1024,K=1024]", "hgemm_wmma[stages=4,M=2048,N=2048,K=2048]", "mma_chain[ilp=1,warps=4]",
    "mma_chain[ilp=4,warps=1]", "mma_tf32_chain[ilp=1,warps=1]", "mma_s8_chain[ilp=4,warps=1]", "mma_sparse_chain[ilp=1,warps=1]",
    "mma_f8_chain[ilp=4,warps=1]", "triton_matmul[M=1024,N=1024,K=1024,BM=64,BN=64,BK=32,stages=4,warps=4]",
    "triton_matmul[M=2048,N=2048,K=2048,BM=128,BN=128,BK=64,stages=3,warps=4]", "triton_attn[B=4,H=16,S=1024,D=128,causal=0]",
    "bulk_stream[chunk=16384,stages=6]", "cluster_sum[cluster=2,rows=256]",
)  # fmt: skip
PRODUCTS = tuple(OPERATION + shape for shape in abilities().shapes)
#: The counter of matrix instructions sees constants that these kernels move through half of the matrix pipe.
NO_PRODUCTS = ("bulk_stream", "cluster_sum")


def difference(name: str, workgroups: int) -> tuple[float, float]:
    """(relative difference of executed instructions, matrix instructions beyond silicon's) of a launch with products or copies."""
    launch, row = launches(True)[name], silicon()[name]
    executed, *products = counts(launch, workgroups, *PRODUCTS)
    wanted = 0.0 if name.startswith(NO_PRODUCTS) else float(row["pipe_tensor"] or 0)
    return executed / float(row["warp_instructions"]) - 1, sum(products) - wanted


@pytest.mark.parametrize("name", MATRIX)
def test_products_and_copies_execute_what_silicon_executes(name: str) -> None:
    executed, products = difference(name, 8)
    assert abs(executed) < 0.1
    assert products == 0


@pytest.mark.slow
def test_of_launches_with_products_and_copies_few_are_beyond_ten_percent() -> None:
    found = {name: difference(name, 16) for name in launches(True)}
    assert len(found) == 69
    assert not {name for name, (_, products) in found.items() if products}
    wrong = {name: round(executed, 3) for name, (executed, _) in found.items() if abs(executed) > 0.1}
    assert len(wrong) <= 2, wrong


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
