"""Contract tests of parts, for the built-in ones and for a plugin's own test suite: derive from the contract of the part's kind."""

from archex.testing.contracts import CONTRACTS, PartContract

__all__ = ["CONTRACTS", "PartContract"]
