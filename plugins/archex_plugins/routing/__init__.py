"""Interconnects with links: which ones lie between a compute unit and a slice."""
