"""`hydra/launcher=ray`: jobs on the nodes of a Ray cluster, one a CPU."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from archex.sweeps import backends, launchers
from archex.sweeps.settings import Settings

_ADDRESS = "HOST:PORT of the cluster's head; null: $RAY_ADDRESS, the cluster that this machine is in, or one started for the run"


@attrs.frozen
class Fields:
    """What the launcher can be told."""

    address: str | None = backends.text(_ADDRESS, default=None)
    workers: int | None = backends.number("count", "jobs at a time; null: the root key workers, or one a CPU", low=1, default=None)
    environment: Mapping[str, str] = backends.text("environment variables of the workers", each="map", default={})


class ArchexRayLauncher(backends.LauncherPlugin):
    """Found by Hydra by its base class."""

    Fields = Fields

    def make(self, settings: Settings) -> launchers.Launcher:
        """The cluster, which is connected to when the first job is there."""
        from archex.sweeps.launchers.ray import Ray

        return Ray(self.fields.address, self.fields.workers or settings.workers, self.fields.environment)


backends.offer("hydra/launcher", "ray", ArchexRayLauncher)
__all__ = ["ArchexRayLauncher"]
