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

    @property
    def path(self) -> Path:
        """The folder, made when it is first asked for."""
        if self._path is None:
            self._path = Path(tempfile.mkdtemp(prefix="archex-"))
        return self._path

    def put(self, thing: Any) -> str:
        """The key of `thing`, which is put down if it isn't there. Pickles each time: remember the key of what comes often."""
        content = pickle.dumps(thing, protocol=5)
        key = hashlib.sha256(content).hexdigest()[:32]
        file = self.path / key
        if not file.exists():
            temporary = file.with_name(f".{key}.{os.getpid()}")
            try:
                temporary.write_bytes(content)
                os.replace(temporary, file)
            except OSError as error:
                raise OutputError.of(self.path, error) from None
        return key

    def read(self, key: str) -> bytes:
        """The pickle of what was put down, for launchers that carry it themselves."""
        return (self.path / key).read_bytes()

    def close(self) -> None:
        """Nothing is needed any more."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
            self._path = None


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
