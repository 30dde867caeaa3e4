"""Shipped devices as plain dicts, composed from the files without Hydra: quick, and enough for tests of parts.

In: a device's name, value overrides by dotted path. Out: the dict that `describe` takes. Only what these files may hold is understood:
a base file of the same group, `override` lines of devices, values of their own.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import yaml

from archex.base import folders
from archex.describe import DeviceSpec, describe
from archex.registry import Registry, load

installed = cache(load)


@cache
def _file(path: str) -> dict[str, Any]:
    return yaml.safe_load((folders.conf() / path).read_text()) or {}


def over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """`own` on top of `base`: maps are merged, all else is replaced."""
    merged = dict(base)
    for key, value in own.items():
        known = merged.get(key)
        merged[key] = over(known, value) if isinstance(value, dict) and isinstance(known, dict) else value
    return merged


@cache
def slot_file(slot: str, choice: str) -> dict[str, Any]:
    """The content of a slot's file on top of the files of the same slot that it starts from."""
    whole: dict[str, Any] = {}
    own = _file(f"{slot}/{choice}.yaml")
    for line in own.get("defaults", ["_self_"]):
        above = {key: value for key, value in own.items() if key != "defaults"} if line == "_self_" else slot_file(slot, line)
        whole = over(whole, above)
    return whole


def choices(device: str) -> dict[str, str]:
    """slot -> choice of a shipped device."""
    found: dict[str, str] = {}
    for line in _file(f"device/{device}.yaml").get("defaults", []):
        if isinstance(line, dict):
            found |= {key.removeprefix("override /"): choice for key, choice in line.items()}
        elif line != "_self_":
            found |= choices(line)
    return found


def _root(device: str) -> dict[str, Any]:
    content = _file(f"device/{device}.yaml")
    root: dict[str, Any] = {}
    for line in content.get("defaults", []):
        if isinstance(line, str) and line != "_self_":
            root = _root(line)
    for key, value in content.items():
        if key != "defaults":
            root[key] = {**root.get(key, {}), **value} if isinstance(value, dict) else value
    return root


def compose(device: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
    """The composed dict of a shipped device; `values` are overrides by dotted path (a bare slot name: the group's choice)."""
    picked = choices(device)
    picked |= {key: value for key, value in (values or {}).items() if key in picked and isinstance(value, str)}
    config = copy.deepcopy(_root(device) | {slot: slot_file(slot, choice) for slot, choice in picked.items()})
    for path, value in (values or {}).items():
        if path in picked and isinstance(value, str):
            continue
        *above, last = path.split(".")
        place = config
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    return config


def described(device: str, values: dict[str, Any] | None = None, registry: Registry | None = None) -> DeviceSpec:
    """A shipped device, described, with overrides."""
    return describe(compose(device, values), registry or installed(), overridden=tuple(values or ()), choices=choices(device))
