"""A plan of any size: composed when asked for, checked as a whole before, right to the last value."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.sweeps import grammar
from archex.sweeps.compose import Composer
from archex.sweeps.plan import Plan, plan
from archex.sweeps.points import Design
from archex.sweeps.shelf import fetch, use
from archex.sweeps.values import apply
from cli_fakes import STEPS
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

MANY = "l2.size=range(1000,101000)"


@pytest.fixture
def composer(place: Path) -> Iterator[Composer]:
    """Hydra on the small config folder."""
    with Composer() as opened:
        yield opened


def planned(composer: Composer, *arguments: str) -> Plan:
    return plan(["suite.path=kernels", *arguments], True, STEPS, composer=composer)


def problems(composer: Composer, *arguments: str) -> list[str]:
    with pytest.raises(RequestError) as caught:
        planned(composer, *arguments)
    return [str(problem) for problem in caught.value.problems]


def designs(made: Plan) -> Iterator[Design]:
    return itertools.chain.from_iterable(made.rounds())


def test_the_first_design_is_there_before_the_others(composer: Composer) -> None:
    began = time.process_time()
    made = planned(composer, MANY, "l2.ways=1,2,4", "wave_scheduler=greedy_then_oldest,loose_round_robin", "seed=range(0,10)")
    assert made.total == 6_000_000
    asked = designs(made)
    first, second = next(asked), next(asked)
    assert time.process_time() - began < 20  # some 2,000 designs are looked at, not 6,000,000
    assert composer.composed == 2  # one a scheduler
    assert (first.index, first.overrides) == (0, "l2.size=1000, l2.ways=1, wave_scheduler=greedy_then_oldest")
    assert (second.index, second.settings.options.seed) == (1, 1)
    assert first.fingerprint == second.fingerprint == first.spec.fingerprint


def test_groups_are_composed_when_they_are_reached(composer: Composer, place: Path) -> None:
    for number in range(10):
        (place / f"conf/l2/cache{number}.yaml").write_text(f"{{size: {64 + number}, ways: 1}}")
    for number in range(8):
        (place / f"conf/wave_scheduler/order{number}.yaml").write_text(f"{{name: order{number}}}")
    made = planned(composer, "l2=glob(cache*)", "wave_scheduler=glob(order*)", "seed=1,2,3")
    looked = composer.composed
    assert looked == 10 + 8 - 1  # each choice by itself, not each of the 80 combinations
    taken = list(itertools.islice(designs(made), 20 * 3))
    assert {design.spec.policy for design in taken} == {f"order{number}" for number in range(8)}
    assert composer.composed - looked < 20


def test_the_grid_is_the_product_in_order(composer: Composer) -> None:
    made = planned(composer, "l2.size=8,16", "wave_scheduler=glob(*)", "l2.ways=choice(1,2)")
    assert made.total == 8
    assert [(d.index, d.spec.size, d.spec.policy, d.spec.ways) for d in designs(made)] == [
        (index, *values) for index, values in enumerate(itertools.product((8, 16), ("greedy_then_oldest", "loose_round_robin"), (1, 2)))
    ]


def test_a_worker_makes_the_same_config(composer: Composer, place: Path) -> None:
    (place / "experiments/linked.yaml").write_text("# @package _global_\nl2: {ways: '${seed}'}\n")
    made = planned(composer, "l2.size=8,16", "seed=1,2", "experiments=null,linked,narrow", "+device.note=[1,{a:2}]", "~device.name")
    use(made.shelf.read)
    seen = [(apply(fetch(design.base), design.values), design.config) for design in designs(made) if design.base]
    assert len(seen) == 12
    assert all(config == whole for config, whole in seen)


def test_a_value_wrong_by_itself_among_very_many(composer: Composer) -> None:
    assert problems(composer, MANY, "l2.ways=1,two", "device=h200,tiny", "wave_scheduler=loose_round_robin,greedy_then_oldest") == [
        "l2.ways: two must be a whole number"
    ]
    assert sorted(problems(composer, MANY, "l2.ways=1,2", "l2.wais=4", "sampling=auto,of", "repeat=0,1")) == [
        "l2.wais: 4 is not a known key (choices: size, ways)",
        "repeat: 0 must be a whole number of at least 1",
        "sampling: of is not a known choice; did you mean off? (choices: auto, off)",
    ]


def test_both_ends_of_a_long_axis_are_looked_at(composer: Composer) -> None:
    found = problems(composer, "seed=range(-5,100000)")
    assert found == ["seed: -5 must be a whole number of at least 0"]


def test_a_range_that_is_all_wrong_is_a_few_lines(composer: Composer) -> None:
    assert problems(composer, "seed=range(-900,0)") == [
        *(f"seed: {number} must be a whole number of at least 0" for number in (-900, -899, -898, -897)),
        "seed: has 896 more values like that, the last is -1",
    ]


def test_wrong_in_combination_is_a_failure_of_its_points(composer: Composer) -> None:
    made = planned(composer, "l2.size=range(1000,2000)", "l2.ways=1,3")
    found = list(itertools.islice(designs(made), 6))
    assert [[str(problem) for problem in design.problems] for design in found] == [
        [], ["l2.ways: 3 must divide 1000"], [], ["l2.ways: 3 must divide 1001"], [], [],
    ]  # fmt: skip
    assert found[1].fingerprint is None
    assert found[1].spec is None


def test_a_preset_that_spoils_a_value_is_no_mistake_of_the_value(composer: Composer, place: Path) -> None:
    """`never` is wrong in each point that has it and stops nothing; it is its own fault, not that of an override."""
    (place / "experiments/spoilt.yaml").write_text("# @package _global_\nl2: {ways: many}\n")
    made = planned(composer, MANY, "experiments=null,spoilt")
    first, second = itertools.islice(designs(made), 2)
    assert (first.problems, [str(problem) for problem in second.problems]) == ((), ["l2.ways: many must be a whole number"])


def test_a_large_sweep_of_nothing_but_failures(composer: Composer) -> None:
    found = problems(composer, "l2.ways=200,300,400", "l2.size=range(1,180)", "seed=1,2")
    assert len(found) == 51
    assert found[-1] == "-m: 1074 points all fail; these are 50 of the reasons"
    assert found[0] == "l2.ways: 200 must divide 1"


def test_the_one_sound_point_of_many_is_found(composer: Composer) -> None:
    made = planned(composer, "l2.ways=997,991", "l2.size=range(1,992)")
    assert sum(not design.problems for design in designs(made)) == 1


def test_a_suite_that_is_not_there_among_many(composer: Composer) -> None:
    found = problems(composer, MANY, "suite.only=gather,gater", "suite.variants=best,all")
    assert found == ["suite.only: gater matches no launch (choices: copy[n=1], gather)"]


def test_a_run_has_one_of_hydra_too(composer: Composer) -> None:
    assert problems(composer, "hydra.launcher.workers=1,2") == ["hydra.launcher.workers: 1,2 can't be swept: a run has one"]


@pytest.mark.parametrize(
    "text", ["range(0,1,0.1)", "range(1,0,-0.25)", "range(0.5,3)", "range(3,1)", "range(1,10,4)", "range(5)", "range(0.1,0.1)"]
)
def test_ranges_are_as_long_as_hydras(text: str) -> None:
    (override,) = OverridesParser.create().parse_overrides([f"a={text}"])
    expected = list(override.sweep_iterator())
    axes, found = grammar.parse([f"a={text}"], multirun=True)
    assert [assignment.value for axis in axes for assignment in axis] == pytest.approx(expected)
    assert [str(problem) for problem in found] == ([] if expected else [f"a: {text} gives no value"])


def test_shuffling_is_the_seeds() -> None:
    def order(*texts: str) -> list[Any]:
        axes, _ = grammar.parse(texts, multirun=True)
        return [assignment.value for assignment in axes[0]]

    shuffled = order("a=shuffle(range(0,20))")
    assert sorted(shuffled) == list(range(20)) != shuffled
    assert order("a=shuffle(range(0,20))") == shuffled
    assert order("a=shuffle(range(0,20))", "seed=0") == shuffled != order("a=shuffle(range(0,20))", "seed=1")
    assert order("a=shuffle([1,2,3,4,5,6,7])") == order("a=shuffle([1,2,3,4,5,6,7])")
    assert order("a=sort(3,1,2)") == order("a=tag(x,sort(range(1,4)))") == [1, 2, 3]


def test_globs(composer: Composer) -> None:
    assert [d.device for d in designs(planned(composer, "device=glob(*)"))] == ["h200", "tiny"]
    assert [d.device for d in designs(planned(composer, "device=glob(*,exclude=t*)"))] == ["h200"]
    assert [d.overrides for d in designs(planned(composer, "experiments=glob([n*,w*])"))] == ["experiments=narrow", "experiments=whole"]
    assert problems(composer, "device=glob(x*)") == ["device: glob(x*) matches no choice (choices: h200, tiny)"]
    assert problems(composer, "l2.ways=glob(*)") == ["l2.ways: glob(*) stands for choices of a group, and this is none"]


KEYS = ("l2.ways", "l2.size", "l2", "device.name", "device.deep.er", "seed", "memory_path", "+l2.more.x", "++sampling", "~l2.ways", "~seed")
TEXTS = (
    "1",
    "2.5",
    "true",
    "null",
    "word",
    "'quo,ted'",
    "[1,[a,b]]",
    "{a:1,b:{c:[2]}}",
    "'${seed}'",
    "'x${l2.size}y'",
    "[1,'${l2.ways}']",
    "''",
)
texts = st.tuples(st.sampled_from(KEYS), st.sampled_from(TEXTS)).map(lambda pair: pair[0] if pair[0][0] == "~" else "=".join(pair))


@given(overrides=st.lists(texts, max_size=4), preset=st.sampled_from(("null", "linked")))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_are_set_as_omegaconf_sets_them(composer: Composer, place: Path, overrides: list[str], preset: str) -> None:
    (place / "experiments/linked.yaml").write_text("# @package _global_\nl2: {ways: '${seed}', more: '${device}'}\n")
    axes, _ = grammar.parse([*overrides, f"experiments={preset}"], multirun=False, groups=composer)
    assignments = [axis[0] for axis in axes if not composer.is_group(axis.key)]
    base = composer.compose([axis[0] for axis in axes if axis.key == "experiments"]).base
    try:
        composed = composer.compose([axis[0] for axis in axes if axis.key == "experiments"] + assignments)
    except RequestError:
        with pytest.raises(RequestError):
            _as_omegaconf(base.raw or base.config, assignments)
        return
    if not composed.problems:
        assert composed.config == _as_omegaconf(base.raw or base.config, assignments)


def _as_omegaconf(base: dict[str, Any], assignments: list[Any]) -> Any:
    """The slow way: the whole config as OmegaConf's, each value set by it, everything resolved."""
    config = OmegaConf.create(base)
    for assignment in assignments:
        if assignment.deletes:
            *above, leaf = assignment.key.split(".")
            del (OmegaConf.select(config, ".".join(above)) if above else config)[leaf]
        else:
            OmegaConf.update(config, assignment.key, assignment.value, merge=False, force_add=True)
    return resolved_by(config)


def resolved_by(config: Any) -> Any:
    try:
        return OmegaConf.to_container(config, resolve=True)
    except Exception:
        raise RequestError([]) from None
