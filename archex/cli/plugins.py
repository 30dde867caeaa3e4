"""archex plugins list: which parts are installed, of which kind, from which packages."""

from __future__ import annotations

from collections.abc import Sequence

from archex.base.errors import ABSENT, Problem, RequestError, unknown
from archex.registry import load
from archex.reports.text import console, table

ACTIONS = ("list",)


def main(arguments: Sequence[str]) -> int:
    """Print the parts by kind."""
    if not arguments:
        raise RequestError([Problem("plugins", ABSENT, "needs an action", ACTIONS)])
    if arguments[0] not in ACTIONS:
        raise RequestError([unknown("plugins", arguments[0], ACTIONS, "action")])
    registry = load()
    lines = []
    for (kind, name), found in sorted(registry.parts.items()):
        does = (found.part.__doc__ or "").strip().splitlines()
        lines.append([kind, name, f"{found.package} {found.version}".strip(), does[0] if does else ""])
    out = console()
    out.print(table("", ["kind", "part<", "package<", "what it does<"], lines))
    packages = {found.package for found in registry.parts.values()}
    out.print(f"{len(lines)} parts from {len(packages)} {'package' if len(packages) == 1 else 'packages'}")
    return 0
