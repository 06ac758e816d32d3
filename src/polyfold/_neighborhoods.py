"""The neighbourhoods of a fit: how many neighbours, and in which space.

Once the columns are reduced, neighbours may be found and local relations measured in the columns, or in their
principal axes. A trial tells.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._basis import MonomialBasis
from polyfold._blocks import show_stage
from polyfold._conditioning import condition_basis
from polyfold._draw import draw_rows
from polyfold._eigen import solve_pair, whiten
from polyfold._features import Features
from polyfold._gram import build_gram_folds
from polyfold._graph import NeighborGraph
from polyfold._index import (
    RECALL_SAMPLES,
    NeighborIndex,
    TreeIndex,
    build_index,
    choose_search,
    find_others,
    measure_recall,
)
from polyfold._neighbors import (
    choose_n_neighbors,
    estimate_dimension,
    find_exact_neighbors,
    find_transformer_neighbors,
)
from polyfold.metrics import coranking_auc
from polyfold.objectives.equations.objective import Objective

#: Samples whose neighbourhoods tell what an objective must know of all beforehand.
PROBES = 20_000

#: The maps that are compared are fitted to at most this many samples, a quarter of which are ranked.
MAX_SAMPLES = 2000

#: The columns are taken where they score better by this factor. In the axes coordinates are steadier.
CLEARLY = 1.03

#: Ridge of the two maps that are compared, where cross-validation is to choose the final one's.
TRIAL_ALPHA = 1e-3


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The neighbours of each sample, and the space in which they were found and local relations are measured.

    Rows may be in another order than the samples, near ones next to each other: much is read again while it is
    still close to the processor.

    Attributes
    ----------
    neighbors : ndarray of shape (n_samples, n_neighbors)
    measured : ndarray of shape (n_samples, n_dimensions)
        The samples in that space.
    order : ndarray of shape (n_samples,) or None
        Which sample each row is of; None leaves them as they are. Neighbours are numbers of rows.
    dimension : float
        Estimated intrinsic dimension.
    space : {"columns", "axes"}
    space_scores : dict
        What a trial map scored with each space, where there was a choice.
    search : {"exact", "approx", "given"}
        How neighbours were found.
    recall : float
        Share of the nearest that were found, on a sample; NaN where a transformer found them.
    """

    neighbors: NDArray[np.intp]
    measured: NDArray[np.float64]
    order: NDArray[np.intp] | None = None
    dimension: float = float("nan")
    space: str = "columns"
    space_scores: dict[str, float] = field(default_factory=dict)
    search: str = "exact"
    recall: float = 1.0


def find_neighborhoods(
    objective: Objective | None,
    X: Any,
    features: Features,
    n_components: int,
    *,
    n_neighbors: Any,
    neighbors: Any,
    alpha: float | None,
    center: bool,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
) -> Neighborhoods:
    """Choose the number of neighbours and the space, and find the neighbours.

    Parameters
    ----------
    objective : Objective or None
        What the neighbours are for; None is for geodesics, which are measured in the columns.
    X : array-like
        The samples as they were given, for a `neighbors` transformer.
    features : Features
        Of the samples.
    n_components, n_neighbors, neighbors, center, random_state, n_jobs, verbose
        Of the fit.
    alpha : float or None
        Of the fit; None where it is yet to be chosen.
    """
    visible = features.visible
    settings: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    if not isinstance(neighbors, str):
        dimension = measure_dimension(visible, None, **settings)
        number = count_neighbors(objective, n_neighbors, len(visible), dimension, neighbors, n_components)
        found = find_transformer_neighbors(neighbors, X, visible, number, random_state=random_state)
        space = "axes" if features.columns is None else "columns"
        return Neighborhoods(found, visible, None, dimension, space, {}, "given", float("nan"))
    plan = plan_search(
        objective,
        features,
        n_components,
        n_samples=len(visible),
        n_neighbors=n_neighbors,
        neighbors=neighbors,
        alpha=alpha,
        center=center,
        **settings,
    )
    measured, index = plan.measured, plan.index
    order = index.order if objective is not None and isinstance(index, TreeIndex) else None
    numbers = np.arange(len(measured))
    if order is not None:
        numbers = np.empty(len(measured), dtype=np.int32 if len(measured) < 2**31 else np.intp)
        numbers[order] = np.arange(len(order), dtype=numbers.dtype)
    found = find_others(index, measured, plan.n_neighbors, numbers, verbose=verbose)
    recall = 1.0
    if plan.search != "exact":
        drawn = np.random.default_rng(0).choice(len(found), min(RECALL_SAMPLES, len(found)), replace=False)
        recall = measure_recall(measured, drawn, found[drawn], n_jobs=n_jobs)
    measured = measured if order is None else np.take(measured, order, axis=0)
    return Neighborhoods(
        found, measured, order, plan.dimension, plan.space, plan.space_scores, plan.search, recall
    )


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """How many neighbours are looked for, among what and how; see `Neighborhoods`."""

    n_neighbors: int
    dimension: float
    space: str
    space_scores: dict[str, float]
    measured: NDArray[np.float64]
    search: str
    index: NeighborIndex


