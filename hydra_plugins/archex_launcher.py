"""`hydra/launcher=archex`: jobs on this machine's cores, one process a worker."""

from __future__ import annotations

import attrs
from archex.sweeps import backends, launchers
from archex.sweeps.settings import Settings


@attrs.frozen
class Fields:
    """What the launcher can be told."""

    workers: int | None = backends.number("count", "processes; null: the root key workers, or one a core", low=1, default=None)


class ArchexLauncher(backends.LauncherPlugin):
    """Found by Hydra by its base class."""

    Fields = Fields

    def make(self, settings: Settings) -> launchers.Launcher:
        """A pool of processes."""
        from archex.sweeps.launchers.local import Local

        return Local(self.fields.workers or settings.workers)


backends.offer("hydra/launcher", "archex", ArchexLauncher)
__all__ = ["ArchexLauncher"]
