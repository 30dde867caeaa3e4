"""Tells Hydra where configs lie besides `conf/`: the presets, and the folders that plugins bring.

In: the search path Hydra starts from. Out: the same with the folder that holds `experiments/`, and each `pkg://...` that a plugin's hook
`archex_config_dirs` returns.
"""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class ArchexSearchPath(SearchPathPlugin):
    """Found by Hydra by its base class."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append archex's folders, if it is archex that runs (Hydra loads this plugin for every application)."""
        if not any(entry.provider == "main" and _is_conf(entry.path) for entry in search_path.get_path()):
            return
        from archex.sweeps.search_path import folders

        for provider, path in folders():
            search_path.append(provider=provider, path=path)


def _is_conf(path: str | None) -> bool:
    from archex.base.folders import conf

    return path in (str(conf()), f"file://{conf()}")


__all__ = ["ArchexSearchPath"]
