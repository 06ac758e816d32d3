"""How good an embedding is: against known coordinates, or against the neighbourhoods of the data.

Nothing here holds an N×N matrix: what compares all pairs goes block by block, and what is dear for many
samples can be averaged over `max_samples` of them, each still ranked against all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import procrustes as align_shapes
from scipy.spatial.distance import cdist
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_array, check_consistent_length, check_random_state

from polyfold._blocks import row_slices
from polyfold._index import are_cancelled
from polyfold._neighbors import find_exact_neighbors
from polyfold._refusal import refuse_disguised, refuse_equal_names
from polyfold._validation import check_choice, check_integer

__all__ = [
    "continuity",
    "coranking_auc",
    "coranking_curve",
    "neighbor_recall",
    "procrustes",
    "residual_variance",
    "trustworthiness",
]

#: In more columns than this distances are computed as differences of products, which is far faster.
PRODUCT_COLUMNS = 50


def residual_variance(Y: ArrayLike, Z: ArrayLike, kind: str = "affine") -> float:
    """Return 1 − R² between an embedding and known coordinates; 0 is perfect.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    Z : array-like of shape (n_samples, n_coordinates) or (n_samples,)
        The coordinates that generated the data.
    kind : {"affine", "distances"}, default="affine"
        "affine": R is the correlation over all entries of Z, each column standardised, with its best affine
        fit from Y; order, sign, scale and skew of Y do not matter. "distances": R is the correlation between
        the pairwise distances of Y and those of Z (Tenenbaum, de Silva, Langford 2000), which asks for an
        isometry up to one scale.

    Returns
    -------
    float
        Between 0 and 1.

    Notes
    -----
    "affine" costs O(N), "distances" O(N²) time in O(N) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import residual_variance
    >>> Z = np.random.default_rng(0).random((100, 2))
    >>> round(residual_variance(3 - 2 * Z[:, ::-1], Z), 12)
    0.0
    """
    check_choice("kind", kind, ("affine", "distances"))
    Y, Z = _check_pair(Y, Z, names=("Y", "Z"))
    return _affine_residual(Y, Z) if kind == "affine" else _distance_residual(Y, Z)


def _affine_residual(Y: NDArray[np.float64], Z: NDArray[np.float64]) -> float:
    constant = np.ptp(Z, axis=0) == 0
    if constant.any():
        raise ValueError(
            f"Column {int(np.argmax(constant))} of Z is constant: residual variance is undefined. Leave it out."
        )
    centered, target = (_center_columns(S) for S in (Y, Z))
    target /= target.std(axis=0)
    coefficients = np.linalg.lstsq(centered, target, rcond=None)[0]
    # For a least-squares fit with a constant, R² over all entries is the explained share of the variance.
    return float(np.square(target - centered @ coefficients).sum() / np.square(target).sum())


def _center_columns(S: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns about their means, each of size 1: squares of what is far smaller than the others vanish."""
    unit = np.frexp(np.abs(S).max(axis=0))[1]  # halves of doubles add up without end
    scaled = np.ldexp(S, -unit)
    centered = scaled - scaled.mean(axis=0)
    return np.asarray(centered / np.where(np.ptp(S, axis=0) > 0, np.abs(centered).max(axis=0), 1.0))


def _distance_residual(Y: NDArray[np.float64], Z: NDArray[np.float64]) -> float:
    # One pass over the pairs; sums are taken about a typical distance so that they do not cancel.
    about = np.array([cdist(S[:1], S).mean() for S in (Y, Z)])
    sums, products = np.zeros(2), np.zeros((2, 2))
    for rows in row_slices(len(Y), row_bytes=32 * len(Y)):
        later = np.arange(rows.start, rows.stop)[:, np.newaxis] < np.arange(len(Y))
        pairs = np.stack([cdist(S[rows], S)[later] for S in (Y, Z)]) - about[:, np.newaxis]
        sums += pairs.sum(axis=1)
        products += pairs @ pairs.T
    n_pairs = len(Y) * (len(Y) - 1) / 2
    covariance = products - np.outer(sums, sums) / n_pairs
    if not (np.diag(covariance) > 0).all():
        raise ValueError("All pairwise distances are equal: residual variance is undefined.")
    return float(max(0.0, 1.0 - covariance[0, 1] ** 2 / (covariance[0, 0] * covariance[1, 1])))


def trustworthiness(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    n_neighbors: int = 10,
    max_samples: int | None = None,
    random_state: Any = 0,
) -> float:
    """Return to what extent neighbours in the embedding are neighbours in the data; 1 is perfect.

    Each of the `n_neighbors` nearest samples in Y that is not among those in X costs its rank in X beyond
    `n_neighbors` (Venna and Kaski 2001), as in :func:`sklearn.manifold.trustworthiness`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    n_neighbors : int, default=10
        Below half the number of samples.
    max_samples : int or None, default=None
        Average over this many samples drawn at random, each ranked against all; None is all of them.
    random_state : int, RandomState instance or None, default=0
        Seed of that draw.

    Returns
    -------
    float
        Between 0 and 1.

    Notes
    -----
    O(N²) time for all samples, O(N) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import trustworthiness
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> trustworthiness(X, 2 * X)
    1.0
    """
    X, Y = _check_pair(X, Y, names=("X", "Y"))
    return _mean_rank_excess(X, Y, n_neighbors, max_samples, random_state)


