"""dict -> DeviceSpec. All checking of a device happens here, and all problems are reported at once.

In: the composed config as a plain dict, the registry, which paths the command line overrode, which choice each slot was given.
Out: a `DeviceSpec`, or one `RequestError`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from archex.base.errors import ABSENT, Problem, RequestError, closest, unknown
from archex.base.terms import VOCABULARIES
from archex.describe.device import DeviceSpec, SlotSpec
from archex.describe.fit import fit
from archex.describe.slot import SlotDescriber
from archex.parts.kinds import EMPTY_SLOTS, KINDS, SLOTS, Slot
from archex.registry import Registry

#: Root keys of a device beside its slots.
ROOT_KEYS = ("device", "memory_path", "clock")


def describe(
    config: Mapping[str, Any],
    registry: Registry,
    *,
    overridden: Iterable[str] = (),
    choices: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
) -> DeviceSpec:
    """Check `config` and make it a device.

    overridden: dotted paths that the command line set. choices: slot -> the config group's choice, to name its file in messages.
    ignore: root keys that belong to others (suite, sampling, output, ...).
    """
    config, problems = {key: value for key, value in config.items() if key not in ignore}, []
    below: dict[str, list[str]] = defaultdict(list)
    for key in overridden:
        below[key.partition(".")[0]].append(key)
    path = config.get("memory_path")
    if not isinstance(path, (list, tuple)) or not path or not all(isinstance(level, str) for level in path):
        problems.append(Problem("memory_path", path, "must be a list of slots, from the lanes outwards, that ends with memory"))
        path = []
    slots = _slots(path)
    problems += _keys(config, slots)
    if config.get("clock") is not None and isinstance(config.get("compute_unit"), Mapping):
        config["compute_unit"] = {**config["compute_unit"], "clock": config["clock"]}
        below["compute_unit"] += ["compute_unit.clock"] if "clock" in below else []
    filled: dict[str, SlotSpec] = {}
    for slot in slots.values():
        content = config.get(slot.name)
        if not content:
            if not slot.optional or slot.name in path:
                problems.append(Problem(slot.name, ABSENT, f"is missing: choose a {slot.kind.replace('_', ' ')}"))
            continue
        try:
            filled[slot.name] = _describer(registry).describe(slot, content, below.get(slot.name, ()))
        except RequestError as error:
            file = f"conf/{slot.name}/{choices[slot.name]}.yaml" if choices and choices.get(slot.name) else None
            problems += [p._replace(source=file) for p in error.problems]
    name, vocabulary = _identity(config.get("device"), problems)
    device = DeviceSpec(name, vocabulary, filled, tuple(path))
    unfit = fit(device, {p.path.split(".")[0] for p in problems})
    problems += [p._replace(value=_given(config, p), combined=True) for p in unfit]
    if problems:
        raise RequestError(problems)
    return device


def _slots(path: Collection[str]) -> dict[str, Slot]:
    """The slots of a device: those of every device, and the cache levels that its memory path adds."""
    return SLOTS | {level: Slot(level, "cache") for level in path if level not in SLOTS}


def _keys(config: Mapping[str, Any], slots: Mapping[str, Slot]) -> list[Problem]:
    known = [*slots, *ROOT_KEYS]
    found = []
    for key, value in config.items():
        if key in EMPTY_SLOTS:
            if value:
                found.append(Problem(key, ABSENT, "is a slot that no part fills yet; leave it out"))
        elif key not in known:
            levels = " (a further cache level must be named in memory_path)" if isinstance(value, Mapping) and "ways" in value else ""
            nearest = closest(key, known)
            found.append(Problem(key, ABSENT, f"is not a known slot or key{levels}", () if nearest else tuple(sorted(known)), nearest))
    return found


@lru_cache(maxsize=4)
def _describer(registry: Registry) -> SlotDescriber:
    return SlotDescriber(registry)


def _given(config: Mapping[str, Any], problem: Problem) -> Any:
    """The value of a problem as the config spells it."""
    value: Any = config
    for key in problem.path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, (str, int, float)) and problem.value is not ABSENT else problem.value


def _identity(content: Any, problems: list[Problem]) -> tuple[str, str]:
    """A device's own name and the vocabulary its reports are printed in."""
    if not isinstance(content, Mapping):
        problems.append(Problem("device", content if content is not None else ABSENT, "must be a map with the device's name"))
        return "", "neutral"
    for key in content:
        if key not in ("name", "terms"):
            problems.append(unknown(f"device.{key}", ABSENT, ("name", "terms"), "key"))
    name, terms = content.get("name"), content.get("terms", "neutral")
    if not isinstance(name, str) or not name:
        problems.append(Problem("device.name", name, "must be a name"))
    if terms not in VOCABULARIES:
        problems.append(unknown("device.terms", terms, VOCABULARIES))
    return str(name), str(terms)


assert set(KINDS) >= {slot.kind for slot in SLOTS.values()}
