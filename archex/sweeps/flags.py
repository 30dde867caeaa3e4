"""Hydra's own flags behind a verb: `-m`, `--cfg`, `--info`, `--help`, `--config-dir`.

In: the arguments behind `run`. Out: `Flags`, and what the informing ones print.
"""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import attrs
from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from archex.base.errors import ABSENT, Problem, RequestError
from archex.sweeps import backends, check, presets
from archex.sweeps.compose import CONFIG, Composer
from archex.sweeps.points import is_hydra
from archex.sweeps.quoting import quote_arguments
from archex.sweeps.sweepers.grid import Grid

_NOT_OFFERED = ("config_path", "config_name", "experimental_rerun", "shell_completion")


@attrs.frozen
class Flags:
    """What stands behind a verb: overrides (quoted for Hydra), several values or one, and what to inform about instead of running."""

    overrides: list[str]
    multirun: bool
    informing: bool
    parsed: Any
    folders: tuple[str, ...]  # further config folders


def parse(arguments: Sequence[str]) -> Flags:
    """Flags and overrides in any order; RequestError for a flag that isn't Hydra's or isn't offered."""
    parser = get_args_parser()
    parser.error = _refuse  # type: ignore[method-assign]
    parsed = parser.parse_intermixed_args(list(arguments))
    refused = [f"--{name.replace('_', '-')}" for name in _NOT_OFFERED if getattr(parsed, name)]
    if refused:
        raise RequestError([Problem(flag, ABSENT, "isn't offered: archex has one root config") for flag in refused])
    informing = bool(parsed.help or parsed.hydra_help or parsed.cfg or parsed.info)
    folders = (parsed.config_dir,) if parsed.config_dir else ()
    return Flags(quote_arguments(parsed.overrides), parsed.multirun, informing, parsed, folders)


def _refuse(message: str) -> NoReturn:
    raise RequestError([Problem("arguments", ABSENT, message)])


def inform(flags: Flags) -> None:
    """Print the config, or what Hydra knows about itself."""
    asked = flags.parsed
    with Composer(flags.folders) as composer, _own_logging():
        if asked.cfg == "job":
            _show_configs(flags, composer)
        elif asked.help:
            _show_help(composer)
        else:
            hydra = GlobalHydra.instance().hydra
            assert hydra is not None
            if asked.hydra_help:
                hydra.hydra_help(config_name=CONFIG, args_parser=get_args_parser(), args=asked)
            elif asked.cfg:
                hydra.show_cfg(CONFIG, _groups(flags, composer), asked.cfg, asked.package, asked.resolve)
            else:
                hydra.show_info(asked.info, config_name=CONFIG, overrides=_groups(flags, composer))


@contextmanager
def _own_logging() -> Iterator[None]:
    """Hydra's `--info` has everything logged to the standard output of that moment; not beyond it."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def _groups(flags: Flags, composer: Composer) -> list[str]:
    """The overrides that Hydra itself composes: choices of groups and its own keys."""
    return [text for text in flags.overrides if composer.is_group(text.partition("=")[0].lstrip("+")) or is_hydra(text)]


def _show_configs(flags: Flags, composer: Composer) -> None:
    """The composed config of every point, as YAML; of one package of it with `--package`."""
    _, axes, problems, _ = presets.parse(flags.overrides, flags.multirun, composer)
    problems += check.axes(axes, composer)
    if problems:
        raise RequestError(problems)
    grid = Grid(axes)
    for point in map(grid.at, range(grid.total)):
        composed = composer.compose(point.assignments)
        if composed.problems:
            raise RequestError(composed.problems)
        config = OmegaConf.create(composed.config)
        if grid.total > 1:
            print("---\n# " + ", ".join(assignment.shown for assignment in point.assignments))
        package = flags.parsed.package
        chosen = OmegaConf.select(config, package) if package and package != "_global_" else config
        if chosen is None:
            raise RequestError([Problem("--package", package, "isn't in the config", sorted(map(str, config)))])
        sys.stdout.write(OmegaConf.to_yaml(chosen) if OmegaConf.is_config(chosen) else f"{chosen}\n")


_HELP = """Run launches on a device, or on each of a sweep of devices with -m.

archex run [-m] [FLAGS] KEY=VALUE ...

A choice fills a slot (wave_scheduler=oldest_first), a value sets a number of a part (l2.size=64MiB, clock=1.98GHz).
suite.path=DIR runs your own launches, suite.only=GLOB some of them, output=X.parquet or output=DIR says where rows go.
"""


def _show_help(composer: Composer) -> None:
    print(_HELP)
    print("Slots and their choices:")
    for group in composer.slots:
        if options := composer.options(group):
            print(f"  {group}: {', '.join(options)}")
    print("\nHow it is carried out:")
    for group, path in backends.GROUPS.items():
        print(f"  {group}: {', '.join(backends.offered(group))}")
        for choice, field, meaning in backends.documented(group):
            print(f"    {path}.{field} ({choice}): {meaning}")
    print("\nFlags (Hydra's):")
    print("\n".join(f"  {line}" for line in Hydra.format_args_help(_offered()).splitlines()))


def _offered() -> ArgumentParser:
    parser = get_args_parser()
    hidden = {"config_path", "config_name", "experimental_rerun", "shell_completion", "run"}
    parser._actions = [action for action in parser._actions if action.dest not in hidden]
    return parser
