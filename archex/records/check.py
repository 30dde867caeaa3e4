"""Whether a run is whole: every file reads, every row stands once and has a result, no design lacks a launch, nothing is left over.

In: a folder of a run, or one file. Out: a `Report` whose `found` names everything that is not as it should be. Nothing is changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from archex.records import lock, provenance, store
from archex.records.contents import Content, Version, contents
from archex.records.dataset import TORN
from archex.records.reasons import FAILED, Reasons
from archex.records.twice import twice
from archex.records.words import counted, design, listed

if TYPE_CHECKING:
    import polars

_SHOWN = 5


@attrs.frozen
class Report:
    """found: (what is wrong, where) ; notes: what is right and good to know."""

    path: Path
    rows: int
    designs: int
    launches: int
    shards: int
    journals: int
    found: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def check(path: Path) -> Report:
    """Read everything at `path`."""
    import polars

    read = list(contents(path))
    whole = [content for content in read if not content.torn]
    rows = polars.concat([content.rows for content in whole]) if whole else store.frame([])
    latest = store.latest(rows)
    writer = lock.holder(path) if path.is_dir() else None
    found = [("torn", f"{content.path.name}: {content.torn}") for content in read if content.torn]
    found += _twice(rows) + _failed(latest)
    found += [("incomplete", line) for line in _incomplete(latest)]
    found += _columns(whole) + _versions(whole, latest)
    notes = [f"is being written by {writer}: what is under way is not said to be wrong"] if writer else []
    if writer:
        found = [(what, where) for what, where in found if what != "incomplete"]
    elif path.is_dir():
        found += _left(path, read)
    computed = {version for content in whole for version in content.versions}
    if len(computed) == 1 and next(iter(computed))[1] not in ("", provenance.sources()):
        notes.append("the rows are of other sources than those of this archex: a run that resumes here runs them again")
    designs = latest.select("device", "overrides").n_unique() if latest.height else 0
    journals = sum(content.path.suffix == ".jsonl" for content in read)
    counts = (latest.height, designs, latest["launch"].n_unique(), len(read) - journals, journals)
    return Report(path, *counts, tuple(found), tuple(notes))


def _twice(rows: polars.DataFrame) -> list[tuple[str, str]]:
    again = twice(rows)
    found = [f"{counted(again.copies, 'row')} too many: copies of others"] if again.copies else []
    found += [f"{counted(again.replaced, 'failed row')} run again later; the later is read"] if again.replaced else []
    found += [f"{conflict.row} has two results, which differ in {listed(conflict.columns)}" for conflict in again.conflicts[:_SHOWN]]
    more = len(again.conflicts) - _SHOWN
    found += [f"and {counted(more, 'more row')} with two results"] if more > 0 else []
    return [("twice", line) for line in found]


def _failed(rows: polars.DataFrame) -> list[tuple[str, str]]:
    import polars

    reasons = Reasons()
    failed = rows.filter(polars.col("status").is_in(FAILED)).group_by("status", "error", maintain_order=True).len()
    for status, error, count in failed.iter_rows():
        reasons.add(status, error, count)
    return [("failed", f"{counted(count, 'row')}: {reason}") for reason, count in reasons.most()]


def _incomplete(rows: polars.DataFrame) -> list[str]:
    """Designs that lack launches which other designs of their suite have."""
    import polars

    of_design = rows.group_by("suite", "device", "overrides", maintain_order=True).agg(polars.col("launch").unique(maintain_order=True))
    all_of = dict(rows.group_by("suite").agg(polars.col("launch").unique(maintain_order=True)).iter_rows())
    lacking = [
        f"{design(device, overrides)} lacks {listed([name for name in all_of[suite] if name not in set(has)])}"
        for suite, device, overrides, has in of_design.iter_rows()
        if len(has) < len(all_of[suite])
    ]
    more = len(lacking) - _SHOWN
    return lacking[:_SHOWN] + ([f"and {counted(more, 'more design')}"] if more > 0 else [])


def _columns(whole: Sequence[Content]) -> list[tuple[str, str]]:
    """Files of an older or newer archex, those that are alike together."""
    alike = Counter((content.missing, content.unknown) for content in whole if content.missing or content.unknown)
    found = []
    for (missing, unknown), files in alike.items():
        parts = [f"{verb} {listed(names)}" for verb, names in (("without", missing), ("with unknown", unknown)) if names]
        first = next(content.path.name for content in whole if (content.missing, content.unknown) == (missing, unknown))
        found.append(("columns", f"{counted(files, 'file')} ({first}) {' and '.join(parts)}"))
    return found


def _versions(whole: Sequence[Content], rows: polars.DataFrame) -> list[tuple[str, str]]:
    """Rows that were computed by different programs, and those of them that stand for one design and launch."""
    by_version: Counter[tuple[Version, ...]] = Counter()
    for content in whole:
        by_version[content.versions] += content.rows.height
    if len(set().union(*by_version)) < 2:
        return []
    found = [f"{counted(count, 'row')} of {' or '.join(map(_version, versions))}" for versions, count in by_version.items()]
    beside = rows.height - rows.select("suite", "device", "overrides", "launch", "variant").n_unique()
    found += [f"{counted(beside, 'row')} beside another of the same design and launch, of other sources"] if beside else []
    return [("versions", line) for line in found]


def _version(version: Version) -> str:
    release, sources = version
    return f"archex {release}, sources {sources}" if release else "an unknown archex (no metadata)"


def _left(folder: Path, read: Sequence[Content]) -> list[tuple[str, str]]:
    """What a run that was killed leaves."""
    found = [
        f"{content.path.name}: {counted(content.rows.height, 'row')} of a run that was cut short"
        for content in read
        if _is_journal(content)
    ]
    found += [f"{path.name}: half-written, holds nothing" for path in sorted(folder.glob(".*.tmp"))]
    found += [f"{lock.NAME}: its writer is gone"] if (folder / lock.NAME).exists() else []
    aside = sorted(path.name for path in (folder / TORN).glob("*"))
    found += [f"{TORN}/{listed(aside)}: set aside, as torn"] if aside else []
    return [("left over", line) for line in found]


def _is_journal(content: Content) -> bool:
    return content.path.suffix == ".jsonl" and not content.torn
