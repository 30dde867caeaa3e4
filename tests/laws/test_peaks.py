"""The floating-point peak of a device follows from its pipes and equals what its vendor publishes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from archex.assembly import assemble
from archex.records.outcome import peak_flops
from archex.testing.devices import described

#: Vector (not matrix) peaks in the vendors' data sheets, in 10^12 a second.
PUBLISHED = [
    ("h100_sxm", "fma_f32", 66.9),
    ("h200", "fma_f32", 66.9),
    ("h200", "fma_f64", 33.5),
    ("a100", "fma_f32", 19.5),
    ("a100", "fma_f64", 9.7),
    ("mi210", "fma_f64", 22.6),
    ("mi300a", "fma_f64", 61.3),
    ("mi300x", "fma_f64", 81.7),
]
#: Peaks of matrix products, in 10^12 operations a second; the clock they are stated at, where it isn't the device's.
PRODUCTS = [
    *(
        ("h100_sxm", elements, False, peak, 1.83e9)
        for elements, peak in (("f16", 989.4), ("tf32", 494.7), ("e4m3", 1978.9), ("s8", 1978.9))
    ),
    ("h100_sxm", "f64", False, 66.9, None),
    ("h100_sxm", "f16", True, 2 * 989.4, 1.83e9),
    *(("a100", elements, False, peak, None) for elements, peak in (("f16", 312), ("bf16", 312), ("tf32", 156), ("s8", 624), ("f64", 19.5))),
    *(("a100", elements, True, peak, None) for elements, peak in (("f16", 624), ("tf32", 312), ("s8", 1248))),
    *(
        ("mi210", elements, False, peak, None)
        for elements, peak in (("f16", 181), ("bf16", 181), ("s8", 181), ("f32", 45.3), ("f64", 45.3))
    ),
    *(("mi300x", elements, False, peak, None) for elements, peak in (("f16", 1307.4), ("bf16", 1307.4), ("tf32", 653.7), ("s8", 2614.9))),
    *(("mi300x", elements, False, peak, None) for elements, peak in (("e4m3", 2614.9), ("e5m2", 2614.9), ("f32", 163.4), ("f64", 163.4))),
    *(("mi300x", elements, True, peak, None) for elements, peak in (("f16", 2614.9), ("s8", 5229.8), ("e4m3", 5229.8))),
]


@pytest.mark.parametrize(("device", "operation", "peak"), PUBLISHED)
def test_published_peaks(device: str, operation: str, peak: float) -> None:
    assembled = assemble(described(device))
    program = SimpleNamespace(operations=(("int_add", "int_add", operation),))
    assert peak_flops(assembled, program) * assembled.clock_hz / 1e12 == pytest.approx(peak, rel=0.005)


@pytest.mark.parametrize(("device", "elements", "sparse", "peak", "clock"), PRODUCTS)
def test_published_peaks_of_matrix_products(device: str, elements: str, sparse: bool, peak: float, clock: float | None) -> None:
    """The best shape of a type comes to what the vendor publishes: nothing faster, nothing left out."""
    spec = described(device)
    shapes = [s for s in spec["matrix_unit"].shapes.values() if elements in s.elements.split() and s.sparse == sparse]
    unit = spec["compute_unit"]
    best = max(2 * s.m * s.n * s.k / s.interval for s in shapes) * unit.schedulers * unit.count * (clock or unit.clock)
    assert best / 1e12 == pytest.approx(peak, rel=0.015)


@pytest.mark.parametrize(
    ("device", "shape", "peak", "clock"),
    [
        ("h100_sxm", "f16_16x8x16", 989.4, 1.83e9),  # whatever shape a program uses, the device could use its fastest
        ("h100_sxm", "f16_sparse_16x8x32", 989.4, 1.83e9),
        ("a100", "f16_16x8x16", 312, None),
        ("mi300x", "f16_16x16x16", 1307.4, None),
    ],
)
def test_programs_with_matrix_products_are_held_against_them(device: str, shape: str, peak: float, clock: float | None) -> None:
    assembled = assemble(described(device))
    program = SimpleNamespace(operations=(("fma_f32", "fma_f32", f"matrix.{shape}"),))
    assert peak_flops(assembled, program) * (clock or assembled.clock_hz) / 1e12 == pytest.approx(peak, rel=0.015)


def test_a_program_without_arithmetic_has_no_peak() -> None:
    assert peak_flops(assemble(described("tiny")), SimpleNamespace(operations=(("load_global",),))) is None
