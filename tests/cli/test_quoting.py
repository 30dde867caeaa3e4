"""What people type is what Hydra's grammar reads."""

from __future__ import annotations

import pytest
from archex.sweeps import grammar
from archex.sweeps.quoting import quote, quote_argument
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("suite.only=copy_f1[n=262144]", "copy_f1[n=262144]"),
        ("suite.only='copy_f1[n=262144]'", "copy_f1[n=262144]"),
        ("suite.only=triton_add[n=1,B=2]", "triton_add[n=1,B=2]"),
        ("suite.only=[copy*,'gather[n=1]']", ["copy*", "gather[n=1]"]),
        ("suite.only=*", "*"),
        ("suite.only=null", None),
        ("output=a b,c.parquet", "a b,c.parquet"),
        ("l2.size=64 MiB", "64 MiB"),
        ("clock=1.98GHz", "1.98GHz"),
        ("memory.bandwidth=3.35TB/s", "3.35TB/s"),
    ],
)
def test_values(typed: str, read: object) -> None:
    axes, problems = grammar.parse([quote_argument(typed)], multirun=False)
    assert problems == []
    assert [assignment.value for assignment in axes[0]] == [read]


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="$"), min_size=1))
def test_any_id_survives(text: str) -> None:
    axes, problems = grammar.parse([f"suite.only={quote(text)}"], multirun=True)
    assert problems == []
    assert axes[0][0].value == text


def test_a_list_of_ranges() -> None:
    axes, _ = grammar.parse(["l2.ways=range(1,4)", "l2.size=choice(1MiB,2MiB)"], multirun=True)
    assert [[assignment.shown for assignment in axis] for axis in axes] == [
        ["l2.ways=1", "l2.ways=2", "l2.ways=3"],
        ["l2.size=1MiB", "l2.size=2MiB"],
    ]


def test_what_does_not_parse() -> None:
    _, problems = grammar.parse(["l2.size=a(b", "l2.ways=range(1,9,0)", "l2.line=glob(*)", "fast"], multirun=True)
    assert [str(problem) for problem in problems] == [
        "l2.size: a(b does not parse as an override: no viable alternative at input 'a(b'",
        "fast: is not an override; expected KEY=VALUE, such as device=h200",
        "l2.ways: range(1,9,0) has a step of 0",
        "l2.line: glob(*) stands for choices of a group, and this is none",
    ]
