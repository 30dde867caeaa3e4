"""`archex validate` for a device of which no launch was measured: published figures, run and held against the model.

In: the keys of the command and what is the device's. Out: a table, the rows that were compared, an exit code: 1 where a figure is beyond
its bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from archex.base import folders
from archex.base.errors import ABSENT, Problem, RequestError
from archex.reports.text import console
from archex.suite.published import published
from archex.sweeps import flags
from archex.sweeps.plan import describe_one
from archex.sweeps.settings import KEYS
from archex.sweeps.work import Steps

#: The word in place of a folder.
PUBLISHED = "published"


def figures_only(keys: Mapping[str, str], device: str) -> bool:
    """Whether this request is about published figures: asked for, or all there is of the device."""
    if "reference" in keys:
        return keys["reference"] == PUBLISHED
    return bool(device and not (folders.reference() / device / "launches.json").is_file() and published(device))


def published_figures(keys: Mapping[str, str], rest: Sequence[str], steps: Steps) -> int:
    """Run and print them; RequestError for what can't be asked of them."""
    problems = [
        Problem(key, value, "needs launches that were measured; of this device figures are published")
        for key, value in keys.items()
        if key != "reference"
    ]
    problems += [
        Problem(key, value, "says how launches run, and published figures are run in one way")
        for key, _, value in (argument.partition("=") for argument in rest)
        if key.lstrip("+").partition(".")[0] in KEYS
    ]
    asked = flags.parse(rest)
    if asked.multirun:
        problems.append(Problem("-m", ABSENT, "isn't offered: validate takes one device"))
    device = next((a.partition("=")[2] for a in reversed(rest) if a.startswith("device=")), "")
    rows = published(device)
    if not rows:
        with_figures = sorted({row.device for row in published()})
        problems.append(Problem("device", device or ABSENT, "has no published figures to be held against", with_figures))
    if problems:
        raise RequestError(problems)
    spec = describe_one(asked.overrides, steps, asked.folders).spec
    from archex.assembly import assemble
    from archex.cli.published import compare, shown

    out = console()
    compared = []
    with out.status(f"{len(rows)} figures") as status:  # says nothing where nobody looks at a terminal
        for one in compare(assemble(spec), rows):
            compared.append(one)
            status.update(f"{len(compared)} of {len(rows)} figures")
    out.print(shown(compared))
    beyond = [one for one in compared if not one.kept]
    out.print(f"{len(compared)} figures compared, {len(beyond)} beyond their bound; each with its source in facts/published_facts.csv")
    return int(bool(beyond))