def plan_search(
    objective: Objective | None,
    features: Features,
    n_components: int,
    *,
    n_samples: int,
    n_neighbors: Any,
    neighbors: str,
    alpha: float | None,
    center: bool,
    n_jobs: int | None,
    verbose: int,
) -> SearchPlan:
    """Choose the number of neighbours and the space, and prepare the search among samples.

    Parameters
    ----------
    features : Features
        Of the samples among which neighbours are looked for.
    n_samples : int
        Of the fit; these, or more.
    objective, n_components, n_neighbors, neighbors, alpha, center, n_jobs, verbose
        As in `find_neighborhoods`.
    """
    columns, coordinates, visible = features.columns, features.coordinates, features.visible
    index = build_index(visible, n_jobs=n_jobs)
    dimension = measure_dimension(visible, index, n_jobs=n_jobs, verbose=verbose)
    number = count_neighbors(objective, n_neighbors, n_samples, dimension, neighbors, n_components)
    if number >= len(visible):
        raise ValueError(
            f"`reference_size` must be above the number of neighbours, got {len(visible)} with "
            f"n_neighbors={number}. Raise `reference_size` or lower `n_neighbors`."
        )
    space = "axes" if columns is None else "columns"
    scores: dict[str, float] = {}
    if objective is not None and columns is not None and coordinates is not columns:
        # Of too few samples, or of samples too alike, the axes are taken without a trial.
        with show_stage("trial", verbose), suppress(ValueError):
            scores = compare_spaces(
                columns,
                coordinates,
                features.monomials,
                objective,
                number,
                n_components,
                alpha,
                center=center,
                n_jobs=n_jobs,
            )
        space = choose_space(scores)
    measured = visible if space == "columns" else coordinates
    search = choose_search(neighbors, *measured.shape)
    if measured is not visible or search != "exact":
        with show_stage("index", verbose):
            index = build_index(measured, n_jobs=n_jobs, search=search)
    return SearchPlan(number, dimension, space, scores, measured, search, index)


def measure_dimension(
    visible: NDArray[np.float64], index: NeighborIndex | None, *, n_jobs: int | None, verbose: int
) -> float:
    """Estimate the intrinsic dimension, and show that it is being done."""
    with show_stage("dimension", verbose):
        return estimate_dimension(visible, n_jobs=n_jobs, index=index)


def count_neighbors(
    objective: Objective | None,
    n_neighbors: Any,
    n_samples: int,
    dimension: float,
    neighbors: Any,
    n_components: int,
) -> int:
    """Choose the number of neighbours, no fewer than the objective needs."""
    least = 1 if objective is None else objective.least_neighbors(n_components)
    return choose_n_neighbors(n_neighbors, n_samples, dimension, neighbors, least)


