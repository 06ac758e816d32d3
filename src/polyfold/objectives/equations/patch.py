"""What every local objective takes and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyfold._basis import MonomialBasis
from polyfold._blocks import renumber


@dataclass(frozen=True, eq=False)
class Patch:
    """Some centres among the samples, and their neighbours.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
        All samples; only centres and neighbours are read.
    centers : ndarray of shape (n_centers,)
        Which samples are centres, all different.
    neighbors : ndarray of shape (n_centers, n_neighbors)
        Which samples are each centre's neighbours.
    weights : ndarray of shape (n_centers,)
        How much each centre counts: one of weight w counts as w centres.
    """

    X: NDArray[np.float64]
    centers: NDArray[np.intp]
    neighbors: NDArray[np.intp]
    weights: NDArray[np.float64]

    @property
    def offsets(self) -> NDArray[np.float64]:
        """The neighbours of each centre less the centre: shape (n_centers, n_neighbors, n_columns)."""
        return np.asarray(self.X[self.neighbors] - self.X[self.centers, np.newaxis])


@dataclass(frozen=True, eq=False)
class LocalRows:
    """A sparse matrix with equally many entries in each row.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_entries)
        Which columns the entries of a row are in.
    entries : ndarray of shape (n_rows, n_entries)
    n_columns : int
        Of the whole matrix.
    """

    columns: NDArray[np.intp]
    entries: NDArray[np.float64]
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.columns), self.n_columns

    def __matmul__(self, Q: NDArray[np.float64]) -> NDArray[np.float64]:
        from polyfold._fit_kernels import combine_rows

        combined = np.empty((len(self.columns), Q.shape[1]))
        combine_rows(self.columns, self.entries, Q, combined)
        return combined

    def combine_monomials(
        self, X: NDArray[np.float64], monomials: MonomialBasis, center: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the product with the monomials of X less `center`, without holding these."""
        from polyfold._fit_kernels import combine_monomials

        combined = np.empty((len(self.columns), monomials.n_features))
        table = monomials.parents, monomials.variables, monomials.factors
        combine_monomials(self.columns, self.entries, X, *table, center, combined)
        return combined

    def to_csr(self) -> Any:
        """Return the same matrix as SciPy's."""
        row_ends = np.arange(0, self.columns.size + 1, self.columns.shape[1])
        return csr_array((self.entries.ravel(), self.columns.ravel(), row_ends), shape=self.shape)

    def restrict(self) -> tuple[NDArray[np.intp], LocalRows]:
        """Return the columns that have entries, and the matrix of these."""
        members, positions = renumber(self.columns.ravel(), self.n_columns)
        return members, LocalRows(positions.reshape(self.columns.shape), self.entries, len(members))


class Equations(NamedTuple):
    """Local equations, ``||L Y||²``, and the weight of each sample in ``Yᵀ diag(D) Y``.

    Attributes
    ----------
    L : LocalRows or csr_array of shape (n_equations, n_samples)
        Each row sums to zero: a constant has no residual.
    counted : ndarray of shape (n_counted,)
        The samples that have a weight, all different.
    D : ndarray of shape (n_counted,)
        Their weights; those of all others are 0.
    signs : ndarray of shape (n_equations,) or None
        -1 for equations whose squared residual is subtracted.
    """

    L: Any
    counted: NDArray[np.intp]
    D: NDArray[np.float64]
    signs: NDArray[np.float64] | None = None
