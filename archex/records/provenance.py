"""What a row is a row of, by content.

In: launches, options, the installed archex. Out: fingerprints for the columns, and what stands beside the rows in their file. Source
hashes, never version strings: two spellings of one thing are one result, and a changed line is another.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import attrs

from archex.base.names import content_hash, file_hash, source_hash
from archex.base.options import Options

_PACKAGE = Path(__file__).resolve().parents[1]
#: What decides a row's numbers (not how it is asked for, kept or printed).
_SOURCES = ("base", "parts", "programs", "engine", "describe", "assembly", "lowering", "suite")
_FILES = ("simulate.py", "driver.py", "sampling.py", "records/outcome.py")
#: Fields of a launch that name it and don't change what it runs.
_NAMES = ("id", "name", "folder", "source")


@cache
def sources() -> str:
    """Hash of every source of archex that decides a number."""
    files = [file for folder in _SOURCES for file in sorted((_PACKAGE / folder).rglob("*.py"))]
    return source_hash([*files, *(_PACKAGE / name for name in _FILES)])


def program_fingerprint(launch: Any, seed: int) -> str:
    """Hash of what a launch runs: PTX and other files by content, geometry, arguments, seed. Not of its id nor of where it lies."""
    content = {field.name: _content(getattr(launch, field.name)) for field in attrs.fields(type(launch)) if field.name not in _NAMES}
    return content_hash([content, seed])


def _content(value: Any) -> Any:
    if isinstance(value, Path):
        return file_hash(value)
    if attrs.has(type(value)):
        return {field.name: _content(getattr(value, field.name)) for field in attrs.fields(type(value)) if field.name != "id"}
    if isinstance(value, dict):
        return {str(key): _content(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_content(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


def point_id(device_fingerprint: str, program_fingerprint: str, options: Options) -> str:
    """One row's identity: what is run, on what, how, by which sources. The seed is in the program's fingerprint."""
    return content_hash([device_fingerprint, program_fingerprint, options.sampling, options.repeat, sources()])


def of_run(command: list[str]) -> dict[str, str]:
    """What a file of rows says about its run, in its metadata."""
    try:
        release = version("archex-sim")
    except PackageNotFoundError:
        release = "source"
    python = ".".join(map(str, sys.version_info[:3]))
    return {"archex": release, "archex_sources": sources(), "python": python, "command": " ".join(command)}


def of_config(config: dict[str, Any]) -> str:
    """A stand-in for a device's fingerprint where it could not be described: hash of its config."""
    return content_hash(config)
