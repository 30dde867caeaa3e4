"""Config files read once for all the compositions of a request.

In: Hydra's search path. Out: what Hydra's loader asks for its configs; it reads each file anew for each composition otherwise.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from hydra._internal.config_repository import ConfigRepository
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult


class Sources(ConfigRepository):
    """Hydra's own repository, with a memory. A composition gets copies, as it changes what it gets."""

    def __init__(self, search_path: ConfigSearchPath, known: dict[tuple[str, str, str], ConfigResult | bytes | None] | None = None) -> None:
        self._path = search_path
        self._known = {} if known is None else known
        super().__init__(search_path)

    def __deepcopy__(self, memo: dict[int, Any]) -> Sources:
        return Sources(self._path, self._known)  # Hydra takes one a composition, as `hydra.searchpath` may change its path

    def load_config(self, config_path: str) -> ConfigResult | None:
        """The config at a path below one of the sources."""
        source = self._find_object_source(config_path=config_path, object_type=ObjectType.CONFIG)
        if source is None:
            return None
        key = (source.provider, source.path, config_path)
        if key not in self._known:
            found = super().load_config(config_path)
            try:
                self._known[key] = pickle.dumps(found)
            except (pickle.PicklingError, AttributeError, TypeError):  # a structured config of a class that can't be imported
                self._known[key] = found
        known = self._known[key]
        copied: ConfigResult | None = pickle.loads(known) if isinstance(known, bytes) else copy.deepcopy(known)
        return copied
