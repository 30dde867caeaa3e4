"""Compile the suite's kernels again: every NAME.cu of a folder to NAME.ptx beside it, and the registers that each kernel takes.

    python -m benchmarks.kernels [FOLDER] [--check]

In: a folder of archex/suite/kernels (default `standard`) and nvcc of CUDA 13. Out: PTX for compute capability 8.0 (9.0a where a source
says so in its first line: `// arch: sm_90a`), and `registers_per_thread` of every launch as `ptxas -O3 -v` reports them for sm_90.
`--check` writes nothing and ends with 1 where something would change.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).resolve().parents[1] / "archex" / "suite" / "kernels"
_USED = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)
_WIDTH = 140


def ptx_of(source: Path) -> str:
    """A source compiled; without the compiler's banner, so that the text changes only with the code."""
    found = re.match(r"// arch: (\w+)", source.read_text())
    arch = found[1] if found else "compute_80"
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.ptx"
        subprocess.run(["nvcc", "-std=c++17", "-O3", "--ptx", f"-arch={arch}", str(source), "-o", str(made)], check=True)
        text = made.read_text()
    return text[text.index(".version") :]


def registers_of(ptx: Path) -> dict[str, int]:
    """Registers a thread of each kernel in a file."""
    target = re.search(r"^\.target (sm_90a)", ptx.read_text(), re.MULTILINE)
    arch = target[1] if target else "sm_90"
    command = ["ptxas", f"-arch={arch}", "-O3", "-v", str(ptx), "-o", "/dev/null"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return {name: int(count) for name, count in _USED.findall(report)}


def set_registers(launch: dict[str, Any], folder: Path, known: dict[str, dict[str, int]], around: dict[str, Any]) -> None:
    """Set `registers_per_thread` of a launch, its variants and its steps, where a PTX of this folder is named."""
    for key in ("variants", "sequence"):
        for inner in launch.get(key, ()):
            if isinstance(inner, dict):
                set_registers(inner, folder, known, around | launch)
    whole = around | launch
    if not {"ptx", "entry"} <= whole.keys() or not ({"ptx", "entry"} & launch.keys()):
        return
    if whole["ptx"] not in known:
        known[whole["ptx"]] = registers_of(folder / whole["ptx"])
    launch["registers_per_thread"] = known[whole["ptx"]][whole["entry"]]


def shown(value: Any, indent: int = 0) -> str:
    """JSON with what fits in a line in one line."""
    flat = json.dumps(value)
    if indent > 2 and len(flat) + indent + 24 < _WIDTH and not (isinstance(value, list) and value and isinstance(value[0], dict)):
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        lines = [f"{pad}{json.dumps(key)}: {shown(item, indent + 2)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(pad + shown(item, indent + 2) for item in value) + "\n" + " " * indent + "]"
    return flat


def main() -> int:
    """Build, or check."""
    parser = argparse.ArgumentParser(description="compile the suite's kernels")
    parser.add_argument("folder", nargs="?", default="standard")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    folder = KERNELS / asked.folder
    made = {source.with_suffix(".ptx"): ptx_of(source) for source in sorted(folder.glob("*.cu"))}
    changed = [path for path, text in made.items() if not path.is_file() or path.read_text() != text]
    for path in () if asked.check else changed:
        path.write_text(made[path])
    table = folder / "launches.json"
    launches, known = json.loads(table.read_text()), dict[str, dict[str, int]]()
    for launch in launches.values():
        set_registers(launch, folder, known, {})
    text = shown(launches) + "\n"
    if table.read_text() != text:
        changed.append(table)
        if not asked.check:
            table.write_text(text)
    for path in changed:
        print(f"{path.relative_to(KERNELS)} {'differs' if asked.check else 'written'}")
    return int(asked.check and bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())
