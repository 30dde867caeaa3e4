"""Policies: which compute unit gets a workgroup."""
