"""Unroll the Swiss roll: learn from 1,000 points, place 10,000 unseen ones, compare, draw.

Run by `make demo`. Prints a table and the path of a figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from polyfold import NPP, NPPE
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance

METHODS: dict[str, Callable[[], Any]] = {
    "NPPE (polyfold)": lambda: NPPE(n_neighbors=10),
    "LLE": lambda: LocallyLinearEmbedding(n_neighbors=10, random_state=0),
    "Isomap": lambda: Isomap(n_neighbors=10),
    "NPP (linear)": lambda: NPP(n_neighbors=10),
}


def measure_seconds(action: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    """Return what `action` makes of its argument, and the shortest of the three times that it took."""
    best = np.inf
    for _ in range(3):
        start = perf_counter()
        result = action(argument)
        best = min(best, perf_counter() - start)
    return result, best


def format_seconds(seconds: float) -> str:
    """Write a duration in milliseconds."""
    return f"{1000 * seconds:,.1f} ms"


def print_table(rows: list[tuple[str, float, float, float]]) -> None:
    """Print one line per method, times also as multiples of the first."""
    print(f"{'':<16}{'residual variance':>18}{'fit 1,000':>14}{'place 10,000':>16}{'times NPPE':>12}")
    for name, rho, fit_time, place_time in rows:
        ratio = place_time / rows[0][3]
        times = f"{format_seconds(fit_time):>14}{format_seconds(place_time):>16}"
        print(f"{name:<16}{rho:>18.4f}{times}{ratio:>12,.1f}")


def draw(
    X: NDArray[np.float64],
    Z: NDArray[np.float64],
    truth: NDArray[np.float64],
    embedding: NDArray[np.float64],
    placed: dict[str, NDArray[np.float64]],
    path: Path,
) -> None:
    """Draw the data, NPPE's embedding, and the unseen points as each method places them."""
    figure = plt.figure(figsize=(12, 7.4), layout="constrained")
    colours = {"cmap": "viridis", "vmin": truth[:, 0].min(), "vmax": truth[:, 0].max(), "linewidths": 0}
    axes = figure.add_subplot(2, 3, 1, projection="3d", computed_zorder=False)
    axes.scatter(*X.T, c=Z[:, 0], s=9, depthshade=False, **colours)
    axes.view_init(elev=14, azim=-76)
    axes.set_box_aspect((1, 1, 1), zoom=1.15)
    axes.set(xticks=[], yticks=[], zticks=[], title="1,000 training points")

    panels = [("NPPE: training embedding", embedding, Z)]
    panels += [(f"{name}: 10,000 unseen points", Y, truth) for name, Y in placed.items()]
    for position, (title, Y, coordinates) in enumerate(panels, start=2):
        axes = figure.add_subplot(2, 3, position)
        drawn = axes.scatter(*Y.T, c=coordinates[:, 0], s=8 if len(Y) <= 1000 else 2, **colours)
        if len(Y) > 1000:
            title += f"\nresidual variance {residual_variance(Y, coordinates):.3f}"
        axes.set(xticks=[], yticks=[], title=title)
    figure.colorbar(drawn, ax=figure.axes, label="position along the roll, $t$", shrink=0.6, aspect=30)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Fit, place, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=Path("demo_output/swiss_roll.png"))
    figure_path = parser.parse_args().figure

    X, Z = make_swiss_roll(1000, random_state=0)
    unseen, truth = make_swiss_roll(10_000, random_state=1)
    NPPE(n_neighbors=10).fit(X)  # compiles the loops once; later runs find them on disk

    print("Swiss roll: 1,000 points to learn from, 10,000 unseen points to place, k = 10 neighbours.\n")
    rows, placed, fitted = [], {}, {}
    for name, make_estimator in METHODS.items():
        fitted[name], fit_time = measure_seconds(make_estimator().fit, X)
        placed[name], place_time = measure_seconds(fitted[name].transform, unseen)
        rows.append((name, residual_variance(placed[name], truth), fit_time, place_time))
    print_table(rows)
    nppe = fitted["NPPE (polyfold)"]
    print(f"\nResidual variance is 0 for a perfect unrolling. The whole learned map:\n  {nppe.map_}")
    draw(X, Z, truth, nppe.embedding_, placed, figure_path)
    print(f"\nFigure: {figure_path.resolve()}")


if __name__ == "__main__":
    main()
