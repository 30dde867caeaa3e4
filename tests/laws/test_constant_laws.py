"""Constants read by lane: the cache hands out one word after the other, to all lanes that want it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.laws.launches import device, launch, run

STEPS = 64
TABLE = ".const .align 4 .b32 table[32] = {" + ", ".join(str(4 * k) for k in range(32)) + "};\n"


def cycles(folder: Path, words: int, waves: int = 1, name: str = "h200") -> float:
    """Cycles of a step of a chain of loads whose lanes want so many words. Each word holds its own place."""
    body = f"and.b32 %r20, %r1, {words - 1};\nshl.b32 %r21, %r20, 2;\nmov.u32 %r22, table;\nadd.s32 %r23, %r22, %r21;\n"
    times = []
    for steps in (STEPS, 2 * STEPS):
        chain = "ld.const.u32 %r24, [%r23];\nadd.s32 %r23, %r22, %r24;\n" * steps
        work = launch(folder, body + chain, 32 * waves, result="%r24", kind="u32")
        work.ptx.write_text(work.ptx.read_text().replace(".visible", TABLE + ".visible", 1))
        times.append(run(device(name), work)["cycles"])
    return (times[1] - times[0]) / STEPS


@pytest.mark.parametrize("words", [2, 8, 32])
def test_a_chain_waits_for_its_last_word(tmp_path: Path, words: int) -> None:
    assert cycles(tmp_path, words) - cycles(tmp_path, 1) == pytest.approx(11 * (words - 1), rel=0.02)


@pytest.mark.parametrize("words", [4, 32])
def test_all_waves_of_a_compute_unit_share_its_words(tmp_path: Path, words: int) -> None:
    assert cycles(tmp_path, words, 32) == pytest.approx(2 * words * 32, rel=0.05)
