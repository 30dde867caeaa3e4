"""archex plugins list: which parts are installed, of which kind, from which packages.
archex plugins check NAME: does a package, or one part KIND.NAME, keep the contracts of its kinds?
archex plugins new NAME --kind KIND: a package with one part that does, in a folder NAME, to start from.
"""

from __future__ import annotations

import keyword
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from archex.base.errors import ABSENT, Problem, RequestError, closest, unknown
from archex.base.names import NAME
from archex.parts.kinds import KINDS
from archex.registry import Registered, Registry, load
from archex.reports.text import console, table

ACTIONS = ("list", "check", "new")


def main(arguments: Sequence[str]) -> int:
    """Do what the first argument says."""
    if not arguments:
        raise RequestError([Problem("plugins", ABSENT, "needs an action", ACTIONS)])
    action, rest = arguments[0], list(arguments[1:])
    if action not in ACTIONS:
        raise RequestError([unknown("plugins", action, ACTIONS, "action")])
    return {"list": _list, "check": _check, "new": _new}[action](rest)


def _list(rest: list[str]) -> int:
    """Print the parts by kind."""
    if rest:
        raise RequestError([Problem("plugins.list", " ".join(rest), "is more than it takes: nothing")])
    registry = load()
    lines = []
    for (kind, name), found in sorted(registry.parts.items()):
        does = (found.part.__doc__ or "").strip().splitlines()
        lines.append([kind, name, f"{found.package} {found.version}".strip(), does[0] if does else ""])
    out = console()
    out.print(table("", ["kind", "part<", "package<", "what it does<"], lines))
    packages = {found.package for found in registry.parts.values()}
    out.print(f"{len(lines)} parts from {len(packages)} {'package' if len(packages) == 1 else 'packages'}")
    return 0


def _check(rest: list[str]) -> int:
    """Run the contracts; 1 if a law is broken, or if what the package hands over can't be registered."""
    if len(rest) != 1:
        given = " ".join(rest) if rest else ABSENT
        raise RequestError([Problem("plugins.check", given, "must be one name: a package, or a part as KIND.NAME")])
    name = rest[0]
    try:
        registry = load()
    except RequestError as error:
        mine = [problem for problem in error.problems if _concerns(problem, name)]
        if not mine:
            raise
        for problem in mine:
            print(f"archex: {problem}", file=sys.stderr)
        return 1
    from archex.testing.keeping import kept  # loads the engine

    results = [kept(registry, found) for found in _named(registry, name)]
    out = console()
    out.print(table("", ["part", "laws", "broken"], [[r.path, str(r.laws), str(len(r.broken)) if r.broken else "-"] for r in results]))
    broken = [line for result in results for line in result.broken]
    sys.stdout.flush()
    for line in broken:
        print(f"archex: {line}", file=sys.stderr)
    keep = sum(1 for result in results if not result.broken)
    out.print(f"{keep} of {len(results)} {'part keeps its' if len(results) == 1 else 'parts keep their'} contract")
    return 1 if broken else 0


def _concerns(problem: Problem, name: str) -> bool:
    """Whether a problem of discovery is one of this package or part."""
    names = {name, name.replace("-", "_"), name.replace("_", "-")}
    return problem.path.startswith((f"{name}.", *(f"plugins.{n}" for n in names))) or any(f"package {n})" in problem.rule for n in names)


def _named(registry: Registry, name: str) -> list[Registered]:
    """The parts of a package, or the one part."""
    plain = name.replace("_", "-")
    found = [one for key, one in sorted(registry.parts.items()) if ".".join(key) == name or one.package.replace("_", "-") == plain]
    if not found:
        packages = sorted({one.package for one in registry.parts.values()})
        nearest = closest(name, [*packages, *(".".join(key) for key in registry.parts)])
        raise RequestError([Problem("plugins.check", name, "is not an installed package or a part KIND.NAME", packages, nearest)])
    return found


def _new(rest: list[str]) -> int:
    """Write the package, or nothing."""
    names, kind, problems = _options(rest)
    if len(names) != 1:
        problems.append(Problem("plugins.new", " ".join(names) if names else ABSENT, "must be one name, of the package and its part"))
    name = names[0] if names else ""
    if len(names) == 1:
        problems += _name_problems(name)
    if kind is None:
        problems.append(Problem("plugins.new.kind", ABSENT, "is missing: --kind KIND", tuple(KINDS)))
    elif kind not in KINDS:
        problems.append(unknown("plugins.new.kind", kind, KINDS, "kind"))
    elif len(names) == 1 and (other := load().parts.get((kind, name))):
        problems.append(Problem("plugins.new", name, f"is a {kind.replace('_', ' ')} of {other.package} already"))
    if problems or kind is None:
        raise RequestError(problems)
    from archex.testing.new import package

    files = package(name, kind)
    _write(Path(name), files)
    for path in files:
        print(f"{name}/{path}")
    print(f"next: pip install -e ./{name} && archex plugins check {name}")
    return 0


def _options(rest: list[str]) -> tuple[list[str], str | None, list[Problem]]:
    """(names, kind, problems) of `NAME --kind KIND`, in any order."""
    names: list[str] = []
    kind: str | None = None
    problems: list[Problem] = []
    words = iter(rest)
    for word in words:
        if word == "--kind":
            kind = next(words, None)
        elif word.startswith("--kind="):
            kind = word.removeprefix("--kind=")
        elif word.startswith("-"):
            problems.append(unknown("plugins.new", word, ("--kind",), "option"))
        else:
            names.append(word)
    return names, kind, problems


def _name_problems(name: str) -> list[Problem]:
    if not NAME.match(name):
        return [Problem("plugins.new", name, "must be a lower-case name: letters, digits and _, such as my_scheduler")]
    if keyword.iskeyword(name):
        return [Problem("plugins.new", name, "is a word of Python")]
    if Path(name).exists():
        return [Problem("plugins.new", name, "is there already; nothing is overwritten")]
    if find_spec(name) is not None:
        return [Problem("plugins.new", name, "is the name of an installed module")]
    return []


def _write(folder: Path, files: dict[str, str]) -> None:
    """All files or none: they appear together under the folder's name."""
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as place:
            made = Path(place) / folder.name
            for path, text in files.items():
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                (made / path).write_text(text)
            shutil.move(made, folder)
    except OSError as error:
        raise RequestError([Problem("plugins.new", str(folder), f"can't be written: {error.strerror}")]) from error
