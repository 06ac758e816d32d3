"""How good an embedding is against the neighbourhoods of the data: by the ranks of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state

from polyfold._blocks import row_slices
from polyfold._index import are_cancelled
from polyfold._neighbors import find_exact_neighbors
from polyfold._validation import check_integer
from polyfold.metrics._pairs import check_pair

#: In more columns than this distances are computed as differences of products, which is far faster.
PRODUCT_COLUMNS = 50


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

    See Also
    --------
    continuity : The same with X and Y exchanged.

    Notes
    -----
    O(s N (n + m + k)) time for N samples of n columns and m coordinates, k neighbours and the s samples averaged
    over, all N by default; O(N) memory.

    References
    ----------
    Venna, Kaski, "Neighborhood preservation in nonlinear projection methods: an experimental study", ICANN 2001,
    Lecture Notes in Computer Science 2130, 485-491.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import trustworthiness
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> trustworthiness(X, 2 * X)
    1.0
    """
    X, Y = check_pair(X, Y, names=("X", "Y"))
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

    See Also
    --------
    trustworthiness : The same with X and Y exchanged.

    Notes
    -----
    O(s N (n + m + k)) time for N samples of n columns and m coordinates, k neighbours and the s samples averaged
    over, all N by default; O(N) memory.

    References
    ----------
    Venna, Kaski, "Neighborhood preservation in nonlinear projection methods: an experimental study", ICANN 2001,
    Lecture Notes in Computer Science 2130, 485-491.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import continuity
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> continuity(X, 2 * X)
    1.0
    """
    X, Y = check_pair(X, Y, names=("X", "Y"))
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

    See Also
    --------
    coranking_curve : The same at every number of neighbours, less what chance gives.

    Notes
    -----
    O(N² (n + m)) time for N samples of n columns and m coordinates where all are compared; a table of up to 15
    columns is searched by a tree, in about O(N k log N) for k neighbours. O(N k) memory.

    References
    ----------
    It is Q_NX(k) of Lee, Verleysen, "Quality assessment of dimensionality reduction: rank-based criteria",
    Neurocomputing 72 (2009) 1431-1443.

    Chen, Buja, "Local multidimensional scaling for nonlinear dimension reduction, graph drawing, and proximity
    analysis", Journal of the American Statistical Association 104 (2009) 209-219, adjust it for chance.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import neighbor_recall
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> neighbor_recall(X, 2 * X)
    1.0
    """
    X, Y = check_pair(X, Y, names=("X", "Y"))
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

    See Also
    --------
    coranking_curve : What it is the area under.
    polyfold.plotting.plot_quality : Draws it.

    Notes
    -----
    O(s N (n + m + log N)) time for N samples of n columns and m coordinates and the s samples averaged over, at
    most `max_samples`; O(N) memory.

    References
    ----------
    Lee, Verleysen, "Quality assessment of dimensionality reduction: rank-based criteria", Neurocomputing 72 (2009)
    1431-1443 (the co-ranking matrix).

    Lee, Peluffo-Ordóñez, Verleysen, "Multi-scale similarities in stochastic neighbour embedding: reducing
    dimensionality while preserving both local and global structure", Neurocomputing 169 (2015) 246-261 (R_NX and
    the area under it).

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

    See Also
    --------
    coranking_auc : The area under it.
    polyfold.plotting.plot_quality : Draws it.

    Notes
    -----
    O(s N (n + m + log N)) time for N samples of n columns and m coordinates and the s samples averaged over, at
    most `max_samples`; O(N) memory.

    References
    ----------
    Lee, Verleysen, "Quality assessment of dimensionality reduction: rank-based criteria", Neurocomputing 72 (2009)
    1431-1443 (the co-ranking matrix).

    Lee, Peluffo-Ordóñez, Verleysen, "Multi-scale similarities in stochastic neighbour embedding: reducing
    dimensionality while preserving both local and global structure", Neurocomputing 169 (2015) 246-261 (R_NX and
    the area under it).

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import coranking_curve
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> K, agreement = coranking_curve(X, 2 * X)
    >>> K[:3], agreement[:3]
    (array([1, 2, 3]), array([1., 1., 1.]))
    """
    X, Y = check_pair(X, Y, names=("X", "Y"))
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
