"""From a described device to what the engine and the lowering take: tables of numbers, compiled policies, timings."""

from archex.assembly.assemble import Device, assemble

__all__ = ["Device", "assemble"]
