"""archex trace LAUNCH wave=0 device=D [output=FILE.json] [suite.path=DIR] [KEY=VALUE ...]: one wave's life.

Prints every instruction of a wave of the launch: when it was issued, what it waited for, when its result was there. Writes the same
as JSON that the Perfetto viewer (ui.perfetto.dev) opens. Waves are numbered from the first workgroup's first wave.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from archex.base.errors import ABSENT, ArchexError, Problem, RequestError
from archex.cli.arguments import operands, take
from archex.records import files
from archex.reports.text import console
from archex.reports.timeline import as_perfetto, as_table, sums
from archex.sweeps import flags
from archex.sweeps.jobs import resolve
from archex.sweeps.plan import plan
from archex.sweeps.quoting import quote
from archex.sweeps.work import Steps, device


def main(arguments: Sequence[str], steps: Steps | None = None) -> int:
    """Print and write the wave's events; 1 if the launch can't run."""
    keys, rest = take(arguments, ("wave", "output", "suite.only"))
    launches, overrides = operands(rest)
    wave = keys.get("wave", "0")
    problems = []
    if len(launches) != 1 or "suite.only" in keys:
        problems.append(Problem("LAUNCH", " ".join(launches) or ABSENT, "must be one id of a launch: archex trace copy wave=0 device=h200"))
    if not wave.isdigit():
        problems.append(Problem("wave", wave, "must be a whole number, the first wave is 0"))
    asked = flags.parse([*overrides, *(f"suite.only={quote(launch)}" for launch in launches[:1])])
    if asked.multirun:
        problems.append(Problem("-m", ABSENT, "isn't offered: trace takes one device"))
    if problems:
        raise RequestError(problems)
    used = steps or Steps()
    design = (planned := plan(asked.overrides, False, used, asked.folders)).designs[0]
    found = planned.launches[design.settings.suite]
    launch_id = launches[0] if launches[0] in found else next(iter(found))
    page = Path(keys.get("output") or re.sub(r"[^\w.,=-]+", "_", f"{launch_id}-wave{wave}").strip("_") + ".json")
    if unwritable := files.check_writable(page.with_suffix(".parquet")):
        raise RequestError([unwritable._replace(value=str(page))])
    out = console()
    try:
        assembled = device(used, design.spec.fingerprint, dict(design.config))
        events = resolve(used.trace)(assembled, found[launch_id], design.settings.options, int(wave))
    except RequestError:
        raise
    except ArchexError as error:
        out.print(f"{launch_id} on {design.device}: {error}")
        return 1
    title = f"{launch_id}, wave {wave}, on {design.device}"
    files.replace(page, as_perfetto(events, title).encode())
    out.print(as_table(events, title))
    out.print(sums(events))
    out.print(f"{len(events)} instructions; {page} opens in ui.perfetto.dev")
    return 0