def continuity(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    n_neighbors: int = 10,
    max_samples: int | None = None,
    random_state: Any = 0,
) -> float:
    """Return to what extent neighbours in the data stay neighbours in the embedding; 1 is perfect.

    :func:`trustworthiness` with X and Y exchanged.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    n_neighbors, max_samples, random_state
        As in :func:`trustworthiness`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import continuity
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> continuity(X, 2 * X)
    1.0
    """
    X, Y = _check_pair(X, Y, names=("X", "Y"))
    return _mean_rank_excess(Y, X, n_neighbors, max_samples, random_state)


def neighbor_recall(X: ArrayLike, Y: ArrayLike, *, n_neighbors: int = 10) -> float:
    """Return the mean share of each sample's nearest neighbours in the data that are so in the embedding.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    n_neighbors : int, default=10
        Below the number of samples.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import neighbor_recall
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> neighbor_recall(X, 2 * X)
    1.0
    """
    X, Y = _check_pair(X, Y, names=("X", "Y"))
    check_integer("n_neighbors", n_neighbors, 1)
    if n_neighbors >= len(X):
        raise ValueError(f"`n_neighbors` must be below the number of samples, {len(X)}, got {n_neighbors}.")
    in_data, in_embedding = (find_exact_neighbors(S, n_neighbors, n_jobs=None, verbose=0) for S in (X, Y))
    samples = np.arange(len(X))[:, np.newaxis] * len(X)
    shared = np.intersect1d(in_data + samples, in_embedding + samples, assume_unique=True)
    return len(shared) / in_data.size


def coranking_auc(X: ArrayLike, Y: ArrayLike, *, max_samples: int | None = 2000, random_state: Any = 0) -> float:
    """Return the area under R_NX(K), the neighbourhood agreement at every scale; 1 is perfect, 0 is chance.

    R_NX(K) is the share of the K nearest neighbours in X that are so in Y, rescaled so that chance is 0. It is
    averaged over K = 1 … N−2 with weights 1/K, which favour small neighbourhoods (Lee, Peluffo-Ordóñez,
    Verleysen 2015).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    max_samples : int or None, default=2000
        Average over this many samples drawn at random, each ranked against all; None is all of them.
    random_state : int, RandomState instance or None, default=0
        Seed of that draw.

    Returns
    -------
    float
        At most 1.

    Notes
    -----
    O(`max_samples` · N log N) time, O(N) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import coranking_auc
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> round(coranking_auc(X, 2 * X), 12)
    1.0
    """
    return average_scales(*coranking_curve(X, Y, max_samples=max_samples, random_state=random_state))


def coranking_curve(
    X: ArrayLike, Y: ArrayLike, *, max_samples: int | None = 2000, random_state: Any = 0
) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """Return R_NX(K), the neighbourhood agreement at each scale K; 1 is perfect, 0 is chance.

    With Q(K) the mean share of the K nearest neighbours in X that are so in Y, and N samples,
    R_NX(K) = ((N−1) Q(K) − K) / (N−1−K) (Lee, Peluffo-Ordóñez, Verleysen 2015).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    max_samples : int or None, default=2000
        Average over this many samples drawn at random, each ranked against all; None is all of them.
    random_state : int, RandomState instance or None, default=0
        Seed of that draw.

    Returns
    -------
    K : ndarray of shape (n_samples - 2,)
        1 … N−2.
    R_NX : ndarray of shape (n_samples - 2,)
        At most 1. Its average with weights 1/K is :func:`coranking_auc`.

    Notes
    -----
    O(`max_samples` · N log N) time, O(N) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import coranking_curve
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> K, agreement = coranking_curve(X, 2 * X)
    >>> K[:3], agreement[:3]
    (array([1, 2, 3]), array([1., 1., 1.]))
    """
    X, Y = _check_pair(X, Y, names=("X", "Y"))
    n_samples = len(X)
    if n_samples < 3:
        raise ValueError(f"Co-ranking needs at least 3 samples, got {n_samples}.")
    chosen = _choose_samples(n_samples, max_samples, random_state)
    counts = np.zeros(n_samples, dtype=np.int64)
    for rows in _distance_blocks(chosen, n_samples):
        counts += count_common(rank_others(X, rows), rank_others(Y, rows))
    return measure_agreement(counts, len(chosen), n_samples - 2)


