"""Which columns move the coordinates of a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import SMALL_BLOCK_BYTES, row_slices
from polyfold._sparse import is_sparse
from polyfold._table import Table

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
        ndarray of shape (n_coordinates, *shape)
            One image for each coordinate, for example for matplotlib's ``imshow``.
        """
        if int(np.prod(shape)) != len(self):
            raise ValueError(f"`shape` must multiply to the {len(self)} columns, got {tuple(shape)}.")
        return self.values.T.reshape(-1, *shape)

    def largest(self, n: int = 10) -> Sensitivity:
        """Return the n columns that move any coordinate most, most first."""
        order = np.argsort(-np.abs(self.values).max(axis=1), kind="stable")[:n]
        return Sensitivity(self.heading, tuple(self.labels[i] for i in order), self.names, self.values[order])


def measure_sensitivity(learned: PolynomialMap, samples: Any, signed: bool) -> Sensitivity:
    """Average the slopes of a map over samples, in standard deviations of the columns."""
    n_samples = samples.shape[0]
    if n_samples < 2:
        raise ValueError(f"X must have at least 2 samples, to tell how far columns move; got {n_samples}.")
    totals = np.zeros((learned.n_outputs, learned.n_inputs))
    for rows in row_slices(n_samples, 8 * totals.size, SMALL_BLOCK_BYTES):
        slopes = learned.jacobian(samples[rows]).astype(np.float64)
        totals += slopes.sum(axis=0) if signed else np.square(slopes).sum(axis=0)
    averages = totals / n_samples if signed else np.sqrt(totals / n_samples)
    effects = (averages * _measure_deviations(samples)).T
    return Sensitivity("column", learned.column_names, learned.coordinate_names, effects)


def _measure_deviations(samples: Any) -> NDArray[np.float64]:
    if not is_sparse(samples):
        return np.asarray(samples.std(axis=0, dtype=np.float64))
    n_samples, n_columns = samples.shape
    means = np.asarray(samples.mean(axis=0, dtype=np.float64)).ravel()
    about_mean = np.square(samples.data.astype(np.float64) - means[samples.indices])
    totals = np.bincount(samples.indices, about_mean, minlength=n_columns)
    n_stored = np.bincount(samples.indices, minlength=n_columns)
    return np.asarray(np.sqrt((totals + (n_samples - n_stored) * means**2) / n_samples))
