"""The code blocks of a page, and running them in order the way a reader would.

In: a Markdown file. Out: `blocks(path)`, and `Reader`, which follows a page in a folder of its own:

- a block with `title="NAME"` is a file the reader saves under that name;
- `bash` is typed into a shell, `python` into an interpreter; both must succeed;
- `text` straight after a `bash` block is what that command printed: its words must be there (its numbers may move);
- `yaml`, `toml` and `json` without a title must parse;
- `<!-- not run: REASON -->` on the line before a block leaves it out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)(?P<rest>[^`\n]*)$")
_TITLE = re.compile(r'title="([^"]+)"')
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_]{2,}")
LANGUAGES = frozenset({"bash", "python", "text", "yaml", "toml", "json", "ptx", "mermaid", "make"})


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    title: str | None
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line} ({self.language})"


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    lines = page.read_text().splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if not fence:
            at += 1
            continue
        indent, start = len(fence["indent"]), at
        at += 1
        body = []
        while lines[at].strip() != "```":
            body.append(lines[at][indent:])
            at += 1
        title = _TITLE.search(fence["rest"])
        reason = _NOT_RUN.search(lines[start - 1]) if start else None
        found.append(
            Block(page, start + 1, fence["language"], title[1] if title else None, "\n".join(body) + "\n", reason[1] if reason else None)
        )
        at += 1
    return found


class Reader:
    """Follows a page in `folder`, with the commands of the environment whose `bin` is given first on the path."""

    def __init__(self, folder: Path, binaries: Path, environment: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.environment = os.environ | {"PATH": f"{binaries}:{os.environ['PATH']}", "COLUMNS": "140"} | (environment or {})
        self.environment.pop("PYTHONPATH", None)
        self.printed: str | None = None

    def follow(self, block: Block) -> None:
        if block.not_run:
            self.printed = None
            return
        if block.title:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
            return
        match block.language:
            case "bash":
                self.printed = self._run(["bash", "-euo", "pipefail", "-c", block.text], block)
            case "python":
                self.printed = self._run(["python", "-c", block.text], block)
            case "text" if self.printed is not None:
                missing = sorted(set(_WORD.findall(block.text)) - set(_WORD.findall(self.printed)))
                assert not missing, f"{block}: the command no longer prints {', '.join(missing)}; it printed:\n{self.printed}"
            case "yaml":
                yaml.safe_load(block.text)
            case "toml":
                tomllib.loads(block.text)
            case "json":
                json.loads(block.text)

    def _run(self, command: list[str], block: Block) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{block} ended with {done.returncode}:\n{block.text}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout + done.stderr
