"""An HTML file that asks for nothing: styles, scripts and numbers are in it.

In: what stands in it and the folder of its own assets: `page.html` (what is inside `main`), scripts, and perhaps `page.css`. Out: the text
of the page. The frame, its style and the helpers of `text.js` are the same for every page (assets/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

_SHARED = Path(__file__).with_name("assets")


def page(
    assets: Path,
    command: str,
    title: str,
    facts: str,
    data: Mapping[str, Any],
    texts: Mapping[str, str],
    scripts: Sequence[str] = ("page.js",),
) -> str:
    """The page of a command. data: what its scripts read, finite numbers in it; texts: HTML for the gaps of `page.html`."""
    own = assets / "page.css"
    return _filled(
        (_SHARED / "frame.html").read_text(),
        {
            "command": escape(command),
            "title": escape(title),
            "facts": escape(facts),
            "style": (_SHARED / "frame.css").read_text() + (own.read_text() if own.exists() else ""),
            "main": _filled((assets / "page.html").read_text(), texts),
            "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
            "script": "\n".join(file.read_text() for file in (_SHARED / "text.js", *(assets / name for name in scripts))),
        },
    )


def _filled(template: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda gap: parts[gap[1]], template)  # in one pass: a name may look like a gap
