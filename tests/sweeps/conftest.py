"""Sweeps run in the working folder of the command's tests."""

from cli_place import launches, place

__all__ = ["launches", "place"]
