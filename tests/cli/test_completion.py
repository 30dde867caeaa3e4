"""Completion, as bash asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from archex.cli.completion import complete


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("archex ", ["run", "compare", "results", "validate", "show", "trace", "timeline", "plugins"]),
        ("archex va", ["validate"]),
        ("archex plugins ", ["list", "check", "new"]),
        ("archex run wave", ["wave_scheduler.", "wave_scheduler="]),
        ("archex run device=", ["device=h200", "device=tiny"]),
        ("archex run -m device=h200,t", ["device=h200,tiny"]),
        ("archex show l2.", ["l2.size=", "l2.ways="]),
        ("archex run memory_side_cache=victim memory_side_cache.", ["memory_side_cache.size="]),
        ("archex run suite.path=kernels suite.only=c", ["suite.only=copy[n=1]"]),
        ("archex run suite.path=kern", ["suite.path=kernels/"]),
        ("archex run broken= nonsense l2.w", ["l2.ways="]),
        ("archex trace wa", ["wave=", "wave_scheduler.", "wave_scheduler="]),
        ("archex compare kern", ["kernels/"]),
        ("archex results ", ["check", "compact", "merge", "watch"]),
        ("archex results c", ["check", "compact"]),
        ("archex results check kern", ["kernels/"]),
        ("archex results merge kernels o", ["output="]),
        ("archex results compact kernels output=kern", ["output=kernels/"]),
        ("archex results watch --", ["--once"]),
        ("archex run --c", ["--cfg", "--config-dir"]),
        ("archex run hydra/l", ["hydra/launcher="]),
        ("archex run hydra/launcher=a", ["hydra/launcher=archex"]),
        ("archex run hydra.launcher.", ["hydra.launcher.workers="]),
    ],
)
def test_words(place: Path, line: str, offered: list[str]) -> None:
    assert complete(line) == offered


def test_in_bash() -> None:
    script = """
eval "$(archex --completion bash)"
COMP_LINE="archex run wave_scheduler=loose and more" COMP_POINT=31
_archex
printf '<%s>' "${COMPREPLY[@]}"
complete -p archex
"""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "<wave_scheduler=loose_round_robin >complete -o nospace -F _archex archex\n"
