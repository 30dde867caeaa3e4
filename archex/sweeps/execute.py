"""A command line carried out: Hydra makes the sweeper and the launcher that it names, and they run its plan.

In: what stands behind the verb, somebody to tell. Out: the run's `Result`, which comes back through `Sweeper.sweep` or `Launcher.launch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
from hydra._internal.callbacks import Callbacks
from hydra.core.plugins import Plugins
from hydra.types import HydraContext

from archex.base.errors import RequestError
from archex.sweeps import check, presets
from archex.sweeps.backends import LauncherPlugin, SweeperPlugin
from archex.sweeps.compose import Composer
from archex.sweeps.flags import Flags
from archex.sweeps.jobs import Steps
from archex.sweeps.plan import plan
from archex.sweeps.protocols import Listener
from archex.sweeps.run import Result, run


@attrs.frozen(eq=False)
class Request:
    """What Hydra's plugins carry as their task: how a list of overrides becomes a run."""

    composer: Composer
    steps: Steps
    listener: Listener
    command: Sequence[str]

    def run(self, overrides: Sequence[str], launcher: LauncherPlugin, sweeper: SweeperPlugin | None = None) -> Result:
        """One run, of one design without a sweeper."""
        multirun = sweeper is not None
        planned = plan(overrides, multirun, self.steps, composer=self.composer, launcher=launcher.make, sweeper=sweeper)
        return run(planned, self.steps, self.listener, self.command)

    def __call__(self, config: Any) -> Any:
        """Hydra's own launchers would call this a point; none of them is offered."""
        raise TypeError("a request is run as a whole")


def execute(asked: Flags, steps: Steps, listener: Listener, command: Sequence[str]) -> Result:
    """Plan and run; RequestError with everything wrong, nothing written."""
    with Composer(asked.folders) as composer:
        overrides, axes, problems, asks = presets.parse(asked.overrides, asked.multirun, composer)
        problems += check.axes(axes, composer)
        if problems:  # with all others that there are
            plan(overrides, asked.multirun, steps, composer=composer)
        try:
            config = composer.master([axis[0] for axis in axes])
        except RequestError:  # this point can't be composed; others may be
            config = composer.master([axis[0] for axis in axes if axis.key.startswith("hydra")])
        request = Request(composer, steps, listener, command)
        made: dict[str, Any] = {
            "hydra_context": HydraContext(config_loader=composer.loader, callbacks=Callbacks()),
            "task_function": request,
            "config": config,
        }
        if asked.multirun:
            result: Result = Plugins.instance().instantiate_sweeper(**made).sweep(overrides)
        else:
            (job,) = Plugins.instance().instantiate_launcher(**made).launch([overrides], 0)
            result = job.return_value
        return attrs.evolve(result, notes=(f"asked: {asks}", *result.notes)) if asks else result
