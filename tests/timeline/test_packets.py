"""Packets byte by byte against the published layout."""

from __future__ import annotations

import csv
import re

import attrs
import pytest
from archex.base import folders
from archex.testing.devices import described
from archex.timeline.packets import LAYOUT, SIZE, Dispatch, decode, header
from hypothesis import given, settings
from hypothesis import strategies as st

SOME = Dispatch(
    workgroup=(256, 2, 1), grid=(65536, 4, 1), private_bytes=16, local_bytes=49152, kernel=0x7F00_1234_5678_9ABC,
    arguments=0x1122_3344_5566_7788, signal=0x0102_0304_0506_0708, barrier=True, acquire="agent", release="system",
)  # fmt: skip


def facts() -> dict[str, tuple[int, int]]:
    with open(folders.reference() / "facts/published_facts.csv", newline="") as file:
        lines = [line for line in csv.reader(file) if len(line) > 4 and line[1] == "aql"]
    found = {}
    for line in lines:
        if field := re.fullmatch(r"aql_kernel_dispatch_field_(\w+)", line[2]):
            found[field[1]] = (int(line[3]), int(re.search(r"width (\d+) bits", line[4])[1]))  # type: ignore[index]
    return found


def test_every_field_lies_where_it_is_published_to_lie() -> None:
    assert facts() == LAYOUT
    assert sum(bits for _, bits in LAYOUT.values()) == 8 * SIZE


def test_a_packet_byte_by_byte() -> None:
    packet = SOME.encode()
    assert packet.hex(" ", 4) == (
        "020b0200 00010200 01000000 00000100 04000000 01000000 10000000 00c00000 "
        "bc9a7856 3412007f 88776655 44332211 00000000 00000000 08070605 04030201"
    ).replace("020b0200", (0x02 | 1 << 8 | 1 << 9 | 2 << 11).to_bytes(2, "little").hex() + "0200")
    assert decode(packet) == SOME


def test_a_header_has_the_published_bits() -> None:
    assert header(acquire="none", release="none") == 2
    assert header("barrier_and", barrier=True, acquire="none", release="none") == 0x103
    assert header(acquire="system", release="system") == 2 | 2 << 9 | 2 << 11


_WORD = {bits: st.integers(0, (1 << bits) - 1) for bits in (16, 32, 64)}


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(_WORD[16], _WORD[16], _WORD[16]), st.tuples(_WORD[32], _WORD[32], _WORD[32]), _WORD[32], _WORD[32],
    _WORD[64], _WORD[64], _WORD[64],
    st.booleans(), st.sampled_from(("none", "agent", "system")), st.sampled_from(("none", "agent", "system")),
)  # fmt: skip
def test_what_is_encoded_is_decoded(workgroup, grid, private, local, kernel, arguments, signal, barrier, acquire, release) -> None:  # type: ignore[no-untyped-def]
    one = Dispatch(
        workgroup=workgroup, grid=grid, private_bytes=private, local_bytes=local, kernel=kernel, arguments=arguments, signal=signal,
        barrier=barrier, acquire=acquire, release=release,
    )  # fmt: skip
    assert decode(one.encode()) == one


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        (b"\0" * 63, "64 bytes, not 63"),
        (b"\0" * 64, "vendor_specific"),
        (bytes([1]) + SOME.encode()[1:], "invalid"),
        (SOME.encode()[:10] + b"\1" + SOME.encode()[11:], "reserved0"),
        (SOME.encode()[:48] + b"\1" + SOME.encode()[49:], "reserved2"),
    ],
)
def test_a_wrong_packet_is_refused(packet: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decode(packet)


def test_a_value_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="workgroup_size_x: 65536 has no room in 16 bits"):
        attrs.evolve(SOME, workgroup=(65536, 1, 1)).encode()


@pytest.mark.parametrize("device", ["mi210", "mi300a", "mi300x"])
def test_rings_of_devices_hold_such_packets(device: str) -> None:
    assert described(device)["host"].packet == SIZE
