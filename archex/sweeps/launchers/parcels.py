"""What the shelf holds, as bytes that another machine can use: files that a launch names by path go along.

In: a thing from the shelf. Out: its pickle and the contents of its files by content; where it is unpickled, a path is the same file again,
or a copy of it in the cache where that machine has no such file. Programs are small, and what a buffer reads from is in the launch.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_IN_THE_LAUNCH = ".npy"
#: Contents that have come to this process, and the places of copies -> the path that the launch names.
_came: dict[str, bytes] = {}
_places: dict[str, str] = {}


class _Packer(pickle.Pickler):
    """Pickles a path to a file as the call that finds it again."""

    def __init__(self, to: io.BytesIO) -> None:
        super().__init__(to, protocol=5)
        self.files: dict[str, bytes] = {}

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, Path) or value.suffix == _IN_THE_LAUNCH or not value.is_file():
            return NotImplemented
        content = value.read_bytes()
        name = _name(content)
        self.files[name] = content
        return arrived, (str(value), name)


def pack(thing: Any) -> tuple[bytes, dict[str, bytes]]:
    """The pickle of `thing`, and the files it needs."""
    stream = io.BytesIO()
    packer = _Packer(stream)
    packer.dump(thing)
    return stream.getvalue(), packer.files


def take(contents: Mapping[str, bytes]) -> None:
    """Contents (pickles by key, files by name) have come to this process."""
    _came.update(contents)


def missing(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those that have not."""
    return tuple(name for name in names if name not in _came)


def pickled(key: str) -> bytes:
    """How a process gets at things that came this way (`shelf.use`)."""
    return _came[key]


def arrived(path: str, name: str) -> Path:
    """A file of the machine that sent it, here."""
    own = Path(path)
    if own.is_file() and _name(own.read_bytes()) == name:
        return own
    from archex.lowering.kept import folder

    try:  # at a place named by content: what is kept of a program counts its path
        copy = _copied(folder().parent / "carried" / name / own.name, name)
    except OSError:
        copy = _copied(Path(tempfile.gettempdir(), f"archex-carried-{os.getuid()}", name, own.name), name)
    _places[str(copy)] = path
    return copy


def _copied(copy: Path, name: str) -> Path:
    if not copy.is_file() or _name(copy.read_bytes()) != name:
        copy.parent.mkdir(parents=True, exist_ok=True)
        temporary = copy.with_name(f".{os.getpid()}.tmp")
        temporary.write_bytes(_came[name])
        os.replace(temporary, copy)
    return copy


def as_sent(text: str) -> str:
    """A message with the paths that the sender knows."""
    for copy, path in _places.items():
        text = text.replace(copy, path)
    return text


def _name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
