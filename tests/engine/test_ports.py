"""Local memory's port: what products and copies that are over leave behind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from archex.engine import ports


def plain(function: Any) -> Any:
    return getattr(function, "py_func", function)


def test_products_that_are_over_hold_nobody_up() -> None:
    """Products and copies of a long loop, the port idle between them: a load behind the last is served at once."""
    state = SimpleNamespace(ports=np.zeros((1, ports.PORTS)))
    for turn in range(64):
        plain(ports.go_ahead)(state, 0, 256.0, 1.0)
        plain(ports.owe)(state, 0, 0, 1000.0 * (turn + 1), 16.0)
    assert plain(ports.take_port)(state, 0, 0, 66000.0, 4.0) == 66000.0


def test_products_ahead_come_first() -> None:
    state = SimpleNamespace(ports=np.zeros((1, ports.PORTS)))
    plain(ports.owe)(state, 0, 0, 1000.0, 2.0)
    plain(ports.go_ahead)(state, 0, 256.0, 0.75)
    assert plain(ports.take_port)(state, 0, 0, 1000.0, 4.0) == 1000.0 + 3 * 4.0
