"""What a search finds on a device whose costs anyone can compute: the front of an exhaustive search, within its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from archex.base.options import Options
from archex.records import schema
from archex.records.trials import Goal, Trial, costs, front
from archex.sweeps import grammar
from archex.sweeps.points import Assignment, Design
from archex.sweeps.search import knobs
from archex.sweeps.search.search import Search
from archex.sweeps.search.space import dimension
from archex.sweeps.settings import Settings, Suite

SPACE = ("l2.size=range(20MiB,80MiB,4MiB)", "l2.ways=tag(ordered,choice(4,8,16,32))", "wave_scheduler=oldest,youngest,random")
MIB = 2**20
SETTINGS = Settings(Suite("smoke", Path()), Options())


def search(*space: str, seed: int = 0, **told: Any) -> Search:
    found, problems = knobs.read(told, seed)
    assert not problems, problems
    axes, problems = grammar.parse(space, multirun=True)
    assert not problems
    return Search([axis for axis, _ in map(dimension, axes) if axis is not None], found)


def cost(config: dict[str, Any]) -> dict[str, float]:
    """A larger cache is faster until 60 MiB, more ways are slower; the policy `random` is never good."""
    size, ways = int(config["l2"]["size"][:-3]), config["l2"]["ways"]
    policy = {"oldest": 1.0, "youngest": 1.2, "random": 3.0}[config["wave_scheduler"]]
    time = policy * (100.0 + 2000.0 / min(size, 60) + 3.0 * abs(ways - 8))
    return {"time_ns": time, "cycles": time, "dram_read_bytes": 1e6 * (80 - size), "occupancy_pct": 100.0 - ways}


def design(index: int, assignments: Sequence[Assignment]) -> Design:
    config: dict[str, Any] = {"l2": {}, "vector_cache": {}}
    for assignment in assignments:
        group, _, key = assignment.key.partition(".")
        if key:
            config[group][key] = assignment.value
        else:
            config[group] = assignment.value
    return Design(index, tuple(assignments), "fake", config, SETTINGS)


def row(**known: Any) -> dict[str, Any]:
    return schema.row({"launch": "copy", "suite": "smoke", "device": "fake", "point_id": "p", "status": "ok"} | known)


def go(found: Search, simulate: Callable[[dict[str, Any]], dict[str, float]] = cost, backwards: bool = False) -> Search:
    """The run's loop: whole rounds, told in the order given or the other way round."""
    for points in found.rounds():
        told = [design(point.index, point.assignments) for point in points]
        for one in reversed(told) if backwards else told:
            found.tell(one, [row(**simulate(dict(one.config)))])
    return found


def values(trials: Sequence[Trial]) -> list[tuple[float | None, ...]]:
    return [trial.values for trial in trials]


def volume(trials: Sequence[Trial], goals: Sequence[Goal], corner: tuple[float, float]) -> float:
    """The area that a front of two goals dominates, up to `corner`."""
    area, height = 0.0, corner[1]
    for trial in front(trials, goals):
        x, y = costs(trial, goals)
        if x < corner[0] and y < height:
            area, height = area + (corner[0] - x) * (height - y), y
    return area


def exhaustive(**told: Any) -> Search:
    return go(search(*SPACE, sampler="grid", n_trials=1000, **told))


def test_the_grid_is_every_design_once_in_the_order_of_a_sweep() -> None:
    found = exhaustive(objectives=["time"])
    assert len(found.trials) == 15 * 4 * 3
    shown = [trial.overrides for trial in found.trials]
    assert len(set(shown)) == len(shown)
    assert shown[:2] == [f"l2.size=20MiB, l2.ways=4, wave_scheduler={policy}" for policy in ("oldest", "youngest")]
    assert shown[-1] == "l2.size=76MiB, l2.ways=32, wave_scheduler=random"
    assert found.notes == ["the space has 180 designs, and all were tried"]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "nsga3"])
def test_the_front_of_an_exhaustive_search_is_found(sampler: str) -> None:
    goals = {"objectives": ["time", "design:l2.size"], "batch": 8}
    whole, found = exhaustive(**goals), go(search(*SPACE, sampler=sampler, n_trials=90, seed=1, **goals))
    wanted = {trial.overrides for trial in front(whole.trials, whole.goals)}
    assert len(wanted) == 11  # 20, 24 .. 60 MiB, 8 ways, the best policy
    kept = {trial.overrides for trial in front(found.trials, found.goals)}
    assert len(kept & wanted) >= 9
    corner = (400.0, 80.0 * MIB)
    volumes = [volume(found.trials[:n], found.goals, corner) for n in (8, 20, 50, 90)]
    assert volumes == sorted(volumes)
    assert 0.97 * volumes[-1] > volumes[0]
    best = volume(whole.trials, whole.goals, corner)
    assert 0.99 * best < volumes[-1] <= best


