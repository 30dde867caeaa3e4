"""Policies: on which channel an address lies."""
