"""The map that keeps geodesic distances, for samples in blocks: by their distances to landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import row_slices
from polyfold._conditioning import ConditionedBasis, check_no_overflow
from polyfold._eigen import whiten
from polyfold._global import check_positive, solve_whitened
from polyfold._gram import GramPair, sum_folds
from polyfold._reference import Reference
from polyfold._regression import WhiteBasis, list_ridges, rate_rows, read_regression
from polyfold._rows import Rows
from polyfold._solution import Solution


@dataclass(frozen=True, eq=False)
class GeodesicSums:
    """Sums over samples of features and of F, ``F Fᵀ ≈ K``.

    Attributes
    ----------
    gram : GramPair
        Of the features; A is empty.
    products : ndarray of shape (n_features, n_columns)
        ``Qᵀ F``.
    F_sum, F_squares : ndarray of shape (n_columns,)
    """

    gram: GramPair
    products: NDArray[np.float64]
    F_sum: NDArray[np.float64]
    F_squares: NDArray[np.float64]


def place_block(block: NDArray[Any], first: int, reference: Reference) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return samples in the frame, and their rows of F, both in an order of their own."""
    landmarks = reference.landmarks
    assert landmarks is not None
    near = reference.find_neighbors(block, first)
    lengths = np.linalg.norm(reference.measured[near.found] - near.measured[:, np.newaxis], axis=2)
    return near.coordinates, landmarks.placement.place(landmarks.measure(near.own, near.found, lengths))


def _slice_geodesics(block: NDArray[Any], reference: Reference, basis: ConditionedBasis) -> list[slice]:
    assert reference.landmarks is not None
    k, n_columns = reference.facts.n_neighbors, reference.measured.shape[1]
    return row_slices(
        len(block), 8 * (3 * len(basis.center) + 4 * reference.landmarks.distances.shape[1] + 2 * k * n_columns)
    )


def sum_geodesic_block(
    block: NDArray[Any], first: int, reference: Reference, basis: ConditionedBasis
) -> GeodesicSums:
    """Return the share of a block in the sums."""
    shares = []
    for rows in _slice_geodesics(block, reference, basis):
        coordinates, F = place_block(block[rows], first + rows.start, reference)
        Q = basis.expand(coordinates)
        gram = GramPair(np.zeros((0, 0)), Q.T @ Q, Q.sum(axis=0), float(len(Q)))
        shares.append(GeodesicSums(gram, Q.T @ F, F.sum(axis=0), np.square(F).sum(axis=0)))
    return merge_geodesic_sums(shares)


def merge_geodesic_sums(shares: Sequence[GeodesicSums]) -> GeodesicSums:
    """Return the sums of all blocks from those of parts."""
    return GeodesicSums(
        sum_folds([share.gram for share in shares]),
        np.sum([share.products for share in shares], axis=0),
        np.sum([share.F_sum for share in shares], axis=0),
        np.sum([share.F_squares for share in shares], axis=0),
    )


def rate_geodesic_block(
    block: NDArray[Any],
    first: int,
    reference: Reference,
    white: WhiteBasis,
    projection: NDArray[np.float64],
    F_mean: NDArray[np.float64],
    alphas: NDArray[np.float64],
    n_samples: int,
) -> NDArray[np.float64]:
    """Return the share of a block in the errors of each ridge; see `polyfold._regression.rate_rows`."""
    rated = []
    for rows in _slice_geodesics(block, reference, white.conditioned):
        coordinates, F = place_block(block[rows], first + rows.start, reference)
        T = F[:, : len(F_mean)] - F_mean
        leverage = 1 / n_samples if white.has_constant else 0.0
        rated.append(rate_rows(white.expand(coordinates), T, projection, white.whitening, alphas, leverage))
    return np.asarray(np.sum(rated, axis=0))


def sum_arrays(shares: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sum."""
    return np.asarray(np.sum(shares, axis=0))


def solve_global_rows(
    rows: Rows,
    reference: Any,
    shared_basis: Any,
    basis: ConditionedBasis,
    n_components: int,
    *,
    alpha: float | None,
    orthogonal: bool,
    center: bool,
) -> Solution:
    """Do as `solve_global` does for samples in blocks, by their geodesic distances to landmarks.

    Parameters
    ----------
    rows : Rows
    reference, shared_basis
        A Reference with landmarks, and the basis, as `rows` shares them.
    basis : ConditionedBasis
        The same basis, here.
    n_components, alpha, orthogonal, center
        As there.
    """
    sums: GeodesicSums = rows.fetch(
        rows.total(sum_geodesic_block, merge_geodesic_sums, reference, shared_basis, description="geodesics")
    )
    check_no_overflow(sums.gram.B)
    mean, B = sums.gram.measure_spread(center=center)
    white = WhiteBasis(basis, mean, whiten(B, basis.T_inverse, n_components), center)
    check_positive(len(sums.F_sum), n_components)
    n_samples = rows.shape[0]
    F_mean = sums.F_sum / n_samples
    inner = white.whitening.W.T @ (sums.products - np.outer(sums.gram.feature_sum, F_mean))
    projection = inner[:, :n_components]
    alphas = list_ridges(0.0 if orthogonal else alpha)
    settings = (white, projection, F_mean[:n_components], alphas, n_samples)
    rated = rows.fetch(rows.total(rate_geodesic_block, sum_arrays, reference, *settings, description="left out"))
    total = (sums.F_squares - n_samples * np.square(F_mean))[:n_components]
    regression = read_regression(projection, white.whitening, alphas, rated, total)
    return solve_whitened(inner @ inner.T, regression, white, n_components, orthogonal=orthogonal)