def build_neighbor_graph(
    objective: Objective,
    neighborhoods: Neighborhoods,
    weights: NDArray[np.float64],
    n_components: int,
    *,
    n_jobs: int | None,
    verbose: int,
) -> NeighborGraph:
    """Gather what the objective must know of all samples, and return the graph that writes its equations."""
    measured, neighbors, order = neighborhoods.measured, neighborhoods.neighbors, neighborhoods.order
    weights = weights if order is None else weights[order]
    centers = choose_probes(objective, len(neighbors))
    if order is not None and len(centers) < len(neighbors):
        places = np.empty(len(order), dtype=np.intp)
        places[order] = np.arange(len(order))
        centers = places[centers]
    statistics = objective.prepare(
        measured, centers, neighbors[centers], n_components, n_jobs=n_jobs, verbose=verbose
    )
    build = partial(objective.build, **statistics)
    floats_per_row = objective.count_floats(neighbors.shape[1], measured.shape[1])
    return NeighborGraph(neighbors, measured, weights, build, order, floats_per_row)


def choose_probes(objective: Objective | None, n_samples: int) -> NDArray[np.intp]:
    """Return which samples tell what an objective must know beforehand: some, or all where that takes all."""
    needs_all = objective is None or objective.prepares_all
    return draw_rows(n_samples, n_samples if needs_all else PROBES)


def compare_spaces(
    columns: NDArray[np.float64],
    axes: NDArray[np.float64],
    monomials: MonomialBasis,
    objective: Objective,
    n_neighbors: int,
    n_components: int,
    alpha: float | None,
    *,
    center: bool,
    n_jobs: int | None,
) -> dict[str, float]:
    """Fit a map with neighbourhoods of either kind, and score how it keeps the neighbours of the columns.

    The maps are fitted to samples drawn from a fixed seed.

    Parameters
    ----------
    columns, axes : ndarray of shape (n_samples, …)
        The samples as standardised columns, and in their leading principal axes.
    monomials : MonomialBasis
        In the axes.
    objective, n_neighbors, n_components, center, n_jobs
        Of the fit.
    alpha : float or None
        Of the fit; None where it is yet to be chosen.

    Returns
    -------
    dict
        The co-ranking AUC of "columns" and of "axes".

    Raises
    ------
    ValueError
        Where the samples drawn are too few or too alike for a map.
    """
    if len(columns) > MAX_SAMPLES:
        drawn = np.sort(np.random.default_rng(0).choice(len(columns), MAX_SAMPLES, replace=False))
        columns, axes = columns[drawn], axes[drawn]
    basis = condition_basis(monomials, axes, center=center, n_jobs=n_jobs, verbose=0)
    features = basis.expand(axes)
    weights = np.ones(len(columns))
    scores = {}
    for name, space in (("columns", columns), ("axes", axes)):
        neighbors = find_exact_neighbors(space, min(n_neighbors, len(space) - 1), n_jobs=n_jobs, verbose=0)
        around = Neighborhoods(neighbors, space)
        graph = build_neighbor_graph(objective, around, weights, n_components, n_jobs=n_jobs, verbose=0)
        [gram] = build_gram_folds(graph, axes, basis, n_jobs=n_jobs, verbose=0, n_folds=1)
        _, B = gram.measure_spread(center=center)
        whitening = whiten(B, basis.T_inverse, n_components)
        directions = solve_pair(gram.A, whitening, n_components, TRIAL_ALPHA if alpha is None else alpha)
        trial = features @ directions.vectors
        scores[name] = coranking_auc(columns, trial, max_samples=MAX_SAMPLES // 4)
    return scores


def choose_space(scores: dict[str, float]) -> str:
    """Take the axes, unless a trial shows that the columns keep neighbours clearly better.

    What is off the leading axes may be noise that hides the neighbours, or detail that tells them: neither holds
    on all data.
    """
    return "columns" if scores and scores["columns"] > CLEARLY * scores["axes"] else "axes"
