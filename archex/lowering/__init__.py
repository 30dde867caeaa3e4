"""Programs into machine code for one device."""

from archex.lowering.lower import WaveProgram, lower
from archex.lowering.unroll import unroll

__all__ = ["WaveProgram", "lower", "unroll"]
