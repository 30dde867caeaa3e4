"""Published figures against the model: what `archex validate` runs for a device of which no launch was measured here.

In: an assembled device, `Published` rows. Out: a `Comparison` a row: the figure, the model's, whether it is within its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
from rich.table import Table

from archex.assembly import Device
from archex.base.options import Options
from archex.reports.text import signed, table
from archex.simulate import simulate
from archex.suite import published as suite
from archex.suite.launch import Launch
from archex.suite.published import BOUND, EACH, GROUP_FLOPS, PRODUCT_FLOPS, SHARE_OF_LIBRARY, Published

_GIGA, _TERA = 1e9, 1e12
_WHOLE = Options(sampling="off")


@attrs.frozen
class Comparison:
    """A row and what the model says, in its unit."""

    row: Published
    found: float

    @property
    def error(self) -> float:
        """Of one; above zero the model says more."""
        return self.found / self.row.value - 1

    @property
    def kept(self) -> bool:
        """A figure is met within the bound; a product is not much faster than the library's."""
        if self.row.one_sided:
            return self.row.value / self.found >= SHARE_OF_LIBRARY
        return abs(self.error) <= BOUND


def compare(device: Device, rows: Sequence[Published]) -> Iterator[Comparison]:
    """Run them."""
    with TemporaryDirectory() as folder:
        for row in rows:
            yield Comparison(row, _WAYS[row.how](device, row, Path(folder)))


def shown(compared: Sequence[Comparison]) -> Table:
    """A line a figure."""
    lines = [
        [
            f"{one.row.of} {one.row.name}",
            f"{'at most ' if one.row.one_sided else ''}{amount(one.row.value)}",
            amount(one.found),
            one.row.unit,
            signed(100 * one.error),
            "" if one.kept else "beyond",
        ]
        for one in compared
    ]
    title = f"Published figures (within {100 * BOUND:.0f} %; a product takes at least {SHARE_OF_LIBRARY:g} of a library's time)"
    return table(title, ["figure", "published", "model", "unit<", "error", "<"], lines)


def amount(value: float) -> str:
    """Whole from a thousand on, else four digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _latency(device: Device, row: Published, folder: Path) -> float:
    """A step, less what a hit takes beyond the latency of the vector cache: published figures are without the chase's own arithmetic."""
    clock = device.clock_hz
    own = _step(device, folder, 4096, 64) - float(device.spec["vector_cache"].latency.cycles(clock))
    cycles: float = _step(device, folder, row.number("bytes"), row.number("first")) - own
    return cycles / (float(clock) / _GIGA if row.unit == "ns" else 1.0)


def _step(device: Device, folder: Path, read: int, first: int) -> float:
    """Cycles of a step through `read` bytes, after `first` steps."""
    steps = min(max(first, 128), 4000)
    few, many = (_run(device, suite.chase(folder, read, n))["cycles"] for n in (first, first + steps))
    return float(many - few) / steps


def _stream(device: Device, row: Published, folder: Path) -> float:
    loads, stores, size = (row.number(key) for key in ("loads", "stores", "bytes"))
    found = simulate(device, suite.stream(folder, loads, stores, size), Options())
    return size * (loads + stores) / float(found["time_ns"]) / _giga(row.unit)


def _cache(device: Device, row: Published, folder: Path) -> float:
    own = "own" in row.detail
    found, _ = read_again(device, folder, row.number("bytes"), own, 4096 if own else 17 * 4096, (8, 24))
    return found / _giga(row.unit)


def _side(device: Device, row: Published, folder: Path) -> float:
    """What caches of the dies hold does not count."""
    found, columns = read_again(device, folder, row.number("bytes"), False, 17 * 4096 * 128, (8, 16))
    return found * float(1 - columns["l2_hit_pct"] / 100) / _giga(row.unit)


def read_again(device: Device, folder: Path, size: int, own: bool, step: int, rounds: tuple[int, int]) -> tuple[float, dict[str, Any]]:
    """GB/s that all lanes take from `size` bytes, and the columns of the longer run."""
    threads = 256
    unit = device.spec["compute_unit"]
    groups = unit.count * (32 if unit.wave_width == 64 and not own else 16) * unit.wave_width // threads
    few, many = (_run(device, suite.read_again(folder, size, own, step, groups, n)) for n in rounds)
    return groups * threads * 64 * (rounds[1] - rounds[0]) / (many["time_ns"] - few["time_ns"]), many


def _chains(device: Device, row: Published, folder: Path) -> float:
    """Two workgroups of eight waves a compute unit."""
    number, workgroups = row.number("chains"), 2 * device.spec["compute_unit"].count
    work = workgroups * (256 // 32) * number * EACH * PRODUCT_FLOPS
    return _rate(device, row, work, lambda n: suite.chains(folder, number, workgroups, n))


def _groups(device: Device, row: Published, folder: Path) -> float:
    workgroups = 4 * device.spec["compute_unit"].count
    return _rate(device, row, workgroups * EACH * GROUP_FLOPS, lambda n: suite.groups(folder, workgroups, n))


def _rate(device: Device, row: Published, flops: float, launch: Callable[[int], Launch]) -> float:
    """Of rounds in the middle: TFLOP/s, or operations a cycle and compute unit."""
    few, many = (_run(device, launch(n)) for n in (8, 24))
    if row.unit == "TFLOP/s":
        return 16 * flops / float(many["time_ns"] - few["time_ns"]) * _GIGA / _TERA
    return 16 * flops / float(many["cycles"] - few["cycles"]) / float(device.spec["compute_unit"].count)


def _product(device: Device, row: Published, folder: Path) -> float:
    work = suite.product(row)
    found = simulate(device, work, Options())
    return float(work.flops or 0) / float(found["time_ns"]) * _GIGA / _TERA


def _giga(unit: str) -> float:
    """GB/s in a unit of bandwidth, which may say of what: `GB/s (whole device)`."""
    return {"GB/s": 1.0, "TB/s": 1e3}[unit.partition(" ")[0]]


def _run(device: Device, launch: Launch) -> dict[str, Any]:
    return simulate(device, launch, _WHOLE)


_WAYS: dict[str, Callable[[Device, Published, Path], float]] = {
    "chase": _latency,
    "stream": _stream,
    "cache": _cache,
    "side": _side,
    "chains": _chains,
    "groups": _groups,
    "product": _product,
}
