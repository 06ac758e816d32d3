"""The Gram pair of a basis: ``A = (L Q)ᵀ(L Q)`` and ``B = Qᵀ diag(D) Q`` (paper, eq. 12).

Both are sums over samples, so they are accumulated block by block and the N×N matrix LᵀL is never formed. The
features of a block are expanded where they are needed and forgotten: memory is a few d×d matrices and one block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import map_blocks, row_slices
from polyfold._conditioning import ConditionedBasis, check_no_overflow
from polyfold.objectives import Objective


@dataclass(eq=False)
class GramPair:
    """Sums over samples: the pair (A, B), the weighted sum of the features, and the sum of the weights."""

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    feature_sum: NDArray[np.float64]
    weight_sum: float

    def add(self, other: GramPair) -> None:
        """Add the sums of another block to these."""
        self.A += other.A
        self.B += other.B
        self.feature_sum += other.feature_sum
        self.weight_sum += other.weight_sum

    @property
    def mean(self) -> NDArray[np.float64]:
        """The weighted mean of the features."""
        return self.feature_sum / self.weight_sum

    def centered(self) -> NDArray[np.float64]:
        """B of the features less their weighted mean. A stays as it is: L annihilates constants."""
        return self.B - np.outer(self.mean, self.feature_sum)


def accumulate(
    X: NDArray[np.float64],
    rows: NDArray[np.intp],
    neighbors: NDArray[np.intp],
    objective: Objective,
    basis: ConditionedBasis,
) -> GramPair:
    """Return the share of the samples `rows` in the Gram pair.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_inputs)
        Samples in the map's units; only `rows` and their neighbours are read.
    rows : ndarray of shape (n_rows,)
        The samples whose local equations are added.
    neighbors : ndarray of shape (n_rows, n_neighbors)
        The neighbours of each.
    objective : callable
        Neighbourhoods to (L, D), see `polyfold.objectives`.
    basis : ConditionedBasis
    """
    members, positions = np.unique(np.concatenate([rows, neighbors.ravel()]), return_inverse=True)
    patch = X[members]
    L, D = objective(patch, positions[: len(rows)], positions[len(rows) :].reshape(neighbors.shape))
    features = basis.monomials.expand(patch)
    features -= basis.center
    residuals = (L @ features) @ basis.T
    weighted = np.flatnonzero(D)
    features, roots = features[weighted] @ basis.T, np.sqrt(D[weighted])
    feature_sum = D[weighted] @ features
    features *= roots[:, np.newaxis]
    return GramPair(residuals.T @ residuals, features.T @ features, feature_sum, float(D.sum()))


def build_gram_pair(
    X: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    objective: Objective,
    basis: ConditionedBasis,
    *,
    n_jobs: int | None,
    verbose: int,
) -> GramPair:
    """Accumulate the Gram pair of all samples, block by block."""
    n_samples, k = neighbors.shape
    # Per centre: up to k + 1 rows of features, three of products, k offsets, and the k×k local Gram.
    row_bytes = 8 * ((k + 5) * len(basis.center) + (2 * k + 1) * X.shape[1] + 2 * k * k)

    @np.errstate(over="ignore", invalid="ignore")  # within the thread that computes
    def of_block(rows: slice) -> GramPair:
        return accumulate(X, np.arange(rows.start, rows.stop), neighbors[rows], objective, basis)

    blocks = row_slices(n_samples, row_bytes)
    shares = map_blocks(of_block, blocks, n_jobs=n_jobs, verbose=verbose, description="Gram pair")
    total = next(shares)
    for share in shares:
        total.add(share)
    check_no_overflow(total.A, total.B)
    return total
