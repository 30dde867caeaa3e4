"""The reference folders are whole: every launch has its program, every measured row its launch, every golden case its fields."""

from __future__ import annotations

import csv
import json
import re

import pytest
from archex.base.folders import reference


def rows(name: str) -> list[dict[str, str]]:
    with open(reference() / name, newline="") as file:
        return list(csv.DictReader(file))


def launches(folder: str) -> dict[str, dict]:  # type: ignore[type-arg]
    return json.loads((reference() / folder / "launches.json").read_text())


@pytest.mark.parametrize(("folder", "count"), [("h200", 305), ("mi300a", 80)])
def test_every_launch_has_its_entry(folder: str, count: int) -> None:
    found = launches(folder)
    assert len(found) == count
    lacking = []
    for name, launch in found.items():
        for part in launch.get("sequence", [launch]):
            part = found[part] if isinstance(part, str) else part
            text = (reference() / folder / part["ptx"]).read_text()
            if not re.search(rf"\.entry\s+{re.escape(part['entry'])}\b", text):
                lacking.append(name)
    assert not lacking


@pytest.mark.parametrize(
    ("folder", "files"), [("h200", ("cuda_kernels.csv", "triton_kernels.csv")), ("mi300a", ("measured.csv",))], ids=["h200", "mi300a"]
)
def test_every_launch_was_measured(folder: str, files: tuple[str, ...]) -> None:
    measured = {row["id"] for name in files for row in rows(f"{folder}/{name}")}
    assert set(launches(folder)) - measured == set()


def test_golden_cases_have_their_fields() -> None:
    for name, fields in (
        ("cdna_by_rule.jsonl", {"vgpr", "agpr", "local_memory_bytes", "work_items", "wg", "limits"}),
        ("nvidia_golden.jsonl", {"regs", "block", "dyn_smem", "blocks", "warps"}),
    ):
        cases = [json.loads(line) for line in (reference() / "occupancy" / name).read_text().splitlines()]
        assert len(cases) >= 16
        assert not [case for case in cases if not fields <= set(case)]


def test_facts_name_their_source() -> None:
    facts = rows("facts/published_facts.csv")
    assert {row["kind"] for row in facts} <= {"published_spec", "published_measurement", "config_of_peer", "own_knowledge"}
    assert not [row for row in facts if not row["source"].strip()]