def count_common(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count the samples that become common neighbours at each scale K, from two tables of ranks.

    A sample is a common neighbour at scale K when the larger of its two ranks is at most K.
    """
    return np.bincount(np.maximum(first, second).ravel(), minlength=first.shape[1])


def measure_agreement(
    counts: NDArray[np.int64], n_chosen: int, max_neighbors: int
) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """Return K = 1 … max_neighbors and R_NX(K), from the counts of some samples."""
    n_others = len(counts) - 1
    K = np.arange(1, max_neighbors + 1)
    agreement = np.cumsum(counts[1 : max_neighbors + 1]) / (K * n_chosen)
    return K, (n_others * agreement - K) / (n_others - K)


def average_scales(K: NDArray[np.int_], agreement: NDArray[np.float64]) -> float:
    """Return the mean of R_NX(K) with weights 1/K."""
    return float(np.average(agreement, weights=1 / K))


def procrustes(Y: ArrayLike, Z: ArrayLike) -> float:
    """Return what is left of Z's variance after Y is moved, turned and scaled onto it; 0 is the same shape.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    Z : array-like of shape (n_samples, n_coordinates) or (n_samples,)
        The coordinates that generated the data. The narrower of the two is padded with zeros.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import procrustes
    >>> Z = np.random.default_rng(0).random((100, 2))
    >>> round(procrustes(3 - 2 * Z[:, ::-1], Z), 12)
    0.0
    """
    Y, Z = _check_pair(Y, Z, names=("Y", "Z"))
    width = max(Y.shape[1], Z.shape[1])
    Y, Z = (np.pad(S, ((0, 0), (0, width - S.shape[1]))) for S in (Y, Z))
    for name, S in (("Y", Y), ("Z", Z)):
        if not np.ptp(S, axis=0).any():
            raise ValueError(f"All rows of {name} are equal: it has no shape to compare.")
    return float(align_shapes(Z, Y)[2])


@np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
def _check_pair(
    first: ArrayLike, second: ArrayLike, *, names: tuple[str, str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check two descriptions of the same samples, and bring each near the origin and to size 1.

    No metric depends on origin or unit; squares and cancellation do.
    """
    checked = []
    for values, name in zip((first, second), names, strict=True):
        refuse_disguised(values, name)
        refuse_equal_names(values, name)
        try:
            array = np.reshape(values, (-1, 1)) if np.ndim(values) == 1 else values
            array = check_array(array, dtype=np.float64, ensure_min_samples=2, input_name=name)
        except OverflowError as error:
            raise ValueError(f"{name} holds a number beyond float64.") from error
        array = np.ldexp(array, -np.frexp(np.abs(array).max())[1])  # at most 1: the differences are doubles too
        array = array - np.median(array, axis=0)
        checked.append(array / (np.abs(array).max() or 1.0))
    check_consistent_length(*checked)
    return checked[0], checked[1]


def _choose_samples(n_samples: int, max_samples: int | None, random_state: Any) -> NDArray[np.intp]:
    if max_samples is None or check_integer("max_samples", max_samples, 1) >= n_samples:
        return np.arange(n_samples)
    draw = check_random_state(random_state).choice(n_samples, max_samples, replace=False)
    return np.sort(draw)


def _distance_blocks(chosen: NDArray[np.intp], n_samples: int) -> Iterator[NDArray[np.intp]]:
    """Cut the chosen samples so that a few arrays of one block against all samples fit in memory."""
    return (chosen[rows] for rows in row_slices(len(chosen), row_bytes=32 * n_samples))


def _distances_to_others(X: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return squared distances from the samples `rows` to all, infinite to themselves."""
    own = np.arange(len(rows)), rows
    if X.shape[1] <= PRODUCT_COLUMNS:
        squared = cdist(X[rows], X, "sqeuclidean")
        squared[own] = np.inf
        return np.asarray(squared)
    squared = np.asarray(euclidean_distances(X[rows], X, squared=True))
    squared[own] = np.inf
    unsure = np.flatnonzero(are_cancelled(np.sqrt(squared.min(axis=1)), X[rows], X))
    squared[unsure] = cdist(X[rows[unsure]], X, "sqeuclidean")
    squared[unsure, rows[unsure]] = np.inf
    return squared


def rank_others(X: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rank of every sample seen from each of `rows`: 0 is itself, 1 the nearest."""
    order = np.argsort(_distances_to_others(X, rows), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, len(X) + 1)[np.newaxis], axis=1)
    ranks[np.arange(len(rows)), rows] = 0
    return ranks


def _mean_rank_excess(
    ranked: NDArray[np.float64],
    searched: NDArray[np.float64],
    n_neighbors: int,
    max_samples: int | None,
    random_state: Any,
) -> float:
    """Return 1 less the mean rank in `ranked`, beyond n_neighbors, of neighbours in `searched`."""
    n_samples, k = len(ranked), check_integer("n_neighbors", n_neighbors, 1)
    if 2 * k >= n_samples:
        raise ValueError(f"`n_neighbors` must be below half the number of samples, {n_samples}, got {k}.")
    chosen = _choose_samples(n_samples, max_samples, random_state)
    excess = 0
    for rows in _distance_blocks(chosen, n_samples):
        distances = _distances_to_others(ranked, rows)
        for neighbor in np.argpartition(_distances_to_others(searched, rows), k - 1, axis=1)[:, :k].T:
            reach = distances[np.arange(len(rows)), neighbor]
            n_nearer = (distances < reach[:, np.newaxis]).sum(axis=1)
            excess += int(np.maximum(n_nearer + 1 - k, 0).sum())
    return float(1.0 - 2.0 * excess / (len(chosen) * k * (2 * n_samples - 3 * k - 1)))
