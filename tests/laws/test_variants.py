"""Alternative programs for the same work: a device runs all that it can hold and reports the fastest, or says what it lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from archex.base.errors import RequestError, UnsupportedError
from archex.base.options import Options
from archex.describe.variants import matrix_elements, missing
from archex.records.provenance import program_fingerprint
from archex.simulate import simulate
from archex.suite.launch import Launch, Variant, read_folder
from archex.sweeps.rows import programs
from launches import device, launch

QUICK = "cvt.rn.f32.u32 %f0, %r2;\n"
SLOW = QUICK + "fma.rn.f32 %f0, %f0, %f0, 0f3F000000;\n" * 40
LACKING = """mov.u32 %r20, 0;
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r20,%r20}, {%r20}, {%r20}, {%r20,%r20};
cvt.rn.f32.s32 %f0, %r20;
"""


def variant(folder: Path, name: str, body: str, **requires: Any) -> Variant:
    return Variant(name, requires, launch(folder, body))


def run(on: str, *variants: Variant) -> dict[str, Any]:
    return simulate(device(on), Launch("k", variants=variants), Options(sampling="off"))


def test_the_fastest_that_fits_is_reported(tmp_path: Path) -> None:
    slow, quick = variant(tmp_path, "slow", SLOW), variant(tmp_path, "quick", QUICK)
    alone = simulate(device("tiny"), quick.launch, Options(sampling="off"))
    for order in ((slow, quick), (quick, slow)):
        found = run("tiny", *order)
        assert found["variant"] == "quick"
        assert found["cycles"] == alone["cycles"]
        assert found["wave_instructions"] == alone["wave_instructions"]
    wide = variant(tmp_path, "wide", QUICK, wave=64)
    assert run("tiny", wide, slow)["variant"] == "slow"
    assert run("mi300a", wide, slow)["variant"] == "wide"


def test_what_is_found_unsupported_while_running_is_skipped(tmp_path: Path) -> None:
    lacking = variant(tmp_path, "lacking", LACKING)
    assert run("tiny", lacking, variant(tmp_path, "slow", SLOW))["variant"] == "slow"
    with pytest.raises(UnsupportedError, match=r"no variant fits: lacking: .*m8n8k128") as caught:
        run("tiny", lacking, variant(tmp_path, "large", QUICK, local_memory=1 << 20))
    most = device("tiny").spec["local_memory"].workgroup_most
    assert caught.value.reason.endswith(f"; large needs 1048576 B of local memory (a workgroup can have {most} B)")


def test_what_is_missing_is_named_with_its_number() -> None:
    spec = device("mi300a").spec
    assert missing(spec, {}) == missing(spec, {"wave": 64, "local_memory": 65536}) == []
    most = spec["local_memory"].workgroup_most
    found = missing(spec, {"wave": 32, "local_memory": most + 1, "async_copy": ["tensor"], "matrix": ["s4"]})
    assert found[0].startswith("matrix products of s4 (the ")
    assert found[1:] == [
        f"{most + 1} B of local memory (a workgroup can have {most} B)",
        "waves of 32 lanes (the device's have 64)",
        "asynchronous copies of the kind tensor (the device does none)",
    ]
    spec = device("h200").spec
    assert missing(spec, {"async_copy": ["small", "bulk", "tensor", "multicast"], "wave": 32}) == []
    have = matrix_elements(spec)
    assert missing(spec, {"matrix": sorted(have)}) == []


def test_a_sequence_takes_the_fastest_of_each_step(tmp_path: Path) -> None:
    step = Launch("s", variants=(variant(tmp_path, "slow", SLOW), variant(tmp_path, "quick", QUICK)))
    found = simulate(device("tiny"), Launch("k", sequence=(step, launch(tmp_path, SLOW))), Options(sampling="off"))
    assert found["variant"] == "quick"
    plain = Launch("k", sequence=(launch(tmp_path, QUICK), launch(tmp_path, SLOW)))
    assert found["cycles"] == simulate(device("tiny"), plain, Options(sampling="off"))["cycles"]


def test_identity_covers_every_variant_and_no_name_of_the_launch(tmp_path: Path) -> None:
    slow, quick = variant(tmp_path, "slow", SLOW), variant(tmp_path, "quick", QUICK)
    whole = Launch("k", variants=(slow, quick))
    changed = attrs.evolve(quick, launch=attrs.evolve(quick.launch, grid=(2, 1, 1)))
    prints = {
        program_fingerprint(work, 0)
        for work in (whole, attrs.evolve(whole, variants=(slow,)), attrs.evolve(whole, variants=(slow, changed)))
    }
    assert len(prints) == 3
    renamed = tuple(attrs.evolve(v, launch=attrs.evolve(v.launch, id="other")) for v in whole.variants)
    assert program_fingerprint(attrs.evolve(whole, id="other", variants=renamed), 0) == program_fingerprint(whole, 0)


def test_all_is_a_row_a_variant(tmp_path: Path) -> None:
    whole = Launch("k", variants=(variant(tmp_path, "slow", SLOW), variant(tmp_path, "quick", QUICK)))
    for which, names in (("all", ["slow", "quick"]), ("best", [None])):
        found = list(programs({"k": whole}, which))
        assert [name for _, _, name in found] == names
        assert len({program_fingerprint(work, 0) for _, work, _ in found}) == len(names)


def test_requirements_and_names_are_checked(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text("")
    item = {"ptx": "k.ptx", "grid": 1, "block": 32}
    wrong = {"matrix": ["e4m4"], "local_memory": -1, "wave": 48, "async_copy": "bulky", "waves": 32}
    (tmp_path / "launches.json").write_text(json.dumps({"k": item | {"variants": [{"name": "a", "requires": wrong}, {"name": "a"}]}}))
    with pytest.raises(RequestError) as caught:
        read_folder(tmp_path)
    assert [(p.path, p.rule, p.suggestion) for p in caught.value.problems] == [
        ("k.variants[0].requires.waves", "is not a known key", "wave"),
        ("k.variants[0].requires.matrix", "is not a known choice", "e4m3"),
        ("k.variants[0].requires.async_copy", "is not a known choice", "bulk"),
        ("k.variants[0].requires.local_memory", "must be a whole number of bytes", None),
        ("k.variants[0].requires.wave", "must be 32 or 64", None),
        ("k.variants[1].name", "is another variant's name", None),
    ]


def test_a_variant_may_be_a_sequence(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text("")
    item = {"ptx": "k.ptx", "grid": 1, "block": 32}
    split = {"name": "split", "sequence": [item, item | {"grid": 2}]}
    (tmp_path / "launches.json").write_text(json.dumps({"k": item | {"flops": 8, "variants": [{"name": "one"}, split]}}))
    one, both = read_folder(tmp_path)["k"].variants
    assert [step.grid[0] for step in both.launch.steps] == [1, 2]
    assert both.launch.flops == one.launch.flops == 8