def test_one_goal_beats_chance() -> None:
    """Among 180 designs the best is found in 40; drawing 40 at random misses it more often than not."""
    found = [go(search(*SPACE, n_trials=40, seed=seed, objectives=["time"])) for seed in range(3)]
    best = {front(each.trials, each.goals)[0].overrides.rpartition("l2.ways=")[2] for each in found}
    assert best == {"8, wave_scheduler=oldest"}
    assert all(front(each.trials, each.goals)[0].values[0] <= 135.0 for each in found)  # the least is 100 + 2000 / 60


def test_constraints_are_kept_and_steer() -> None:
    kept = {"constraints": ["l2.size <= 40MiB", "occupancy_pct >= 90%", "time <= 1us"], "objectives": ["time"]}
    found = go(search(*SPACE, n_trials=40, seed=0, **kept))
    assert front(found.trials, found.goals)[0].overrides == "l2.size=40MiB, l2.ways=8, wave_scheduler=oldest"
    for trial in found.trials:
        size, ways = int(trial.overrides.split("=")[1].partition("MiB")[0]), int(trial.overrides.split("=")[2].partition(",")[0])
        wanted = [text for text, broken in zip(kept["constraints"], (size > 40, ways > 10, False), strict=True) if broken]
        assert list(trial.broken) == wanted
    # A fifth of the designs keep them. The sampler turns to those after its first, random designs, until few are left untried.
    assert sum(trial.solves for trial in found.trials[16:32]) >= 2 * 16 / 5


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random", "grid"])
def test_a_search_is_a_function_of_its_seed(sampler: str) -> None:
    def tried(seed: int, **more: Any) -> tuple[Trial, ...]:
        told = {"sampler": sampler, "n_trials": 40, "objectives": ["time", "max:occupancy_pct"]} | more
        return go(search(*SPACE, seed=seed, **told), backwards=seed == 7 and not more).trials

    assert tried(7) == tried(7, batch=8)  # told backwards, and in order
    assert tried(7)[:24] == tried(7, n_trials=24)  # a longer search begins as a shorter one
    assert (tried(8) == tried(7)) == (sampler == "grid")


def test_nothing_is_tried_twice() -> None:
    found = go(search("l2.size=range(20MiB,40MiB,4MiB)", "l2.ways=8", "wave_scheduler=oldest,youngest", n_trials=100))
    assert len(found.trials) == len({trial.overrides for trial in found.trials}) == 10
    assert found.notes == ["the space has 10 designs, and all were tried"]


def test_failures_are_left_behind() -> None:
    """A third of the designs cannot be built: of those chosen after the first round a sixth."""

    def fails(config: dict[str, Any]) -> dict[str, Any]:
        if config["wave_scheduler"] == "random":
            return {"status": "error", "error": "no such policy"}
        return cost(config)

    found = go(search(*SPACE, n_trials=32, seed=1), fails)
    failed = [not trial.solves for trial in found.trials]
    assert [trial.broken for trial in found.trials if not trial.solves] == [("copy: error: no such policy",)] * sum(failed)
    assert all(trial.values == (None,) for trial in found.trials if not trial.solves)
    assert sum(failed) > 0
    assert sum(failed[8:32]) <= 24 / 6 + 1


def test_intervals() -> None:
    space = ("clock=interval(1.2GHz,2GHz)", "l2.size=tag(log,interval(1MiB,64MiB))", "l2.ways=int(interval(1,16))")

    def model(config: dict[str, Any]) -> dict[str, Any]:
        assert isinstance(config["l2"]["ways"], int)
        assert config["l2"]["size"][-3:] == "MiB"
        return {"time_ns": 1000 * (float(config["clock"][:-3]) - 1.7) ** 2 + abs(config["l2"]["ways"] - 5) + int(config["l2"]["size"][:-3])}

    found = go(search(*space, n_trials=80, seed=1), model)
    (best,) = front(found.trials, found.goals)
    assert best.values[0] < 8
    assert len(found.trials) == 80
    clocks = [float(trial.overrides.partition("=")[2].partition("GHz")[0]) for trial in found.trials]
    assert min(clocks) >= 1.2
    assert max(clocks) <= 2.0
