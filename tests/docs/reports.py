"""Runs the presets that ask a question and puts their tables into `results/reports/`: `make reports`, or with names: `reports.py l2_size`.

In: `experiments/*.yaml` with `hydra.sweeper.params`. Out: each preset's page: its answer, written by hand, stays, today's tables
stand below it. Rows that `results/runs/` holds already are not run again.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "results/reports"
TABLES = "<!-- tables -->\n"
ANSWER = "**Answer.** To be written from the tables below.\n"


def asking() -> dict[str, dict[str, Any]]:
    """The presets that sweep, by name."""
    found = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "experiments").glob("*.yaml"))}
    return {name: preset for name, preset in found.items() if "hydra" in preset}


def commands(name: str) -> tuple[str, str]:
    """What makes a preset's rows, and its tables of them."""
    return f"archex run -m experiments={name} output=results/runs/{name}", f"archex compare results/runs/{name} --markdown -"


def head(name: str, question: str) -> str:
    """A page without an answer."""
    run, compare = commands(name)
    return f"# {name}\n\n**Question.** {question}\n\n{ANSWER}\n```text\n{run}\n{compare}\n```\n\n"


def write(name: str, question: str) -> None:
    """Run a preset, and renew its page's tables."""
    archex = Path(sys.executable).with_name("archex")
    run, _ = commands(name)
    subprocess.run([archex, *run.split()[1:]], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables.md"
        subprocess.run([archex, "compare", f"results/runs/{name}", "--markdown", str(tables)], cwd=ROOT, check=True, capture_output=True)
        made = tables.read_text()
    page = REPORTS / f"{name}.md"
    before = page.read_text().partition(TABLES)[0] if page.exists() else head(name, question)
    page.write_text(before + TABLES + made)


def main() -> None:
    REPORTS.mkdir(exist_ok=True)
    wanted = sys.argv[1:]
    for name, preset in asking().items():
        if not wanted or name in wanted:
            write(name, preset["question"])


if __name__ == "__main__":
    main()
