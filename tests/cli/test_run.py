"""`archex run` with small steps in place of the engine: rows, tables, exit codes, messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from archex.base.errors import RequestError
from archex.cli import run
from archex.records import store
from cli_fakes import STEPS


def go(*arguments: str) -> int:
    return run.main(["suite.path=kernels", "workers=1", *arguments], STEPS)


def problems(*arguments: str) -> list[str]:
    with pytest.raises(RequestError) as caught:
        go(*arguments)
    return [str(problem) for problem in caught.value.problems]


def test_one_device_one_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go("output=rows.parquet", "l2.ways=2") == 0
    frame = store.read(Path("rows.parquet"))
    assert frame["launch"].to_list() == ["copy[n=1]", "gather"]
    assert frame["cycles"].to_list() == [200.0, 600.0]
    assert frame["suite"].to_list() == ["kernels", "kernels"]
    assert frame["overrides"].to_list() == ["l2.ways=2"] * 2
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "2 rows: 2 ok, in rows.parquet"
    table = [line.split() for line in printed.out.splitlines()]
    assert ["gather", "600", "600", "ns", "memory", "50", "%", "81", "%", "bandwidth"] in table
    assert printed.err.splitlines() == ["[1/2] gather on h200 l2.ways=2: 600 cycles", "[2/2] copy[n=1] on h200 l2.ways=2: 200 cycles"]
    assert sorted(path.name for path in place.iterdir()) == ["conf", "experiments", "kernels", "rows.parquet"]


def test_a_sweep_is_every_combination_in_order(place: Path) -> None:
    assert go("-m", "l2.ways=1,2", "wave_scheduler=greedy_then_oldest,loose_round_robin", "suite.only=gather", "output=sweep") == 0
    assert store.read(place / "sweep")["overrides"].to_list() == [
        "l2.ways=1, wave_scheduler=greedy_then_oldest",
        "l2.ways=1, wave_scheduler=loose_round_robin",
        "l2.ways=2, wave_scheduler=greedy_then_oldest",
        "l2.ways=2, wave_scheduler=loose_round_robin",
    ]
    assert len(store.read(place / "sweep")["device_fingerprint"].unique()) == 4


def test_the_default_is_a_new_folder_under_results(place: Path) -> None:
    assert go() == 0
    (folder,) = (place / "results" / "runs").iterdir()
    assert [path.suffix for path in folder.iterdir()] == [".parquet"]


def test_ids_with_brackets_and_commas(launches: Callable[[dict[str, dict[str, object]]], None]) -> None:
    launches({"add[n=1,B=2]": {"threads": 1}, "add[n=2,B=2]": {"threads": 2}})
    assert go("suite.only=add[n=1,B=2]", "output=a.parquet") == 0
    assert store.read(Path("a.parquet"))["launch"].to_list() == ["add[n=1,B=2]"]


def test_everything_wrong_is_said_at_once(place: Path) -> None:
    wrong = ("wave_scheduler=oldest", "devise=h200", "l2.size=big", "l2.wais=3", "sampling=of", "repeat=0", "nonsense", "suite.pat=x")
    assert problems(*wrong) == [
        "nonsense: is not an override; expected KEY=VALUE, such as device=h200",
        "wave_scheduler: oldest is not a known choice (choices: greedy_then_oldest, loose_round_robin)",
        "devise: h200 is not a known key; did you mean device? (choices: clock, device, experiments, l2, memory_side_cache, output, "
        "part, repeat, retry, sampling, seed, suite, timeout, wave_scheduler, worker_memory, workers)",
        "suite.pat: x is not a known key; did you mean path? (choices: name, folder, path, only, variants)",
        "sampling: of is not a known choice; did you mean off? (choices: auto, off)",
        "repeat: 0 must be a whole number of at least 1",
        "l2.wais: 3 is not a known key (choices: size, ways)",
        "l2.size: big must be a whole number",
    ]
    assert sorted(path.name for path in place.iterdir()) == ["conf", "experiments", "kernels"]


def test_a_part_the_device_lacks(place: Path) -> None:
    assert problems("memory_side_cache.size=3") == [
        "memory_side_cache.size: 3 overrides a part that this design lacks; choose one first: memory_side_cache=... (choices: victim)"
    ]


def test_several_values_need_the_flag(place: Path) -> None:
    assert problems("l2.ways=1,2") == ["l2.ways: 1,2 gives several values; sweeps need -m: archex run -m ..."]


def test_a_run_has_one_output(place: Path) -> None:
    assert problems("-m", "workers=1,2") == ["workers: 1,2 can't be swept: a run has one"]


def test_a_combination_that_fails_is_a_row(place: Path) -> None:
    assert go("-m", "device=h200,tiny", "l2.ways=4,8", "suite.only=gather", "output=rows.parquet") == 1
    frame = store.read(Path("rows.parquet"))
    assert frame["status"].to_list() == ["ok", "ok", "ok", "error"]
    assert frame["error"].to_list()[3] == "l2.ways: 8 must divide 12"


def test_an_override_wrong_by_itself_stops_a_sweep(place: Path) -> None:
    assert problems("-m", "device=h200,tiny", "l2.ways=4,many") == ["l2.ways: many must be a whole number"]


def test_a_sweep_of_nothing_but_failures(place: Path) -> None:
    assert problems("-m", "device=h200,tiny", "l2.ways=5,7") == [
        "l2.ways: 5 must divide 64",
        "l2.ways: 7 must divide 64",
        "l2.ways: 5 must divide 12",
        "l2.ways: 7 must divide 12",
    ]


def test_what_a_launch_may_end_in(launches: Callable[[dict[str, dict[str, object]]], None], capsys: pytest.CaptureFixture[str]) -> None:
    launches({name: {"threads": 9 - i, "does": name} for i, name in enumerate(("unsupported", "wrong", "bug", "fine"))})
    assert go("output=rows.parquet") == 1
    frame = store.read(Path("rows.parquet"))
    assert frame["status"].to_list() == ["unsupported", "error", "error", "ok"]
    assert frame["error"].to_list()[:2] == ["wgmma.mma_async is not modelled", "k.ptx:7: a grid of 0"]
    assert frame["error"].to_list()[2].startswith("IndexError at cli/cli_fakes.py:")
    assert capsys.readouterr().out.splitlines()[-1] == "4 rows: 1 ok, 1 unsupported, 2 error, in rows.parquet"


def test_unsupported_alone_is_a_success(launches: Callable[[dict[str, dict[str, object]]], None]) -> None:
    launches({"a": {"threads": 1, "does": "unsupported"}})
    assert go("output=rows.parquet") == 0


def test_a_dead_process_costs_its_own_row(launches: Callable[[dict[str, dict[str, object]]], None]) -> None:
    launches({"a": {"threads": 3}, "dies": {"threads": 2, "does": "dies"}, "c": {"threads": 1}})
    assert go("workers=2", "output=rows.parquet") == 1
    frame = store.read(Path("rows.parquet"))
    assert frame["status"].to_list() == ["ok", "killed", "ok"]
    assert frame["error"].to_list()[1] == "its process ended with code 9, twice"


def test_processes_and_one_process_give_the_same_rows(place: Path) -> None:
    go("-m", "l2.ways=1,2", "output=one.parquet")
    go("-m", "l2.ways=1,2", "output=two.parquet", "workers=2")
    one, two = (store.read(Path(f"{name}.parquet")) for name in ("one", "two"))
    costs = ["simulate_seconds", "peak_memory_bytes"]
    assert one.drop(costs).equals(two.drop(costs))


def test_a_folder_is_resumed(launches: Callable[[dict[str, dict[str, object]]], None], capsys: pytest.CaptureFixture[str]) -> None:
    launches({"a": {"threads": 1, "does": "wrong"}, "b": {"threads": 2}})
    assert go("output=kept") == 1
    capsys.readouterr()
    assert go("output=kept") == 1
    assert capsys.readouterr().err.splitlines() == ["2 of 2 rows are there already"]
    assert go("output=kept", "retry=failed") == 1
    assert "1 of 2 rows are there already" in capsys.readouterr().err
    assert go("output=kept", "l2.ways=2") == 1
    assert len(store.read(Path("kept"))) == 4  # what was run again stands once


def test_equal_designs_run_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go("-m", "device=h200", "l2.size=64,32", "l2.ways=4", "experiments=narrow,null", "suite.only=gather", "output=rows.parquet") == 0
    assert len(store.read(Path("rows.parquet"))) == 2
    same = "h200 l2.size=64, l2.ways=4, experiments=null is the same design as h200 l2.size=64, l2.ways=4, experiments=narrow"
    assert f"{same}: not run twice" in capsys.readouterr().out


def test_presets_give_way_to_the_command_line(place: Path) -> None:
    go("experiments=narrow", "output=a.parquet")
    go("experiments=narrow", "l2.ways=8", "output=b.parquet")
    assert [store.read(Path(f"{name}.parquet"))["cycles"].to_list()[0] for name in "ab"] == [200.0, 800.0]


def test_presets_on_top_of_each_other(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go("-m", "experiments=[narrow,whole],[],narrow", "suite.only=gather", "output=rows.parquet") == 0
    assert store.read(Path("rows.parquet"))["overrides"].to_list() == ["experiments=[narrow,whole]", "experiments=[]", "experiments=narrow"]
    assert problems("experiments=[narrow,hole]") == [
        "experiments: hole is not a known choice; did you mean whole? (choices: narrow, whole)"
    ]
    assert problems("l2=[sliced]") == ["l2: ['sliced'] must be one of its choices; a value of a part has a dotted key (choices: sliced)"]


def test_no_launches(place: Path) -> None:
    assert problems("suite.path=nowhere", "l2.ways=x") == [
        "l2.ways: x must be a whole number",
        "suite.path: nowhere holds no launches.json",
    ]
    assert problems("suite.only=gater") == ["suite.only: gater matches no launch (choices: copy[n=1], gather)"]


def test_output_that_cannot_be_written(place: Path) -> None:
    (place / "file").write_text("")
    assert problems("output=file") == ["output: file is a file; expected a folder, or a name that ends in .parquet"]
    assert problems("output=file/x.parquet") == ["output: file/x.parquet cannot be written: file is no folder"]
    assert problems("output=/proc/x.parquet") == ["output: /proc/x.parquet cannot be written: /proc: No such file or directory"]


def test_the_config_is_shown_not_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go("--cfg", "job", "l2.ways=8", "--package", "l2") == 0
    assert capsys.readouterr().out == "size: 64\nways: 8\n"
    assert go("--info", "searchpath") == 0
    assert go("--help") == 0
    assert "  wave_scheduler: greedy_then_oldest, loose_round_robin" in capsys.readouterr().out.splitlines()
    assert sorted(path.name for path in place.iterdir()) == ["conf", "experiments", "kernels"]


def test_flags_that_do_not_exist(place: Path) -> None:
    assert problems("--config-name", "x") == ["--config-name: isn't offered: archex has one root config"]
    assert problems("--fast") == ["arguments: unrecognized arguments: --fast"]


def test_presets_set_root_keys_too(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, shown in ((("experiments=whole",), "off"), (("experiments=whole", "sampling=auto"), "auto")):
        assert go("--cfg", "job", "--package", "sampling", *arguments) == 0
        assert capsys.readouterr().out == f"{shown}\n"


def test_two_ids_of_one_program_are_two_rows(launches: Callable[[dict[str, dict[str, object]]], None]) -> None:
    launches({"a": {"threads": 5}, "b": {"threads": 5}})
    assert go("output=rows.parquet") == 0
    frame = store.read(Path("rows.parquet"))
    assert frame["launch"].to_list() == ["a", "b"]
    assert len(frame["program_fingerprint"].unique()) == 1


def test_a_choice_that_cannot_be_composed_is_named(place: Path) -> None:
    (place / "conf/device/torn.yaml").write_text("# @package _global_\ndefaults: [{override /l2: sliced}\n")
    (place / "conf/device/lost.yaml").write_text("# @package _global_\ndefaults: [{override /l2: slized}]\n")
    said = problems("-m", "device=h200,lost,torn", "l2.ways=2")
    assert said[0] == "device: lost cannot be composed: In 'config': Could not find 'l2/slized'"
    assert said[1].startswith("device: torn cannot be composed: ")
    assert len(said) == 2


def test_a_point_that_cannot_be_composed_is_a_row(place: Path) -> None:
    (place / "experiments/often.yaml").write_text("# @package _global_\nrepeat: ${device.runs}\n")
    (place / "conf/device/timed.yaml").write_text((place / "conf/device/h200.yaml").read_text().replace("h200", "timed, runs: 2"))
    assert go("-m", "device=h200,timed", "experiments=often", "suite.only=gather", "output=rows.parquet") == 1
    frame = store.read(Path("rows.parquet"))
    assert frame["device"].to_list() == ["h200", "timed"]
    assert frame["error"].to_list() == ["repeat: Interpolation key 'device.runs' not found", None]


def test_settings_of_a_preset_that_are_wrong_at_one_point(place: Path) -> None:
    (place / "experiments/never.yaml").write_text("# @package _global_\nrepeat: 0\n")
    assert go("-m", "experiments=never,narrow", "suite.only=gather", "output=rows.parquet") == 1
    frame = store.read(Path("rows.parquet"))
    assert frame["error"].to_list() == ["repeat: 0 must be a whole number of at least 1", None]


def test_a_file_of_something_else_is_not_written_over(place: Path) -> None:
    (place / "mine.parquet").write_text("a user's own")
    said = "output: mine.parquet is there already and holds no rows of archex: nothing is written over it"
    assert problems("output=mine.parquet") == [said]
    assert (place / "mine.parquet").read_text() == "a user's own"
