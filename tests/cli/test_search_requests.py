"""What a search accepts, in words: objectives, constraints, knobs, spaces; and what it says to the rest, all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
from archex.base.errors import Problem
from archex.records import schema
from archex.sweeps import grammar
from archex.sweeps.ranges import plain
from archex.sweeps.search import goals, knobs, quantities
from archex.sweeps.search.quantities import Missing
from archex.sweeps.search.sampling import Choice, check
from archex.sweeps.search.space import dimension

CONFIG = {"l2": {"size": "50 MiB", "ways": 16, "name": "sliced", "clock": None}, "clock": "1.98GHz"}


def rows() -> list[dict[str, Any]]:
    known = {"suite": "smoke", "device": "d", "point_id": "p", "status": "ok"}
    return [
        schema.row(known | {"launch": "copy[n=1]", "time_ns": 100.0, "dram_read_bytes": 3e9, "occupancy_pct": 20.0}),
        schema.row(known | {"launch": "gemm[n=2]", "time_ns": 400.0, "dram_read_bytes": 1e9, "occupancy_pct": 60.0, "mfu_pct": 70.0}),
        schema.row(known | {"launch": "long", "suite": "large", "time_ns": 800.0, "dram_read_bytes": 0.0, "occupancy_pct": 70.0}),
    ]


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("time:smoke", 200.0, "geomean:time:smoke"),
        ("time:large", 800.0, "geomean:time:large"),
        ("time:gemm*", 400.0, "geomean:time:gemm*"),
        ("time:copy[n=1]", 100.0, "geomean:time:copy[n=1]"),
        ("sum:time:smoke", 500.0, "sum:time:smoke"),
        ("dram_read_bytes", 4e9, "sum:dram_read_bytes"),
        ("occupancy_pct", 50.0, "mean:occupancy_pct"),
        ("smallest:occupancy_pct", 20.0, "smallest:occupancy_pct"),
        ("largest:occupancy_pct:smoke", 60.0, "largest:occupancy_pct:smoke"),
        ("mfu_pct", 70.0, "mean:mfu_pct"),
        ("design:l2.size", 50.0 * 2**20, "l2.size"),
        ("l2.ways", 16.0, "l2.ways"),
        ("design:clock", 1.98e9, "clock"),
    ],
)
def test_quantities(text: str, value: float, shown: str) -> None:
    quantity, problems = quantities.parse(text, "p")
    assert quantity is not None, problems
    assert quantity.of(rows(), CONFIG) == pytest.approx(value)
    assert quantity.shown == shown


def test_a_launch_that_failed_is_no_number() -> None:
    failed = [*rows()[:2], rows()[2] | {"status": "unsupported", "error": "no tensor copies"}]
    time, smoke = (quantities.parse(text, "p")[0] for text in ("time", "time:smoke"))
    assert time is not None
    assert smoke is not None
    assert smoke.of(failed, CONFIG) == pytest.approx(200.0)
    with pytest.raises(Missing, match="long: unsupported: no tensor copies"):
        time.of(failed, CONFIG)


def test_of_variants_the_fastest_counts() -> None:
    one = rows()[0] | {"variant": "a", "cycles": 9.0}
    kept = quantities.fastest([one, one | {"variant": "b", "cycles": 7.0}, one | {"variant": "c", "status": "error", "cycles": None}])
    assert [row["variant"] for row in kept] == ["b"]


@pytest.mark.parametrize(
    ("text", "excess"),
    [
        ("l2.size <= 25MiB", 1.0),
        ("l2.size>=100 MiB", 0.5),
        ("design:l2.ways <= 16", 0.0),
        ("occupancy_pct >= 50%", 0.0),
        ("occupancy_pct >= 100", 0.5),
        ("time:smoke <= 0.1us", 1.0),
        ("dram_read_bytes <= 8GB", -0.5),
    ],
)
def test_constraints(text: str, excess: float) -> None:
    (constraint,), problems = goals.constraints([text])
    assert not problems
    assert constraint.excess(rows(), CONFIG) == pytest.approx(excess)


def said(problems: list[Problem]) -> list[str]:
    return [str(problem) for problem in problems]


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    wrong = {
        "objectives": ["tiem", "limiter", "simulate_seconds", "sum:l2.size", "max:", "time", "min:time"],
        "constraints": ["l2.size", "occupancy_pct >= 50ns", "time <= fast", "l2.size < 3", "occupancy >= 3"],
        "n_trials": 0,
        "batch": 1.5,
        "sampler": "tpa",
        "population": 8,
        "seed": -1,
        "storage": str(tmp_path / "missing" / "study.db"),
        "trails": 7,
    }
    _, problems = knobs.read(wrong)
    numeric = "time, design:KEY, " + ", ".join(quantities.numeric())
    path, keys = "hydra.sweeper", ", ".join(sorted(field.name for field in attrs.fields(knobs.Fields)))
    assert said(problems) == [
        f"{path}.trails: is not a known key; did you mean n_trials? (choices: {keys})",
        f"{path}.n_trials: 0 must be at least 1",
        f"{path}.batch: 1.5 must be a whole number, such as 4",
        f"{path}.sampler: tpa is not a known choice; did you mean tpe? (choices: grid, nsga2, nsga3, random, tpe)",
        f"{path}.seed: -1 must be at least 0",
        f"{path}.objectives[0]: tiem is not a known column; did you mean time? (choices: {numeric})",
        f"{path}.objectives[1]: limiter holds text, not numbers (choices: {numeric})",
        f"{path}.objectives[2]: simulate_seconds is what the run itself cost, which no two runs have alike (choices: {numeric})",
        f"{path}.objectives[3]: sum:l2.size must be design:KEY, such as design:l2.size: a value of the design has no launches",
        f"{path}.objectives[4]: '' is not a known column (choices: {numeric})",
        f"{path}.objectives[6]: min:time is there twice",
        f"{path}.constraints[0]: l2.size must be QUANTITY <= NUMBER or QUANTITY >= NUMBER, such as 'l2.size <= 60MiB'",
        f"{path}.constraints[1]: 50ns is not comparable: occupancy_pct is in %",
        f"{path}.constraints[2]: fast must be a number in any unit, such as 40, 64 MiB or 1.98 GHz",
        f"{path}.constraints[3]: l2.size < 3 must be QUANTITY <= NUMBER or QUANTITY >= NUMBER, such as 'l2.size <= 60MiB'",
        f"{path}.constraints[4]: occupancy is not a known column; did you mean occupancy_pct? (choices: {numeric})",
        said(problems)[-2],  # a long path is shortened
        f"{path}.population: 8 belongs to sampler=nsga2 or nsga3, not tpe",
    ]
    assert said(problems)[-2].endswith(f"cannot be written: {tmp_path}/missing is not a folder")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("storage", "why"),
    [
        ("oracle9://x/y", "is no address of a database here: Can't load plugin: sqlalchemy.dialects:oracle9"),
        ("", "must be off, null, a path or an address such as sqlite:///study.db"),
        ("sqlite:////nowhere/study.db", "cannot be written: /nowhere is not a folder"),
        ("/", "is a folder"),
    ],
)
def test_storages_that_cannot_be(storage: Any, why: str) -> None:
    _, problems = knobs.read({"storage": storage})
    assert len(problems) == 1
    assert why in str(problems[0])


def test_no_objective() -> None:
    _, problems = knobs.read({"objectives": []})
    assert said(problems) == ["hydra.sweeper.objectives: must name at least one: time, a column, or design:KEY"]


def test_what_no_launch_has() -> None:
    wanted, _ = goals.objectives(["time:gem", "time:smoke", "occupancy_pct:copy*"])
    problems = goals.check(wanted, {"smoke": ["copy[n=1]", "gemm"]})
    why = "fits no suite and no launch, in time:gem; did you mean gemm? (choices: smoke, copy[n=1], gemm)"
    assert said(problems) == [f"hydra.sweeper.objectives[0]: gem {why}"]


def test_what_a_design_lacks() -> None:
    wanted, _ = goals.objectives(["design:l2.sice", "design:l2.name", "design:l2.clock"])
    kept, _ = goals.constraints(["l2.size <= 60MHz", "l2.ways <= 3", "l3.size <= 3", "l2.size <= 0"])
    path = "hydra.sweeper"
    assert said(goals.check_design([*wanted, *kept], CONFIG)) == [
        f"{path}.objectives[0]: l2.sice has no number: l2.sice: the design has no such value",
        f"{path}.objectives[1]: l2.name has no number: l2.name: sliced is not a number",
        f"{path}.objectives[2]: l2.clock has no number: l2.clock: is null",
        f"{path}.constraints[0]: l2.size <= 60MHz compares a number in B with a number in Hz",
        f"{path}.constraints[2]: l3.size <= 3 has no number: l3.size: the design has no such value",
    ]


def test_a_grid_needs_an_end() -> None:
    (axis,), _ = grammar.parse(["clock=interval(1GHz,2GHz)"], multirun=True)
    space = [found for found in dimension(axis)[:1] if found]
    why = "clock: tag(GHz,interval(1,2)) has no end of values; sampler=grid needs a list or a range"
    assert said(check(Choice("grid"), space)) == [why]
    assert check(Choice("tpe"), space) == []


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("l2.size=range(20MiB,32MiB,4MiB)", ["l2.size=20MiB", "l2.size=24MiB", "l2.size=28MiB"]),
        ("l2.size=tag(MiB,range(20,28,4))", ["l2.size=20MiB", "l2.size=24MiB"]),
        ("l2.size=range(512KiB,2MiB,0.5MiB)", ["l2.size=512KiB", "l2.size=1024KiB", "l2.size=1536KiB"]),
        ("memory.bandwidth=range(3TB/s,4TB/s,0.5TB/s)", ["memory.bandwidth=3TB/s", "memory.bandwidth=3.5TB/s"]),
        ("x=tag(GHz,choice(1,2))", ["x=1GHz", "x=2GHz"]),
        ("l2.latency=interval(100ns,0.2us)", ["l2.latency=100ns", "l2.latency=161.7ns", "l2.latency=200ns"]),
        ("l2.size=tag(log,interval(512KiB,1MiB))", ["l2.size=512KiB", "l2.size=827KiB", "l2.size=1024KiB"]),
        ("x=int(interval(1,9))", ["x=1", "x=5", "x=9"]),
        ("x=interval(0.5,1.5)", ["x=0.5", "x=1.117", "x=1.5"]),
    ],
)
def test_ranges_with_units(typed: str, values: list[str]) -> None:
    (axis,), problems = grammar.parse([typed], multirun=True)
    assert not problems
    found, problems = dimension(axis)
    assert found is not None, problems
    assert [assignment.shown for assignment in axis] == values


@pytest.mark.parametrize("typed", ["l2.size=range(1MiB,2GHz)", "x=range(1,2", "x=[1MiB,2]", "x=interval(1MB)extra", "range(1MiB,2MiB)"])
def test_what_makes_no_sense_is_left_to_the_grammar(typed: str) -> None:
    assert plain(typed) == typed


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("x=interval(9,1)", "x: interval(9,1) is empty: the first number of an interval is the smaller one"),
        ("x=tag(log,interval(0,1))", "x: tag(log,interval(0,1)) must be above 0 for log"),
        ("x=tag(log,range(1,4))", "x: tag(log,range(1,4)) is a list: log belongs to an interval, as in tag(log,interval(1,100))"),
        ("x=interval(1.5MiB,3MiB)", "x: tag(MiB,interval(1.5,3)) must have whole ends: bytes are tried in steps of 1 MiB"),
        ("x=interval(1,2),3", "x: interval(1,2),3 has a sweep within a list"),
    ],
)
def test_spaces_that_cannot_be(typed: str, why: str) -> None:
    (axis,), problems = grammar.parse([typed], multirun=True)
    assert not problems
    assert said(dimension(axis)[1]) == [why]


def test_tags_that_cannot_be() -> None:
    axes, problems = grammar.parse(["x=tag(lgo,interval(1,2))", "y=tag(MiB,KiB,range(1,2))"], multirun=True)
    assert said(problems) == ["y: tag(MiB,KiB,range(1,2)) has two units: KiB and MiB"]
    (problem,) = dimension(axes[0])[1]
    assert str(problem).startswith("x: lgo is not a known tag; did you mean log? (choices: log, ordered, B, KiB,")
