"""Policies: which ready wave issues next."""
