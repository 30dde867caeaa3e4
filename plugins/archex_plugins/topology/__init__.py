"""Topologies of links between devices: which hops lie between two of them."""
