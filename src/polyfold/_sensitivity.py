"""Which columns move the coordinates of a map."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import SMALL_BLOCK_BYTES, row_slices
from polyfold._sparse import is_sparse
from polyfold._table import Table
from polyfold._validation import check_integer

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap


class Sensitivity(Table):
    """How much each coordinate moves with each column: a table, and pictures where the columns are pixels."""

    def images(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Lay the values out as pixels.

        Parameters
        ----------
        shape : sequence of int
            Of an image, as in ``(height, width)``; the product is the number of columns.

        Returns
        -------
        ndarray of shape (n_coordinates, height, width)
            One image for each coordinate, for example for matplotlib's ``imshow``.
        """
        lengths = [check_integer("shape", length, 1) for length in shape]
        if prod(lengths) != len(self):
            raise ValueError(f"`shape` must multiply to the {len(self)} columns, got {tuple(shape)}.")
        return self.values.T.reshape(-1, *shape)

    def largest(self, n: int = 10) -> Sensitivity:
        """Return the n columns that move any coordinate most, most first."""
        n = check_integer("n", n, 1)
        order = np.argsort(-np.abs(self.values).max(axis=1), kind="stable")[:n]
        return Sensitivity(self.heading, tuple(self.labels[i] for i in order), self.names, self.values[order])


def measure_sensitivity(learned: PolynomialMap, samples: Any, signed: bool) -> Sensitivity:
    """Average the slopes of a map over samples, in standard deviations of the columns."""
    n_samples = samples.shape[0]
    if n_samples < 2:
        raise ValueError(f"X must have at least 2 samples, to tell how far columns move; got {n_samples}.")
    learned.transform(samples)  # tells of samples that have no place, by their rows among all
    totals = np.zeros((learned.n_outputs, learned.n_inputs))
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_slices(n_samples, 8 * totals.size, SMALL_BLOCK_BYTES):
            slopes = learned.jacobian(samples[rows]).astype(np.float64) * learned.scale  # in its unit: of any size
            totals += slopes.sum(axis=0) if signed else np.square(slopes).sum(axis=0)
        averages = totals / n_samples if signed else np.sqrt(totals / n_samples)
        effects = (averages * _measure_deviations(samples, learned.scale)).T
    if not np.isfinite(effects).all():
        raise ValueError("X is finite but so far from the training data that sums of squares overflow.")
    return Sensitivity("column", learned.column_names, learned.coordinate_names, effects)


def _measure_deviations(samples: Any, unit: float) -> NDArray[np.float64]:
    """Return the standard deviations of the columns in a unit, in which their squares are doubles too."""
    n_samples, n_columns = samples.shape
    if is_sparse(samples):
        values = samples.data.astype(np.float64) / unit
        means = np.bincount(samples.indices, values, minlength=n_columns) / n_samples
        totals = np.bincount(samples.indices, np.square(values - means[samples.indices]), minlength=n_columns)
        n_absent = n_samples - np.bincount(samples.indices, minlength=n_columns)
        return np.asarray(np.sqrt((totals + n_absent * means**2) / n_samples))
    blocks = row_slices(n_samples, 8 * n_columns, SMALL_BLOCK_BYTES)
    total, squares = np.zeros((2, n_columns))
    for rows in blocks:
        total += np.divide(samples[rows], unit, dtype=np.float64).sum(axis=0)
    for rows in blocks:
        squares += np.square(np.divide(samples[rows], unit, dtype=np.float64) - total / n_samples).sum(axis=0)
    return np.asarray(np.sqrt(squares / n_samples))
