"""A package with one part that keeps its kind's contract, to start from: for `archex plugins new`.

In: a name, a kind. Out: the files of the package, as text by path. What the texts are made of lies in `scaffold/`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import yaml

from archex.parts.kinds import KINDS, SLOTS
from archex.parts.part import Part, meta
from archex.testing.contracts import CONTRACTS
from archex.testing.devices import choices, slot_file

_TEXTS = Path(__file__).with_name("scaffold")
#: Where the numbers of a kind come from that the device `tiny` does without.
_ELSEWHERE = "h200"
#: Kinds whose functions are all optional, and of which a new part has one nevertheless.
_BEGUN = ("page_migration",)


def package(name: str, kind: str) -> dict[str, str]:
    """path -> text of every file, below a folder of the package's name."""
    page, slot = KINDS[kind], next((slot.name for slot in SLOTS.values() if slot.kind == kind), "")
    decides = any(function.required for function in page.functions)
    ending = "_with_conf" if slot else ""
    words = {
        "NAME": name, "DIST": name.replace("_", "-"), "CLASS": class_name(name, page), "KINDWORDS": kind.replace("_", " "), "KIND": kind,
        "CONTRACT": CONTRACTS[kind].__name__, "PAGE": page.__name__, "SLOT": slot, "PURPOSE": (page.__doc__ or "").strip().splitlines()[0],
    }  # fmt: skip
    files = {
        "pyproject.toml": _text("pyproject", words),
        f"{name}/__init__.py": _text(f"package{ending}", words),
        f"{name}/part.py": _text(kind if decides or kind in _BEGUN else "numbers", words),
        "tests/test_contract.py": _text(f"test{ending}", words),
    }
    if slot:
        files[f"{name}/conf/{slot}/{name}.yaml"] = _config(name, kind, slot)
    return files


def class_name(name: str, page: type[Part]) -> str:
    """`my_scheduler` -> MyScheduler; never the name of the kind's page."""
    made = "".join(word.title() for word in name.split("_"))
    return f"{made}Part" if made == page.__name__ else made


def _text(text: str, words: dict[str, str]) -> str:
    made = (_TEXTS / f"{text}.txt").read_text()
    for word in sorted(words, key=len, reverse=True):  # KINDWORDS before KIND
        made = made.replace(word, words[word])
    return made


def _config(name: str, kind: str, slot: str) -> str:
    """A choice of the slot: numbers to change, each with a source, on top of a device's own where that has more."""
    if kind == "wave_scheduler":
        source = '{status: assumed, from: "a first guess: say where yours is from"}'
        return f"# Waves in turn, each for a few instructions.\nname: {name}\nburst: 4\nsources:\n  burst: {source}\n"
    base = choices("tiny").get(slot, _ELSEWHERE)
    whole = slot_file(slot, base)
    plain = {field.name: whole[field.name] for field in attrs.fields(KINDS[kind].Spec) if _plain(field, whole)}
    first = plain or _first(whole, kind)
    lines = [f"# As {base}, until its numbers are others.", "defaults:", f"  - {base}", "  - _self_", f"name: {name}"]
    lines += yaml.safe_dump(first, sort_keys=False, width=1000).splitlines()
    lines += ["sources:"]
    for place, key in enumerate(first):
        source = f'&guess {{status: assumed, from: "as {base}: say where yours is from"}}' if place == 0 else "*guess"
        lines.append(f"  {key}: {source}")
    return "\n".join(lines) + "\n"


def _plain(field: Any, whole: dict[str, Any]) -> bool:
    known = meta(field)
    return not (known.nested or known.each or known.policy or known.unit in ("name", "flag")) and whole.get(field.name) is not None


def _first(whole: dict[str, Any], kind: str) -> dict[str, Any]:
    """The first entry of the first map of a part that has no numbers but those of its operations or shapes."""
    key = "shapes" if "shapes" in whole else "operations"
    name, entry = next(iter(whole[key].items()))
    return {key: {name: dict(entry)}}
