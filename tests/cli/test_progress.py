"""What a run says while it goes: lines where nobody looks at a terminal, a live block where somebody does."""

from __future__ import annotations

import io
import re
import time
from typing import Any

import pytest
from archex.cli.progress import LARGE, Reporter
from archex.records import schema
from archex.reports.standing import Best, Standing, duration, times_of
from rich.console import Console
from terminals import Terminal


class Clock:
    """A clock that is put forward by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def a_row(number: int = 0, **values: Any) -> dict[str, Any]:
    known = {"launch": f"k{number % 2}", "device": "h200", "overrides": f"l2.ways={number // 2}", "status": "ok", "cycles": 1200}
    return schema.row(known | {"time_ns": 100.0} | values)


def failing(number: int, error: str, status: str = "error") -> dict[str, Any]:
    return a_row(number, status=status, error=error, cycles=None, time_ns=None)


def plain() -> tuple[Reporter, Clock, io.StringIO]:
    clock, out = Clock(), io.StringIO()
    return Reporter(Console(file=out, width=1000), clock), clock, out


def test_a_small_run_is_a_line_a_row() -> None:
    reporter, _, out = plain()
    with reporter:
        reporter.start(12, 6, 3, 2)
        reporter.row(a_row())
        reporter.row(failing(1, "l2.ways: 5 must divide 64"))
        reporter.note("one is the same as another")
    assert out.getvalue().splitlines() == [
        "3 of 12 rows are there already",
        "[ 4/12] k0 on h200 l2.ways=0: 1,200 cycles",
        "[ 5/12] k1 on h200 l2.ways=0: error: l2.ways: 5 must divide 64",
        "one is the same as another",
    ]


def test_a_large_run_is_a_line_every_few_seconds_and_each_reason_once() -> None:
    reporter, clock, out = plain()
    with reporter:
        reporter.start(1000, 500, 0, 4)
        for number in range(800):
            clock.now += 0.125
            reporter.row(failing(number, f"l2.ways: {number} must divide 64") if number % 100 == 50 else a_row(number))
            if number % 2:
                times = [a_row(number, launch=launch, time_ns=100.0 if number != 401 else 50.0) for launch in ("k0", "k1")]
                reporter.design(f"h200 l2.ways={number // 2}", times)
    lines = out.getvalue().splitlines()
    assert lines[0] == "1 of 1,000 rows; 8 rows/s, 2 min left, 4 workers"
    assert [line for line in lines if "must divide" in line] == ["k0 on h200 l2.ways=25: error: l2.ways: 50 must divide 64"]
    assert len(lines) == 20 + 1 + 1  # every five seconds of 100, a reason, the last
    assert lines[-1] == "800 of 1,000 rows, 8 error; 8 rows/s, 25 s left, 4 workers; best 2x l2.ways=200"


def test_nothing_is_said_twice_at_the_end() -> None:
    reporter, _, out = plain()
    with reporter:
        reporter.start(None, None, 0, 1)
        reporter.row(a_row())
    assert out.getvalue() == "1 row; 1 worker\n"


def test_each_kind_of_reason_is_said_and_no_flood() -> None:
    reporter, _, out = plain()
    with reporter:
        reporter.start(LARGE + 1, None, 0, 1)
        for number in range(60):
            reporter.row(failing(number, "".join(chr(97 + int(digit)) for digit in str(number)) + " is wrong"))
    said = [line for line in out.getvalue().splitlines() if "is wrong" in line]
    assert said[0] == "k0 on h200 l2.ways=0: error: a is wrong"
    assert len(said) == 20


def test_the_rate_is_of_the_last_minute() -> None:
    clock = Clock()
    standing = Standing(clock)
    standing.start(10_000, None, 5_000, 1)
    assert standing.rate is None
    assert standing.left is None
    for seconds, rows in ((100, 10), (70, 1)):  # ten a second, then one
        for _ in range(seconds * rows):
            clock.now += 1 / rows
            standing.row(a_row())
    assert standing.done == 6070
    assert standing.rate == pytest.approx(1.0, rel=0.02)
    assert standing.left == pytest.approx(3930, rel=0.02)
    clock.now += 60  # nothing comes
    assert standing.rate == pytest.approx(0.5, rel=0.05)


def test_the_best_is_a_geometric_mean_over_all_launches_of_the_first() -> None:
    best = Best()
    best.add("none", times_of([failing(0, "x"), failing(1, "x")]))
    for label, times in (("first", (100, 100)), ("half", (50, 200)), ("fast", (50, 50)), ("lacks", (1, None)), ("slow", (400, 100))):
        rows = [a_row(n, time_ns=took, status="ok" if took else "unsupported") for n, took in enumerate(times)]
        best.add(label, times_of(rows))
    variants = [a_row(0, time_ns=25), a_row(0, time_ns=99), a_row(1, time_ns=100), a_row(1, launch="k2", time_ns=1)]
    best.add("variants", times_of(variants))
    assert best.first == "first"
    assert best.ranked == [("fast", 2.0), ("variants", 2.0), ("first", 1.0)]


def test_labels_say_what_sets_designs_apart() -> None:
    best = Best()
    best.add("h200 l2.ways=1, l2.size=16MiB", {"k": 1.0})
    assert best.short("h200 l2.ways=1, l2.size=16MiB") == "h200 l2.ways=1, l2.size=16MiB"
    best.add("h200 l2.ways=2, l2.size=16MiB", {"k": 1.0})
    assert best.short("h200 l2.ways=2, l2.size=16MiB") == "l2.ways=2"
    best.add("a100", {"k": 1.0})
    assert best.short("a100") == "a100"
    assert best.short("h200 l2.ways=2, l2.size=16MiB") == "h200, l2.ways=2, l2.size=16MiB"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (99, "99 s"), (125, "2 min"), (11520, "3 h 12 min"), (190000, "2 d 4 h"), (7199, "2 h 0 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def drawn(width: int) -> list[str]:
    clock = Clock()
    reporter = Reporter(Console(file=io.StringIO(), width=width, force_terminal=True), clock)
    page = Console(file=io.StringIO(), width=width, force_terminal=True, record=True, highlight=False)
    with reporter:
        reporter.start(1000, 500, 0, 4)
        for number in range(10):
            clock.now += 1
            reporter.row(failing(number, f"the process ended with {number}", "killed") if number in (3, 7) else a_row(number))
            if number in (1, 5, 9):
                times = [a_row(n, time_ns=100.0 / (1 + number)) for n in (0, 1)]
                reporter.design(f"h200 l2.ways={number}, l2.size=16MiB, wave_scheduler=greedy_then_oldest", times)
        page.print(reporter._drawn())
    return page.export_text().splitlines()


def test_the_block() -> None:
    lines = [line.rstrip() for line in drawn(120)]
    assert lines[0].split()[-1] == "1%"
    assert lines[1:4] == [
        "10 of 1,000 rows, 2 killed; 3 of 500 designs",
        "1 rows/s, 16 min left, 4 workers, 10 s spent",
        "best so far, times faster than h200 l2.ways=1, l2.size=16MiB, wave_scheduler=greedy_then_oldest",
    ]
    assert lines[4:7] == ["  5x l2.ways=9", "  3x l2.ways=5", "  1x l2.ways=1"], "what all have in common isn't said"
    assert lines[7:9] == ["failed", "  2 killed: the process ended with N"]


@pytest.mark.parametrize("width", [20, 41, 80])
def test_the_block_is_cut_to_the_terminal(width: int) -> None:
    lines = drawn(width)
    assert max(map(len, lines)) <= width
    assert len(lines) == 9, "a line that wraps would make the block taller"


SCRIPT = """
import time
from archex.cli.progress import Reporter
from archex.records import schema
with Reporter() as reporter:
    reporter.start({total}, 100, 0, 2)
    for number in range({total}):
        reporter.row(schema.row({{"launch": "copy", "device": "h200", "status": "ok", "cycles": 7}}
            | ({{"status": "error", "error": "a shape"}} if number == 3 else {{}})))
        time.sleep(1.6 / {total})
