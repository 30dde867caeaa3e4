"""Parameters: what a file computes with them, what is wrong with them, and the shipped layer that one file says for 1 to 8 devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from archex.base.errors import RequestError
from archex.testing.devices import described
from archex.timeline import Timeline, Workload, read, run
from archex.workloads import machine

LAYER = yaml.safe_load((Path(__file__).resolve().parents[2] / "experiments/timelines/transformer_layer.yaml").read_text())
SMALL: dict[str, Any] = {
    "parameters": {"n": 2, "size": "4 KiB", "mode": {"default": "one", "choices": ["one", "two"]}, "on": True},
    "devices": "${n}",
    "streams": {"for": {"r": "${devices}"}, "s${r}": {"device": "${r}"}},
    "kernels": {"k": {"us": "${n * 10 / 4}"}},
    "steps": [
        {"for": {"r": "${n}"}, "launch": "k", "stream": "s${r}"},
        {"if": "${mode == 'two' and on}", "steps": [{"work": "1 us"}, {"work": "2 us"}]},
        {"if": "${n > 1}", "let": {"half": "${n // 2}"}, "work": "${half if half > 1 else 5} us"},
        {"copy": "h2d", "bytes": "${size}", "stream": "s0"},
        {"collective": "all_reduce", "bytes": 64, "streams": [{"for": {"r": "${n}"}, "item": "s${r}"}]},
    ],
}
WRONG: tuple[tuple[dict[str, Any], dict[str, Any], str, str], ...] = (
    ({}, {"m": 1}, "timeline.m", "is no parameter of this workload"),
    ({}, {"n": "three"}, "timeline.n", "must be a number, as its default 2 is"),
    ({}, {"on": 1}, "timeline.on", "must be true or false"),
    ({}, {"mode": "three"}, "timeline.mode", "choices: one, two"),
    ({}, {"n": [1, 2]}, "timeline.n", "must be a number"),
    ({}, {"n": 0}, "devices", "at least 1"),
    ({}, {"n": 2.5}, "devices", "whole number"),
    ({"parameters": [1]}, {}, "parameters", "must be a map"),
    ({"parameters": {"a b": 1}}, {}, "parameters.a b", "must have a name of letters"),
    ({"parameters": {"a": None}}, {}, "parameters.a", "must be a number, a text"),
    ({"parameters": {"a": {"default": 1, "chioces": [1]}}}, {}, "parameters.a.chioces", "did you mean choices?"),
    ({"steps": [{"work": "${m} us"}]}, {}, "steps[0].work", "names m, which is no parameter"),
    ({"steps": [{"work": "${n +} us"}]}, {}, "steps[0].work", "is no expression"),
    ({"steps": [{"work": "${n / 0} us"}]}, {}, "steps[0].work", "can't be computed: division by zero"),
    ({"steps": [{"work": "${size * 2} us"}]}, {}, "steps[0].work", "only numbers"),
    ({"steps": [{"work": "${__import__('os')}"}]}, {}, "steps[0].work", "is no expression"),
    ({"steps": [{"if": "${n}", "work": "1 us"}]}, {}, "steps[0].if", "must be true or false"),
    ({"steps": [{"for": 3, "work": "1 us"}]}, {}, "steps[0].for", "must be a map of one name"),
    ({"steps": [{"for": {"r": -1}, "work": "1 us"}]}, {}, "steps[0].for.r", "must be a whole number, 0 to"),
    ({"steps": [{"for": {"r": 9000}, "steps": [{"for": {"q": 9000}, "work": "1 us"}]}]}, {}, "steps[0].steps[0].for.q", "longer than"),
    ({"steps": [{"let": 3, "work": "1 us"}]}, {}, "steps[0].let", "must be a map of names"),
)


def made(values: dict[str, Any]) -> Workload:
    return read(SMALL, None, values)


def test_what_a_file_computes() -> None:
    found = made({})
    assert (found.devices, list(found.streams), found.kernels["k"].work_ns) == (2, ["s0", "s1"], 5000)
    assert [step.do for step in found.threads["main"]] == ["launch", "launch", "work", "copy", "collective"]
    assert found.threads["main"][2].given["ns"] == pytest.approx(5000)
    assert found.threads["main"][4].given["streams"] == ["s0", "s1"]
    other = made({"n": 4, "mode": "two", "size": "8 KiB"})
    assert [step.do for step in other.threads["main"]] == [*["launch"] * 4, "work", "work", "work", "copy", "collective"]
    assert (other.threads["main"][6].given["ns"], other.threads["main"][7].given["bytes"]) == (pytest.approx(2000), 8192)
    assert read(SMALL, 3, {"n": 2}).devices == 3, "the command line's number beats the file's"


@pytest.mark.parametrize(("change", "values", "path", "said"), WRONG, ids=[f"{path}: {said}" for *_, path, said in WRONG])
def test_a_wrong_parameter_is_named(change: dict[str, Any], values: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        read(SMALL | change | ({"parameters": SMALL["parameters"]} if "steps" in change else {}), None, values)
    assert any(problem.path == path and said in str(problem) for problem in caught.value.problems), caught.value.problems


def layer(device: str, **values: Any) -> Timeline:
    """The shipped layer with a time given to each kernel."""
    found = read(LAYER, None, values)
    kernels = {name: attrs.evolve(kernel, work_ns=9000.0 if "_" in name else 2000.0) for name, kernel in found.kernels.items()}
    return run(attrs.evolve(found, kernels=kernels), machine(described(device), found))


def pass_ns(found: Timeline) -> float:
    ends = [call.ended for call in found.calls if call.what == "sync" and call.thread == "rank0"]
    return ends[1] - ends[0]


@pytest.mark.parametrize("device", ["h200", "mi300x"])
@pytest.mark.parametrize("mode", ["prefill", "decode"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_one_file_says_the_layer_for_1_to_8_devices(device: str, mode: str, ranks: int) -> None:
    stream, graph = (layer(device, mode=mode, tensor_parallel=ranks, graph=graph) for graph in (False, True))
    kernels = 9 if mode == "decode" else 8
    for found in (stream, graph):
        count = {kind: sum(c.kind == kind for c in found.commands) for kind in ("kernel", "collective")}
        assert count == {"kernel": 2 * 4 * kernels * ranks, "collective": 2 * 4 * 2 * ranks * (ranks > 1)}
    assert pass_ns(graph) < pass_ns(stream)
    assert graph.total_ns > 0


def test_captured_exchanges_meet_as_those_of_calls() -> None:
    """A host far ahead: the second exchange of a name is called before the first has begun."""
    found = layer("h200", tensor_parallel=4, graph=True, passes=3)
    parts = [c for c in found.commands if c.kind == "collective"]
    assert len(parts) == 4 * len({c.ended for c in parts}) == 4 * 2 * 4 * 3
    assert all(c.graph is not None for c in parts)
