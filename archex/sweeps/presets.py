"""A preset that asks a question of many designs: what it sweeps, as overrides, and the question.

In: overrides with `experiments=NAME`. Out: those of its `hydra.sweeper.params` before them, so that the command line beats the preset. As
everywhere in Hydra, `params` holds text of the grammar (`l2.size: 25MiB,50MiB`). A preset that sets nothing itself is left out behind them,
and so is one whose `params` name other presets, as these take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omegaconf import OmegaConf

from archex.base.errors import Problem, RequestError
from archex.sweeps import grammar
from archex.sweeps.compose import Composer
from archex.sweeps.grammar import Axis
from archex.sweeps.points import Assignment, show_value
from archex.sweeps.quoting import quote_arguments

GROUP = "experiments"


class Parsed(NamedTuple):
    """Overrides with what the one preset among them sweeps, what `grammar.parse` makes of them, what the preset asks."""

    overrides: list[str]
    axes: list[Axis]
    problems: list[Problem]
    asks: str | None


def parse(overrides: Sequence[str], multirun: bool, composer: Composer) -> Parsed:
    """A request's overrides, its preset's before them."""
    axes, problems = grammar.parse(overrides, multirun, composer)
    asks, found = question(axes, composer), expanded(overrides, axes, composer)
    if found != list(overrides):
        axes, problems = grammar.parse(found, multirun, composer)
    return Parsed(found, axes, problems, asks)


def expanded(overrides: Sequence[str], axes: Sequence[Axis], composer: Composer) -> list[str]:
    """The overrides with what the one preset among them sweeps."""
    preset = _preset(axes)
    if preset is None:
        return list(overrides)
    try:
        params = OmegaConf.select(composer.master([preset]), "hydra.sweeper.params") or {}
    except RequestError:  # it will be named with everything else that is wrong
        return list(overrides)
    if not params:
        return list(overrides)
    kept = overrides
    if GROUP in params or _sets_nothing(composer, preset):
        kept = [text for text in overrides if text.lstrip("+").partition("=")[0] != GROUP]
    return [*quote_arguments(f"{key}={show_value(value)}" for key, value in params.items()), *kept]


def question(axes: Sequence[Axis], composer: Composer) -> str | None:
    """What the one preset among them asks."""
    preset = _preset(axes)
    if preset is None:
        return None
    try:
        found = composer.compose([preset]).config.get("question")
    except RequestError:
        return None
    return None if found is None else " ".join(str(found).split())


def _sets_nothing(composer: Composer, preset: Assignment) -> bool:
    config = composer.compose([preset]).config
    return {key: value for key, value in config.items() if key != "question"} == composer.compose([]).config


def _preset(axes: Sequence[Axis]) -> Assignment | None:
    """The preset that is chosen for all designs."""
    for axis in axes:
        if axis.key == GROUP and len(axis) == 1 and not axis[0].deletes and isinstance(axis[0].value, str):
            return axis[0]
    return None
