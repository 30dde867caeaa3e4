"""Every code block of the README and of docs/ is run, every link goes somewhere, every page is in the navigation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import kinds
import pytest
import yaml
from archex.parts.kinds import KINDS
from kinds import FOLDER
from pages import LANGUAGES, ROOT, Reader, blocks

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
#: Followed with more care by a test of its own.
ELSEWHERE = {"first-plugin.md": "tests/stranger"}
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in ELSEWHERE and blocks(page)], ids=name)
def test_code_blocks_run(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path, Path(sys.executable).parent)
    for block in blocks(page):
        reader.follow(block)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_say_their_language(page: Path) -> None:
    assert not [str(block) for block in blocks(page) if block.language not in LANGUAGES]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_go_somewhere(page: Path) -> None:
    targets = [match[1] for match in _LINK.finditer(page.read_text())]
    assert not [target for target in targets if "://" not in target and not (page.parent / target).exists()]


def test_navigation_is_complete() -> None:
    # MkDocs' own tags (!!python/name) are not plain YAML.
    text = re.sub(r"!!python/name:\S+", "", (ROOT / "mkdocs.yml").read_text())
    listed = set(re.findall(r"[\w/-]+\.md", str(yaml.safe_load(text)["nav"])))
    present = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert listed == {page for page in present if not re.match(r"decisions/\d", page)}, "decisions are listed on their own index page"


def test_decisions_are_listed() -> None:
    index = (ROOT / "docs/decisions/index.md").read_text()
    pages = [page.name for page in (ROOT / "docs/decisions").glob("[0-9]*.md")]
    assert not [page for page in pages if page not in index]


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_kinds_say_what_the_code_says(kind: str) -> None:
    assert (FOLDER / f"{kind}.md").read_text() == kinds.page(kind), "out of date: run `make kinds`"


def test_every_page_of_a_kind_is_of_one() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(KINDS)


def test_a_stale_page_fails(tmp_path: Path) -> None:
    """The reader itself can fail: a command that fails, output that lost its words."""
    page = tmp_path / "page.md"
    page.write_text(
        "```bash\necho cycles 12\n```\n```text\ncycles 11\n```\n```text\nseconds\n```\n"
        '```bash\nfalse\n```\n```python title="a/b.py"\n1\n```\n'
    )
    reader = Reader(tmp_path, Path(sys.executable).parent)
    first, same, other, failing, saved = blocks(page)
    for block in (first, same, saved):
        reader.follow(block)
    assert (tmp_path / "a/b.py").read_text() == "1\n"
    for block, message in ((other, "no longer prints seconds"), (failing, "ended with 1")):
        with pytest.raises(AssertionError, match=message):
            reader.follow(block)


def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/first-plugin/index.html").exists()
