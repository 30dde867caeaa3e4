"""Published figures that a device without measured launches is held against, and the launches that stand for them.

In: `facts/compared.csv` of the reference: a line a figure, by device and name of `facts/published_facts.csv`, with how it is taken.
Out: `Published` rows, and the launches of each way:

- `chase` (bytes, first): latency of a step of a chase through `bytes`, after `first` steps, without what a hit takes beyond
  `vector_cache.latency`.
- `stream` (loads, stores, bytes): bytes a second of arrays read and written once.
- `cache` (bytes, own): bytes a second read over and over by all lanes; `own`: each compute unit reads what its own cache holds.
- `side` (bytes): the same, of what the caches before the memory-side cache do not hold.
- `chains` (chains): rate of matrix products out of registers, by independent chains in every wave; `groups`: those of four waves.
- `product` (folder, launch, m, n, k): a whole matrix product of a suite, scaled, best of its variants. Somebody's library did it in the
  published time; a launch of archex may not be much faster. Only products of 15 us and more are compared: figures of small ones hold the
  time between launches.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import attrs

from archex.base import folders
from archex.programs.arguments import Argument
from archex.programs.buffers import Fill
from archex.suite.bodies import CHASE, GROUP_LOCAL, again, arrays, group_chain, launch, register_chains
from archex.suite.launch import Launch, read_folder

#: How far off a figure may be, of one; a product is at least this share of the library's time.
BOUND, SHARE_OF_LIBRARY = 0.15, 0.9
WAYS = ("chase", "stream", "cache", "side", "chains", "groups", "product")
LINE = 128
#: Multiply-adds are two operations; of a product of 16 x 8 x 16, and of one of 64 x 128 x 16.
PRODUCT_FLOPS, GROUP_FLOPS = 2 * 16 * 8 * 16, 2 * 64 * 128 * 16
#: Products a round of a chain that depend on each other.
EACH = 4


@attrs.frozen
class Published:
    """A figure: of which device of the model, whose, its name, value and unit, how it is taken, whether that takes long."""

    device: str
    of: str
    name: str
    value: float
    unit: str
    how: str
    detail: dict[str, str]
    slow: bool
    source: str

    @property
    def one_sided(self) -> bool:
        """The model may be slower: a library's kernel is somebody's best."""
        return self.how == "product"

    def number(self, key: str) -> int:
        """A whole number of the detail."""
        return int(self.detail[key].replace("_", ""))


def published(device: str | None = None) -> list[Published]:
    """The rows of a device, or all."""
    known = facts()
    found = []
    for row in _lines("compared.csv"):
        if device is None or row["device"] == device:
            fact = known[row["of"], row["name"]]
            detail = dict(part.split("=", 1) for part in row["detail"].split())
            figure = (row["device"], row["of"], row["name"], float(fact["value"]), fact["unit"])
            found.append(Published(*figure, row["how"], detail, bool(row["slow"]), fact["source"]))
    return found


def facts() -> dict[tuple[str, str], dict[str, str]]:
    """(published device, name) -> the line of its figure, the last of several."""
    return {(row["device"], row["name"]): row for row in _lines("published_facts.csv")}


def _lines(name: str) -> list[dict[str, str]]:
    with (folders.reference() / "facts" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def chase(folder: Path, read: int, steps: int) -> Launch:
    """A wave that follows `steps` links through `read` bytes."""
    return launch(folder, CHASE, 1, n=steps, read=read // LINE * LINE, dtype="u32", fill=Fill("random_cycle", stride_bytes=LINE))


def stream(folder: Path, loads: int, stores: int, size: int) -> Launch:
    """Arrays of `size` bytes each, 16 bytes a thread."""
    return launch(folder, arrays(loads, stores), 256, size // 16 // 256, read=size * (loads + stores), fill=Fill("zero"))


def read_again(folder: Path, size: int, own: bool, step: int, workgroups: int, rounds: int) -> Launch:
    """64 bytes a lane and round from `size` bytes."""
    text = again(size, step, "%r1" if own else "%r2", "ca" if own else "cg")
    return launch(folder, text, 256, workgroups, n=rounds, read=size, fill=Fill("zero"))


def chains(folder: Path, number: int, workgroups: int, rounds: int) -> Launch:
    """`number` independent chains of products in each of eight waves."""
    return launch(folder, register_chains(number, EACH), 256, workgroups, n=rounds)


def groups(folder: Path, workgroups: int, rounds: int) -> Launch:
    """Products of four waves, both operands in local memory."""
    return launch(folder, group_chain(each=EACH), 128, workgroups, n=rounds, local=GROUP_LOCAL)


def product(row: Published) -> Launch:
    """The launch of a suite or reference, scaled where the row says a shape."""
    found = of_folder(row.detail["folder"], row.detail["launch"])
    return scaled(found, [row.number(axis) for axis in "mnk"]) if "m" in row.detail else found


def of_folder(folder: str, name: str) -> Launch:
    """A launch of a suite, or of a reference."""
    inside = Path(__file__).with_name("kernels") / folder
    return read_folder(inside if inside.is_dir() else folders.reference() / folder, [name])[name]


def scaled(found: Launch, shape: Sequence[int]) -> Launch:
    """A product of another shape: its first three numbers are m, n and k; its buffers m x k, k x n and m x n; its grid covers m x n."""
    if found.variants:
        variants = tuple(attrs.evolve(variant, launch=scaled(variant.launch, shape)) for variant in found.variants)
        return attrs.evolve(found, variants=variants, flops=2.0 * shape[0] * shape[1] * shape[2])
    places = [place for place, argument in enumerate(found.arguments) if argument.kind == "i32"][:3]
    m, n, k = ((new, _whole(found.arguments[place])) for new, place in zip(shape, places, strict=True))
    ratios = [(a[0] * b[0], a[1] * b[1]) for a, b in ((m, k), (k, n), (m, n))]
    buffers = [attrs.evolve(buffer, size=buffer.size * new // old) for buffer, (new, old) in zip(found.buffers, ratios, strict=True)]
    x, y, z = found.grid
    grid = (x * n[0] // n[1], y * m[0] // m[1], z) if y > 1 else (x * n[0] * m[0] // (n[1] * m[1]), y, z)
    arguments = list(found.arguments)
    for place, (new, _) in zip(places, (m, n, k), strict=True):
        arguments[place] = Argument("i32", new)
    flops = 2.0 * shape[0] * shape[1] * shape[2]
    return attrs.evolve(found, grid=grid, arguments=tuple(arguments), buffers=tuple(buffers), flops=flops)


def _whole(argument: Argument) -> int:
    assert isinstance(argument.value, int)
    return argument.value
