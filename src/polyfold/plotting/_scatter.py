"""Coordinates as points: by colour, and unseen samples among training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyfold._validation import check_boolean, check_nonnegative
from polyfold.plotting._axes import (
    PALE_GREY,
    PLAIN,
    STRIKING,
    add_colorbar,
    choose_area,
    draw_crosses,
    draw_points,
    frame_plane,
    require_matplotlib,
    take_axes,
    write_plainly,
)
from polyfold.plotting._colors import Classes, read_color
from polyfold.plotting._coordinates import check_length, select_plane, select_same_plane, widen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Extents of the training samples that the frame goes beyond them on each side, where unseen ones lie there.
REACH = 0.5


def plot_embedding(
    Y: ArrayLike,
    color: ArrayLike | str | None = None,
    *,
    labels: Mapping[Any, str] | Sequence[str] | None = None,
    kind: str = "auto",
    axes: Sequence[int] = (0, 1),
    size: float | None = None,
    cmap: Any = "viridis",
    color_label: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw coordinates as points, coloured by classes or along a scale.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components) or (n_samples,)
        Coordinates. A single one is drawn from left to right, with chance up and down so that points do not hide
        each other.
    color : array-like of shape (n_samples,) or str, default=None
        A class or a number for each sample, or one colour for all. What is not known (NaN, None) or infinite is
        drawn grey, below the others.
    labels : mapping or sequence, default=None
        Names of classes: ``labels[c]`` is that of class c. A sequence is for classes 0, 1, …
    kind : {"auto", "categorical", "continuous"}, default="auto"
        What `color` holds. "auto": truth values, text and pandas' categories are classes, and so are whole numbers
        of which at most 12 are different; other numbers are a scale.
    axes : pair of int, default=(0, 1)
        Which coordinates are drawn, where there are more than two.
    size : float, default=None
        Area of a point in square points; None is smaller the more points there are.
    cmap : str or matplotlib Colormap, default="viridis"
        The scale of colours.
    color_label : str, default=None
        What `color` is, for the legend or the colour bar.
    legend : bool, default=True
        Draw the legend of classes, right of the axes, or the colour bar.
    ax : matplotlib Axes, default=None
        None is the current axes.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    polyfold.plotting.plot_unseen : Other samples among these.
    polyfold.plotting.plot_thumbnails : Images at their places.

    Notes
    -----
    O(N) for N samples in one colour; O(N log N) for others, sorted so that grey ones lie below.

    Twelve classes have a colour of their own, told apart by people of any colour vision. Of more, the eleven most
    frequent have one and the others are grey together.

    References
    ----------
    The colours of classes are after Okabe, Ito, "Color universal design: how to make figures and presentations
    that are friendly to colorblind people", https://jfly.uni-koeln.de/color/.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from polyfold import NPPE
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.plotting import plot_embedding
    >>> X, Z = make_swiss_roll(300, random_state=0)
    >>> figure, ax = plt.subplots(layout="constrained")
    >>> plot_embedding(NPPE(n_neighbors=10).fit_transform(X), Z[:, 0], color_label="t", ax=ax).get_xlabel()
    'y0'
    >>> plt.close(figure)
    """
    require_matplotlib("plot_embedding")
    plane = select_plane("Y", Y, axes)
    paint = read_color(color, len(plane.points), kind, labels)
    check_boolean("legend", legend)
    area = choose_area(len(plane.points)) if size is None else check_nonnegative("size", size)
    ax = take_axes(ax)
    if isinstance(paint, str):
        draw_points(ax, plane.points, area, color=paint)
    elif isinstance(paint, Classes):
        order = np.argsort(~paint.is_grey, kind="stable")
        draw_points(ax, plane.points[order], area, c=paint.colors[order])
        if legend:
            _list_classes(ax, paint, color_label)
    else:
        drawn = _draw_scale(ax, plane.points, area, paint, cmap)
        if legend and np.isfinite(paint).any():
            add_colorbar(ax, drawn, color_label or "")
    frame_plane(ax, plane.names, is_line=plane.is_line)
    return ax


def _draw_scale(ax: Any, points: NDArray[np.float64], area: float, values: NDArray[np.float64], cmap: Any) -> Any:
    import matplotlib

    is_known = np.isfinite(values)
    order = np.argsort(is_known, kind="stable")
    scale = matplotlib.colormaps.get_cmap(cmap).with_extremes(bad=PALE_GREY)
    values = np.where(is_known, values, np.nan)[order]
    return draw_points(ax, points[order], area, c=values, cmap=scale, plotnonfinite=True)


def _list_classes(ax: Any, classes: Classes, title: str | None) -> None:
    from matplotlib.lines import Line2D

    names, colors = zip(*classes.legend, strict=True)
    marks = [Line2D([], [], linestyle="", marker="o", markersize=6, color=each) for each in colors]
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    drawn = ax.legend(marks, names, title=title, frameon=False, handletextpad=0.1, alignment="left", **place)
    write_plainly(drawn)


