"""Coordinates of samples, brought to a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._validation import check_integer


@dataclass(frozen=True, eq=False)
class Plane:
    """Points of the plane.

    Attributes
    ----------
    points : ndarray of shape (n_points, 2)
    names : tuple of str
        Of the two axes.
    n_components : int
        Coordinates there were.
    """

    points: NDArray[np.float64]
    names: tuple[str, str]
    n_components: int

    @property
    def is_line(self) -> bool:
        """Whether there was one coordinate only, and the second is chance."""
        return self.n_components == 1


def select_plane(name: str, Y: Any, axes: Sequence[int]) -> Plane:
    """Check coordinates called `name`, and return two of them."""
    coordinates = _check_coordinates(name, Y)
    n_points, n_components = coordinates.shape
    titles = [str(title) for title in getattr(Y, "columns", [f"y{c}" for c in range(n_components)])]
    if n_components == 1:
        across = np.random.default_rng(0).uniform(size=n_points)
        return Plane(np.column_stack([coordinates[:, 0], across]), (titles[0], ""), 1)
    first, second = _check_axes(axes, name, n_components)
    return Plane(coordinates[:, [first, second]], (titles[first], titles[second]), n_components)


def select_same_plane(name: str, Y: Any, axes: Sequence[int], other_name: str, other: Plane) -> Plane:
    """Do the same with further samples of a plane."""
    plane = select_plane(name, Y, axes)
    if plane.n_components != other.n_components:
        raise ValueError(
            f"`{name}` must have as many coordinates as `{other_name}`, {other.n_components}, "
            f"got {plane.n_components}."
        )
    return plane


def _check_coordinates(name: str, Y: Any) -> NDArray[np.float64]:
    try:
        coordinates = np.asarray(Y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{name}` must hold numbers, in an array of shape (n_samples, n_components).") from error
    if coordinates.ndim == 1:
        coordinates = coordinates[:, np.newaxis]
    if coordinates.ndim != 2 or 0 in coordinates.shape:
        raise ValueError(
            f"`{name}` must have the shape (n_samples, n_components), with at least one of each, "
            f"got {np.shape(Y)}."
        )
    is_bad = ~np.isfinite(coordinates).all(axis=1)
    if is_bad.any():
        raise ValueError(
            f"`{name}` must be finite, got {is_bad.sum():,} rows with NaN or infinity, the first being "
            f"row {np.argmax(is_bad)}. Leave them out."
        )
    return coordinates


def _check_axes(axes: Sequence[int], name: str, n_components: int) -> tuple[int, int]:
    try:
        first, second = (check_integer("axes", c, 0) for c in axes)
    except (TypeError, ValueError):
        first = second = -1
    if first == second or max(first, second) >= n_components:
        raise ValueError(
            f"`axes` must be two different coordinates of `{name}`, from 0 to {n_components - 1}, got {axes!r}."
        )
    return first, second


def check_length(name: str, values: Any, n_points: int, what: str) -> None:
    """Say which of two arrays is too long or too short."""
    if len(values) != n_points:
        raise ValueError(f"`{name}` must have one entry for each of the {n_points:,} {what}, got {len(values):,}.")


def find_limits(points: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a frame around all but the outermost hundredth of the points on each side."""
    low, high = np.quantile(points, [0.01, 0.99], axis=0)
    return widen(low, high, 0.08)


def widen(
    low: NDArray[np.float64], high: NDArray[np.float64], share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Move the corners of a frame apart by a share of its extent, so that it has some."""
    size = np.maximum(np.abs(low), np.abs(high))
    size = np.where(size > 0, size, 1.0)
    margin = np.where(high - low > 1e-9 * size, share * (high - low), size)
    return low - margin, high + margin
