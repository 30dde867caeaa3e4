"""Rows kept the moment they are finished: lines of JSON, appended, which a killed process cannot lose.

`journal-<uuid>.jsonl`: the first line says what it is (`{"journal": 1, "provenance": {...}}`), every other is a row without its nulls. Rows
that came together are one write. A last line without its end is of a write that was cut short and is dropped; any other line that does not
read makes the file torn.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from archex.records import schema
from archex.records.files import OutputError

VERSION = 1
#: Names that journals have, and nobody's own files.
PATTERN = f"journal-{'[0-9a-f]' * 32}.jsonl"


class Journal:
    """One file, open for appending. OutputError where it cannot grow; what it held before stays whole."""

    def __init__(self, folder: Path, provenance: dict[str, str]) -> None:
        self.path = folder / f"journal-{uuid.uuid4().hex}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except OSError as error:
            raise OutputError.of(self.path, error) from None
        self._size = self._head = 0
        try:
            self._write(_line({"journal": VERSION, "provenance": provenance}))
            self._head = self._size
        except OutputError:
            self.remove()
            raise

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Keep rows."""
        if os.fstat(self._file).st_nlink == 0:
            raise OutputError(f"{self.path}: was deleted while it was being written")
        self._write(b"".join(_line({name: value for name, value in row.items() if value is not None}) for row in rows))

    def _write(self, content: bytes) -> None:
        try:
            written = os.write(self._file, content)
            if written < len(content):  # the disk is full: the second try says so
                written += os.write(self._file, content[written:])
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise OutputError.of(self.path, error) from None
        self._size += written

    def close(self) -> None:
        """Leave the file where it is, if it holds a row."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            if self._size == self._head:
                self.path.unlink(missing_ok=True)

    def remove(self) -> None:
        """The rows are elsewhere by now."""
        self.close()
        self.path.unlink(missing_ok=True)


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def journals(folder: Path) -> list[Path]:
    """The journals in a folder, the oldest first."""
    found = []
    for path in folder.glob(PATTERN):
        with suppress(FileNotFoundError):  # its run has just put the rows into a shard
            found.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a journal, whole ones. ValueError says what is wrong with a torn one, OSError if it cannot be read at all."""
    *lines, _cut = path.read_bytes().split(b"\n")
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError("no JSON object")
            if number == 1:
                if found.get("journal") != VERSION:
                    raise ValueError(f"expected a journal of version {VERSION}")
            else:
                rows.append(schema.row({name: value for name, value in found.items() if name in schema.BY_NAME}))
        except (ValueError, TypeError) as error:
            raise ValueError(f"line {number}: {error}") from None
    return rows


def provenance(path: Path) -> dict[str, str]:
    """What the first line says about the run; nothing if it doesn't read."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.readline())
        return {str(name): str(value) for name, value in found["provenance"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
