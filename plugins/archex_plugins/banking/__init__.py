"""Policies: how many passes local memory needs."""
