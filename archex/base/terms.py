"""Vendors' words for archex's neutral terms: the one Python file in which they may stand.

In: a neutral term and a device's `terms` name (`neutral`, `nvidia`, `amd`). Out: the word a report prints. Code never branches on them.
"""

from __future__ import annotations

VOCABULARIES: dict[str, dict[str, str]] = {
    "neutral": {},
    "nvidia": {
        "compute_unit": "SM",
        "wave": "warp",
        "lane": "thread",
        "workgroup": "thread block",
        "wave_scheduler": "warp scheduler",
        "simd": "sub-partition",
        "matrix_unit": "tensor core",
        "scalar_unit": "uniform datapath",
        "special_function_unit": "MUFU",
        "local_memory": "shared memory",
        "private_memory": "local memory",
        "vector_cache": "L1",
        "scalar_cache": "constant cache",
        "async_copy_unit": "TMA",
        "dispatcher": "block scheduler",
        "group": "GPC",
    },
    "amd": {
        "compute_unit": "CU",
        "wave": "wavefront",
        "lane": "work-item",
        "matrix_unit": "matrix core",
        "scalar_unit": "SALU",
        "special_function_unit": "transcendental unit",
        "local_memory": "LDS",
        "private_memory": "scratch",
        "vector_cache": "vL1D",
        "scalar_cache": "sL1D",
        "memory_side_cache": "Infinity Cache",
        "dispatcher": "workgroup manager",
        "group": "XCD",
    },
}


def term(name: str, vocabulary: str = "neutral") -> str:
    """The word of `vocabulary` for a neutral term; the term itself (with spaces) where it has none."""
    return VOCABULARIES.get(vocabulary, {}).get(name, name.replace("_", " "))
