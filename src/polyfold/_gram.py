"""The Gram pair of a basis: ``A = (L Q)ᵀ(L Q)`` and ``B = Qᵀ diag(D) Q`` (paper, eq. 12).

Both are sums over samples, so they are accumulated block by block and the N×N matrix LᵀL is never formed. The
features of all samples are held once, up to half a gigabyte; beyond that those of a block are expanded where they
are needed and forgotten, and memory is a few d×d matrices and one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyfold._blocks import SMALL_BLOCK_BYTES, map_blocks, renumber, row_slices
from polyfold._conditioning import ConditionedBasis, check_no_overflow
from polyfold._graph import Graph
from polyfold.objectives.equations.patch import LocalRows

#: Features of all samples are held in memory up to this size.
HELD_BYTES = 2**29

#: Temporaries of a block, and of the others of its region, stay below this many bytes each.
BLOCK_BYTES = 2**24

#: Where a sample is in fewer equations than this, on average, its monomials are made anew for each.
SHARED = 3

#: Rows from which the number of equations is estimated.
PROBED_ROWS = 16

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


@dataclass(frozen=True, eq=False)
class SampleFeatures:
    """The conditioned features Q of samples: held where there is room for them, or else made anew when needed.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_inputs)
        Samples in the map's units.
    basis : ConditionedBasis
    held : ndarray of shape (n_samples, n_features) or None
    """

    X: NDArray[np.float64]
    basis: ConditionedBasis
    held: NDArray[np.float64] | None

    def count_floats(self, graph: Graph) -> int:
        """Estimate the floats that are needed for the residuals and features of a row of the graph."""
        some = np.unique(np.linspace(0, graph.n_samples - 1, PROBED_ROWS).astype(np.intp))
        L = graph.write(some).L
        equations = L.shape[0] / len(some)
        n_entries = L.columns.size if isinstance(L, LocalRows) else L.nnz
        made_anew = 0 if self.held is not None else min(n_entries / len(some), graph.n_samples) + equations
        return int((equations + 1 + made_anew) * len(self.basis.center))

    def take(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the features of some samples."""
        if self.held is None:
            return self.basis.expand(np.take(self.X, samples, axis=0))
        return np.take(self.held, samples, axis=0)

    def combine(self, L: Any) -> NDArray[np.float64]:
        """Return ``L Q``."""
        if self.held is not None:
            return np.asarray(L @ self.held)
        members, among = L.restrict() if isinstance(L, LocalRows) else _restrict(L)
        if isinstance(L, LocalRows) and L.columns.size < SHARED * len(members):
            return np.asarray(L.combine_monomials(self.X, self.basis.monomials, self.basis.center) @ self.basis.T)
        return np.asarray((among @ self.basis.center_monomials(self.X[members])) @ self.basis.T)


def _restrict(L: Any) -> tuple[NDArray[np.intp], Any]:
    """Return the columns of a SciPy matrix that have entries, and the matrix of these."""
    members, columns = renumber(L.indices.astype(np.intp), L.shape[1])
    return members, csr_array((L.data, columns, L.indptr), shape=(L.shape[0], len(members)))


def prepare_features(
    X: NDArray[np.float64], basis: ConditionedBasis, *, n_jobs: int | None, verbose: int
) -> SampleFeatures:
    """Compute the features of all samples at once, unless they take more than HELD_BYTES."""
    shape = (len(X), len(basis.center))
    if 8 * shape[0] * shape[1] > HELD_BYTES:
        return SampleFeatures(X, basis, None)
    held = np.empty(shape)

    @np.errstate(over="ignore", invalid="ignore")  # within the thread that computes
    def fill(rows: slice) -> None:
        np.matmul(basis.center_monomials(X[rows]), basis.T, out=held[rows])

    blocks = row_slices(len(X), row_bytes=16 * shape[1], block_bytes=SMALL_BLOCK_BYTES)
    for _ in map_blocks(fill, blocks, n_jobs=n_jobs, verbose=verbose, description="features"):
        pass
    return SampleFeatures(X, basis, held)


def accumulate(rows: NDArray[np.intp], graph: Graph, features: SampleFeatures) -> GramPair:
    """Return the share of the samples `rows` in the Gram pair.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        The samples whose local equations are added.
    graph : Graph
        Writes these equations.
    features : SampleFeatures
        Only those of `rows` and of what the graph joins them to are read.
    """
    L, counted, D, signs = graph.write(rows)
    residuals = features.combine(L)
    Q = features.take(counted)
    feature_sum = D @ Q
    Q *= np.sqrt(D)[:, np.newaxis]
    # A matrix times its own transpose: NumPy computes one half of it, by a symmetric rank-k update.
    A = residuals.T @ (residuals if signs is None else signs[:, np.newaxis] * residuals)
    return GramPair(A, Q.T @ Q, feature_sum, float(D.sum()))


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
    order = np.arange(n_samples) if graph.order is None else graph.order
    X = X if graph.order is None else np.take(X, order, axis=0)
    features = prepare_features(X, basis, n_jobs=n_jobs, verbose=verbose)
    row_bytes = 8 * (graph.count_floats() + features.count_floats(graph))
    # The folds of a region one after the other: what they share is still close to the processor.
    numbers = (order % n_folds).astype(np.min_scalar_type(n_folds))
    blocks = [
        (fold, region.start + rows)
        for region in row_slices(n_samples, row_bytes, n_folds * BLOCK_BYTES)
        for fold, rows in enumerate(split_by_fold(numbers[region], n_folds))
        if len(rows)
    ]

    @np.errstate(over="ignore", invalid="ignore")  # within the thread that computes
    def of_block(block: tuple[int, NDArray[np.intp]]) -> GramPair:
        return accumulate(block[1], graph, features)

    shares = map_blocks(of_block, blocks, n_jobs=n_jobs, verbose=verbose, description="Gram pair")
    folds: dict[int, GramPair] = {}
    for (fold, _), share in zip(blocks, shares, strict=True):
        if fold in folds:
            folds[fold].add(share)
        else:
            folds[fold] = share
    check_no_overflow(*(gram for fold in folds.values() for gram in (fold.A, fold.B)))
    return [folds[fold] for fold in range(n_folds)]


def split_by_fold(numbers: NDArray[Any], n_folds: int) -> list[NDArray[np.intp]]:
    """Return which of the samples are in each fold."""
    ends = np.cumsum(np.bincount(numbers, minlength=n_folds))
    return np.split(np.argsort(numbers, kind="stable"), ends[:-1])


def sum_folds(folds: list[GramPair]) -> GramPair:
    """Return the Gram pair of all samples."""
    first = folds[0]
    total = GramPair(first.A.copy(), first.B.copy(), first.feature_sum.copy(), first.weight_sum)
    for fold in folds[1:]:
        total.add(fold)
    return total
