"""What many jobs share (base configs, launches) crosses to the workers once, by content.

In: things that pickle. Out: keys; in a worker `fetch(key)` gives the thing. A shelf is a temporary folder with one file a key (temporary
name, then `os.replace`); a parent that is killed leaves that folder behind and nothing else. A launcher whose workers can't read the folder
gives them another way with `use`.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from archex.records.files import OutputError

#: Things a process keeps unpickled.
KEPT = 256
_things: OrderedDict[str, Any] = OrderedDict()


class Shelf:
    """The parent's side: puts things down."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._held: dict[str, bytes] = {}  # what no other process has asked for yet

    @property
    def path(self) -> Path:
        """The folder, made when it is first asked for."""
        if self._path is None:
            self._path = Path(tempfile.mkdtemp(prefix="archex-"))
            weakref.finalize(self, _forget, self._path, os.getpid())  # a request that goes wrong closes nothing
            for key, content in self._held.items():
                self._write(self._path, key, content)
            self._held.clear()
        return self._path

    def put(self, thing: Any) -> str:
        """The key of `thing`, which is put down if it isn't there. Pickles each time: remember the key of what comes often."""
        content = pickle.dumps(thing, protocol=5)
        key = hashlib.sha256(content).hexdigest()[:32]
        if self._path is None:
            self._held[key] = content
        elif not (self._path / key).exists():
            self._write(self._path, key, content)
        return key

    def _write(self, path: Path, key: str, content: bytes) -> None:
        temporary = path / f".{key}.{os.getpid()}"
        try:
            temporary.write_bytes(content)
            os.replace(temporary, path / key)
        except OSError as error:
            raise OutputError.of(path, error) from None

    def read(self, key: str) -> bytes:
        """The pickle of what was put down, for launchers that carry it themselves, and for this process."""
        return self._held[key] if key in self._held else (self.path / key).read_bytes()

    def close(self) -> None:
        """Nothing is needed any more."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
            self._path = None


def _forget(path: Path, owner: int) -> None:
    """Remove the folder, in the process that made it."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def _nowhere(key: str) -> bytes:
    raise LookupError(f"no shelf was set up in this process: {key}")


_fetcher: Callable[[str], bytes] = _nowhere


def use(fetcher: Callable[[str], bytes]) -> None:
    """Say how this process gets at pickles by key."""
    global _fetcher
    _fetcher = fetcher


def use_folder(path: str) -> None:
    """Read them from a folder."""
    use(lambda key: Path(path, key).read_bytes())


def fetch(key: str) -> Any:
    """The thing of a key, kept for the next time."""
    if key not in _things:
        _things[key] = pickle.loads(_fetcher(key))
        while len(_things) > KEPT:
            _things.popitem(last=False)
    _things.move_to_end(key)
    return _things[key]
