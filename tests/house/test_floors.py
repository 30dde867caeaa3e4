"""Imports go strictly down, and each outside library has one place."""

from __future__ import annotations

import ast
from pathlib import Path

from sources import ROOT, Source, imports, sources

#: Floor of each package; a module may import its own package and lower floors. The pillars of floor 1 don't import each other.
FLOORS = {
    "archex.base": 0,
    "archex": 0,  # the package itself re-exports the plugin marker and nothing else
    "archex.parts": 1,
    "archex.links": 1,
    "archex.programs": 1,
    "archex.engine": 1,
    "archex.timeline": 1,
    "archex.registry": 2,
    "archex.suite": 2,
    "archex.describe": 3,
    "archex.sampling": 3,
    "archex.assembly": 4,
    "archex.lowering": 4,
    "archex.driver": 4,  # hands traces to the engine, as far as sampling says
    "archex.simulate": 5,
    "archex.exact": 5,
    "archex.extrapolate": 5,
    "archex.tracing": 5,
    "archex.workloads": 5,
    "archex.records": 5,
    "archex.testing": 6,
    "archex.sweeps": 6,
    "archex.reports": 6,
    "archex.cli": 7,
}
#: simulate.py turns an outcome into a row, so records lie just below it on the same floor.
ALSO = {
    ("archex.simulate", "archex.records"),
    ("archex.simulate", "archex.exact"),
    ("archex.exact", "archex.extrapolate"),
    ("archex.exact", "archex.records"),
    ("archex.simulate", "archex.extrapolate"),
    ("archex.extrapolate", "archex.records"),
    ("archex.tracing", "archex.records"),
    ("archex.tracing", "archex.simulate"),
    ("archex.workloads", "archex.records"),
    ("archex.workloads", "archex.simulate"),
}
#: What a plugin may stand on, as a stranger's does.
PLUGIN_BASE = ("archex.base", "archex.parts", "archex.programs", "archex.engine")
#: Outside library -> the only packages that may import it.
ONLY_IN = {
    "hydra": ("archex.sweeps", "hydra_plugins"),
    "omegaconf": ("archex.sweeps", "hydra_plugins"),
    "pluggy": ("archex.registry",),
    "ray": ("archex.sweeps.launchers",),
    "numba": ("archex.base.jit", "archex.engine", "archex.programs"),
    "optuna": ("archex.sweeps.search",),
    "sqlalchemy": ("archex.sweeps.search",),
    "matplotlib": ("archex.reports",),
    "rich": ("archex.cli", "archex.reports", "archex.sweeps"),
}


def package_of(module: str) -> str:
    """`archex.engine.memory.l2` -> `archex.engine`; a top-level module is its own package."""
    return ".".join(module.split(".")[:2]) if module.startswith("archex.") else module.split(".")[0]


def within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def broken(source: Source) -> list[str]:
    found = []
    mine = package_of(source.module)
    for name, line in imports(source):
        where = f"{source.relative}:{line}: {source.module} imports {name}"
        top = name.split(".")[0]
        if top in ONLY_IN and not within(source.module, ONLY_IN[top]):
            found.append(f"{where}; only {', '.join(ONLY_IN[top])} may")
        if top == "hydra_plugins" and mine != "hydra_plugins":
            found.append(f"{where}; nothing imports Hydra's plugins but Hydra")
        if top == "archex_plugins" and mine != "archex_plugins":
            found.append(f"{where}; plugins are found through the entry point only")
        if top != "archex":
            continue
        theirs = package_of(name)
        if theirs not in FLOORS or (mine.startswith("archex.") and mine not in FLOORS):
            found.append(f"{where}: one of them has no floor")
        elif mine == "archex_plugins":
            if name != "archex" and not within(name, PLUGIN_BASE):
                found.append(f"{where}; a plugin stands on {', '.join(PLUGIN_BASE)}")
        elif mine == "hydra_plugins":
            if not within(name, ("archex.base", "archex.sweeps")):
                found.append(f"{where}; it calls archex.sweeps and nothing else")
        elif theirs != mine and (mine, theirs) not in ALSO and FLOORS[theirs] >= FLOORS[mine] and FLOORS[mine] + FLOORS[theirs] > 0:
            found.append(f"{where}: floor {FLOORS[mine]} to floor {FLOORS[theirs]}")
    return found


def test_every_module_has_a_floor() -> None:
    stray = {source.module for source in sources() if package_of(source.module) not in FLOORS | {"archex_plugins": 0, "hydra_plugins": 0}}
    assert not stray


def test_imports_go_down() -> None:
    assert not [line for source in sources() for line in broken(source)]


def test_the_rule_sees_what_it_forbids() -> None:
    """The test itself can fail: a pillar importing a pillar, an upward import, a library out of place."""
    text = "import pluggy\nfrom archex.programs import ir\nfrom archex.cli.main import main\nfrom archex.base import layout\n"
    source = Source("archex.engine.wrong", ROOT / "archex/engine/wrong.py", ast.parse(text), 4)
    assert len(broken(source)) == 3


def test_no_stray_top_level_packages() -> None:
    """A wheel puts its top-level folders beside everybody's: only ours, and never a package called `plugins`."""
    assert not (ROOT / "plugins/__init__.py").exists()
    assert not (ROOT / "hydra_plugins/__init__.py").exists(), "a namespace package shared with other Hydra plugins"
    assert {path.name for path in (ROOT / "plugins").iterdir() if path.is_dir() and not path.name.startswith("__")} == {"archex_plugins"}
    assert isinstance(ROOT, Path)
