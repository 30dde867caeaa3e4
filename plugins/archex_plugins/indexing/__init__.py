"""Policies: in which set a line lies."""
