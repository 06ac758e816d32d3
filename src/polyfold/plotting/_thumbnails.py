"""Images at their places in an embedding, none hiding another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyfold._validation import check_integer
from polyfold.plotting._axes import PLAIN, draw_crosses, draw_points, require_matplotlib, soften_spines, take_axes
from polyfold.plotting._coordinates import check_length, find_limits, select_plane, select_same_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Height of a panel over its width.
PANEL = 0.85

#: Cells in a panel for each image: so many that there is room between them.
CELLS_PER_IMAGE = 3.6

#: Pixels across an image that are drawn at most; of more, means.
MAX_PIXELS = 96


def plot_thumbnails(
    Y: ArrayLike,
    images: ArrayLike,
    *,
    shape: Sequence[int] | None = None,
    background: ArrayLike | None = None,
    max_images: int = 100,
    axes: Sequence[int] = (0, 1),
    color: str = PLAIN,
    cmap: Any = "gray",
    ax: Axes | None = None,
) -> Axes:
    """Draw images at their coordinates, none hiding another.

    Images stand in the cells of a grid, each in its own: that of its place or, where that is taken, the nearest
    that is free. A line leads from each image to its place. The frame leaves out the outermost hundredth of the
    samples on each side; an image whose place lies beyond it stands at the edge, its place marked by a cross.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components) or (n_samples,)
        Coordinates.
    images : array-like of shape (n_samples, height, width) or (n_samples, height * width)
        Grey values, the first row of an image on top. All images have one scale of grey.
    shape : pair of int, default=None
        Height and width, where `images` has a row for each image.
    background : array-like of shape (n_others, n_components) or (n_others,), default=None
        Coordinates of samples drawn as grey dots, which the frame is chosen by; None is `Y`.
    max_images : int, default=100
        Images shown at most: of more samples those that are spread most evenly, each in turn being the one that
        lies farthest from all before it. It also sets their size.
    axes : pair of int, default=(0, 1)
        Which coordinates are drawn, where there are more than two.
    color : str, default="#0072B2"
        Of places and lines.
    cmap : str or matplotlib Colormap, default="gray"
        Colours of the images; "gray_r" for ink on paper.
    ax : matplotlib Axes, default=None
        None is the current axes.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    polyfold.plotting.plot_embedding : Points instead of images.

    Notes
    -----
    O(N s + s² + s h w) for N samples and s images of h × w pixels: each image that is chosen is compared with all
    samples, each cell with all images.

    References
    ----------
    Images beside their places are after Tenenbaum, de Silva, Langford, "A global geometric framework for nonlinear
    dimensionality reduction", Science 290 (2000) 2319-2323.

    Each in turn the farthest: Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical
    Computer Science 38 (1985) 293-306.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_digits
    >>> from polyfold import NPPE
    >>> from polyfold.plotting import plot_thumbnails
    >>> X, y = load_digits(return_X_y=True)
    >>> threes = X[y == 3]
    >>> figure, ax = plt.subplots(layout="constrained")
    >>> ax = plot_thumbnails(NPPE().fit_transform(threes), threes, shape=(8, 8), cmap="gray_r", ax=ax)
    >>> len(ax.images), ax.get_xlabel()
    (1, 'y0')
    >>> plt.close(figure)
    """
    require_matplotlib("plot_thumbnails")
    plane = select_plane("Y", Y, axes)
    dots = plane if background is None else select_same_plane("background", background, axes, "Y", plane)
    pictures = _check_images(images, shape, len(plane.points))
    check_integer("max_images", max_images, 1)
    low, high = find_limits(dots.points)
    chosen = choose_spread((plane.points.clip(low, high) - low) / (high - low), max_images)
    ax = take_axes(ax)
    draw_points(ax, dots.points, 3.0, color="0.72", zorder=1)
    _draw_images(ax, plane.points[chosen], shrink(pictures[chosen]), (low, high), max_images, color, cmap)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    ax.set_box_aspect(PANEL)
    soften_spines(ax)
    return ax


def _draw_images(
    ax: Any,
    places: NDArray[np.float64],
    images: NDArray[Any],
    frame: tuple[NDArray[np.float64], NDArray[np.float64]],
    max_images: int,
    color: str,
    cmap: Any,
) -> None:
    from matplotlib.collections import LineCollection

    low, high = frame
    inside = places.clip(low, high)
    n_cells = count_cells(images.shape[1], images.shape[2], max_images)
    cells = choose_cells((inside - low) / (high - low) * n_cells, n_cells)
    centres = low + (cells + 0.5) / n_cells * (high - low)
    lines = LineCollection(list(np.stack([inside, centres], axis=1)), colors=color, linewidths=0.5, zorder=2.1)
    ax.add_collection(lines, autolim=False)
    sheet = lay_out(images, cells, n_cells)
    box = (low[0], high[0], low[1], high[1])
    ax.imshow(sheet, cmap=cmap, extent=box, origin="upper", aspect="auto", zorder=2, interpolation="nearest")
    is_beyond = (inside != places).any(axis=1)
    draw_points(ax, inside[~is_beyond], 7.0, color=color, zorder=2.2)
    draw_crosses(ax, inside[is_beyond], color=color, zorder=3)


def _check_images(images: ArrayLike, shape: Sequence[int] | None, n_points: int) -> NDArray[Any]:
    """Return images of shape (n_images, height, width)."""
    pictures = np.asarray(images)
    if pictures.dtype.kind not in "biuf":
        raise ValueError(f"`images` must hold numbers, got {pictures.dtype}.")
    if shape is not None:
        try:
            height, width = (check_integer("shape", each, 1) for each in shape)
        except (TypeError, ValueError):
            raise ValueError(f"`shape` must be a height and a width, each at least 1, got {shape!r}.") from None
        if pictures.ndim not in (2, 3) or int(np.prod(pictures.shape[1:])) != height * width:
            raise ValueError(
                f"`images` must have {height} x {width} = {height * width} pixels each by `shape`, "
                f"got the shape {pictures.shape}."
            )
        pictures = pictures.reshape(-1, height, width)
    if pictures.ndim != 3 or 0 in pictures.shape[1:]:
        raise ValueError(
            "`images` must have the shape (n_samples, height, width), or (n_samples, height * width) with `shape` "
            f"given, got {pictures.shape}."
        )
    check_length("images", pictures, n_points, "samples")
    return pictures


def choose_spread(points: NDArray[np.float64], n_chosen: int) -> NDArray[np.intp]:
    """Return rows that are spread evenly: first the most central, then ever the farthest from all before."""
    if n_chosen >= len(points):
        return np.arange(len(points))
    chosen = np.empty(n_chosen, dtype=np.intp)
    chosen[0] = np.argmin(np.linalg.norm(points - np.median(points, axis=0), axis=1))
    distances = np.full(len(points), np.inf)
    for k in range(1, n_chosen):
        distances = np.minimum(distances, np.linalg.norm(points - points[chosen[k - 1]], axis=1))
        distances[chosen[k - 1]] = -1.0  # never twice, even where points coincide
        chosen[k] = np.argmax(distances)
    return chosen


def shrink(images: NDArray[Any]) -> NDArray[Any]:
    """Return images of at most `MAX_PIXELS` a side: means of blocks of pixels, incomplete ones left out."""
    n_images, height, width = images.shape
    tall, wide = -(-height // MAX_PIXELS), -(-width // MAX_PIXELS)
    if tall == wide == 1:
        return images
    kept = images[:, : height // tall * tall, : width // wide * wide]
    return np.asarray(kept.reshape(n_images, height // tall, tall, width // wide, wide).mean(axis=(2, 4)))


def count_cells(height: int, width: int, n_images: int) -> NDArray[np.int_]:
    """Return how many cells, in the shape of an image, lie across and down a panel."""
    number = CELLS_PER_IMAGE * n_images
    across = np.sqrt(number * height / width / PANEL)
    return np.array([max(round(across), 1), max(round(number / across), 1)])


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
