"""Time of locating samples, methods taking turns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.bench.timing import time_side_by_side
from polyfold.experiments.outcome import Row, Table
from polyfold.experiments.plan import Plan
from polyfold.experiments.style import draw_curves


def time_locating(plan: Plan, models: dict[str, Any], X: NDArray[Any], common: Row) -> list[Row]:
    """Return the seconds that each model takes to locate a fifth of the samples, two fifths, and so on."""
    rows = []
    sizes = np.linspace(0, len(X), 6, dtype=int)[1:].tolist()
    for n in sizes[::4] if plan.quick else sizes:
        calls = {name: partial(model.transform, X[:n]) for name, model in models.items()}
        seconds = time_side_by_side(calls, 2 if plan.quick else 8)
        rows += [common | {"method": name, "located": n, "seconds": spent} for name, spent in seconds.items()]
    return rows


def draw_times(axes: Any, seconds: Table, **where: Any) -> None:
    """Draw time against the number of located samples."""
    names, sizes = (seconds.list_values(column, **where) for column in ("method", "located"))
    spent = {name: 1e3 * seconds.select("seconds", method=name, **where) for name in names}
    draw_curves(axes, names, sizes, spent)
    axes.set_yscale("log")
    axes.set(xlabel="located samples", ylabel="milliseconds")
