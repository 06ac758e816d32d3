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
from polyfold._graph import Graph

#: Folds, and folds where there are more than LARGE_GRAM features.
MANY_FOLDS, FEW_FOLDS, LARGE_GRAM = 10, 5, 1000


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

    def measure_spread(self, *, center: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weighted mean of the features and B about it, or 0 and B as it is without `center`.

        A stays as it is: L annihilates constants.
        """
        if not center:
            return np.zeros(len(self.feature_sum)), self.B
        mean = self.feature_sum / self.weight_sum
        return mean, self.B - np.outer(mean, self.feature_sum)


def accumulate(X: NDArray[np.float64], rows: NDArray[np.intp], graph: Graph, basis: ConditionedBasis) -> GramPair:
    """Return the share of the samples `rows` in the Gram pair.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_inputs)
        Samples in the map's units; only `rows` and what the graph joins them to is read.
    rows : ndarray of shape (n_rows,)
        The samples whose local equations are added.
    graph : Graph
        Writes these equations.
    basis : ConditionedBasis
    """
    members, (L, D, signs) = graph.write(rows)
    features = basis.monomials.expand(X[members])
    features -= basis.center
    residuals = (L @ features) @ basis.T
    weighted = np.flatnonzero(D)
    features, roots = features[weighted] @ basis.T, np.sqrt(D[weighted])
    feature_sum = D[weighted] @ features
    features *= roots[:, np.newaxis]
    A = residuals.T @ (residuals if signs is None else signs[:, np.newaxis] * residuals)
    return GramPair(A, features.T @ features, feature_sum, float(D.sum()))


def count_folds(n_samples: int, n_features: int) -> int:
    """Choose the number of folds: each holds two matrices of n_features²."""
    return min(n_samples, MANY_FOLDS if n_features <= LARGE_GRAM else FEW_FOLDS)


def build_gram_folds(
    graph: Graph,
    X: NDArray[np.float64],
    basis: ConditionedBasis,
    *,
    n_jobs: int | None,
    verbose: int,
    n_folds: int | None = None,
) -> list[GramPair]:
    """Accumulate the Gram pair of each fold, block by block. Sample i is in fold i mod `n_folds`."""
    n_samples = graph.n_samples
    n_folds = n_folds or count_folds(n_samples, len(basis.center))
    row_bytes = graph.count_bytes(len(basis.center))
    blocks = [
        slice(fold + n_folds * block.start, fold + n_folds * block.stop, n_folds)
        for fold in range(n_folds)
        for block in row_slices(len(range(fold, n_samples, n_folds)), row_bytes)
    ]

    @np.errstate(over="ignore", invalid="ignore")  # within the thread that computes
    def of_block(block: slice) -> GramPair:
        return accumulate(X, np.arange(n_samples)[block], graph, basis)

    shares = map_blocks(of_block, blocks, n_jobs=n_jobs, verbose=verbose, description="Gram pair")
    folds: list[GramPair] = []
    for block, share in zip(blocks, shares, strict=True):
        if block.start == len(folds):  # the first block of a fold starts at the fold's number
            folds.append(share)
        else:
            folds[-1].add(share)
    check_no_overflow(*(gram for fold in folds for gram in (fold.A, fold.B)))
    return folds


def sum_folds(folds: list[GramPair]) -> GramPair:
    """Return the Gram pair of all samples."""
    first = folds[0]
    total = GramPair(first.A.copy(), first.B.copy(), first.feature_sum.copy(), first.weight_sum)
    for fold in folds[1:]:
        total.add(fold)
    return total