def plot_unseen(
    Y_train: ArrayLike,
    Y_unseen: ArrayLike,
    *,
    extrapolation: ArrayLike | None = None,
    axes: Sequence[int] = (0, 1),
    size: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw unseen samples, where a map places them, among the training samples.

    Parameters
    ----------
    Y_train : array-like of shape (n_train, n_components) or (n_train,)
        Coordinates of the samples that were learned from.
    Y_unseen : array-like of shape (n_unseen, n_components) or (n_unseen,)
        Coordinates of others. What lies beyond the training samples by more than half their extent is drawn as a
        cross at the edge of the frame.
    extrapolation : array-like of shape (n_unseen,), default=None
        Scores of the unseen samples, by :meth:`polyfold.PolynomialMap.extrapolation`. Those above 1, outside of
        what was learned, are drawn as triangles of another colour.
    axes : pair of int, default=(0, 1)
        Which coordinates are drawn, where there are more than two.
    size : float, default=None
        Area of a point in square points; None is smaller the more points there are.
    ax : matplotlib Axes, default=None
        None is the current axes.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    polyfold.PolynomialMap.extrapolation : How far outside a sample is.

    Notes
    -----
    O(N + M) for N training and M unseen samples.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from polyfold import NPPE
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.plotting import plot_unseen
    >>> X, _ = make_swiss_roll(300, random_state=0)
    >>> unseen, _ = make_swiss_roll(100, random_state=1)
    >>> fitted = NPPE(n_neighbors=10).fit(X)
    >>> figure, ax = plt.subplots(layout="constrained")
    >>> scores = fitted.map_.extrapolation(unseen)
    >>> ax = plot_unseen(fitted.embedding_, fitted.transform(unseen), extrapolation=scores, ax=ax)
    >>> ax.get_legend_handles_labels()[1][0]
    '300 training'
    >>> plt.close(figure)
    """
    require_matplotlib("plot_unseen")
    train = select_plane("Y_train", Y_train, axes)
    unseen = select_same_plane("Y_unseen", Y_unseen, axes, "Y_train", train)
    is_outside = _find_outside(extrapolation, len(unseen.points))
    n_points = len(train.points) + len(unseen.points)
    area = choose_area(n_points) if size is None else check_nonnegative("size", size)
    low, high = widen(train.points.min(axis=0), train.points.max(axis=0), REACH)
    places = unseen.points.clip(low, high)
    is_beyond = (places != unseen.points).any(axis=1)

    ax = take_axes(ax)
    draw_points(ax, train.points, area, color=PALE_GREY, label=f"{len(train.points):,} training")
    groups = {"unseen": (~is_outside, PLAIN, "o", 1.0)}
    if extrapolation is not None:
        groups = {
            "unseen, inside what was learned": (~is_outside, PLAIN, "o", 1.0),
            "unseen, outside (extrapolation above 1)": (is_outside, STRIKING, "^", 1.8),
        }
    for name, (chosen, color, marker, factor) in groups.items():
        within, beyond = chosen & ~is_beyond, chosen & is_beyond
        label = f"{chosen.sum():,} {name}"
        draw_points(ax, places[within], factor * area, color=color, marker=marker, label=label)
        if beyond.any():
            label = f"{beyond.sum():,} of them beyond the frame"
            draw_crosses(ax, places[beyond], color=color, label=label, zorder=3)
    if is_beyond.any():
        # The frame ends where something lies beyond it, and elsewhere a little outside of all points.
        shown = np.vstack([train.points, places])
        snug = widen(shown.min(axis=0), shown.max(axis=0), 0.05)
        low, high = np.maximum(low, snug[0]), np.minimum(high, snug[1])
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    frame_plane(ax, train.names, is_line=train.is_line, keep_limits=bool(is_beyond.any()))
    _explain_below(ax)
    return ax


def _find_outside(extrapolation: ArrayLike | None, n_unseen: int) -> NDArray[np.bool_]:
    if extrapolation is None:
        return np.zeros(n_unseen, dtype=bool)
    scores = np.asarray(extrapolation, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"`extrapolation` must have the shape (n_unseen,), got {scores.shape}.")
    check_length("extrapolation", scores, n_unseen, "unseen samples")
    if np.isnan(scores).any():
        raise ValueError(
            f"`extrapolation` must not be NaN, got {np.isnan(scores).sum():,} that are. Leave them out."
        )
    return np.asarray(scores > 1)


def _explain_below(ax: Any) -> None:
    """Put a legend below the name of the axis, whatever the size of the axes."""
    from matplotlib.transforms import ScaledTranslation

    below = ax.transAxes + ScaledTranslation(0, -20 / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        frameon=False,
        borderaxespad=0.0,
        ncols=1,
    )
