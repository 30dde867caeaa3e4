"""Launches: what is run, read from a folder of programs and a `launches.json`."""
