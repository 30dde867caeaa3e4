"""The shipped suite is what its config says: eight launches that read, parse and name their own memory."""

from __future__ import annotations

from archex.programs.build import load_function
from archex.suite.launch import read_folder
from archex.sweeps.settings import KERNELS


def test_eight_launches_that_parse() -> None:
    launches = read_folder(KERNELS / "smoke")
    assert list(launches) == ["copy", "reduce", "transpose", "softmax", "sgemm", "gather", "stencil", "histogram"]
    for launch in launches.values():
        assert load_function(launch.ptx, launch.entry).blocks
