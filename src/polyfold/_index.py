"""Samples among which the nearest of others are found: the only importer of nearest-neighbour libraries.

Three kinds of index, each with an `order` of its samples, near ones next to each other where that is known, and
``find(queries, n_neighbors)``: a k-d tree in few columns, a table that every query is compared with, and cells
around centroids of which only the nearest are looked at. The first two are exact.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from polyfold._blocks import map_blocks, row_slices
from polyfold._threads import is_forked, use_living_threads

#: Up to this many columns neighbours are found in a k-d tree.
TREE_COLUMNS = 15

#: From so many samples on ``neighbors="auto"`` looks at cells only, where faiss is installed, and "approx" does.
MANY_SAMPLES, SOME_SAMPLES = 20_000, 1000

#: There are this many times √n_samples cells, so many of which are looked at.
CELLS, PROBES = 4, 16

#: Samples for each centroid, and steps, from which it is learned.
CELL_SAMPLES, CELL_STEPS = 20, 5

#: Samples on which the recall of an approximate search is measured.
RECALL_SAMPLES = 200

#: Queries that a k-d tree is asked at a time, and products of queries and samples in the other searches: Ctrl-C
#: is heard in between, after less than a second.
TREE_QUERIES, TABLE_WORK, CELL_WORK = 256, 4 * 10**9, 5 * 10**8

#: Queries that are compared with a table at a time, where there are so many: as scikit-learn does.
TABLE_QUERIES = 256

#: Squared distances below this share of the squared norms are not sure as differences of products.
SURE_SHARE = 1e-9

#: Copies of the samples, in float32, that cells take while they are filled, beside so many bytes; and those that
#: faiss takes when it is loaded.
CELL_COPIES, CELL_BYTES, LOAD_BYTES = 4, 2**28, 2**29

#: How to get faiss.
INSTALL = 'pip install "polyfold[neighbors]"'

Found = tuple[NDArray[np.float64], NDArray[np.intp]]


class NeighborIndex(Protocol):
    """Samples among which the nearest of others are found."""

    @property
    def order(self) -> NDArray[np.intp]:
        """All samples, near ones next to each other where that is known."""

    @property
    def n_threads(self) -> int | None:
        """Threads that queries may be shared among; None where each query is."""

    def find(self, queries: NDArray[np.float64], n_neighbors: int) -> Found:
        """Return the distances of the Euclidean nearest samples to each query, and these, nearest first.

        Samples equal to the query are included.
        """


def replace_unfound(found: NDArray[Any], too_far: NDArray[np.bool_]) -> NDArray[Any]:
    """Return some samples for those not found, as where a query is so far that all distances are infinite."""
    return np.where(too_far, np.arange(found.shape[1]), found) if too_far.any() else found


def find_in_parts(
    find: Callable[[NDArray[np.float64]], Found], queries: NDArray[np.float64], n_queries: int
) -> Found:
    """Return what `find` returns for queries, asked for so many at a time: one call cannot be interrupted."""
    step = max(n_queries, 1)
    parts = [find(queries[start : start + step]) for start in range(0, max(len(queries), 1), step)]
    distances, found = zip(*parts, strict=True)
    return np.concatenate(distances), np.concatenate(found).astype(np.intp, copy=False)


def are_cancelled(
    distances: NDArray[np.float64], queries: NDArray[np.float64], X: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Say where the distance of a query to one of X, from ``|q|² + |x|² − 2 q·x``, has too few digits left."""
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.einsum("ij,ij->i", queries, queries) + np.einsum("ij,ij->i", X, X).max()
        return np.asarray(np.square(distances) < SURE_SHARE * norms)


@dataclass(frozen=True, eq=False)
class TreeIndex:
    """A k-d tree."""

    tree: Any
    n_threads: int | None

    @property
    def order(self) -> NDArray[np.intp]:
        """All samples, near ones next to each other."""
        return np.asarray(self.tree.indices)

    def find(self, queries: NDArray[np.float64], n_neighbors: int) -> Found:
        """Return the distances of the nearest samples, and these."""
        ranks = np.arange(1, n_neighbors + 1)
        distances, found = find_in_parts(lambda some: self.tree.query(some, ranks), queries, TREE_QUERIES)
        return distances, replace_unfound(found, found == self.tree.n)


