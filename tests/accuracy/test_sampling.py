"""Sampled runs against whole ones: how far apart they are, and whether `error_bound` says so.

Twenty launches of many families here, all that can be run whole in a minute in the nightly run.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

import pytest
from archex.base.options import Options
from measured import launches, run

#: Sampled by themselves, and whole within a few seconds.
SAMPLED = """
bar_chain[warps=32]
copy_f4[n=67108864]
dfma_chain[ilp=1,warps=32]
fma_chain[ilp=1,warps=32]
fma_chain[ilp=4,warps=16]
imad_chain[ilp=1,warps=32]
layernorm_f[rows=16384,cols=1024]
lds_chase[warps=16]
lds_wide128[stride=16]
lds_wide64[stride=32]
live[accumulators=160,min_blocks=1]
mma_chain[ilp=1,warps=32]
mma_f8_chain[ilp=4,warps=16]
mma_sparse_chain[ilp=4,warps=16]
nbody[n=8192]
rmsnorm_h[rows=8192,cols=8192]
sfu_chain[ilp=1,warps=32]
sgemm_128[M=1024,N=1024,K=1024]
shfl_chain[warps=32]
triton_attn[B=4,H=16,S=1024,D=128,causal=0]
""".split()
#: Seconds that a launch of the nightly run may take to be run whole, by what its sampled run takes for its share.
WHOLE = 60.0


def hold(names: Iterable[str]) -> int:
    """Hold sampled runs of these launches against whole ones; how many were sampled."""
    differences: list[tuple[float, float, str]] = []
    for name, launch in launches(list(names)).items():
        some = run(launch)
        if some["sampled_fraction"] < 1.0 and (some["simulate_seconds"] + some["trace_seconds"]) / some["sampled_fraction"] <= WHOLE:
            whole = run(launch, Options(sampling="off"))
            differences.append((abs(some["cycles"] / whole["cycles"] - 1.0), some["error_bound"], name))
    sizes = sorted(difference for difference, _, _ in differences)
    furthest = sorted(differences, reverse=True)[:5]
    assert median(sizes) <= 0.015, furthest
    assert sum(size <= 0.04 for size in sizes) >= 0.95 * len(sizes), furthest
    assert sum(size <= bound for size, bound, _ in differences) >= 0.95 * len(sizes), [d for d in differences if d[0] > d[1]]
    assert median(bound for _, bound, _ in differences) <= 0.04
    return len(sizes)


@pytest.mark.slow
def test_twenty_launches() -> None:
    assert hold(SAMPLED) == len(SAMPLED) == 20


@pytest.mark.nightly
def test_all_that_run_whole_in_a_minute() -> None:
    assert hold(launches()) > 80
