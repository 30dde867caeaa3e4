"""What the house tests look at: every source file of archex, its plugins and Hydra's thin plugin, parsed once.

Out: `Source(module, path, tree, lines)` for each file.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: Folder that holds modules -> the top-level packages found in it.
PACKAGES = {"archex": ROOT, "archex_plugins": ROOT / "plugins", "hydra_plugins": ROOT}


class Source(NamedTuple):
    module: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def relative(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


@cache
def sources() -> tuple[Source, ...]:
    found = []
    for package, base in PACKAGES.items():
        for path in sorted((base / package).rglob("*.py")):
            parts = list(path.relative_to(base).with_suffix("").parts)
            if parts[-1] == "__init__":
                parts.pop()
            text = path.read_text()
            found.append(Source(".".join(parts), path, ast.parse(text, str(path)), text.count("\n")))
    return tuple(found)


@cache
def modules() -> frozenset[str]:
    return frozenset(source.module for source in sources())


def imports(source: Source) -> list[tuple[str, int]]:
    """Every module a file imports, wherever in the file, with its line; `from a import b` is a.b where that is a module."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = source.module.split(".") if source.is_package else source.module.split(".")[:-1]
                package = package[: len(package) - (node.level - 1)]
                base = ".".join([*package, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                found.append((name if name in modules() else base, node.lineno))
    return found
