"""How figures look: one size of letters, one colour for each method, quiet axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from polyfold.experiments.methods import METHODS

LOOK = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.frameon": False,
    "svg.hashsalt": "polyfold",
    "svg.fonttype": "none",
}

#: Positions along a manifold, dark to light, even in grey.
SCALE = "viridis"


def make_canvas(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that needs no window."""
    matplotlib.rcParams.update(LOOK)
    return Figure(figsize=(width, height), layout="constrained")


def make_axes(n_rows: int, n_columns: int, width: float, height: float, **settings: Any) -> tuple[Figure, Any]:
    """Return a figure and an array of its axes, of the given size each."""
    canvas = make_canvas(width * n_columns, height * n_rows)
    return canvas, canvas.subplots(n_rows, n_columns, squeeze=False, **settings)


def draw_plane(
    axes: Any, Y: NDArray[Any], colour: NDArray[Any], title: str, size: float = 5.0, letter: str = "y"
) -> Any:
    """Draw coordinates in the plane, both on one scale, coloured by a true coordinate."""
    drawn = axes.scatter(*Y.T, c=colour, s=size, cmap=SCALE, linewidths=0, rasterized=True)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xticks=[], yticks=[], title=title)
    axes.set_xlabel(f"${letter}_1$", labelpad=1)
    axes.set_ylabel(f"${letter}_2$", labelpad=1)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("0.8")
    return drawn


def draw_scale(axes: Any, drawn: Any, label: str) -> None:
    """Fill a free panel with the scale of colours."""
    axes.set_axis_off()
    axes.figure.colorbar(drawn, cax=axes.inset_axes((0.1, 0.1, 0.08, 0.8)), label=label)


def draw_space(canvas: Figure, position: Any, X: NDArray[Any], colour: NDArray[Any], title: str) -> Any:
    """Draw samples in space, on one scale in all three directions."""
    axes = canvas.add_subplot(position, projection="3d", computed_zorder=False)
    axes.scatter(*X.T, c=colour, s=4, cmap=SCALE, linewidths=0, depthshade=False, rasterized=True)
    axes.view_init(elev=14, azim=-76)
    axes.set_box_aspect(np.maximum(np.ptp(X, axis=0), 0.2 * np.ptp(X)), zoom=1.15)
    axes.set(xticks=[], yticks=[], zticks=[], title=title)
    axes.set_xlabel("$x_1$", labelpad=-14)
    axes.set_ylabel("$x_2$", labelpad=-14)
    axes.set_zlabel("$x_3$", labelpad=-14)
    return axes


def draw_curves(
    axes: Any, names: Iterable[str], sizes: ArrayLike, values: dict[str, NDArray[Any]], *, band: bool = False
) -> None:
    """Draw a line for each method; with a band, `values` hold a row for each seed, the line being their median."""
    for name in names:
        method, found = METHODS[name], np.asarray(values[name])
        middle = np.median(found, axis=0) if band else found
        if band:
            axes.fill_between(
                sizes, found.min(axis=0), found.max(axis=0), color=method.colour, alpha=0.15, linewidth=0
            )
        axes.plot(
            sizes,
            middle,
            method.line,
            color=method.colour,
            marker=method.marker,
            markersize=6,
            markerfacecolor="none",
            linewidth=1.4,
            label=name,
        )
    axes.grid(alpha=0.25, linewidth=0.5)


def draw_bars(axes: Any, groups: Sequence[str], values: dict[str, NDArray[Any]], *, label: str) -> None:
    """Draw a bar for each method in each group: the median over runs, with a dot for each run.

    `values` hold for each method an array of shape (n_groups, n_runs).
    """
    width = 0.82 / len(values)
    for position, (name, figures) in enumerate(values.items()):
        places = np.arange(len(groups)) + (position - (len(values) - 1) / 2) * width
        colour = METHODS[name].colour if name in METHODS else "0.75"
        axes.bar(places, np.median(figures, axis=1), width * 0.92, color=colour, alpha=0.75, label=name)
        runs = np.broadcast_to(places[:, np.newaxis], figures.shape)
        jitter = np.linspace(-0.28, 0.28, figures.shape[1]) * width if figures.shape[1] > 1 else 0.0
        axes.scatter(runs + jitter, figures, s=9, color="black", edgecolors="white", linewidths=0.5, zorder=3)
    axes.set_xticks(np.arange(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(label)
    axes.grid(axis="y", alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)


def add_legend(canvas: Figure, axes: Any, n_columns: int | None = None) -> None:
    """Put one legend for all panels below them, each name once."""
    handles: dict[str, Any] = {}
    for panel in np.ravel(axes):
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    canvas.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=n_columns or len(handles)
    )
