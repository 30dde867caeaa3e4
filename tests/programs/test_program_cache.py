"""What is kept between processes: the same program, made again when its file is torn or not ours, bounded in size."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import archex.simulate
import numpy as np
import pytest
from archex.assembly import Device, assemble
from archex.lowering import kept as store
from archex.suite.launch import Launch
from archex.testing.devices import described

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
 .reg .b32 %r<4>;
 mov.u32 %r1, %tid.x;
 add.s32 %r2, %r1, NUMBER;
 exit;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARCHEX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "RECENT", 0)  # as in another process
    return tmp_path / "cache" / "kept"


def counted(value: object, made: list[object]) -> Callable[[], object]:
    def make() -> object:
        made.append(value)
        return value

    return make


def test_made_once_and_read_then(folder: Path) -> None:
    made: list[object] = []
    assert [store.kept("kind", ("a", 1), counted({"x": 1}, made)) for _ in range(3)] == [{"x": 1}] * 3
    assert store.kept("kind", ("a", 2), counted("other", made)) == "other"
    assert made == [{"x": 1}, "other"]
    assert store.kept("kind", ("b",), counted(None, made)) is None
    assert store.kept("kind", ("b",), counted("again", made)) is None  # nothing is a result too
    assert len(list(folder.iterdir())) == 3


def test_a_process_remembers_what_it_has_used_last(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "RECENT", 2500)
    made: list[object] = []
    first = [store.kept("kind", (number,), counted([b"x" * 1000], made)) for number in range(3)]
    for path in folder.iterdir():
        path.write_bytes(b"torn")
    again = [store.kept("kind", (number,), counted([b"x" * 1000], made)) for number in (2, 1, 0)]
    assert again[0] is first[2]
    assert again[1] is first[1]
    assert len(made) == 4  # the first had to go


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:40] + bytes([b[40] ^ 1]) + b[41:], lambda b: b"foreign"])
def test_torn_or_foreign_files_are_made_again(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    made: list[object] = []
    store.kept("kind", (), counted(["right"], made))
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert store.kept("kind", (), counted(["right"], made)) == ["right"]
    assert len(made) == 2
    assert path.read_bytes() == whole
    assert [p.name for p in folder.iterdir()] == [path.name]  # no temporary left


def test_a_folder_that_cannot_be_written_keeps_nothing(folder: Path) -> None:
    folder.parent.write_text("a file where the folder should be")
    made: list[object] = []
    assert [store.kept("kind", (), counted(7, made)) for _ in range(2)] == [7, 7]
    assert len(made) == 2


def test_what_has_no_address_is_not_kept() -> None:
    made: list[object] = []
    for _ in range(2):
        assert store.kept("kind", (lambda: 0,), counted(7, made)) == 7
    assert len(made) == 2


def test_the_oldest_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST", 5000)
    monkeypatch.setattr(store, "EACH", 0)
    for number in range(8):
        store.kept("kind", (number,), lambda: b"x" * 1000)
        for path in folder.iterdir():
            stat = path.stat()
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - 10**9))  # each round a second older
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 5000
    made: list[object] = []
    store.kept("kind", (7,), counted(b"", made))
    store.kept("kind", (0,), counted(b"", made))
    assert len(made) == 1  # the newest is there, the first is not


def prepared(device: Device, path: Path, number: int) -> tuple[str, np.ndarray]:
    path.write_text(PTX.replace("NUMBER", str(number)))
    function, machine = archex.simulate.prepare(device, Launch("k", path, "k", (1, 1, 1), (32, 1, 1)))
    return "\n".join(str(operation) for block in function.blocks for operation in block.operations), machine.code


def test_a_program_read_back_is_the_program_made(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [assemble(described(name)) for name in ("h200", "mi300a")]
    fresh = [prepared(device, tmp_path / "k.ptx", 5) for device in devices]
    assert len(list(folder.iterdir())) == 4
    monkeypatch.setattr(archex.simulate, "unroll", None)  # from here on nothing may be made
    monkeypatch.setattr(archex.simulate, "lower", None)
    for device, (text, code) in zip(devices, fresh, strict=True):
        again, same = prepared(device, tmp_path / "k.ptx", 5)
        assert again == text
        assert np.array_equal(same, code)


def test_another_text_under_the_same_name_is_another_program(tmp_path: Path, folder: Path) -> None:
    device = assemble(described("h200"))
    prepared(device, tmp_path / "k.ptx", 5)
    before = len(list(folder.iterdir()))
    prepared(device, tmp_path / "k.ptx", 6)
    assert len(list(folder.iterdir())) == 2 * before
