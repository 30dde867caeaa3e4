"""Completion in a shell: eval "$(archex --completion bash)".

In: `bash` (print the script) or `query` with the line in COMP_LINE, as bash gives it. Out: lines on standard output; never an error, as
nobody asked for one.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

from archex.cli.main import VERBS

SCRIPT = """_archex() {
    local IFS=$'\\n'
    COMPREPLY=($(COMP_LINE="${COMP_LINE:0:$COMP_POINT}" archex --completion query 2>/dev/null))
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} != *[=./] ]] && COMPREPLY[0]+=" "
}
COMP_WORDBREAKS=${COMP_WORDBREAKS//=}
complete -o nospace -F _archex archex
"""
_COMPOSED = ("run", "show", "validate", "trace", "timeline")
_OWN = {
    "validate": ("reference=", "rows=", "bound="),
    "trace": ("wave=", "output="),
    "timeline": ("devices=", "output="),
    "compare": ("baseline=", "top=", "--html", "--markdown"),
}
_ACTIONS = {"plugins": ("list", "check", "new"), "results": ("check", "compact", "merge", "watch")}
#: What actions of `results` take beside runs.
_OF_RESULTS = {"compact": ("output=",), "merge": ("output=",), "watch": ("--once",)}


def main(arguments: Sequence[str]) -> int:
    """Print the script, or the completions of COMP_LINE."""
    if list(arguments) == ["bash"]:
        print(SCRIPT, end="")
        return 0
    if list(arguments) != ["query"]:
        print("archex: --completion takes bash", file=sys.stderr)
        return 2
    with contextlib.suppress(Exception):
        print("\n".join(complete(os.environ.get("COMP_LINE", ""))))
    return 0


def complete(line: str) -> list[str]:
    """Words for the end of a line that starts with the command's name."""
    words = line.split()[1:]
    word = "" if line.endswith(" ") or not words else words.pop()
    if not words:
        return [verb for verb in VERBS if verb.startswith(word)]
    verb, before = words[0], words[1:]
    own = [name for name in _OWN.get(verb, ()) + _ACTIONS.get(verb, ()) if name.startswith(word)]
    if verb in _COMPOSED:
        from archex.sweeps.completion import suggest

        return own + suggest(before, word)
    if verb == "results" and before:
        own = [name for name in _OF_RESULTS.get(before[0], ()) if name.startswith(word)]
        return own + (_paths(word) if word.startswith("output=") else _paths(f"rows={word}"))
    return _paths(f"rows={word}") if verb == "compare" and not own else own


def _paths(word: str) -> list[str]:
    """Paths as values of a key that takes one; those of `rows=` stand by themselves."""
    from archex.sweeps.completion import suggest

    return [path.removeprefix("rows=") for path in suggest([], word)]
