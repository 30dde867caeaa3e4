"""Requests and sectors of whole runs against silicon: exact, and within half a percent where indices are random.

The short list takes seconds; the nightly one covers every family without spills. What is counted is the stream of accesses, not time:
a difference here is an access that is missing, or a rule of coalescing that is wrong.
"""

from __future__ import annotations

import pytest
from archex.base.options import Options
from measured import launches, run, silicon

COLUMNS = [f"global_{what}_{unit}" for what in ("load", "store") for unit in ("requests", "sectors")]
#: Families whose indices the reference drew at random: the numbers are drawn anew here.
RANDOM = ("gather", "spmv", "histogram")
QUICK = """
null[grid=1]
copy_f4[n=262144]
copy_f1[n=262144]
triad_f4[n=262144]
transpose_naive[n=1024]
transpose_pad[n=1024]
transpose_smem[n=1024]
bar_chain[warps=1]
fma_chain[ilp=1,warps=1]
""".split()
NIGHTLY = """
chase[kib=128]
chase_cg[kib=128]
triton_add[n=1048576,B=1024]
imad_chain[ilp=1,warps=1]
shfl_chain[warps=1]
sfu_chain[ilp=1,warps=1]
hfma2_chain[ilp=1,warps=1]
dfma_chain[ilp=1,warps=1]
lds_chase[warps=1]
dropout_f4[n=4194304]
atomic_global[n=4194304,addresses=4194304]
rope[tokens=512,heads=32,dim=128]
stencil3d[n=128]
stencil2d[n=2048]
sgemm_128[M=512,N=512,K=512]
sgemm_tiled16[M=512,N=512,K=512]
sgemm_tiled32[M=512,N=512,K=512]
sgemm_naive[M=512,N=512,K=512]
strided[n=8388608,stride=1]
strided[n=8388608,stride=32]
divmod[n=4194304,d=7919,reps=1]
gather[n=16777216,table=1048576]
aos[n=16777216]
histogram[n=67108864,bins=256]
inflight[ilp=8,blocks_per_sm=1]
gelu_h8[n=1048576]
gelu_f4[n=4194304]
bias_f4[n=4194304,channels=4096]
read_f4[n=4194304]
reduce_f4[n=16777216]
softmax_h[rows=512,cols=2048]
rmsnorm_h[rows=512,cols=4096]
layernorm_f[rows=1024,cols=1024]
gemv_h[rows=2048,cols=2048]
spmv_vector[rows=524288,nnz_per_row=16]
spmv_scalar[rows=524288,nnz_per_row=16]
scan_block[n=4194304]
dp4a[n=4194304,reps=16]
nbody[n=8192]
kmeans[points=1048576,clusters=16,features=8]
""".split()


def check(launch: str) -> None:
    row = run(launches([launch])[launch], Options(sampling="off"))
    measured = silicon().launches[launch]
    close = 0.005 if launch.startswith(RANDOM) else 0.0
    found = {column: row[column] for column in COLUMNS}
    assert found == {column: pytest.approx(silicon().counter(measured, column), rel=close, abs=0) for column in COLUMNS}


@pytest.mark.parametrize("launch", QUICK)
def test_requests_and_sectors(launch: str) -> None:
    check(launch)


@pytest.mark.nightly
@pytest.mark.parametrize("launch", NIGHTLY)
def test_requests_and_sectors_of_every_family(launch: str) -> None:
    check(launch)
