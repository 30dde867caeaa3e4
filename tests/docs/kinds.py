"""Writes the page of each kind of part: `make kinds`.

In: the kinds' pages in `archex/parts`, their contracts, the installed parts. Out: docs/parts/KIND.md, from which nothing that the code
says can differ.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import attrs
from archex.base.units import Duration, Rate, show
from archex.parts.kinds import KINDS, SLOTS
from archex.parts.part import Meta, Part, meta
from archex.testing import CONTRACTS, PartContract
from archex.testing.devices import installed

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/parts"


def page(kind: str) -> str:
    """The text of a kind's page."""
    part = KINDS[kind]
    slots = [slot for slot in SLOTS.values() if slot.kind == kind]
    module = inspect.getdoc(importlib.import_module(part.__module__)) or ""
    lines = [f"# {kind.replace('_', ' ').capitalize()}", "", *module.splitlines(), "", f"> {_text(part)}", ""]
    lines += [_stands(kind, [slot.name for slot in slots], any(slot.optional for slot in slots)), ""]
    if part.functions:
        lines += ["## Functions", "", "| function | returns | is asked |", "|---|---|---|"]
        for function in part.functions:
            form = f"`{function.name}({', '.join(function.arguments)})`" + ("" if function.required else ", optional")
            lines.append(f"| {form} | {_cell(function.returns)} | {_cell(function.meaning)} |")
        lines.append("")
    lines += _members(kind, part)
    lines += _law(CONTRACTS[kind])
    if attrs.fields(part.Spec):
        lines += ["## Numbers", "", *_numbers(part.Spec)]
    if part.counters:
        lines += ["## Counted for it", "", "| counter | unit | meaning | column |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {c.unit} | {_cell(c.meaning)} | `{c.column}` |" for c in part.counters] + [""]
    lines += ["## Your own", "", f"`archex plugins new my_own --kind {kind}` writes a package with one that keeps this law; see"]
    lines += ["[your first plugin](../first-plugin.md). All kinds stand under [parts and policies](../parts.md).", ""]
    return "\n".join(lines)


def _stands(kind: str, slots: list[str], optional: bool) -> str:
    if slots:
        named = " and ".join(f"`{slot}`" for slot in slots)
        also = "; a memory path may name further levels" if kind == "cache" else ""
        return f"It stands in {'the slots' if len(slots) > 1 else 'the slot'} {named}{', which may be empty' if optional else ''}{also}."
    places = " and ".join(f"`{place}`" for place in CONTRACTS[kind].places)
    return f"It is chosen inside another part: {places}."


def _members(kind: str, part: type[Part]) -> list[str]:
    lines = ["## Members", "", "| part | what it does | its own numbers |", "|---|---|---|"]
    for name in installed().names(kind):
        one = installed().parts[kind, name].part
        own = [field.name for field in attrs.fields(one.Spec) if field.name not in {f.name for f in attrs.fields(part.Spec)}]
        lines.append(f"| `{name}` | {_cell(_text(one))} | {', '.join(f'`{n}`' for n in own)} |")
    slots = [slot.name for slot in SLOTS.values() if slot.kind == kind]
    if slots:
        lines += ["", f"Choices with numbers: the files of {', '.join(f'`conf/{slot}/`' for slot in slots)}."]
    return [*lines, ""]


def _law(contract: type[PartContract]) -> list[str]:
    """What the contract of the kind tests beside what holds for all."""
    lines = ["## The law it keeps", "", _text(contract), ""]
    own = [name for name in vars(contract) if name.startswith("test_")]
    own += [name for base in contract.__mro__[1:] if base is not PartContract for name in vars(base) if name.startswith("test_")]
    for name in own:
        said = inspect.getdoc(getattr(contract, name)) or ""
        title = name.removeprefix("test_").replace("_", " ").capitalize()
        lines.append(f"- {title}{': ' + ' '.join(said.split()) if said else '.'}")
    if contract.costs:
        lines.append(f"- Three times as much never makes a device faster: {', '.join(f'`{path}`' for path in contract.costs)}.")
    if contract.gains:
        lines.append(f"- Twice as much never makes a device slower: {', '.join(f'`{path}`' for path in contract.gains)}.")
    lines += [
        "- A device with it assembles and runs a program, twice with the same result; a number of the wrong kind, beyond its range or"
    ]
    return [*lines, f"  unknown is refused by name. The test is `archex.testing.contracts.{contract.__name__}`.", ""]


def _numbers(spec: type, title: str = "") -> list[str]:
    lines = ([f"### {title}", ""] if title else []) + ["| number | unit | range | default | meaning |", "|---|---|---|---|---|"]
    nested: list[str] = []
    for field in attrs.fields(spec):
        known = meta(field)
        unit = f"a {known.policy.replace('_', ' ')}" if known.policy else known.unit or "group"
        unit += {"map": ", by name", "list": ", a list"}.get(known.each, "")
        lines.append(f"| `{field.name}` | {unit} | {_range(known)} | {_default(field, known)} | {_cell(known.meaning)} |")
        if known.nested is not None:
            nested += _numbers(known.nested, f"Each of `{field.name}`")
    return [*lines, "", *nested]


def _range(known: Meta) -> str:
    if known.choices:
        return ", ".join(f"`{name}`" for name in known.choices)
    unit = {"duration": "", "rate": ""}.get(known.unit, known.unit)
    low, high = (None if bound is None else show(bound, unit) if unit else f"{bound:g}" for bound in (known.low, known.high))
    return f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}" if high else ""


def _default(field: Any, known: Meta) -> str:
    default = field.default
    if default is attrs.NOTHING:
        return ""
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return "empty"
    return show(default, known.unit) if not isinstance(default, (Duration, Rate)) or default.value else "0"


def _text(of: Any) -> str:
    return " ".join((inspect.getdoc(of) or "").split())


def _cell(text: str) -> str:
    return re.sub(r"\|", r"\\|", " ".join(text.split()))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for kind in KINDS:
        (FOLDER / f"{kind}.md").write_text(page(kind))


if __name__ == "__main__":
    main()
