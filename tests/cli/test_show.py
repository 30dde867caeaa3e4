"""`archex show` and `archex plugins` on what is shipped."""

from __future__ import annotations

import re

import pytest
from archex.base.errors import RequestError
from archex.base.folders import experiments
from archex.cli import plugins, show


def test_a_device_as_a_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main(["device=h200", "l2.ways=8", "clock=1.7GHz"]) == 0
    lines = [line.lstrip("│├└─ ").strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "h200"
    assert any(line.startswith("size = 50 MiB") and "[published: " in line for line in lines)
    assert any(line.startswith("ways = 8  [override: command line]") for line in lines)
    assert any(line.startswith("clock = 1.7 GHz  [override: command line]") for line in lines)
    assert lines[-1].startswith("fingerprint ")
    assert " 2 override" in lines[-1]
    assert " assumed" in lines[-1]


def test_everything_wrong_with_a_device_at_once() -> None:
    with pytest.raises(RequestError) as caught:
        show.main(["device=h200", "l2.size=4 parsecs", "l2.wais=4", "clock=fast", "wave_scheduler=oldest"])
    said = [str(problem) for problem in caught.value.problems]
    assert said[0] == (
        "wave_scheduler: oldest is not a known choice; did you mean oldest_first? "
        "(choices: cache_conscious, greedy_then_oldest, greedy_then_waiting, loose_round_robin, oldest_first, oldest_workgroup, two_level)"
    )
    assert [line.partition(" ")[0] for line in said] == ["wave_scheduler:", "l2.wais:", "l2.size:", "compute_unit.clock:"]
    assert said[3].startswith("compute_unit.clock: fast must be a number in Hz, such as 1.98 GHz")


def test_the_built_in_parts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert plugins.main(["list"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["wave_scheduler", "oldest_first", "archex-sim"] in [line[:3] for line in lines]
    with pytest.raises(RequestError, match="plugins: lst is not a known action; did you mean list"):
        plugins.main(["lst"])


@pytest.mark.parametrize("preset", sorted(path.stem for path in experiments().glob("*.yaml")))
def test_presets_describe(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = re.search(r"device=(\w+)", (experiments() / f"{preset}.yaml").read_text())  # in the command that its first lines show
    assert show.main([f"device={named[1] if named else 'h200'}", f"experiments={preset}"]) == 0
