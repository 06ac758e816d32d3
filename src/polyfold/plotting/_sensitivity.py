"""Which columns move a coordinate: as bars, or as a picture where they are pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyfold._sensitivity import Sensitivity
from polyfold._table import make_printable
from polyfold._validation import check_boolean, check_integer
from polyfold.plotting._axes import add_colorbar, quiet_axes, require_matplotlib, soften_spines, take_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Blue is below 0, white is 0, red is above.
DIVERGING = "RdBu_r"

#: The same for bars.
BELOW, ABOVE = "#2166AC", "#B2182B"

#: Letters of a column's name that are shown.
LONGEST_NAME = 28


def plot_sensitivity(
    source: Any,
    X: ArrayLike | None = None,
    *,
    coordinate: int | str = 0,
    shape: Sequence[int] | None = None,
    largest: int = 15,
    signed: bool = True,
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the columns that move a coordinate most: how far, when one moves by its standard deviation.

    Parameters
    ----------
    source : PolynomialMap, fitted estimator or Sensitivity
        A map, what holds one as ``map_``, or what :meth:`polyfold.PolynomialMap.sensitivity` returned.
    X : array-like of shape (n_samples, n_inputs), default=None
        Samples to average over; None where `source` is a Sensitivity.
    coordinate : int or str, default=0
        Which coordinate, by position or by name.
    shape : pair of int, default=None
        Height and width of the image whose pixels the columns are. It is drawn with 0 in the middle of its scale:
        red moves the coordinate up, blue down. None draws bars.
    largest : int, default=15
        Bars at most, the columns that move this coordinate most.
    signed : bool, default=True
        Average the slopes with their signs, as :meth:`polyfold.PolynomialMap.sensitivity` does when asked. Of a
        Sensitivity, what was measured is drawn.
    colorbar : bool, default=True
        Draw the scale of the image.
    ax : matplotlib Axes, default=None
        None is the current axes.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    polyfold.PolynomialMap.sensitivity : The figures behind it.

    Notes
    -----
    Of a map with d monomials in r axes O(N m (d + r n)) for N samples of n columns and m coordinates, as
    :meth:`polyfold.PolynomialMap.sensitivity`; of a Sensitivity O(n log n).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from polyfold import NPPE
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.plotting import plot_sensitivity
    >>> X, _ = make_swiss_roll(300, random_state=0)
    >>> figure, ax = plt.subplots(layout="constrained")
    >>> plot_sensitivity(NPPE(n_neighbors=10).fit(X), X, signed=False, ax=ax).get_title()
    'what moves y0'
    >>> plt.close(figure)
    """
    require_matplotlib("plot_sensitivity")
    sensitivity = _measure(source, X, check_boolean("signed", signed))
    position = _find_coordinate(coordinate, sensitivity.names)
    check_integer("largest", largest, 1)
    check_boolean("colorbar", colorbar)
    if shape is not None and len(tuple(shape)) != 2:
        raise ValueError(f"`shape` must be a height and a width, got {shape!r}.")
    picture = None if shape is None else sensitivity.images(shape)[position]

    ax = take_axes(ax)
    name = sensitivity.names[position]
    if picture is None:
        _draw_bars(ax, sensitivity.labels, sensitivity.values[:, position], largest)
        ax.set_xlabel(f"change of {name} for a standard deviation of the column", parse_math=False)
    else:
        _draw_picture(ax, picture, f"change of {name}" if colorbar else None)
    ax.set_title(f"what moves {name}", parse_math=False)
    return ax


def _measure(source: Any, X: ArrayLike | None, signed: bool) -> Sensitivity:
    if isinstance(source, Sensitivity):
        if X is not None:
            raise ValueError("`X` must be None with a Sensitivity: it was measured already. Leave X out.")
        return source
    from polyfold.polymap import PolynomialMap

    learned = source if isinstance(source, PolynomialMap) else getattr(source, "map_", None)
    if not isinstance(learned, PolynomialMap):
        raise TypeError(
            "`source` must be a PolynomialMap, an estimator that was fitted and has one as `map_`, or a "
            f"Sensitivity, got {type(source).__name__}."
        )
    if X is None:
        raise ValueError("`X` must be given with a map: the samples to average over.")
    return learned.sensitivity(X, signed=signed)


def _find_coordinate(coordinate: int | str, names: tuple[str, ...]) -> int:
    if isinstance(coordinate, str) and coordinate in names:
        return names.index(coordinate)
    if isinstance(coordinate, str) or check_integer("coordinate", coordinate, 0) >= len(names):
        raise ValueError(
            f"`coordinate` must be one of {', '.join(names)} or a position from 0 to {len(names) - 1}, "
            f"got {coordinate!r}."
        )
    return coordinate


def _draw_bars(ax: Any, labels: tuple[str, ...], values: NDArray[np.float64], largest: int) -> None:
    order = np.argsort(-np.abs(values), kind="stable")[:largest]
    shown = [_shorten(make_printable(labels[i])) for i in order]
    ax.barh(np.arange(len(order)), values[order], color=np.where(values[order] < 0, BELOW, ABOVE), height=0.75)
    ax.set_yticks(np.arange(len(order)), shown, parse_math=False)
    ax.set_ylim(len(order) - 0.4, -0.6)  # the largest on top
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.tick_params(axis="y", length=0)
    quiet_axes(ax)
    ax.spines["left"].set_visible(False)


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _draw_picture(ax: Any, picture: NDArray[np.float64], label: str | None) -> None:
    limit = np.abs(picture).max() or 1.0
    drawn = ax.imshow(picture, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    soften_spines(ax)
    if label is not None:
        add_colorbar(ax, drawn, label)
