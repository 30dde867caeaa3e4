"""The launches that contracts run: small, and together with something for every part of a device.

Out: `exercise()`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer, Fill
from archex.suite.launch import Launch


@cache
def exercise(program: str = "everything", workgroups: int = 12, threads: int = 128, rounds: int = 3) -> Launch:
    """A few workgroups of a few waves.

    program: `everything` runs on any device; `products` needs a matrix unit, `copies` a unit that copies beside the waves.
    """
    buffers = (
        Buffer("out", "f32", 4 * threads * workgroups, Fill("zero")),
        Buffer("in", "f32", 1 << 16, Fill("uniform")),
        Buffer("sum", "u32", 64, Fill("zero")),
    )
    arguments = (*(Argument("buffer", buffer.name) for buffer in buffers), Argument("u32", rounds))
    source = Path(__file__).with_name(f"{program}.ptx")
    return Launch(program, source, "exercise", (workgroups, 1, 1), (threads, 1, 1), arguments=arguments, buffers=buffers)
