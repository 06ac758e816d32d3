"""What a fit that keeps a graph's relations found out and chose, and the warnings that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._diagnostics import MapDiagnostics, describe_map
from polyfold._frame import Frame
from polyfold._neighbors import AUTO_NEIGHBORS
from polyfold._relations import RelationFacts
from polyfold._selection import LEAST_AGREEMENT, LEAST_EXTENT
from polyfold._solution import Solution
from polyfold.objectives import GEODESIC, OBJECTIVES
from polyfold.polymap import PolynomialMap

#: A coordinate that spreads this much more, or less, on held-out samples does not generalise.
SPREAD_LIMIT = 2.0

#: So does a map that keeps local relations this many times worse on them.
GROWTH_LIMIT = 100.0

#: Approximate searches that find less than this share of the nearest neighbours are worth a word.
LEAST_RECALL = 0.9

#: A stream of which a larger share lies well outside its first batch is learned against the wrong samples.
MOST_OUTSIDE = 0.1

#: An objective below this is as good as zero.
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Diagnostics(MapDiagnostics):
    """Facts about a fit and the choices made; prints as a report.

    Attributes
    ----------
    intrinsic_dimension : float
        Estimated from how distances to neighbours grow; NaN for too few samples.
    graph : str
        What is kept; "affinity" or "callable" where it was given.
    n_neighbors : int
        Of each sample; of a given graph on average.
    n_reference : int
        Samples among which these were looked for. Where they are fewer than all, duplicates, components and
        intrinsic dimension are theirs.
    search : {"exact", "approx", "given"}
        How neighbours were found.
    recall : float
        Share of the nearest neighbours that were found, measured on 200 samples where the search was approximate;
        NaN where neighbours were given.
    n_connected_components : int
        Of the neighbour graph.
    space : {"columns", "axes", "given"}
        Where neighbourhoods were measured.
    space_scores : dict
        Co-ranking AUC of a trial map with neighbourhoods measured in either; empty where there was no choice.
    outside_share : float
        Share of the samples after the first batch of `partial_fit` that lie well outside of it: beyond 1.5 times
        its edge; NaN where there were none.
    training_objective, held_out_objective : float
        What is minimised, without the ridge: the squared residuals of local relations over the variance of the
        coordinates, on folds that the map was learned from and on folds that it was not; geometric means. For
        ``graph="isomap"`` the share of Isomap's own coordinates that a regression with this ridge misses, on
        samples that it was learned from and on each left out.
    held_out_spread : ndarray of shape (n_components,)
        Spread of each coordinate about its training mean, on held-out folds over that on the others; NaN where
        there are too few samples to hold some out.
    constraint : {"embedding", "orthogonal"}
    coordinates : {"independent", "smallest"}
        As asked for.
    kept : tuple of int
        Which eigenvectors became coordinates, counted from 0 in the order of their eigenvalues.
    n_candidates : int
        How many of them were looked at.
    tangent_agreement, tangent_extent : float
        How much the tangent planes of neighbours agree, 1 being fully, and the variance of neighbourhoods along
        the last axis of their plane over that along the axis before. Below 0.8 planes are noise, below 0.2 samples
        have fewer dimensions than coordinates were asked for, and the smallest eigenvectors are kept. NaN where
        no planes were fitted.

    And those of `MapDiagnostics`.
    """

    intrinsic_dimension: float
    graph: str
    n_neighbors: int
    n_reference: int
    search: str
    recall: float
    n_connected_components: int
    space: str
    space_scores: dict[str, float]
    outside_share: float
    training_objective: float
    held_out_objective: float
    held_out_spread: NDArray[np.float64]
    constraint: str
    coordinates: str
    kept: tuple[int, ...]
    n_candidates: int
    tangent_agreement: float
    tangent_extent: float

    def _list_lines(self) -> list[tuple[str, str]]:
        return [
            ("samples", self._describe_samples()),
            ("intrinsic dimension", self._describe_dimension()),
            ("graph", self._describe_graph()),
            ("neighbours", self._describe_neighbors()),
            ("columns", self._describe_axes()),
            ("measured in", self._describe_space()),
            ("features", self._describe_features()),
            ("ridge", self._describe_alpha()),
            ("objective", self._describe_objective()),
            ("held-out spread", self._describe_spread()),
            ("coordinates", self._describe_coordinates()),
        ]

    def _describe_dimension(self) -> str:
        return "not estimated" if np.isnan(self.intrinsic_dimension) else f"about {self.intrinsic_dimension:.1f}"

    def _describe_neighbors(self) -> str:
        if "n_neighbors" in self.chosen and self.space != "given":
            objective = OBJECTIVES.get(self.graph)
            if objective and self.n_neighbors == objective.least_neighbors(len(self.kept)) > AUTO_NEIGHBORS[0]:
                why = f" (auto: what {self.graph} needs for {len(self.kept)} coordinates)"
            else:
                why = " (auto: 1 % of the samples and m(m+1)/2 for dimension m, within 10 to 50)"
        else:
            why = " on average (given)" if self.space == "given" else " (given)"
        if self.n_reference < self.n_samples:
            why += f", among {self.n_reference:,} of the samples"
        if self.search == "approx":
            why += f", {self.recall:.1%} of the nearest found"
        parts = self.n_connected_components
        return f"{self.n_neighbors}{why}, graph in {parts} {'piece' if parts == 1 else 'pieces'}"

    @property
    def skipped(self) -> tuple[int, ...]:
        """Eigenvectors that were passed over for larger ones, which are more independent; counted from 0."""
        return tuple(position for position in range(self.kept[-1]) if position not in self.kept)

    def _describe_graph(self) -> str:
        what = {"affinity": "an affinity, given", "callable": "equations, given by a callable"}
        orthogonal = ", coefficients orthonormal" if self.constraint == "orthogonal" else ""
        return what.get(self.graph, self.graph) + orthogonal

    def _describe_coordinates(self) -> str:
        if self.skipped:
            numbers = ", ".join(str(position + 1) for position in self.kept)
            skipped = ", ".join(str(position + 1) for position in self.skipped)
            return (
                f"eigenvectors {numbers} of {self.n_candidates}; {skipped} skipped, as these are more independent"
            )
        if self.coordinates == "smallest" or self.graph in GEODESIC or len(self.kept) == 1:
            return f"the first {len(self.kept)}"
        if np.isnan(self.tangent_agreement):
            return f"the first {len(self.kept)} (too few samples or columns to tell which are independent)"
        if self.tangent_agreement < LEAST_AGREEMENT:
            return (
                f"the first {len(self.kept)} (tangent planes are noise, so which are independent cannot be told: "
                f"agreement {self.tangent_agreement:.2f}, below {LEAST_AGREEMENT})"
            )
        if self.tangent_extent < LEAST_EXTENT:
            return (
                f"the first {len(self.kept)} (neighbourhoods have fewer dimensions, so which are independent "
                f"cannot be told: extent {self.tangent_extent:.2f}, below {LEAST_EXTENT})"
            )
        return f"the first {len(self.kept)}, which are independent (of {self.n_candidates} looked at)"

    def _describe_space(self) -> str:
        where = {"columns": "the columns", "axes": "the principal axes", "given": "the graph as given"}
        if not self.space_scores:
            return where[self.space]
        other = "axes" if self.space == "columns" else "columns"
        return (
            f"{where[self.space]} (co-ranking AUC of a trial {self.space_scores[self.space]:.3f}, in "
            f"{where[other]} {self.space_scores[other]:.3f}; the columns must be 3 % better)"
        )

    def _describe_alpha(self) -> str:
        if self.constraint == "orthogonal":
            return "none (the coefficients' lengths are fixed)"
        if "alpha" not in self.chosen:
            return f"{self.alpha:.3g} (given)"
        without = self.alpha_curve[0, 1]
        held_out = "samples left out" if self.graph in GEODESIC else "held-out folds"
        first = f" of the first {len(self.kept)} eigenvectors" if self.skipped else ""
        best = f"auto: the best objective{first} on {held_out}; without a ridge it is {without:.2g}"
        return f"{self.alpha:.2g} ({best})"

    def _describe_objective(self) -> str:
        if np.isnan(self.held_out_objective):
            return "not known: parts of what is kept have none"
        if self.graph in GEODESIC:
            return (
                f"{self.training_objective:.2g} of Isomap's own coordinates missed, {self.held_out_objective:.2g} "
                "on samples left out"
            )
        return f"{self.training_objective:.2g} on training folds, {self.held_out_objective:.2g} on held-out ones"

    def _describe_spread(self) -> str:
        if np.isnan(self.held_out_spread).any():
            return "not known"
        return ", ".join(f"{spread:.2f}" for spread in self.held_out_spread) + " of the training spread"

    def find_trouble(self) -> list[str]:
        """Say what may spoil the embedding, each time with a cure."""
        messages = []
        if self.n_connected_components > 1:
            consequence = (
                "they were joined by the shortest edges between them, and distances across are guesses"
                if self.graph in GEODESIC
                else "coordinates may tell the components apart instead of unfolding them"
            )
            cure = (
                "Join them in `graph`"
                if self.space == "given"
                else f"Raise `n_neighbors` above {self.n_neighbors}"
            )
            messages.append(
                f"The neighbour graph has {self.n_connected_components} connected components: {consequence}. "
                f"{cure}, or fit each component on its own."
            )
        if self.recall < LEAST_RECALL:
            messages.append(
                f"The approximate search found only {self.recall:.0%} of the nearest neighbours: relations are "
                'less local than they could be. Use neighbors="exact".'
            )
        if self.n_duplicates:
            messages.append(
                f"{self.n_duplicates} of {self.n_reference} samples are duplicates of another. They use "
                "up neighbourhoods without adding shape: drop them, for example with numpy.unique(X, axis=0), or "
                "raise `n_neighbors`."
            )
        if self.outside_share > MOST_OUTSIDE:
            messages.append(
                f"{self.outside_share:.0%} of the samples after the first batch lie well outside of it, and "
                "neighbours are looked for in it alone: the map may mean little. Begin anew with a first batch "
                "that is drawn from all there will be, or give all samples to fit."
            )
        messages += super().find_trouble()
        if np.isinf(self.held_out_objective):
            caution = f", and `alpha` is {self.alpha:g} by caution" if "alpha" in self.chosen else ""
            messages.append(
                f"{self.n_samples} samples are too few to hold some out: whether the map generalises is not "
                f"known{caution}. Add samples, or lower `degree` or `n_components`."
            )
        spreads = np.maximum(self.held_out_spread, 1e-12)
        worst = self.held_out_spread[np.argmax(np.abs(np.log(spreads)))]
        growth = self.held_out_objective / max(self.training_objective, ROUNDING)
        if worst < 1 / SPREAD_LIMIT or worst > SPREAD_LIMIT:
            messages.append(
                f"The map does not generalise: on held-out folds a coordinate spreads {worst:.2f} times as much "
                f"as on the samples it was learned from. {self._advise()}"
            )
        elif GROWTH_LIMIT < growth < np.inf:
            messages.append(
                f"The map does not generalise: it does {min(growth, 1e6):,.0f} times worse on held-out samples "
                f"than on the samples it was learned from. {self._advise()}"
            )
        return messages

    def _advise(self) -> str:
        """Say how to make a map generalise: first by what is not yet automatic."""
        automatic = " and ".join(f'{name}="auto"' for name in ("alpha", "reduce") if name not in self.chosen)
        rest = "ower `degree`, raise `n_neighbors` or add samples."
        return f"Use {automatic}, l{rest}" if automatic else f"L{rest}"


def describe_fit(
    frame: Frame,
    relations: RelationFacts,
    learned: PolynomialMap,
    solution: Solution,
    *,
    graph: str,
    constraint: str,
    coordinates: str,
    **settings: Any,
) -> Diagnostics:
    """Gather what the steps of a fit found; see :func:`polyfold._diagnostics.describe_map` for the settings."""
    selection = solution.selection
    tangents = selection.tangents
    return Diagnostics(
        **describe_map(
            frame, learned, solution.whitening, solution.curve, n_duplicates=relations.n_duplicates, **settings
        ),
        intrinsic_dimension=relations.dimension,
        graph=graph,
        n_neighbors=relations.n_neighbors,
        n_reference=relations.n_reference,
        search=relations.search,
        recall=relations.recall,
        n_connected_components=relations.n_pieces,
        space=relations.space,
        space_scores=relations.space_scores,
        outside_share=relations.outside_share,
        training_objective=solution.training_objective,
        held_out_objective=solution.held_out_objective,
        held_out_spread=solution.held_out_spread,
        constraint=constraint,
        coordinates=coordinates,
        kept=tuple(selection.kept.tolist()),
        n_candidates=selection.n_candidates,
        tangent_agreement=float("nan") if tangents is None else tangents.agreement,
        tangent_extent=float("nan") if tangents is None else tangents.extent,
    )
