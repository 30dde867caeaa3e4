"""Devices that exchange data: a network of links, what an exchange between devices costs there, and with which algorithm.

Knows neither parts nor kernels: numbers come from a device's `link` at assembly. Times are nanoseconds, rates bytes a second.
"""

from archex.links.collectives import KINDS, Collective, Demands, plan
from archex.links.match import Call, match
from archex.links.network import Library, Network, Protocol, Switched
from archex.links.peer import PeerCopy, peer_access_rate, peer_copy, round_trip_ns

__all__ = [
    "KINDS",
    "Call",
    "Collective",
    "Demands",
    "Library",
    "Network",
    "PeerCopy",
    "Protocol",
    "Switched",
    "match",
    "peer_access_rate",
    "peer_copy",
    "plan",
    "round_trip_ns",
]
