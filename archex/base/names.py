"""Names and content hashes shared by every floor.

In: dotted paths, values, source files. Out: joined paths, canonical JSON, hashes. A fingerprint is of *content*: two spellings of one
value (64 MiB, 67108864) hash alike because values are hashed, not text.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import attrs

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def join(*parts: str | int) -> str:
    """`join('l2', 'levels', 0, 'size')` -> `l2.levels[0].size`; empty parts vanish."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part:
            path += ("." if path else "") + part
    return path


#: Values that JSON holds as they are.
_PLAIN = frozenset((str, int, bool, type(None)))


def plain(value: Any) -> Any:
    """A value as JSON can hold it: attrs classes become maps with their class name, tuples lists, floats stay exact."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return int(value) if value.is_integer() else value
    names = _fields(kind)  # type: ignore[arg-type]  # a class can be looked up
    if names is not None:
        return {"": kind.__name__} | {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, type):
        return getattr(value, "name", None) or value.__name__
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [plain(item) for item in value]
        return sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    return tuple(field.name for field in attrs.fields(kind)) if attrs.has(kind) else None


def content_hash(value: Any) -> str:
    """A short hash of a value's content."""
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]


def source_hash(files: Iterable[str | Path]) -> str:
    """A short hash of the files' contents, in the given order, whatever their places."""
    digest = hashlib.sha256()
    for file in files:
        content = Path(file).read_bytes()
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()[:16]


def file_hash(path: Path) -> str:
    """A short hash of a file's content, "" where there is none; read once for as long as the file is not changed."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return _file_hash(path, found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else ""


@cache
def _file_hash(path: Path, changed: int, size: int) -> str:
    return source_hash([path])
