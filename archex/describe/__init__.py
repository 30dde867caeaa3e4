"""From a composed dict to a checked `DeviceSpec`: everything that is wrong, at once, each with its path."""

from archex.describe.describe import describe
from archex.describe.device import DeviceSpec, Provenance, SlotSpec
from archex.describe.occupancy import Occupancy, occupancy
from archex.describe.tree import Leaf, assumed, tree

__all__ = ["DeviceSpec", "Leaf", "Occupancy", "Provenance", "SlotSpec", "assumed", "describe", "occupancy", "tree"]
