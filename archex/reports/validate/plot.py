"""Measured against modelled as a picture.

In: errors. Out: an image: a point a launch, both axes by powers of ten; the families with the largest errors have colours of their own.
"""

from __future__ import annotations

import io

from archex.reports.validate.errors import Errors, families

#: Families with a colour; the others share one.
_COLOURED = 10
_OTHERS, _LINE = "#b8c0cc", "#667085"


def png(errors: Errors, band: float, title: str) -> bytes:
    """The picture, with lines where the model is exact and `band` percent off; ImportError without matplotlib."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    figure = Figure(figsize=(7.6, 6.4), layout="constrained")
    axes = figure.subplots()
    found = families(errors)
    every = [value for error in errors.errors for value in (error.measured, error.modelled)]
    ends = min(every) / 1.5, max(every) * 1.5
    axes.plot(ends, ends, color=_LINE, linewidth=1, label="exact")
    for place, factor in enumerate((1 + band / 100, 1 / (1 + band / 100))):
        line = [end * factor for end in ends]
        axes.plot(ends, line, color=_LINE, linewidth=0.8, linestyle=":", label=None if place else f"{band:g} % off")
    colours = colormaps["tab10"]
    others = [error for _, some in found[_COLOURED:] for error in some]
    groups = [*((family, some, colours(place)) for place, (family, some) in enumerate(found[:_COLOURED]))]
    for family, some, colour in [("other families", others, _OTHERS), *groups]:
        if some:
            axes.scatter([e.measured for e in some], [e.modelled for e in some], s=16, color=colour, label=family, zorder=2)
    unit = "us" if errors.unit == "us" else "cycles"
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal", title=title)
    axes.set(xlabel=f"measured ({unit})", ylabel=f"model ({unit})")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8)
    made = io.BytesIO()
    figure.savefig(made, format="png", dpi=130)
    return made.getvalue()
