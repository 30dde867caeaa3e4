"""The root keys of a request that are not the device's: how to run, which launches, where to.

In: a composed config. Out: `Settings` and the device's own config, or the problems of the values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, closest, unknown
from archex.base.options import SAMPLING, VARIANTS, Options
from archex.base.units import parse, show
from archex.sweeps.part import Part
from archex.sweeps.part import parse as parse_part

RETRY = ("none", "failed")
_SUITE_KEYS = ("name", "folder", "path", "only", "variants")
#: What a run has only one of, so that it can't be swept.
RUN_KEYS = ("output", "retry", "workers", "timeout", "worker_memory", "part")
KEYS = ("suite", "sampling", "repeat", "seed", "question", *RUN_KEYS)
#: Below this a worker has no room for the engine itself.
_LEAST_MEMORY = 1 << 30
_SECONDS = {"min": 60.0, "h": 3600.0}
KERNELS = Path(__file__).resolve().parents[1] / "suite" / "kernels"


@attrs.frozen
class Suite:
    """Which launches: those of `folder` that one of the globs of `only` matches."""

    name: str
    folder: Path
    only: tuple[str, ...] = ("*",)
    variants: str = "best"


@attrs.frozen
class Settings:
    """A request beside its devices."""

    suite: Suite
    options: Options
    output: Path | None = None
    retry: str = "none"
    workers: int | None = None
    timeout: float | None = None  # seconds a row
    worker_memory: int | None = None  # bytes a worker
    part: Part = Part()


def split(config: dict[str, Any]) -> tuple[Settings | None, dict[str, Any], list[Problem]]:
    """The settings (None if it is unclear which launches are meant), the device's config, the problems."""
    problems: list[Problem] = []
    device = {key: value for key, value in config.items() if key not in KEYS}
    suite = _suite(config.get("suite"), problems)
    unclear = bool(problems)
    options = Options(
        _one_of("sampling", "off" if config.get("sampling") is False else config.get("sampling"), SAMPLING, problems),
        _whole("repeat", config.get("repeat"), 1, problems),
        _whole("seed", config.get("seed"), 0, problems),
    )
    workers = config.get("workers")
    settings = Settings(
        suite,
        options,
        _path("output", config.get("output"), problems),
        _one_of("retry", config.get("retry") or "none", RETRY, problems),
        None if workers is None else _whole("workers", workers, 1, problems),
        _timeout(config.get("timeout"), problems),
        _memory(config.get("worker_memory"), problems),
        parse_part(config.get("part"), problems),
    )
    return (None if unclear else settings), device, problems


def _suite(found: Any, problems: list[Problem]) -> Suite:
    if not isinstance(found, dict):
        problems.append(Problem("suite", ABSENT if found is None else found, "must be chosen"))
        return Suite("", Path())
    for key in found:
        if key not in _SUITE_KEYS:
            problems.append(Problem(f"suite.{key}", found[key], "is not a known key", _SUITE_KEYS, closest(key, _SUITE_KEYS)))
    own = _path("suite.path", found.get("path"), problems)
    folder = own if own is not None else KERNELS / str(found.get("folder"))
    name = folder.resolve().name if own is not None else str(found.get("name"))
    variants = _one_of("suite.variants", found.get("variants", "best"), VARIANTS, problems)
    return Suite(name, folder, _globs(found.get("only", "*"), problems), variants)


def _globs(found: Any, problems: list[Problem]) -> tuple[str, ...]:
    globs = found if isinstance(found, list) else [found]
    if not globs or not all(isinstance(glob, str) and glob for glob in globs):
        problems.append(Problem("suite.only", found, "must be a glob of launch ids, or a list of them"))
        return ("*",)
    return tuple(globs)


def _path(path: str, value: Any, problems: list[Problem]) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        problems.append(Problem(path, value, "must be a path"))
        return None
    return Path(value).expanduser()


def _one_of(path: str, value: Any, choices: tuple[str, ...], problems: list[Problem]) -> str:
    if value not in choices:
        problems.append(unknown(path, value, choices))
        return choices[0]
    return str(value)


def _whole(path: str, value: Any, low: int, problems: list[Problem]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        problems.append(Problem(path, value, f"must be a whole number of at least {low}"))
        return low
    return value


def _timeout(value: Any, problems: list[Problem]) -> float | None:
    """Seconds; a plain number is of seconds, and minutes and hours have names too."""
    if value is None:
        return None
    text = str(value).strip()
    number, unit = text.rstrip("abcdefghijklmnopqrstuvwxyz"), text.lstrip("+-.0123456789eE ")
    try:
        found = float(number) * _SECONDS[unit] if unit in _SECONDS else float(parse(f"{text} s" if not unit else text, "s"))
    except ValueError:
        found = 0.0
    if isinstance(value, bool) or not 0.0 < found < float("inf"):
        problems.append(Problem("timeout", value, "must be a time above 0, such as 90 s or 5 min"))
        return None
    return found


def _memory(value: Any, problems: list[Problem]) -> int | None:
    if value is None:
        return None
    try:
        found = int(parse(value, "B"))
    except ValueError as error:
        problems.append(Problem("worker_memory", value, str(error)))
        return None
    if found < _LEAST_MEMORY:
        problems.append(Problem("worker_memory", value, f"must be at least {show(_LEAST_MEMORY, 'B')}: a worker needs that for itself"))
        return None
    return found
