"""Sums over rows that a frame is built from: mean, products about it, and the range of each column.

They are merged from those of parts (Chan, Golub & LeVeque, 1983), so that samples can be seen a block at a time,
in any number of processes, and no digits are lost to a mean that dwarfs the spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import SMALL_BLOCK_BYTES, row_slices

#: Values beyond this power of two, up or down, are put into another unit: their squares may leave float64's range.
LARGE_EXPONENT = 400


@dataclass(frozen=True, eq=False)
class Moments:
    """Of some rows.

    Attributes
    ----------
    n_samples : int
    unit : float
        A power of two that `mean` and `products` are in units of; 1 unless values are huge or tiny.
    mean : ndarray of shape (n_columns,)
    products : ndarray of shape (n_columns, n_columns) or (n_columns,)
        Sums of products of columns about the mean; of each column with itself only, where no more is wanted.
    ranges : ndarray of shape (2, n_columns)
        The smallest and the largest value of each column, in its own unit.
    """

    n_samples: int
    unit: float
    mean: NDArray[np.float64]
    products: NDArray[np.float64]
    ranges: NDArray[np.float64]

    @property
    def variances(self) -> NDArray[np.float64]:
        """Variances of the columns, exactly 0 where all values are equal."""
        squares = self.products if self.products.ndim == 1 else np.diagonal(self.products)
        return np.where(self.ranges[0] == self.ranges[1], 0.0, np.maximum(squares, 0.0)) / self.n_samples

    def measure_spread(self, *, center: bool) -> NDArray[np.float64]:
        """Return the mean products of columns about the mean or, without `center`, about zero."""
        spread = self.products / self.n_samples
        is_equal = self.ranges[0] == self.ranges[1]
        spread[is_equal] = 0.0  # rounding
        if spread.ndim == 2:
            spread[:, is_equal] = 0.0
        if not center:
            spread = spread + (np.square(self.mean) if spread.ndim == 1 else np.outer(self.mean, self.mean))
        return spread


def measure_moments(samples: NDArray[Any], *, with_products: bool, first: int = 0) -> Moments:
    """Measure the rows of a table, which must be finite.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_columns)
        Of any type.
    with_products : bool
        Whether the products of different columns are wanted.
    first : int, default=0
        Number of the first row, for the error.
    """
    row_bytes = 8 * samples.shape[1]
    shares = [
        _measure_block(samples[rows], with_products, first + rows.start)
        for rows in row_slices(len(samples), row_bytes, SMALL_BLOCK_BYTES)
    ]
    return merge_moments(shares)


@np.errstate(over="ignore", invalid="ignore")
def _measure_block(samples: NDArray[Any], with_products: bool, first: int) -> Moments:
    rows = np.asarray(samples, dtype=np.float64)
    ranges = np.stack([rows.min(axis=0), rows.max(axis=0)])
    if not np.isfinite(ranges).all():
        row = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ValueError(
            f"X holds NaN or infinity in row {first + row:,}. Fill in or leave out what is missing before the fit."
        )
    unit = choose_unit(float(np.abs(ranges).max()))
    if unit != 1.0:
        rows = rows / unit
    mean = rows.mean(axis=0)
    about_mean = rows - mean
    products = about_mean.T @ about_mean if with_products else np.einsum("ij,ij->j", about_mean, about_mean)
    return Moments(len(rows), unit, mean, products, ranges)


def choose_unit(largest: float) -> float:
    """Return a power of two near the largest value, or 1 where its square is within range anyway."""
    exponent = int(np.frexp(largest)[1]) if largest else 0
    return 1.0 if abs(exponent) <= LARGE_EXPONENT else float(np.ldexp(1.0, max(min(exponent, 1000), -1000)))


def merge_moments(shares: Sequence[Moments]) -> Moments:
    """Return the moments of all rows from those of parts, in the order given."""
    total = shares[0]
    for share in shares[1:]:
        unit = max(total, share, key=_find_largest).unit
        total = _merge_pair(_change_unit(total, unit), _change_unit(share, unit))
    return total


def _find_largest(moments: Moments) -> float:
    return float(np.abs(moments.ranges).max())


def _change_unit(moments: Moments, unit: float) -> Moments:
    if moments.unit == unit:
        return moments
    ratio = moments.unit / unit
    return replace(moments, unit=unit, mean=moments.mean * ratio, products=moments.products * ratio * ratio)


def _merge_pair(one: Moments, other: Moments) -> Moments:
    n_samples = one.n_samples + other.n_samples
    difference = other.mean - one.mean
    between = np.square(difference) if one.products.ndim == 1 else np.outer(difference, difference)
    return Moments(
        n_samples,
        one.unit,
        one.mean + difference * (other.n_samples / n_samples),
        one.products + other.products + between * (one.n_samples * other.n_samples / n_samples),
        np.stack([np.minimum(one.ranges[0], other.ranges[0]), np.maximum(one.ranges[1], other.ranges[1])]),
    )
