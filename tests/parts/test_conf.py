"""Shipped config files: every number has a source, every file holds a part, devices only choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from archex.base import folders
from archex.describe import tree
from archex.describe.device import STATUSES
from archex.describe.provenance import covering, leaves, provenance, unsourced
from archex.describe.structure import Structurer
from archex.parts.kinds import KINDS, SLOTS
from archex.testing.devices import compose, described, installed, slot_file
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from omegaconf import OmegaConf

DEVICES = sorted(path.stem for path in (folders.conf() / "device").glob("*.yaml"))
SLOT_FILES = sorted(path for slot in SLOTS for path in (folders.conf() / slot).glob("*.yaml"))


def label(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def content(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text())


def test_devices_are_there() -> None:
    assert {"h100_sxm", "h200", "a100", "mi210", "mi300a", "mi300x", "hopper_like", "cdna3_like", "tiny"} == set(DEVICES)


def test_a_family_is_explored_around_its_best_known_device() -> None:
    for alias, device in (("hopper_like", "h200"), ("cdna3_like", "mi300x")):
        assert described(alias).fingerprint == described(device).fingerprint


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_only_chooses(device: str) -> None:
    """The command line must beat a device file, so that one holds `override` lines, its name and the order of its levels."""
    text = content(folders.conf() / "device" / f"{device}.yaml")
    assert set(text) <= {"defaults", "device", "memory_path"}
    for line in text["defaults"]:
        assert line == "_self_" or line in DEVICES or all(key.startswith("override /") for key in line), line


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_is_right(device: str) -> None:
    spec = described(device)
    assert spec.name == device
    assert set(spec.memory_path) <= set(spec.slots)
    assert [leaf.path for leaf in tree(spec) if leaf.status not in ("", *STATUSES)] == [], "a number left to its default has no source"


@pytest.mark.parametrize("path", SLOT_FILES, ids=label)
def test_a_slot_file_holds_a_part_and_a_source_for_each_number(path: Path) -> None:
    whole = slot_file(path.parent.name, path.stem)
    kind = SLOTS[path.parent.name].kind
    part = installed().parts[kind, whole.get("name", KINDS[kind].name)].part
    numbers = {key: value for key, value in whole.items() if key not in ("name", "sources")}
    spec = Structurer(installed()).structure(part.Spec, numbers, path.parent.name)
    assert part.check(spec) == []
    found, wrong = provenance(path.parent.name, whole.get("sources", {}), numbers, ())
    assert wrong == []
    assert unsourced(found, numbers) == []
    assert all(source.status in STATUSES and len(source.origin) > 5 for source in found.values())


@pytest.mark.parametrize("path", [path for path in SLOT_FILES if "defaults" in content(path)], ids=label)
def test_a_file_that_starts_from_another_gives_its_own_numbers_their_own_sources(path: Path) -> None:
    """Else a number would seem to be from where the other file's is."""
    own, whole = content(path), slot_file(path.parent.name, path.stem)
    assert own["defaults"][1:] == ["_self_"], "one file of the same slot, then what this one changes"
    for leaf, value in leaves({key: value for key, value in own.items() if key not in ("defaults", "name", "sources")}):
        assert covering(leaf, whole["sources"]) in own["sources"] or value is None, leaf


@pytest.mark.parametrize("path", SLOT_FILES, ids=label)
def test_a_slot_file_says_in_a_line_what_it_is(path: Path) -> None:
    assert path.read_text().startswith("# ")


def test_every_slot_has_a_group() -> None:
    assert all(any((folders.conf() / slot).glob("*.yaml")) for slot in SLOTS)


@pytest.mark.parametrize("device", DEVICES)
def test_hydra_composes_the_same(device: str) -> None:
    """Tests compose without Hydra; what they see is what users get."""
    with initialize_config_dir(config_dir=str(folders.conf()), version_base="1.3"):
        config = OmegaConf.to_container(hydra_compose("config", overrides=[f"device={device}"]), resolve=True)
    assert isinstance(config, dict)
    plain = compose(device)
    assert {key: config[key] for key in plain} == plain


def test_the_command_line_beats_the_device() -> None:
    with initialize_config_dir(config_dir=str(folders.conf()), version_base="1.3"):
        config = hydra_compose("config", overrides=["l2=tiny", "device=h200", "vector_cache.ways=8"])
    assert config.l2.size == "64 KiB"
    assert config.vector_cache.ways == 8
