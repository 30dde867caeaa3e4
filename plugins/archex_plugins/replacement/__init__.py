"""Policies: which line of a set goes."""
