"""The config folders behind `conf/`.

Out: (provider, path) of the presets' parent and of every folder that an installed plugin brings, in the order of the plugins' names.
"""

from __future__ import annotations

from archex.base.folders import experiments
from archex.registry import load


def folders() -> list[tuple[str, str]]:
    """What Hydra searches after archex's own `conf/`."""
    found = [("archex-experiments", f"file://{experiments().parent}")]
    for folder in load().config_dirs:
        found.append(("archex-plugin", folder if "://" in folder else f"file://{folder}"))
    return found
