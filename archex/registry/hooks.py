"""The hooks a plugin may implement. Each is called once, at start, and hands over values; none acts."""

from __future__ import annotations

import pluggy

from archex.base.hooks import PROJECT
from archex.parts.part import Part

hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def archex_parts() -> list[type[Part]]:
    """The parts this plugin adds: classes derived from the page of their kind."""
    raise NotImplementedError


@hookspec
def archex_config_dirs() -> list[str]:
    """Folders with config groups of this plugin, as `pkg://package.conf` or a path, searched behind archex's own."""
    raise NotImplementedError
