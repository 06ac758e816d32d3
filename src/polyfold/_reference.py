"""Neighbours among a reference set: the local equations of samples that come a block at a time.

Where all samples are in the set, they are the equations of a fit in memory. Otherwise a sample's neighbours are
the nearest of the set: the same objective, with neighbours restricted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import map_blocks, renumber, row_slices
from polyfold._conditioning import ConditionedBasis
from polyfold._draw import draw_rows
from polyfold._features import Features
from polyfold._frame import Frame
from polyfold._gram import BLOCK_BYTES, PROBED_ROWS, GramPair, SampleFeatures, accumulate, split_by_fold, sum_folds
from polyfold._graph import NeighborGraph
from polyfold._index import (
    RECALL_SAMPLES,
    NeighborIndex,
    build_index,
    choose_search,
    find_around,
    measure_recall,
    order_by_nearness,
)
from polyfold._neighborhoods import SearchPlan, choose_probes, plan_search
from polyfold._neighbors import count_components, count_duplicates
from polyfold._relations import RelationFacts
from polyfold._survey import Survey
from polyfold.objectives import GEODESIC, OBJECTIVES
from polyfold.objectives.equations.patch import Patch
from polyfold.objectives.isomap import Landmarks, measure_landmarks

#: Times BLOCK_BYTES that the temporaries of a fold of a block may take.
LARGER = 2

_index_lock = Lock()


class Neighbors(NamedTuple):
    """The neighbours of some samples in a reference set.

    Attributes
    ----------
    numbers : ndarray of shape (n,)
        Of the samples among all.
    measured, coordinates : ndarray of shape (n, …)
        The samples in the space in which neighbours are found, and in the frame.
    own : ndarray of shape (n,)
        Which of the set each is, -1 where it is none.
    found : ndarray of shape (n, n_neighbors)
        Which of the set are its neighbours.
    """

    numbers: NDArray[np.intp]
    measured: NDArray[np.float64]
    coordinates: NDArray[np.float64]
    own: NDArray[np.intp]
    found: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Reference:
    """Samples among which those of others are found, and what an objective knows of them.

    Attributes
    ----------
    frame : Frame
        Of the fit.
    numbers : ndarray of shape (n_reference,)
        Of these samples among all, ascending.
    measured, coordinates : ndarray of shape (n_reference, …)
        The samples in the space in which neighbours are found, and in the frame.
    graph : str
    statistics : dict
        What the objective found out beforehand.
    landmarks : Landmarks or None
        Where geodesic distances are kept.
    facts : RelationFacts
    """

    frame: Frame
    numbers: NDArray[np.int64]
    measured: NDArray[np.float64]
    coordinates: NDArray[np.float64]
    graph: str
    statistics: dict[str, Any]
    landmarks: Landmarks | None
    facts: RelationFacts

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the index, which another process builds for itself, once.
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    @property
    def index(self) -> NeighborIndex:
        """Where neighbours are looked for; built when first asked for, and shared by all threads."""
        with _index_lock:
            if "_index" not in self.__dict__:
                index = build_index(self.measured, n_jobs=1, search=self.facts.search)
                object.__setattr__(self, "_index", index)
        found: NeighborIndex = self.__dict__["_index"]
        return found

    def find_neighbors(self, block: NDArray[Any], first: int) -> Neighbors:
        """Find the neighbours of a block, whose rows are put into an order that keeps near ones together."""
        with np.errstate(over="ignore", invalid="ignore"):
            columns, coordinates = self.frame.locate(block)
        measured = columns if self.facts.space == "columns" else coordinates
        if not np.isfinite(measured).all():
            row = first + int(np.argmin(np.isfinite(measured).all(axis=1)))
            raise ValueError(
                f"Sample {row:,} lies so far from those that the units were learned from that it overflows. "
                "Leave it out, or begin with a first batch that is like the rest."
            )
        order = order_by_nearness(measured)
        measured = np.take(measured, order, axis=0)
        coordinates = measured if self.facts.space == "columns" and coordinates is columns else coordinates[order]
        numbers = first + order
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        own = np.where(self.numbers[places] == numbers, places, -1)
        found = find_around(self.index, measured, own, self.facts.n_neighbors)
        return Neighbors(numbers, measured, coordinates, own, found)

    def relate(
        self, block: NDArray[Any], first: int
    ) -> tuple[NeighborGraph, NDArray[np.float64], NDArray[np.intp]]:
        """Return the graph of a block, its samples in the frame (neighbours last), and the numbers of its rows."""
        objective, near = OBJECTIVES[self.graph], self.find_neighbors(block, first)
        members, positions = renumber(near.found.ravel(), len(self.numbers))
        neighbors = positions.reshape(len(block), -1) + len(block)
        X = np.concatenate([near.measured, np.take(self.measured, members, axis=0)])
        centers, weights = np.arange(len(block)), np.ones(len(block))
        patch, known = Patch(X, centers, neighbors, weights), np.concatenate([near.own, members])
        build = partial(objective.build, **objective.extend(self.statistics, patch, known))
        floats_per_row = objective.count_floats(neighbors.shape[1], X.shape[1])
        graph = NeighborGraph(neighbors, X, weights, build, None, floats_per_row)
        coordinates = np.concatenate([near.coordinates, np.take(self.coordinates, members, axis=0)])
        return graph, coordinates, near.numbers


def prepare_reference(
    survey: Survey,
    frame: Frame,
    basis: ConditionedBasis,
    *,
    graph: str,
    kind: str,
    degree: int,
    n_components: int,
    n_samples: int,
    n_neighbors: Any,
    neighbors: str,
    alpha: float | None,
    center: bool,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
) -> Reference:
    """Choose how neighbours are looked for among the samples drawn, and what the objective must know of them."""
    assert survey.reference is not None
    numbers, samples = survey.reference.settle()
    columns, coordinates = frame.locate(samples)
    features = Features(frame, columns, coordinates, kind, degree, basis)
    objective = OBJECTIVES.get(graph)
    is_mutual = graph in GEODESIC and GEODESIC[graph].mutual
    work: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    settings = {"n_neighbors": n_neighbors, "neighbors": neighbors, "alpha": alpha, "center": center}
    plan = plan_search(objective, features, n_components, n_samples=n_samples, **settings, **work)
    probes = choose_probes(objective, len(numbers))
    found = _find_for_probes(plan, probes, **work)
    statistics, landmarks = {}, None
    if objective is None:
        landmarks = measure_landmarks(plan.measured, found, mutual=is_mutual, random_state=random_state, **work)
    else:
        statistics = objective.prepare(plan.measured, probes, found, n_components, **work)
    facts = RelationFacts(
        n_neighbors=plan.n_neighbors,
        n_pieces=_count_pieces(plan, probes, found, mutual=is_mutual, **work),
        dimension=plan.dimension,
        space=plan.space,
        space_scores=plan.space_scores,
        search=plan.search,
        recall=_measure_recall(plan, probes, found, n_jobs=n_jobs),
        n_duplicates=count_duplicates(columns),
        n_reference=len(numbers),
    )
    return Reference(frame, numbers, plan.measured, coordinates, graph, statistics, landmarks, facts)


def _find_for_probes(
    plan: SearchPlan, probes: NDArray[np.intp], *, n_jobs: int | None, verbose: int
) -> NDArray[np.intp]:
    def search(rows: slice) -> NDArray[np.intp]:
        return find_around(plan.index, plan.measured[probes[rows]], probes[rows], plan.n_neighbors)

    blocks = row_slices(len(probes), row_bytes=max(2**12, 24 * plan.measured.shape[1]))
    n_threads = plan.index.n_threads
    found = map_blocks(search, blocks, n_jobs=n_threads, verbose=verbose, description="neighbours")
    return np.concatenate(list(found))


def _count_pieces(
    plan: SearchPlan,
    probes: NDArray[np.intp],
    found: NDArray[np.intp],
    *,
    mutual: bool,
    n_jobs: int | None,
    verbose: int,
) -> int:
    """Count the connected components of the neighbour graph, or of that of the probes alone."""
    if len(probes) < len(plan.measured):
        some = plan.measured[probes]
        index = build_index(some, n_jobs=n_jobs, search=choose_search("auto", *some.shape))
        found = find_around(index, some, np.arange(len(some)), plan.n_neighbors)
    return count_components(found, mutual=mutual)


def _measure_recall(
    plan: SearchPlan, probes: NDArray[np.intp], found: NDArray[np.intp], *, n_jobs: int | None
) -> float:
    if plan.search == "exact":
        return 1.0
    some = draw_rows(len(probes), RECALL_SAMPLES)
    return measure_recall(plan.measured, probes[some], found[some], n_jobs=n_jobs)


def report_reference(reference: Reference) -> RelationFacts:
    """Leave out the samples."""
    return reference.facts


def accumulate_block(
    block: NDArray[Any], first: int, reference: Reference, basis: ConditionedBasis, n_folds: int
) -> list[GramPair]:
    """Return the share of a block in the Gram pair of each fold. Sample i is in fold i mod `n_folds`."""
    d = len(basis.center)
    folds = [GramPair(np.zeros((d, d)), np.zeros((d, d)), np.zeros(d), 0.0) for _ in range(n_folds)]
    for region in slice_block(block, first, reference, basis, n_folds * LARGER * BLOCK_BYTES):
        start = first + region.start
        graph, X, numbers = reference.relate(block[region], start)
        features = SampleFeatures(X, basis, None)
        for fold, rows in enumerate(split_by_fold(numbers % n_folds, n_folds)):
            if len(rows):
                with np.errstate(over="ignore", invalid="ignore"):
                    folds[fold].add(accumulate(rows, graph, features))
    return folds


def slice_block(
    block: NDArray[Any], first: int, reference: Reference, basis: ConditionedBasis, n_bytes: int
) -> list[slice]:
    """Cut a block so that the temporaries of a part stay below so many bytes."""
    graph, X, _ = reference.relate(block[:PROBED_ROWS], first)
    floats = graph.count_floats() + SampleFeatures(X, basis, None).count_floats(graph)
    return row_slices(len(block), 8 * floats, n_bytes)


def merge_folds(shares: Sequence[list[GramPair]]) -> list[GramPair]:
    """Return the sums of all blocks, fold by fold, from those of parts."""
    return [sum_folds(list(fold)) for fold in zip(*shares, strict=True)]
