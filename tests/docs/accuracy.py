"""Writes the tables of docs/accuracy.md: `make accuracy`, or with runs that are there already:

    make accuracy ARGS="h200=RUN h200.warm=RUN mi300a=RUN suite=RUN heldout=RUN matrix=RUN published=FILE"

In: rows of runs of the references: a run's folder, a Parquet file, or JSON lines (`h200.warm` with repeat=3); published figures as JSON
lines, or `published=run`, which runs them. Without arguments everything is run, which takes an hour. Out: the figures in
results/reports/accuracy.json, of which the page's tables are made, each between two marks; what is not given stays as it was. Everything
outside the marks is written by hand. The tables of sources are made of `conf/`.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from archex.base import folders
from archex.cli.published import amount
from archex.describe import tree
from archex.describe.tree import Leaf
from archex.records import schema, store
from archex.reports import reference
from archex.reports.text import count, signed
from archex.reports.validate import compare, warm
from archex.reports.validate.blame import blame
from archex.reports.validate.bounds import FIGURES, FILE, Judged, figures, judge, read
from archex.reports.validate.counters import counter_errors
from archex.reports.validate.errors import Errors
from archex.reports.validate.explained import explained
from archex.reports.validate.tables import ranked
from archex.testing.devices import described

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/accuracy.md"
FOUND = ROOT / "results/reports/accuracy.json"
RUNS = ROOT / "results/runs/accuracy"
#: What may be given -> the reference it is a run of.
NAMES = {"h200": "h200", "h200.warm": "h200", "mi300a": "mi300a", "suite": "h200_suite", "heldout": "h200_heldout", "matrix": "h200_matrix"}
#: References that no number of a part was chosen beside, and what they are.
HELD_OUT = {
    "h200_suite": "the standard suite, with `archex run device=h200 suite=standard`",
    "h200_heldout": "80 kernels without matrix units",
    "h200_matrix": "matrix products, copies, clusters",
}
DEVICES = ("h200", "h100_sxm", "a100", "mi300a", "mi300x", "mi210")
STATUSES = ("published", "measured", "calibrated", "assumed")
#: What a source names: a section of the microbenchmarks' page, one of the sets beside it.
_NAMED = re.compile(r"h200/micro(?: section \d+|s? \w+)?|h200_(?:bursts|writes|clusters)")
_BLOCK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def rows_of(path: Path, device: str) -> list[dict[str, Any]]:
    """Rows of a run; of JSON lines those of the schema's columns."""
    if path.suffix != ".jsonl":
        return [row for row in store.read(path).to_dicts() if row["device"] == device]
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [schema.row({"device": device} | {key: value for key, value in row.items() if key in schema.BY_NAME}) for row in found]


