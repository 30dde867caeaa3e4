"""archex show device=D [KEY=VALUE ...]: a device as a tree: every number, with its unit and where it is from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text
from rich.tree import Tree

from archex.base.errors import ABSENT, Problem, RequestError
from archex.reports.text import console
from archex.sweeps import flags
from archex.sweeps.plan import describe_one
from archex.sweeps.work import Steps


def main(arguments: Sequence[str], steps: Steps | None = None) -> int:
    """Print the tree and count what is assumed."""
    asked = flags.parse(arguments)
    if asked.informing:
        flags.inform(asked)
        return 0
    if asked.multirun:
        raise RequestError([Problem("-m", ABSENT, "isn't offered: show takes one device")])
    design = describe_one(asked.overrides, steps or Steps(), asked.folders)
    from archex.describe import tree

    # The instruction set is hundreds of lines of expansions: last.
    leaves = sorted(tree(design.spec), key=lambda leaf: leaf.path.startswith("instruction_set."))
    out = console()
    out.print(_grown(leaves))
    found = Counter(leaf.status for leaf in leaves if leaf.status)
    counted = ", ".join(f"{found[status]} {status}" for status in sorted({*found, "assumed"}, key=lambda status: -found[status]))
    out.print(f"fingerprint {design.spec.fingerprint}; {sum(found.values())} values: {counted}")
    return 0


def _grown(leaves: Sequence[Any]) -> Tree:
    """The leaves as branches of their dotted paths."""
    root: Tree | None = None
    branches: dict[str, Tree] = {}
    values = {leaf.path: leaf for leaf in leaves}
    name = values["device.name"].value
    root = Tree(Text(name, style="bold"))
    above, said = None, set[tuple[str, str]]()
    for leaf in leaves:
        if leaf.path == "device.name":
            continue
        head, _, last = leaf.path.rpartition(".")
        if last == "name" and head:
            meaning = f"  {leaf.meaning}" if leaf.meaning else ""
            _branch(root, branches, head).label = Text.assemble((head.rpartition(".")[2], "bold"), f": {leaf.value}", (meaning, "dim"))
            continue
        _branch(root, branches, head).add(_line(last, leaf, above, said))
        above = leaf
    return root


def _branch(root: Tree, branches: dict[str, Tree], path: str) -> Tree:
    if not path:
        return root
    if path not in branches:
        head, _, last = path.rpartition(".")
        branches[path] = _branch(root, branches, head).add(Text(last, style="bold"))
    return branches[path]


def _line(last: str, leaf: Any, above: Any, said: set[tuple[str, str]]) -> Text:
    """`size = 50 MiB  (2 x ...)  [published: tuning guide]  what it is`; an origin is not said twice in a row, a meaning once a slot."""
    origin = leaf.origin if above is None or leaf.origin != above.origin else '"'
    known = ": ".join(part for part in (leaf.status, origin if leaf.origin else "") if part)
    source = f"  [{known}]" if known else ""
    total = f"  ({leaf.total})" if leaf.total else ""
    key = (leaf.path.partition(".")[0], leaf.meaning)
    meaning = "" if key in said else leaf.meaning
    said.add(key)
    style = "yellow" if leaf.status in ("assumed", "override") else "green"
    return Text.assemble(f"{last} = ", (leaf.value, "bold"), total, (source, style), (f"  {meaning}" if meaning else "", "dim"))
