"""Fingerprints are of content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
from archex.base.options import Options
from archex.records import provenance


@attrs.frozen
class Launch:
    id: str
    ptx: Path
    args: list[Any]


def test_a_program_is_its_content(tmp_path: Path) -> None:
    for name, text in (("a.ptx", "x"), ("b.ptx", "x"), ("c.ptx", "y")):
        (tmp_path / name).write_text(text)

    def of(file: str, args: tuple[Any, ...] = (1,), name: str = "n", seed: int = 0) -> str:
        return provenance.program_fingerprint(Launch(name, tmp_path / file, list(args)), seed)

    assert of("a.ptx") == of("b.ptx") == of("a.ptx", name="other")
    assert len({of("a.ptx"), of("c.ptx"), of("a.ptx", args=(2,)), of("a.ptx", seed=1)}) == 4
    before = of("a.ptx")
    (tmp_path / "a.ptx").write_text("xx")
    assert of("a.ptx") != before


def test_a_point_is_what_is_run_and_how() -> None:
    ways = [Options(), Options(sampling="off"), Options(repeat=3)]
    assert len({provenance.point_id("d", "p", options) for options in ways}) == 3
    assert provenance.point_id("d", "p", Options(seed=1)) == provenance.point_id(
        "d", "p", Options()
    )  # the program's fingerprint has the seed
    assert provenance.point_id("d", "p", Options(keep_traces=True)) == provenance.point_id("d", "p", Options())
