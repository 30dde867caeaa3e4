"""Where archex's data lies: configs, presets and reference measurements.

Out: `conf()`, `experiments()`, `reference()` as paths. In a wheel these folders lie inside the package; in a checkout (or an
editable install) at the top of the repository.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_REPOSITORY = _PACKAGE.parent


def _folder(packaged: str, repository: str) -> Path:
    inside = _PACKAGE / packaged
    return inside if inside.is_dir() else _REPOSITORY / repository


def conf() -> Path:
    """Config groups, one folder a slot."""
    return _folder("conf", "conf")


def experiments() -> Path:
    """Presets, one file each."""
    return _folder("experiments", "experiments")


def reference() -> Path:
    """Silicon and published figures, with their provenance."""
    return _folder("reference", "results/reference")
