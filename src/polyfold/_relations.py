"""What a fit is to keep of its samples: local equations, or geodesic distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from polyfold._features import Features
from polyfold._global import GeodesicKernel, build_kernel
from polyfold._graph import AffinityGraph, EquationGraph, Graph, check_affinity, check_equations, count_pieces
from polyfold._neighborhoods import build_neighbor_graph, find_neighborhoods
from polyfold._neighbors import count_components, count_duplicates, estimate_dimension
from polyfold._validation import check_choice
from polyfold.objectives import GEODESIC, GRAPHS, OBJECTIVES


@dataclass(frozen=True, eq=False, kw_only=True)
class RelationFacts:
    """What was found on the way to what is kept.

    Attributes
    ----------
    n_neighbors : int
        Of each sample; of a given graph on average.
    n_pieces : int
        Connected components.
    dimension : float
        Estimated intrinsic dimension.
    space : {"columns", "axes", "given"}
        Where neighbours were found and local relations measured.
    space_scores : dict
        What a trial map scored with each space, where there was a choice.
    search : {"exact", "approx", "given"}
        How neighbours were found.
    recall : float
        Share of the nearest neighbours that were found, on a sample; NaN where they were given.
    n_reference : int
        Samples among which neighbours were looked for.
    n_duplicates : int
        Those of them that repeat an earlier one exactly.
    outside_share : float
        Of the samples after a stream's first batch, those that lie well outside of it; NaN where there are none.
    """

    n_neighbors: int
    n_pieces: int
    dimension: float
    space: str
    n_reference: int
    n_duplicates: int
    space_scores: dict[str, float] = field(default_factory=dict)
    search: str = "given"
    recall: float = float("nan")
    outside_share: float = float("nan")


@dataclass(frozen=True, eq=False)
class Relations:
    """What is kept of samples in memory, and what was found on the way to it."""

    kept: Graph | GeodesicKernel
    facts: RelationFacts


def check_graph(graph: Any) -> Any:
    """Check that `graph` is a name, an affinity or a callable."""
    if callable(graph) or issparse(graph) or hasattr(graph, "__array__") or isinstance(graph, list):
        return graph
    return check_choice("graph", graph, GRAPHS, others="a symmetric affinity (sparse or an array) or a callable")


def name_graph(graph: Any) -> str:
    """Return the name of a graph, or what it is given as."""
    return graph if isinstance(graph, str) else "callable" if callable(graph) else "affinity"


def take_graph(
    graph: Any, samples: Any, used: NDArray[np.bool_], weights: NDArray[np.float64], *, center: bool
) -> AffinityGraph | EquationGraph:
    """Take a graph as it is given: an affinity of all samples, or a callable that relates those used."""
    if not callable(graph):
        affinity = AffinityGraph(check_affinity(graph, used), weights)
        if affinity.is_signed and np.ptp(weights) > 1e-12:
            raise ValueError(
                "`sample_weight` cannot be combined with an affinity `graph` that has negative entries: what is "
                "minimised need not stay positive."
            )
        return affinity
    if np.ptp(weights) > 1e-12:
        raise ValueError(
            "`sample_weight` cannot be combined with a callable `graph`, whose equations belong to no sample: "
            "multiply rows of L by the root of a weight, and D by the weight, in the callable."
        )
    return check_equations(graph(samples.copy()), len(weights), center=center)


def describe_given(
    graph: AffinityGraph | EquationGraph, visible: NDArray[np.float64], n_jobs: int | None
) -> Relations:
    """Return the relations of a graph that was given."""
    if isinstance(graph, AffinityGraph):
        n_neighbors = np.count_nonzero(graph.W.diagonal() == 0) + graph.W.nnz - graph.n_samples
        n_neighbors /= graph.n_samples
    else:
        n_neighbors = graph.L.nnz / max(graph.L.shape[0], 1) - 1
    dimension = estimate_dimension(visible, n_jobs=n_jobs)
    facts = RelationFacts(
        n_neighbors=max(round(n_neighbors), 0),
        n_pieces=count_pieces(graph),
        dimension=dimension,
        space="given",
        n_reference=len(visible),
        n_duplicates=count_duplicates(visible),
    )
    return Relations(graph, facts)


def find_relations(
    name: str,
    X: Any,
    features: Features,
    weights: NDArray[np.float64],
    n_components: int,
    *,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
    **settings: Any,
) -> Relations:
    """Find neighbourhoods and what the graph of this name makes of them; see `find_neighborhoods`."""
    work: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    objective = OBJECTIVES.get(name)
    around = find_neighborhoods(
        objective, X, features, n_components, random_state=random_state, **settings, **work
    )
    kept: Graph | GeodesicKernel
    if objective is None:
        kept = build_kernel(
            around.measured,
            around.neighbors,
            weights,
            mutual=GEODESIC[name].mutual,
            random_state=random_state,
            **work,
        )
    else:
        kept = build_neighbor_graph(objective, around, weights, n_components, **work)
    facts = RelationFacts(
        n_neighbors=int(around.neighbors.shape[1]),
        n_pieces=count_components(around.neighbors, mutual=name in GEODESIC and GEODESIC[name].mutual),
        dimension=around.dimension,
        space=around.space,
        space_scores=around.space_scores,
        search=around.search,
        recall=around.recall,
        n_reference=len(around.neighbors),
        n_duplicates=count_duplicates(features.visible),
    )
    return Relations(kept, facts)
