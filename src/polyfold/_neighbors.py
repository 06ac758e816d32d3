"""Samples to neighbour indices: how many neighbours, of which kind of search or from a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from polyfold._blocks import row_slices
from polyfold._index import NeighborIndex, build_index, find_others
from polyfold._validation import check_integer

#: Bounds of ``n_neighbors="auto"``, which is 1 % of the samples as the paper advises (its section 5).
AUTO_NEIGHBORS = (10, 50)

#: Neighbours and samples from which the intrinsic dimension is estimated.
DIMENSION_NEIGHBORS, DIMENSION_SAMPLES = 10, 1000

#: ... or fewer samples, down to a tenth, where all samples have more than a share of this many values.
DIMENSION_WORK = 10**10


def estimate_dimension(X: NDArray[np.float64], *, n_jobs: int | None, index: NeighborIndex | None = None) -> float:
    """Estimate the intrinsic dimension from how distances to neighbours grow; NaN where that cannot be told.

    The maximum-likelihood estimate of Levina and Bickel (2004), averaged over at most DIMENSION_SAMPLES samples as
    MacKay and Ghahramani advise: by its inverse.
    """
    k = min(DIMENSION_NEIGHBORS, len(X) - 1)
    most = min(DIMENSION_SAMPLES, max(DIMENSION_WORK // X.size, DIMENSION_SAMPLES // 10))
    queries = X[:: -(-len(X) // most)]
    distances, _ = (index or build_index(X, n_jobs=n_jobs)).find(queries, k + 1)
    distances = distances[:, 1:][distances[:, 1] > 0]  # less the sample itself, and without duplicates
    if k < 3 or not len(distances):
        return float("nan")
    growth = np.log(distances[:, -1:] / distances[:, :-1]).sum(axis=1).mean() / (k - 2)
    return float(min(1 / growth, X.shape[1])) if growth > 0 else float("nan")


def choose_n_neighbors(n_neighbors: Any, n_samples: int, dimension: float, neighbors: Any, least: int = 1) -> int:
    """Turn "auto" into a number, and check that there are enough samples for it.

    "auto" is 1 % of the samples within AUTO_NEIGHBORS, and no less than a local quadratic in `dimension` variables
    has second-order terms, m(m+1)/2: in more dimensions, fewer neighbours do not tell a bend from noise. It is at
    least what the graph needs.
    """
    if isinstance(n_neighbors, str) and n_neighbors == "auto":
        low, high = AUTO_NEIGHBORS
        second_order_terms = 0.0 if np.isnan(dimension) else dimension * (dimension + 1) / 2
        number = max(round(n_samples / 100), int(np.ceil(second_order_terms)))
        n_neighbors = min(max(min(max(number, low), high), least), n_samples - 1)
        if hasattr(neighbors, "n_neighbors"):
            n_neighbors = neighbors.n_neighbors - _counts_itself(neighbors)
    elif isinstance(n_neighbors, str):
        raise ValueError(f'`n_neighbors` must be "auto" or an integer >= 1, got {n_neighbors!r}.')
    number = check_integer("n_neighbors", n_neighbors, 1)
    if number >= n_samples:
        raise ValueError(
            f"`n_neighbors` must be below the number of samples, got n_neighbors={number} with "
            f"n_samples={n_samples}. Lower `n_neighbors` or add samples."
        )
    if number < least:
        raise ValueError(
            f"This graph and `n_components` need at least {least} neighbours, got n_neighbors={number} with "
            f"n_samples={n_samples}. Raise `n_neighbors`, lower `n_components` or add samples."
        )
    return number


def check_neighbors(neighbors: Any) -> None:
    """Check that `neighbors` is a kind of search or a neighbours transformer."""
    is_search = isinstance(neighbors, str) and neighbors in ("auto", "exact", "approx")
    is_transformer = hasattr(neighbors, "fit") and hasattr(neighbors, "transform")
    if not is_search and (isinstance(neighbors, type) or not is_transformer):
        raise ValueError(
            '`neighbors` must be "auto", "exact", "approx" or a scikit-learn neighbours transformer such as '
            f"sklearn.neighbors.KNeighborsTransformer(), got {neighbors!r}."
        )


def _counts_itself(transformer: Any) -> bool:
    """Say whether a sample is one of its own `n_neighbors`, as in scikit-learn's connectivity graphs."""
    return bool(getattr(transformer, "mode", None) == "connectivity")


def find_exact_neighbors(
    X: NDArray[np.float64], n_neighbors: int, *, n_jobs: int | None, verbose: int
) -> NDArray[np.intp]:
    """Return the Euclidean nearest neighbours of each sample, nearest first, itself left out.

    Shape (n_samples, n_neighbors).
    """
    return find_others(build_index(X, n_jobs=n_jobs), X, n_neighbors, np.arange(len(X)), verbose=verbose)