print("the end")
"""


def in_a_terminal(total: int, term: str) -> str:
    terminal = Terminal(SCRIPT.format(total=total), term)
    shown = terminal.rest()
    assert terminal.process.wait(30) == 0
    return shown


def test_in_a_terminal_the_block_moves_and_is_gone_at_the_end() -> None:
    shown = in_a_terminal(200, "xterm-256color")
    counted = [int(number) for number in re.findall(r"(\d+) of 200 rows", shown)]
    assert len(set(counted)) >= 3, "drawn while it goes"
    assert counted == sorted(counted)
    assert shown.count("copy on h200: error: a shape") == 1
    *_, last = shown.split("200 of 200 rows")
    assert "\x1b[2K" in last, "the block is wiped"
    assert last.endswith("the end\r\n")


def test_a_dumb_terminal_gets_lines() -> None:
    shown = in_a_terminal(20, "dumb")
    assert "\x1b" not in shown
    assert shown.splitlines()[:1] == ["[ 1/20] copy on h200: 7 cycles"]
    assert len(shown.splitlines()) == 21


def test_a_row_costs_little() -> None:
    rows = [a_row(number) for number in range(5000)]
    reporter = Reporter(Console(file=io.StringIO(), force_terminal=True, width=120))
    with reporter:
        reporter.start(5000, 2500, 0, 2)
        before = time.process_time()
        for number, row in enumerate(rows):
            reporter.row(row)
            if number % 2:
                reporter.design(f"design {number}", rows[number - 1 : number + 1])
        spent = time.process_time() - before
    assert spent / len(rows) < 1e-4
