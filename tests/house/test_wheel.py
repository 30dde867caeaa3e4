"""The wheel has what `archex` needs to work from any folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from sources import ROOT, sources


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(next(folder.glob("archex_sim-*.whl")))


def tracked(folder: str) -> set[Path]:
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True).stdout.split("\n")
    return {Path(name) for name in listed if name and (ROOT / name).exists()}


def test_all_sources_are_in(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    missing = [s.relative for s in sources() if s.relative.removeprefix("plugins/") not in names]
    assert not missing


@pytest.mark.parametrize(
    ("folder", "inside"),
    [
        ("conf", "archex/conf"),
        ("experiments", "archex/experiments"),
        ("results/reference", "archex/reference"),
        ("archex/reports/assets", "archex/reports/assets"),
        ("archex/reports/compare/assets", "archex/reports/compare/assets"),
        ("archex/reports/validate/assets", "archex/reports/validate/assets"),
    ],
)
def test_data_is_in(wheel: zipfile.ZipFile, folder: str, inside: str) -> None:
    names = set(wheel.namelist())
    here = tracked(folder)
    assert here
    assert not [path for path in here if f"{inside}/{path.relative_to(folder)}" not in names]


def test_kernels_of_the_suites_are_in(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    kernels = [path for path in tracked("archex/suite") if path.suffix != ".py"]
    assert kernels
    assert not [path for path in kernels if str(path) not in names]


def test_nothing_stray_is_in(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"archex", "archex_plugins", "hydra_plugins"}
    assert not [name for name in wheel.namelist() if "__pycache__" in name or "/runs/" in name]


def test_entry_points_and_licence(wheel: zipfile.ZipFile) -> None:
    info = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    text = wheel.read(info).decode()
    assert "archex = archex.cli.main:main" in text
    assert "[archex.plugins]" in text
    assert any(name.endswith("LICENSE") for name in wheel.namelist())


def test_it_works_from_any_folder(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Unpacked and run from elsewhere: configs, presets and reference are found inside the package."""
    wheel.extractall(tmp_path / "installed")
    code = (
        "from archex.base import folders\n"
        "from archex.cli.main import main\n"
        "for folder in (folders.conf(), folders.experiments(), folders.reference()):\n"
        "    assert 'installed' in str(folder) and folder.is_dir(), folder\n"
        "raise SystemExit(main(['show', 'device=tiny']))\n"
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed"), "ARCHEX_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", code], cwd=elsewhere, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "vector_cache" in done.stdout
    assert not list(elsewhere.iterdir()), "showing a device writes nothing"
