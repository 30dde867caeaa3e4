"""Puts the real output of `make run` into the README: `make readme`.

In: the main job's arguments from the Makefile. Out: the README with the table that the job prints now.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_TABLE = re.compile(r"(?<=<!-- output -->\n```text\n).*?(?=```)", re.DOTALL)


def arguments() -> list[str]:
    """What `make run` runs."""
    found = re.search(r"^ARGS\s*\?=\s*(.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found
    return found[1].split()


def shown() -> str:
    """The table that stands in the README."""
    found = _TABLE.search((ROOT / "README.md").read_text())
    assert found, "the README has no output block"
    return found[0]


def printed() -> str:
    """The table that the main job prints, without its margins."""
    archex = Path(sys.executable).with_name("archex")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([archex, "run", *arguments(), "output=readme"], cwd=folder, capture_output=True, text=True, check=True)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join(line for line in lines if line and not line.endswith("in readme")) + "\n"


def main() -> None:
    readme = ROOT / "README.md"
    table = printed()
    readme.write_text(_TABLE.sub(lambda _: table, readme.read_text(), count=1))
    print(table)


if __name__ == "__main__":
    main()
