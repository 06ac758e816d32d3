"""Images drawn at their places in an embedding, none hiding another."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

#: Height of a panel over its width.
PANEL = 0.85

#: Cells in a panel: enough for a hundred images and room between them.
N_CELLS = 360


def draw_thumbnails(
    axes: Any, dots: NDArray[Any], places: NDArray[Any], images: NDArray[Any], colour: str, shades: str = "gray"
) -> None:
    """Draw all samples as dots, and images at the places of some.

    Images stand in the cells of a grid, each in its own: that of its place or, where that is taken, the nearest
    that is free. A line leads from each image to its place.

    Parameters
    ----------
    axes : matplotlib axes
    dots : ndarray of shape (n_samples, 2)
    places : ndarray of shape (n_images, 2)
    images : ndarray of shape (n_images, height, width)
    colour : str
        Of places and lines.
    shades : str
        Colour map of the images.
    """
    low, high = find_limits(dots)
    inside = places.clip(low, high)
    n_cells = count_cells(*images.shape[1:])
    cells = choose_cells((inside - low) / (high - low) * n_cells, n_cells)
    centres = low + (cells + 0.5) / n_cells * (high - low)
    axes.scatter(*dots.T, s=3, color="0.72", linewidths=0, rasterized=True, zorder=1)
    lines = LineCollection(list(np.stack([inside, centres], axis=1)), colors=colour, linewidths=0.5, zorder=3.5)
    axes.add_collection(lines, autolim=False)
    box = (low[0], high[0], low[1], high[1])
    axes.imshow(
        lay_out(images, cells, n_cells), cmap=shades, extent=box, aspect="auto", zorder=3, interpolation="nearest"
    )
    is_outside = (inside != places).any(axis=1)
    axes.scatter(*inside[~is_outside].T, s=7, color=colour, linewidths=0, zorder=4)
    axes.scatter(*inside[is_outside].T, s=22, color=colour, marker="x", linewidths=1.2, zorder=4, clip_on=False)
    axes.set(xlim=box[:2], ylim=box[2:], xticks=[], yticks=[])
    axes.set_box_aspect(PANEL)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("0.8")


def find_limits(dots: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a frame around all but the outermost hundredth of the dots on each side."""
    low, high = np.quantile(dots, [0.01, 0.99], axis=0)
    margin = np.maximum(0.08 * (high - low), 1e-12)
    return low - margin, high + margin


def count_cells(height: int, width: int) -> NDArray[np.int_]:
    """Return how many cells, in the shape of an image, lie across and down a panel."""
    across = np.sqrt(N_CELLS * height / width / PANEL)
    return np.array([round(across), round(N_CELLS / across)])


def choose_cells(wanted: NDArray[np.float64], n_cells: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return a cell for each place, given in units of cells: the nearest free one, whoever is nearest first."""
    grid = np.stack(np.meshgrid(*map(np.arange, n_cells), indexing="ij"), axis=-1).reshape(-1, 2)
    distances = np.linalg.norm(wanted[:, np.newaxis] - (grid + 0.5), axis=2)
    free = np.ones(len(grid), dtype=bool)
    chosen = np.empty(len(wanted), dtype=int)
    for number in np.argsort(distances.min(axis=1), kind="stable"):
        chosen[number] = np.argmin(np.where(free, distances[number], np.inf))
        free[chosen[number]] = False
    return np.asarray(grid[chosen])


def lay_out(images: NDArray[Any], cells: NDArray[np.int_], n_cells: NDArray[np.int_]) -> Any:
    """Return one image of all, clear where there is none; its first row is the top."""
    height, width = np.array(images.shape[1:]) + 1
    across, down = n_cells
    shape = down * height, across * width
    sheet = np.ma.array(np.zeros(shape), mask=np.ones(shape, dtype=bool))
    for image, (column, row) in zip(images, cells, strict=True):
        top, left = (down - 1 - row) * height, column * width
        sheet[top : top + height - 1, left : left + width - 1] = image
    return sheet