@dataclass(frozen=True, eq=False)
class TableIndex:
    """A table that every query is compared with, on all processors; near samples far from the mean once more."""

    table: Any
    X: NDArray[np.float64]
    mean: Any
    n_threads: None = None

    @property
    def order(self) -> NDArray[np.intp]:
        """All samples as they are."""
        return np.arange(len(self.X))

    def find(self, queries: NDArray[np.float64], n_neighbors: int) -> Found:
        """Return the distances of the nearest samples, and these."""
        if not len(queries):
            return np.empty((0, n_neighbors)), np.empty((0, n_neighbors), dtype=np.intp)
        queries = queries if self.mean is None else queries - self.mean
        n_queries = TABLE_WORK // self.X.size
        n_queries -= n_queries % TABLE_QUERIES if n_queries > TABLE_QUERIES else 0
        with use_living_threads():
            distances, found = find_in_parts(
                lambda some: self.table.kneighbors(some, n_neighbors), queries, n_queries
            )
        unsure = np.flatnonzero(are_cancelled(distances[:, -1], queries, self.X))
        for rows in row_slices(len(unsure), row_bytes=32 * len(self.X)):
            some = unsure[rows]
            distances[some], found[some] = self._find_surely(queries[some], n_neighbors)
        return distances, found

    def _find_surely(self, queries: NDArray[np.float64], n_neighbors: int) -> Found:
        """Find the nearest samples by differences, in which nothing cancels; that takes several times as long."""
        distances = cdist(queries, self.X)
        nearest = np.argpartition(distances, n_neighbors - 1, axis=1)[:, :n_neighbors]
        nearest.sort(axis=1)  # of those equally far the first, as elsewhere
        reached = np.take_along_axis(distances, nearest, axis=1)
        order = np.argsort(reached, axis=1, kind="stable")
        return np.take_along_axis(reached, order, axis=1), np.take_along_axis(nearest, order, axis=1)


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Cells around centroids, of which those nearest to a query are looked at (faiss' inverted file)."""

    cells: Any
    order: NDArray[np.intp]
    mean: Any
    n_jobs: int | None
    n_threads: None = None

    def find(self, queries: NDArray[np.float64], n_neighbors: int) -> Found:
        """Return the distances of the nearest samples found, and these; in more cells where these hold too few."""
        # Centroids, and then the samples of the cells that are looked at.
        n_compared = self.cells.nlist + self.cells.nprobe * self.cells.ntotal // self.cells.nlist
        n_queries = CELL_WORK // (n_compared * queries.shape[1])
        return find_in_parts(lambda some: self._find(some, n_neighbors), queries, n_queries)

    def _find(self, queries: NDArray[np.float64], n_neighbors: int) -> Found:
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(queries if self.mean is None else queries - self.mean, dtype=np.float32)
        with limit_faiss(self.n_jobs) as faiss:
            squares, found = self.cells.search(rows, n_neighbors)
            n_probes = self.cells.nprobe
            while len(few := np.flatnonzero(found[:, -1] < 0)) and n_probes < self.cells.nlist:
                n_probes = min(4 * n_probes, self.cells.nlist)
                settings = faiss.SearchParametersIVF(nprobe=n_probes)
                squares[few], found[few] = self.cells.search(rows[few], n_neighbors, params=settings)
        found = replace_unfound(found, found < 0)
        return np.sqrt(squares, dtype=np.float64), found.astype(np.intp)


@contextmanager
def limit_faiss(n_jobs: int | None) -> Iterator[Any]:
    """Give faiss, with as many threads as `n_jobs` says for the while."""
    import faiss

    with use_living_threads():
        before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1 if is_forked() else int(effective_n_jobs(n_jobs)))
        try:
            yield faiss
        finally:
            faiss.omp_set_num_threads(before)


def choose_search(neighbors: str, n_samples: int, n_columns: int) -> str:
    """Return "exact" or "approx" for `neighbors`, which may also be "auto"."""
    if neighbors == "exact" or n_columns <= TREE_COLUMNS:
        return "exact"
    has_faiss = find_spec("faiss") is not None
    if neighbors == "approx" and not has_faiss:
        raise ImportError(f'neighbors="approx" in more than {TREE_COLUMNS} columns needs faiss: {INSTALL}.')
    return "approx" if n_samples >= count_exact(neighbors, n_columns) else "exact"


def count_exact(neighbors: Any, n_columns: int) -> float:
    """Return below how many samples neighbours are looked for among all of them, rather than in cells."""
    searched = neighbors in ("auto", "approx") if isinstance(neighbors, str) else False
    if not searched or n_columns <= TREE_COLUMNS or find_spec("faiss") is None:
        return np.inf
    return SOME_SAMPLES if neighbors == "approx" else MANY_SAMPLES


