"""A real browser without a window, for the pages that reports write."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage"
).split()
Opener = Callable[[Path], AbstractContextManager[Any]]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (it is in the extra `dev`)")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(_NAMES)} on the path")
    with sync_api.sync_playwright() as driver:
        profile = tmp_path_factory.mktemp("profile")
        context = driver.chromium.launch_persistent_context(
            profile, executable_path=found, headless=True, args=_FLAGS, viewport={"width": 1300, "height": 900}
        )
        yield context
        context.close()


@pytest.fixture
def opened(browser: Any) -> Opener:
    """Opens a file; at the end it must have asked for nothing and complained of nothing."""

    @contextmanager
    def opener(file: Path) -> Iterator[Any]:
        page = browser.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        yield page
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert asked.count(file.as_uri()) == 1
        assert said == []
        page.close()

    return opener
