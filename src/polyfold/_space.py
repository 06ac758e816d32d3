"""Where neighbourhoods are measured once the columns are reduced: in the columns, or in their principal axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polyfold._basis import MonomialBasis
from polyfold._conditioning import condition_basis
from polyfold._eigen import solve_pair, whiten
from polyfold._gram import Neighborhoods, build_gram_folds
from polyfold._neighbors import find_exact_neighbors
from polyfold.metrics import coranking_auc
from polyfold.objectives import Objective

#: The maps that are compared are fitted to at most this many samples, a quarter of which are ranked.
MAX_SAMPLES = 2000

#: The columns are taken where they score better by this factor. In the axes coordinates are steadier.
CLEARLY = 1.03

#: Ridge of the two maps that are compared, where cross-validation is to choose the final one's.
TRIAL_ALPHA = 1e-3


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
    features = (monomials.expand(axes) - basis.center) @ basis.T
    weights = np.ones(len(columns))
    scores = {}
    for name, space in (("columns", columns), ("axes", axes)):
        neighbors = find_exact_neighbors(space, min(n_neighbors, len(space) - 1), n_jobs=n_jobs, verbose=0)
        graph = Neighborhoods(neighbors, space)
        [gram] = build_gram_folds(graph, axes, weights, objective, basis, n_jobs=n_jobs, verbose=0, n_folds=1)
        whitening = whiten(gram.centered() if center else gram.B, basis.T_inverse, n_components)
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