def build_index(X: NDArray[np.float64], *, n_jobs: int | None, search: str = "exact") -> NeighborIndex:
    """Prepare the search among samples."""
    if X.shape[1] <= TREE_COLUMNS:
        # Split in the middle, not at the median: that is quicker, and does not mind samples that are alike.
        return TreeIndex(cKDTree(X, balanced_tree=False), n_jobs)
    mean: Any = X.mean(axis=0)  # distances are differences of squares
    if np.abs(mean).max() <= 1e-6 * max(X.max(), -X.min()):
        mean = None
    else:
        X = X - mean
    if search == "exact":
        return TableIndex(NearestNeighbors(algorithm="brute").fit(X), X, mean)
    return _build_cells(X, mean, n_jobs)


def _build_cells(X: NDArray[np.float64], mean: Any, n_jobs: int | None) -> CellIndex:
    """Learn centroids from samples less their mean, and sort the samples into cells around them."""
    n_samples, n_columns = X.shape
    n_cells = int(CELLS * np.sqrt(n_samples))
    _check_room(4 * CELL_COPIES * X.size)
    rows = np.ascontiguousarray(X, dtype=np.float32)
    with limit_faiss(n_jobs) as faiss:
        cells = faiss.IndexIVFFlat(faiss.IndexFlatL2(n_columns), n_columns, n_cells)
        cells.cp.niter, cells.cp.max_points_per_centroid, cells.cp.min_points_per_centroid = (
            CELL_STEPS,
            CELL_SAMPLES,
            1,
        )
        cells.train(rows)
        cells.add(rows)
        cells.nprobe = PROBES
        _, own = cells.quantizer.search(rows, 1)
    return CellIndex(cells, np.argsort(own[:, 0], kind="stable"), mean, n_jobs)


def _check_room(n_bytes: int) -> None:
    """Raise a MemoryError where faiss would find none: it does not tell, but ends the process."""
    np.empty(n_bytes + (CELL_BYTES if "faiss" in sys.modules else LOAD_BYTES), dtype=np.uint8)


def find_others(
    index: NeighborIndex, X: NDArray[np.float64], n_neighbors: int, numbers: NDArray[Any], *, verbose: int
) -> NDArray[np.intp]:
    """Return the nearest neighbours of each sample of an index, itself left out, by the samples' `numbers`.

    Samples are looked up in the order of the index, so that what is near them is still close to the processor. One
    sample more than asked is looked for: usually the sample itself.
    """
    from polyfold._fit_kernels import leave_out_self

    order = index.order
    neighbors = np.empty((len(X), n_neighbors), dtype=np.intp)

    def search(rows: slice) -> None:
        samples = order[rows]
        _, found = index.find(np.take(X, samples, axis=0), n_neighbors + 1)
        leave_out_self(found, samples, numbers, neighbors)

    blocks = row_slices(len(X), row_bytes=max(2**12, 24 * X.shape[1]))
    for _ in map_blocks(search, blocks, n_jobs=index.n_threads, verbose=verbose, description="neighbours"):
        pass
    return neighbors


def order_by_nearness(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return an order of samples in which near ones are mostly next to each other, in few columns."""
    if X.shape[1] > TREE_COLUMNS:
        return np.arange(len(X))
    return np.asarray(cKDTree(X, balanced_tree=False).indices)


def find_around(
    index: NeighborIndex, queries: NDArray[np.float64], own: NDArray[np.intp], n_neighbors: int
) -> NDArray[np.intp]:
    """Return the nearest samples of an index to each query, less the query itself where it is one of them.

    Parameters
    ----------
    index : NeighborIndex
    queries : ndarray of shape (n_queries, n_columns)
    own : ndarray of shape (n_queries,)
        Which sample of the index each query is; -1 where it is none.
    n_neighbors : int
    """
    found = np.empty((len(queries), n_neighbors), dtype=np.intp)
    for rows in row_slices(len(queries), row_bytes=max(2**12, 24 * queries.shape[1])):
        _, nearest = index.find(queries[rows], n_neighbors + 1)
        is_own = nearest == own[rows, np.newaxis]
        is_own[~is_own.any(axis=1), -1] = True  # then the farthest is left out
        found[rows] = nearest[~is_own].reshape(-1, n_neighbors)
    return found


def measure_recall(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp], *, n_jobs: int | None
) -> float:
    """Return the share of the nearest neighbours of some samples that were found."""
    distances, _ = build_index(X, n_jobs=n_jobs).find(X[centers], neighbors.shape[1] + 1)
    farthest = distances[:, -1:] * (1 + 1e-6)  # another sample as near is as good
    return float((np.linalg.norm(X[neighbors] - X[centers, np.newaxis], axis=2) <= farthest).mean())
