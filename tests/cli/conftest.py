"""Fixtures of the tests of the command."""

from cli_place import launches, place

__all__ = ["launches", "place"]
