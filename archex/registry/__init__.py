"""Which parts are installed: discovery through the entry-point group `archex.plugins`. The only user of pluggy."""

from archex.registry.load import Registered, Registry, load

__all__ = ["Registered", "Registry", "load"]
