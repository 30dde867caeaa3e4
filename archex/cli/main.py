"""The command `archex`: one verb, then its arguments.

In: the command line. Out: an exit code: 0 all rows ok or unsupported, 1 a row failed, or a run ended early and its rows are kept, or a
stated bound was passed, 2 the request is wrong
and nothing was written. Verbs are imported when called, so that `archex --help` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

#: verb -> (arguments, what it does)
VERBS = {
    "run": ("[-m] KEY=VALUE ...", "run launches on a device, or on a sweep of devices"),
    "compare": ("RUN [RUN ...] [baseline=DEVICE]", "who wins, by how much, and why; as a page with --html FILE"),
    "results": ("check|compact|merge|watch RUN ...", "the files of runs: checked, put in order, put together, watched"),
    "validate": ("device=D [bounds=stated]", "the model against silicon: error by kernel, by counter; as a page with html=FILE"),
    "show": ("device=D", "a device as a tree: every number, unit, source"),
    "trace": ("LAUNCH wave=0 device=D", "one wave's life, as Perfetto JSON and as text"),
    "timeline": ("FILE device=D [devices=N]", "a workload of host, streams, copies and kernels, and where its time went"),
    "plugins": ("list | check NAME | new NAME --kind KIND", "installed parts; do they keep their contracts; a package to start from"),
}
_EXAMPLES = (
    "archex run device=h200",
    "archex run -m device=h200,mi300a l2.size=16MiB,32MiB output=sweep",
    "archex compare sweep",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb and turn what went wrong into lines and a code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _dispatch(given)
    except KeyboardInterrupt as stop:
        print(f"archex: interrupted{f': {stop}' if str(stop) else ''}", file=sys.stderr)
        return 130
    except Exception as error:
        if type(error).__name__ == "BdbQuit":  # somebody left the debugger: nothing to explain (its module isn't worth importing)
            print("archex: left from the debugger", file=sys.stderr)
            return 130
        if not isinstance(error, BrokenPipeError):
            raise
        import_module("archex.cli.arguments").hang_up()
        return 1


def _dispatch(given: list[str]) -> int:
    if not given or given[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if given else 2
    if given[0] == "--version":
        print(_version())
        return 0
    if given[0] == "--completion":
        return int(import_module("archex.cli.completion").main(given[1:]))
    verb, rest = given[0], given[1:]
    if verb not in VERBS:
        near = get_close_matches(verb, VERBS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        print(f"archex: {verb} is not a verb{hint} (verbs: {', '.join(VERBS)})", file=sys.stderr)
        return 2
    if rest and rest[0] in ("-h", "--help") and verb != "run":
        print((import_module(f"archex.cli.{verb}").__doc__ or "").strip())
        return 0
    from archex.base.errors import RequestError
    from archex.records.files import OutputError

    try:
        return int(import_module(f"archex.cli.{verb}").main(rest))
    except RequestError as error:
        for problem in error.problems:
            print(f"archex: {problem}", file=sys.stderr)
        return 2
    except OutputError as error:
        print(f"archex: {error}", file=sys.stderr)
        return 1 if error.kept else 2


def usage() -> str:
    """What `archex --help` prints."""
    width = max(len(f"{verb} {arguments}") for verb, (arguments, _) in VERBS.items())
    lines = [f"  archex {f'{verb} {arguments}':{width}}  {does}" for verb, (arguments, does) in VERBS.items()]
    examples = [f"  {example}" for example in _EXAMPLES]
    return "\n".join(["archex: how would this kernel run on that GPU?", "", *lines, "", "Examples:", *examples])


def _version() -> str:
    try:
        return version("archex-sim")
    except PackageNotFoundError:
        return "source"


if __name__ == "__main__":
    sys.exit(main())
