"""Devices without silicon of ours against published microbenchmarks: latency of each level, the bandwidth that kernels achieve, products.

The rows are `results/reference/facts/compared.csv`, run as `archex validate device=a100` runs them. Where sources disagree, the device's
own files say which is followed; a row is of that source.
"""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from archex.base.errors import RequestError
from archex.cli import validate
from archex.cli.figures import figures_only
from archex.cli.published import Comparison, compare, read_again, shown
from archex.reports.text import console
from archex.suite.published import WAYS, Published, facts, of_folder, published, scaled
from tests.laws.launches import device

MIB = 1 << 20
nightly = pytest.mark.nightly
ROWS = published()


def named(row: Published) -> str:
    return f"{row.device}-{row.how}-{row.name}"


@pytest.mark.parametrize("row", [pytest.param(row, marks=nightly if row.slow else (), id=named(row)) for row in ROWS])
def test_a_figure(row: Published) -> None:
    (found,) = compare(device(row.device), [row])
    assert found.kept, f"{found.row.value:g} is published, the model says {found.found:g} {row.unit}"


@pytest.mark.parametrize("name", ["a100", "h100_sxm", "mi210", "mi300x"])
def test_a_device_without_launches_has_rows_of_each_kind(name: str) -> None:
    ways = {row.how for row in published(name)}
    assert ways >= {"chase", "stream"}
    assert ways & {"chains", "groups", "product"}, "matrix products"
    assert figures_only({}, name)


def test_every_row_has_a_way_and_a_source() -> None:
    assert {row.how for row in ROWS} == set(WAYS)
    assert all(row.source and row.value > 0 for row in ROWS)


def test_bounds_of_figures_and_of_products() -> None:
    row = next(row for row in ROWS if row.how == "chase")
    one = attrs.evolve(row, value=100.0)
    assert [Comparison(one, found).kept for found in (84.0, 86.0, 114.0, 116.0)] == [False, True, True, False]
    library = attrs.evolve(next(row for row in ROWS if row.one_sided), value=90.0)
    assert [Comparison(library, found).kept for found in (10.0, 90.0, 99.9, 100.1)] == [True, True, True, False]


def test_a_product_is_scaled_whole() -> None:
    (first, *_), (other, *_) = (scaled(of_folder("standard", name), (1024, 2048, 512)).variants for name in ("tensor_gemm_4", "matmul_128"))
    assert first.launch.grid == (16, 8, 1)
    assert [argument.value for argument in first.launch.arguments if argument.kind == "i32"] == [1024, 2048, 512]
    assert [buffer.size for buffer in first.launch.buffers] == [1024 * 512 * 2, 512 * 2048 * 2, 1024 * 2048 * 4]
    assert other.launch.grid == (8 * 16, 1, 1)
    assert first.launch.flops == 2 * 1024 * 2048 * 512


def test_the_command_prints_and_judges(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row for row in published("mi210") if row.how == "chains"]
    monkeypatch.setattr("archex.cli.figures.published", lambda device=None: rows)
    assert validate.main(["device=mi210"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "MI210 flop_per_clk" in line)
    assert line.split()[2] == "1,024"
    rows[0] = attrs.evolve(rows[0], value=500.0)
    assert validate.main(["device=mi210", "reference=published"]) == 1
    said = capsys.readouterr().out
    assert "beyond" in said
    assert "1 figures compared, 1 beyond their bound" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["device=a100", "bound=12"], "bound: 12 needs launches that were measured; of this device figures are published"),
        (["device=a100", "-m"], "-m: isn't offered: validate takes one device"),
        (["device=a100", "l2.sise=4MiB"], "l2.sise: "),
        (["device=a100", "repeat=3"], "repeat: 3 says how launches run, and published figures are run in one way"),
        (["device=a100", "suite.only=[chase]"], "suite.only: [chase] says how launches run, and"),
        (["device=a100", "output=x"], "output: x says how launches run, and"),
        (["device=mi300a", "reference=published"], "device: mi300a has no published figures to be held against (choices: a100, "),
        (["reference=published"], "device: has no published figures to be held against (choices: a100, "),
    ],
)
def test_requests_that_are_wrong(arguments: list[str], said: str) -> None:
    with pytest.raises(RequestError) as caught:
        validate.main(arguments)
    assert str(caught.value).startswith(said)


def test_an_l2_that_is_a_little_too_small_still_helps_on_silicon() -> None:
    """47 MB in 40 MiB: 484 cycles, where the model, which forgets the oldest first, keeps nothing of a walk in circles."""
    value, nothing = (float(facts()["A100_SXM_80GB", f"load_latency_ws_{size}kB"]["value"]) for size in (47045, 75772))
    assert value < 0.9 * nothing


@nightly
def test_bounds_of_a_tool_that_is_not_tuned_for_peaks(tmp_path: Path) -> None:
    """It gives what is reached at least (GiB/s); the vendor gives the most (TB/s)."""
    found, _ = read_again(device("mi300x"), tmp_path, 2 * MIB, False, 17 * 4096, (8, 24))
    least, most = (float(facts()["MI300X", name]["value"]) for name in ("l2_read", "l2_aggregate_read_bandwidth_peak"))
    assert least * 2**30 / 1e9 < found < 1000 * most


def test_the_table_is_of_all_rows() -> None:
    table = shown([Comparison(row, row.value) for row in ROWS])
    console().print(table)
    assert table.row_count == len(ROWS)
