"""What may stand in a workload, field by field, and how one value is read.

In: a value, its path. Out: the value in base units, or a problem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, unknown
from archex.base.units import parse
from archex.timeline.advice import ADVICE


@attrs.frozen
class Field:
    """A field: `kind` is a unit (`B`, `s`, `count`, `ratio`), `name`, `choice` or the kind of thing it names (`stream`, `kernel`, ...)."""

    kind: str
    required: bool = False
    choices: tuple[str, ...] = ()
    low: float = 0
    many: bool = False


COPIES = ("h2d", "d2h", "d2d", "peer", "fill")
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_receive")
_STREAM = Field("stream")
_NODES = Field("count", low=1)
#: What is done to managed memory.
TOUCHED = {
    "share": Field("ratio"), "mode": Field("choice", choices=("read", "write")), "order": Field("choice", choices=("sequential", "random")),
    "seed": Field("count"), "stride": Field("B", low=1),
}  # fmt: skip
#: step -> (what its own value is, its further fields)
STEPS: dict[str, tuple[Field, dict[str, Field]]] = {
    "launch": (Field("kernel"), {"stream": _STREAM, "arguments": Field("B")}),
    "copy": (
        Field("choice", choices=COPIES),
        {
            "bytes": Field("B"), "stream": _STREAM, "memory": Field("choice", choices=("pinned", "pageable")),
            "from": Field("buffer"), "to": Field("buffer"), "source": Field("device"), "target": Field("device"),
        },
    ),
    "prefetch": (Field("buffer"), {"stream": _STREAM, "to": Field("choice", choices=("device", "host"))}),
    "record": (Field("name"), {"stream": _STREAM, "time": Field("flag")}),
    "wait": (Field("event"), {"stream": _STREAM}),
    "query": (Field("event"), {}),
    "sync": (Field("stream_or_all"), {"mode": Field("choice", choices=("poll", "sleep"))}),
    "sync_event": (Field("event"), {"mode": Field("choice", choices=("poll", "sleep"))}),
    "work": (Field("s"), {}),
    "call": (Field("s"), {"stream": _STREAM}),
    "load": (Field("name"), {"instructions": Field("count"), "cache": Field("choice", choices=("hit", "miss"))}),
    "capture": (Field("name"), {"steps": Field("steps", required=True)}),
    "instantiate": (Field("graph"), {}),
    "update": (Field("graph"), {"nodes": _NODES}),
    "replay": (Field("graph"), {"stream": _STREAM}),
    "collective": (
        Field("choice", choices=COLLECTIVES),
        {
            "bytes": Field("B", required=True), "stream": _STREAM, "streams": Field("stream", many=True), "name": Field("name"),
            "rank": Field("count"), "ranks": Field("count", low=1), "root": Field("count"),
        },
    ),
    "touch": (Field("buffer"), TOUCHED),
    "advise": (Field("buffer"), {"as": Field("choice", required=True, choices=ADVICE)}),
    "repeat": (Field("count", low=1), {"steps": Field("steps", required=True)}),
}  # fmt: skip
KERNEL = {
    "launch": Field("launch"), "suite": Field("name"), "path": Field("name"), "us": Field("number"), "cycles": Field("number"),
    "units": Field("number"), "memory": Field("ratio"), "arguments": Field("B"), "caches": Field("choice", choices=("cold", "warm")),
    "cache": Field("choice", choices=("hit", "miss")), "instructions": Field("count"),
    "touches": Field("steps"),
}  # fmt: skip
STREAM = {"device": Field("device"), "priority": Field("integer")}
BUFFER = {
    "bytes": Field("B", required=True, low=1), "device": Field("device"),
    "memory": Field("choice", choices=("device", "pinned", "pageable", "managed")), "untouched": Field("flag"),
    "advice": Field("choice", choices=ADVICE),
}  # fmt: skip
TOUCH = {"buffer": Field("buffer", required=True), **TOUCHED}
ROOT = ("name", "devices", "kernels", "streams", "buffers", "graphs", "steps", "threads")


def one(value: Any, field: Field, path: str, known: Mapping[str, Any], problems: list[Problem]) -> Any:
    """A value of a field; None with a problem. known: kind of thing -> the names there are."""
    if field.many:
        if not isinstance(value, (list, tuple)) or not value:
            problems.append(Problem(path, value, "must be a list"))
            return None
        single = attrs.evolve(field, many=False)
        return [one(item, single, f"{path}[{place}]", known, problems) for place, item in enumerate(value)]
    if field.kind == "choice":
        if value not in field.choices:
            problems.append(unknown(path, value, field.choices))
        return value
    if field.kind == "launch":
        if not (isinstance(value, str) and value) and not (isinstance(value, Mapping) and value):
            problems.append(Problem(path, value, "must be the name of a launch, or a launch as launches.json describes one"))
        return value
    if field.kind == "name":
        if not isinstance(value, str) or not value:
            problems.append(Problem(path, value, "must be a name"))
        return value
    if field.kind == "flag":
        if not isinstance(value, bool):
            problems.append(Problem(path, value, "must be true or false"))
        return value
    if field.kind in ("integer", "device"):
        return _whole(value, field, path, known, problems)
    if field.kind in known or field.kind == "stream_or_all":
        names = [*known["stream"], "all"] if field.kind == "stream_or_all" else list(known[field.kind])
        if not isinstance(value, str) or value not in names:
            problems.append(unknown(path, value, names, field.kind.replace("_or_all", "")))
        return value
    if field.kind == "number":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not field.low <= value < math.inf:
            problems.append(Problem(path, value, "must be a number of at least 0"))
            return None
        return float(value)
    try:
        found = parse(value, field.kind)
    except ValueError as error:
        problems.append(Problem(path, value, str(error)))
        return None
    if field.kind == "ratio" and not 0 <= found <= 1:
        problems.append(Problem(path, value, "must be 0 to 1"))
    elif found < field.low:
        problems.append(Problem(path, value, f"must be at least {field.low:g}"))
    return found


def _whole(value: Any, field: Field, path: str, known: Mapping[str, Any], problems: list[Problem]) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        problems.append(Problem(path, value, "must be a whole number"))
    elif field.kind == "device" and not 0 <= value < known["devices"]:
        problems.append(Problem(path, value, f"must be a device, 0 to {known['devices'] - 1}"))
    return value


def fields(
    given: Any, form: Mapping[str, Field], path: str, known: Mapping[str, Any], problems: list[Problem], skip: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The fields of a map; unknown and missing ones are problems."""
    if not isinstance(given, Mapping):
        problems.append(Problem(path, given, "must be a map", tuple(form)))
        return {}
    found = {}
    for key, value in given.items():
        if key in skip:
            continue
        if key not in form:
            problems.append(unknown(f"{path}.{key}", ABSENT, (*skip, *form), "key"))
        elif form[key].kind != "steps":
            found[key] = one(value, form[key], f"{path}.{key}", known, problems)
    for key, field in form.items():
        if field.required and key not in given:
            problems.append(Problem(f"{path}.{key}", ABSENT, "is missing"))
    return found
