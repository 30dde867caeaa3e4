"""An outsider's package: built by following the page, installed into an environment of its own, swept, debugged, removed."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import polars as pl
import pytest
from pages import ROOT, Reader, blocks

PAGE = ROOT / "docs/first-plugin.md"
EXAMPLE = ROOT / "examples"
BUILT_IN = ("greedy_then_oldest", "loose_round_robin")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment that sees this one's libraries; what is installed into it is only its own."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin/python"
    site = next((folder / "lib").glob("python3.*")) / "site-packages"
    (site / "libraries.pth").write_text(f"import site; site.addsitedir({sysconfig.get_paths()['purelib']!r})\n")
    command = folder / "bin/archex"
    command.write_text(f"#!{python}\nimport sys\n\nfrom archex.cli.main import main\n\nif __name__ == '__main__':\n    sys.exit(main())\n")
    command.chmod(0o755)
    return folder / "bin"


def test_the_page_is_the_example() -> None:
    """The package in examples/ and the page that builds it are one text."""
    shown = {block.title: block.text for block in blocks(PAGE) if block.title}
    kept = {
        str(path.relative_to(EXAMPLE)): path.read_text()
        for path in (EXAMPLE / "cache_thrift").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    assert shown == kept


@pytest.mark.slow
def test_following_the_page(environment: Path, tmp_path: Path) -> None:
    # Without build isolation the builder comes from this environment too, and nothing is downloaded.
    reader = Reader(tmp_path, environment, {"PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    checked = set()
    for block in blocks(PAGE):
        reader.follow(block)
        for mark, check in CHECKS.items():
            if block.language == "bash" and not block.title and mark in block.text:
                check(reader.printed, tmp_path)
                checked.add(mark)
    assert checked == set(CHECKS)


def installed(printed: str, folder: Path) -> None:
    assert "cache-thrift" in printed
    assert "sparing" in printed
    assert "set_duelling" in printed


def swept(printed: str, folder: Path) -> None:
    rows = pl.read_parquet(folder / "duel/*.parquet")
    assert rows["status"].to_list() == ["ok"] * 9
    assert rows["device_fingerprint"].n_unique() == 9
    cycles = {(scheduler, policy): found(rows, scheduler, policy)["cycles"][0] for scheduler in SCHEDULERS for policy in POLICIES}
    baseline = cycles["greedy_then_oldest", "lru"]
    assert cycles["sparing", "lru"] < baseline, f"holding waves back must pay here: {cycles}"
    assert cycles["greedy_then_oldest", "set_duelling"] < baseline, f"learning must pay here: {cycles}"
    hits = {policy: found(rows, "loose_round_robin", policy)["vector_cache_hit_pct"][0] for policy in POLICIES}
    assert hits["set_duelling"] > hits["lru"]


SCHEDULERS = (*BUILT_IN, "sparing")
POLICIES = ("lru", "pseudo_lru", "set_duelling")


def found(rows: pl.DataFrame, scheduler: str, policy: str) -> pl.DataFrame:
    """The row of one combination."""
    wanted = rows.filter(
        pl.col("overrides").str.contains(f"wave_scheduler={scheduler}") & pl.col("overrides").str.contains(f"replacement={policy}")
    )
    assert wanted.height == 1
    return wanted


def tuned(printed: str, folder: Path) -> None:
    assert pl.read_parquet(folder / "hold/*.parquet")["device_fingerprint"].n_unique() == 4


def stopped(printed: str, folder: Path) -> None:
    """The debugger stops in the policy and shows what it sees; the run goes on to the compiled run's result, to the bit."""
    assert "Breakpoint 1 at" in printed
    assert "0b" in printed, f"the debugger did not stop in the policy:\n{printed}"
    plain = pl.read_parquet(folder / "stopped/*.parquet")
    compiled = found(pl.read_parquet(folder / "duel/*.parquet"), "sparing", "lru")
    same = [name for name in plain.columns if name.startswith("stall_") or name in ("cycles", "wave_instructions", "vector_cache_hit_pct")]
    assert plain.select(same).equals(compiled.select(same))


def refused(printed: str, folder: Path) -> None:
    assert "ended with 2" in printed
    assert "greedy_then_oldest" in printed
    assert "Traceback" not in printed
    assert not (folder / "results").exists()


CHECKS = {
    "pip install": installed,
    "output=duel": swept,
    "output=hold": tuned,
    "-m pdb": stopped,
    "ended with": refused,
}
