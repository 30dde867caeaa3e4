"""Policies: how addresses become lines."""
