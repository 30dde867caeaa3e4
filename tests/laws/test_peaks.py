"""The floating-point peak of a device follows from its pipes and equals what its vendor publishes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from archex.assembly import assemble
from archex.records.outcome import peak_flops
from archex.testing.devices import described

#: Vector (not matrix) peaks in the vendors' data sheets, in 10^12 a second.
PUBLISHED = [("h200", "fma_f32", 66.9), ("h200", "fma_f64", 33.5), ("mi300a", "fma_f64", 61.3)]


@pytest.mark.parametrize(("device", "operation", "peak"), PUBLISHED)
def test_published_peaks(device: str, operation: str, peak: float) -> None:
    assembled = assemble(described(device))
    program = SimpleNamespace(operations=(("int_add", "int_add", operation),))
    assert peak_flops(assembled, program) * assembled.clock_hz / 1e12 == pytest.approx(peak, rel=0.005)


def test_a_program_without_arithmetic_has_no_peak() -> None:
    assert peak_flops(assemble(described("tiny")), SimpleNamespace(operations=(("load_global",),))) is None
