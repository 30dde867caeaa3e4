"""The PTX front end: `parse` reads a file into a `Module`; `translate` turns one instruction into operations."""

from archex.programs.ptx.parser import parse
from archex.programs.ptx.syntax import Module

__all__ = ["Module", "parse"]