def summary(name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the page says of a reference."""
    measured = reference.read(folders.reference() / name)
    errors, why = compare(rows, measured), explained(rows, measured)
    by_launch = {row["launch"]: row for row in rows}
    far = [error for error in ranked(errors, len(errors.errors)) if not 0.5 <= error.modelled / error.measured <= 2]
    listed = [*ranked(errors, 10), *far[10:]]
    return {
        **_common(errors),
        "figures": figures(errors, why),
        "stalls": [why.launches, why.launches_not_memory],
        "counters": {c.column: [c.launches, c.close, c.median] for c in counter_errors(rows, measured)},
        "worst": [
            [e.launch, e.measured, e.modelled, e.signed, blame(by_launch[e.launch], measured.launches[e.launch], measured)] for e in listed
        ],
    }


def warm_summary(name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of repeated launches."""
    errors = warm(rows, reference.read(folders.reference() / name))
    return {**_common(errors), "figures": figures(errors, None), "worst": [[e.launch, e.signed] for e in ranked(errors, 10)]}


def _common(errors: Errors) -> dict[str, Any]:
    return {"day": str(datetime.date.today()), "launches": len(errors.errors), "left_out": dict(errors.left_out), "unit": errors.unit}


def table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """In Markdown."""
    rows = [columns, ["---"] * len(columns), *lines]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |\n" for row in rows)


def measured_block(found: dict[str, Any]) -> str:
    """The two devices that launches were measured on."""
    h200, other, repeated = (found.get(name, {}) for name in ("h200", "mi300a", "h200.warm"))
    both = [h200, other]

    def cells(name: str) -> list[str]:
        return [_figure(name, one) for one in both]

    lines = [
        ["launches compared", *(_compared(one) for one in both)],
        *([FIGURES[name].meaning, *cells(name)] for name in ("mape", "median", "p90", "worst", "family", "beyond_factor_two", "rank")),
        [f"largest stall explained, of {h200.get('stalls', [0])[0]} launches", _figure("explained", h200), "not measured"],
        [f"the same where it isn't memory, of {h200.get('stalls', [0, 0])[1]}", _figure("explained_not_memory", h200), "not measured"],
        [f"mean error of warm times, {repeated.get('launches', 0)} launches over 20 us", _figure("warm_mape", repeated), "not measured"],
    ]
    for column in ("wave_instructions", "matrix_instructions", "dram_read_bytes", "vector_cache_hit_pct", "l2_hit_pct"):
        if column in h200.get("counters", {}):
            launches, close, _ = h200["counters"][column]
            lines.append([f"`{column}` close, of {launches}", f"{close:.0f} %", "not measured"])
    days = ", ".join(sorted({one["day"] for one in (*both, repeated) if one}))
    title = f"Run on {days}; close is within 10 % or 5 points.\n\n"
    return title + table(["", "h200, cycles", "mi300a, time with 4.4 us a launch"], lines)


def stated_block(found: dict[str, Any]) -> str:
    """Bounds that are stated, and those not kept yet."""
    lines = []
    for name in ("h200", "mi300a"):
        known = {**found.get(f"{name}.warm", {}).get("figures", {}), **found.get(name, {}).get("figures", {})}
        judged = judge(read("stated", name, folders.reference()), known)
        lines += [[name, one.figure.meaning, _number(one, one.bound), _number(one, one.found), _kept(one)] for one in judged]
    return table(["", "figure", "stated", "today", ""], lines)


def held_out_block(found: dict[str, Any]) -> str:
    """Launches that no number was chosen beside."""
    names = ("mape", "median", "p90", "rank", "explained", "explained_not_memory")
    lines = []
    for name, what in HELD_OUT.items():
        if one := found.get(name):
            worst = f"{one['worst'][0][3]:+.0f} %" if "worst" in one else _figure("worst", one)
            lines.append([f"`results/reference/{name}`", what, str(one["launches"]), *(_figure(figure, one) for figure in names), worst])
    heads = ["mean error", "median", "90 % within", "rank", "stall explained", "not memory", "worst"]
    return table(["reference", "what it is", "launches", *heads], lines)


def far_block(found: dict[str, Any]) -> str | None:
    """Held-out launches beyond a factor of two; None where a reference's launches are not known."""
    if not all("worst" in found.get(name, {}) for name in HELD_OUT):
        return None
    far = [(name, line) for name in HELD_OUT for line in found.get(name, {}).get("worst", []) if not 0.5 <= line[2] / line[1] <= 2]
    if not far:
        return "No launch of these is beyond a factor of 2.\n"
    lines = [[f"`{line[0]}`", signed(line[3], 0), line[4]] for _, line in sorted(far, key=lambda one: -abs(one[1][3]))]
    return f"Beyond a factor of 2 are {len(lines)}:\n\n" + table(["launch", "error", "what it points at"], lines)


def worst_block(found: dict[str, Any]) -> str:
    """The worst ten of h200."""
    lines = [
        [f"`{n}`", count(old), count(new), signed(error), said] for n, old, new, error, said in found.get("h200", {}).get("worst", [])[:10]
    ]
    return table(["launch", "measured", "model", "error", "what it points at"], lines)


def published_block(found: dict[str, Any]) -> str:
    """Figures of others."""
    lines = []
    for one in found.get("published", []):
        most = "at most " if one["how"] == "product" else ""
        error = signed(100 * (one["model"] / one["published"] - 1), 0)
        figures_of = f"{one['of']} `{one['name']}`"
        lines.append([one["device"], figures_of, most + amount(one["published"]), amount(one["model"]), one["unit"], error])
    return table(["", "figure", "published", "model", "", "error"], lines)


def calibrated_block(found: dict[str, Any]) -> str:
    """What the numbers of h200 were measured with, slot by slot."""
    lines = []
    slots: dict[str, list[Leaf]] = {}
    for leaf in leaves("h200"):
        slots.setdefault(leaf.path.partition(".")[0], []).append(leaf)
    for slot, some in slots.items():
        counts = Counter(leaf.status for leaf in some)
        if not counts["measured"] + counts["calibrated"]:
            continue
        named = {match for leaf in some if leaf.status in ("measured", "calibrated") for match in _NAMED.findall(leaf.origin)}
        ordered = sorted(named, key=lambda text: [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)])
        sections = [re.sub(r"^h200/micro section ", "", text) for text in ordered if "section" in text]
        others = [text for text in ordered if "section" not in text]
        told = [*([f"h200/micro {', '.join(sections)}"] if sections else []), *others]
        lines.append([f"`{slot}`", str(counts["measured"]), str(counts["calibrated"]), "; ".join(told) or "counters of the reference"])
    return table(["slot of h200", "measured", "calibrated", "with"], lines)


def sources_block(found: dict[str, Any]) -> str:
    """How many numbers of a device are from where."""
    lines = []
    for device in DEVICES:
        counts = Counter(leaf.status for leaf in leaves(device))
        lines.append([device, *(str(counts[status]) for status in STATUSES)])
    return table(["device", *STATUSES], lines)


