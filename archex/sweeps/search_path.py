"""The config folders behind `conf/`.

Out: (provider, path) of the presets' parent and of every folder that an installed plugin brings, in the order of the plugins' names.
"""

from __future__ import annotations

from pathlib import Path

from archex.base import folders as own
from archex.registry import load

#: Folders named on the command line, for the composition that is about to start (Hydra makes the plugin that asks, without arguments).
given: tuple[str, ...] = ()


def folders() -> list[tuple[str, str]]:
    """What Hydra searches after archex's own `conf/`."""
    found = [("archex-experiments", f"file://{own.experiments().parent}")]
    for folder in load().config_dirs:
        found.append(("archex-plugin", folder if "://" in folder else f"file://{folder}"))
    return found + [("command-line", f"file://{Path(folder).resolve()}") for folder in given]