def find_transformer_neighbors(
    transformer: Any, X: Any, standard: NDArray[np.float64], n_neighbors: int, *, random_state: Any
) -> NDArray[np.intp]:
    """Return the neighbours that a scikit-learn neighbours transformer gives, nearest first.

    It is given X as it came; `standard` holds the same samples in the map's units. A fitted transformer is used as
    it is, and must have been fitted on X itself. Of an unfitted one a clone is fitted, asked for one neighbour
    more, as some count the sample itself.
    """
    n_samples = len(standard)
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        transformer = clone(transformer)
        parameters = transformer.get_params()
        if "n_neighbors" in parameters:
            most = n_samples if _counts_itself(transformer) else n_samples - 1
            transformer.set_params(n_neighbors=min(n_neighbors + 1, most))
        if "random_state" in parameters and parameters["random_state"] is None:
            transformer.set_params(random_state=random_state)
        transformer.fit(X)
    graph = csr_array(transformer.transform(X))
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    if graph.shape != (n_samples, n_samples) or _contradicts(graph, rows, standard):
        raise ValueError(
            f"`neighbors` returned a graph of shape {graph.shape} that does not belong to these {n_samples} "
            "samples. A fitted transformer must have been fitted on the X that is given to `fit`, less the "
            "samples of weight 0."
        )
    is_connectivity = graph.nnz > 0 and graph.data.min() == graph.data.max()
    nearness = _pair_distances(standard, rows, graph.indices) if is_connectivity else graph.data
    return _nearest_of_pairs(rows, graph.indices.astype(np.intp), nearness, n_samples, n_neighbors)


def _contradicts(graph: Any, rows: NDArray[np.intp], X: NDArray[np.float64]) -> bool:
    """Say whether the graph calls samples equal that are not."""
    zero = np.flatnonzero(graph.data == 0)
    return bool((_pair_distances(X, rows[zero], graph.indices[zero]) > 1e-6).any())


def _pair_distances(
    X: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the Euclidean distance of each pair of samples."""
    distances = np.empty(len(rows))
    for block in row_slices(len(rows), row_bytes=16 * X.shape[1]):
        distances[block] = np.linalg.norm(X[rows[block]] - X[columns[block]], axis=1)
    return distances


def _nearest_of_pairs(
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    nearness: NDArray[np.float64],
    n_samples: int,
    n_neighbors: int,
) -> NDArray[np.intp]:
    """Return for each row the columns of its nearest pairs, the sample itself left out."""
    order = np.lexsort((nearness, rows))
    order = order[columns[order] != rows[order]]
    rows, columns = rows[order], columns[order]
    counts = np.bincount(rows, minlength=n_samples)
    if counts.min() < n_neighbors:
        raise ValueError(
            f"`neighbors` found only {counts.min()} neighbours for sample {counts.argmin()} and "
            f"`n_neighbors` asks for {n_neighbors}. Lower `n_neighbors` or give a transformer that finds more."
        )
    starts = np.cumsum(counts) - counts
    nearest: NDArray[np.intp] = columns[starts[:, np.newaxis] + np.arange(n_neighbors)]
    return nearest


def count_components(neighbors: NDArray[np.intp], *, mutual: bool = False) -> int:
    """Count the connected components of the neighbour graph, edges taken both ways, or only those that go both."""
    from polyfold._fit_kernels import join_neighbors

    n_samples = len(neighbors)
    labels, roots = np.full(n_samples, -1, dtype=np.int32), np.empty(n_samples, dtype=np.int32)
    return int(join_neighbors(neighbors, mutual, labels, roots, np.empty(n_samples, dtype=np.intp)))


def count_duplicates(X: NDArray[np.float64]) -> int:
    """Count the samples that repeat an earlier one exactly."""
    from polyfold._fit_kernels import hash_rows

    hashes = np.empty(len(X), dtype=np.uint64)
    for rows in row_slices(len(X), row_bytes=16 * X.shape[1], block_bytes=2**22):
        positive_zeros = np.ascontiguousarray(X[rows], dtype=np.float64) + 0.0
        hash_rows(positive_zeros.view(np.uint64), hashes[rows])
    in_order = np.sort(hashes)
    if not (in_order[1:] == in_order[:-1]).any():
        return 0
    order = np.argsort(hashes, kind="stable")
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    return sum(
        int(np.count_nonzero((X[order[some + 1]] == X[order[some]]).all(axis=1)))
        for some in (alike[rows] for rows in row_slices(len(alike), row_bytes=16 * X.shape[1]))
    )