@cache
def leaves(device: str) -> list[Leaf]:
    """The numbers of a device without its instruction set's rules, which are hundreds."""
    return [leaf for leaf in tree(described(device)) if leaf.status and not leaf.path.startswith("instruction_set.")]


#: Mark -> what stands between its two lines; the figures of the last two are those of conf/.
BLOCKS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "measured": measured_block,
    "stated": stated_block,
    "heldout": held_out_block,
    "far": far_block,
    "worst": worst_block,
    "published": published_block,
    "calibrated": calibrated_block,
    "sources": sources_block,
}
OF_CONF = ("calibrated", "sources")


def page(text: str, found: dict[str, Any], blocks: Iterable[str] = tuple(BLOCKS)) -> str:
    """The page with its tables renewed; one that isn't known stays as it is."""
    made = {name: BLOCKS[name](found) for name in blocks}
    return _BLOCK.sub(lambda mark: mark[0] if made.get(mark[2]) is None else f"{mark[1]}{made[mark[2]]}{mark[3]}", text)


def _compared(one: dict[str, Any]) -> str:
    left_out = ", ".join(f"{number} {why}" for why, number in sorted(one.get("left_out", {}).items()))
    return f"{one.get('launches', 0)}{f' ({left_out})' if left_out else ''}"


def _figure(name: str, one: dict[str, Any]) -> str:
    value = one.get("figures", {}).get(name)
    figure = FIGURES[name]
    return "-" if value is None else f"{value:.1f} %" if figure.unit == "%" else f"{value:.3f}" if value % 1 else f"{value:.0f}"


def _number(one: Judged, value: float | None) -> str:
    return "-" if value is None else f"{value:.3g} %" if one.figure.unit == "%" else f"{value:.4g}"


def _kept(one: Judged) -> str:
    return "not run" if one.found is None else f"**not met**, by {one.beyond:.2g}" if one.passed else "met"


def tighter(found: dict[str, Any]) -> list[str]:
    """Bounds of the section `held` that today's figures keep with room to spare, or that a reference has none of yet."""
    held = yaml.safe_load((folders.reference() / FILE).read_text())["held"]
    lines = []
    for name in (*HELD_OUT, "h200", "mi300a"):
        known = {**found.get(f"{name}.warm", {}).get("figures", {}), **found.get(name, {}).get("figures", {})}
        for key, value in known.items():
            figure, bound = FIGURES[key], held.get(name, {}).get(key)
            room = (0.03 * value + 0.1 if figure.unit else 0.0005 * (value % 1 > 0)) * (1 if figure.more_is_worse else -1)
            best = round(value + room, 1 if figure.unit else 4)
            if bound is None or (best < bound if figure.more_is_worse else best > bound):
                lines.append(f"{name}: {key}: {best:g} (held today: {'nothing' if bound is None else f'{bound:g}'})")
    return lines


def run(name: str) -> Path:
    """Run a reference into results/runs, where rows that are there already are not run again."""
    archex = Path(sys.executable).with_name("archex")
    folder = ROOT / "results/reference" / NAMES[name]
    device = "mi300a" if name == "mi300a" else "h200"
    repeat = ["repeat=3"] if name.endswith(".warm") else []
    subprocess.run([archex, "run", f"device={device}", f"suite.path={folder}", f"output={RUNS / name}", *repeat], cwd=ROOT, check=False)
    return RUNS / name


def run_published() -> list[dict[str, Any]]:
    """Run every device that has figures and no launches."""
    from archex.assembly import assemble
    from archex.cli.published import compare as hold
    from archex.suite.published import published

    found = []
    for device in DEVICES:
        if not (folders.reference() / device / "launches.json").is_file():
            for one in hold(assemble(described(device)), published(device)):
                found.append({"device": device, "of": one.row.of, "name": one.row.name, "how": one.row.how, "published": one.row.value})
                found[-1] |= {"model": one.found, "unit": one.row.unit}
    return found


def main() -> None:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    if unknown := sorted(set(given) - set(NAMES) - {"published"}):
        sys.exit(f"accuracy: {', '.join(unknown)} is not known (what may be given: {', '.join(NAMES)}, published)")
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    for name in given or NAMES:
        if name == "published":
            continue
        rows = rows_of(Path(given[name]) if given else run(name), "mi300a" if name == "mi300a" else "h200")
        found[name if name.endswith(".warm") else NAMES[name]] = (warm_summary if name.endswith(".warm") else summary)(NAMES[name], rows)
    if not given or given.get("published") == "run":
        found["published"] = run_published()
    elif "published" in given:
        found["published"] = [json.loads(line) for line in Path(given["published"]).read_text().splitlines()]
    FOUND.write_text(json.dumps(_rounded(found), indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(PAGE.read_text(), json.loads(FOUND.read_text())))
    print(f"{PAGE.relative_to(ROOT)} and {FOUND.relative_to(ROOT)} are written")
    for line in tighter(found):
        print(f"  could be held in {FILE}: {line}")


def _rounded(value: Any) -> Any:
    """Eight digits are enough."""
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
