"""How well surfaces are unrolled: thirty seeds, unseen points, the worst as well as the mean.

Where a neighbour edge short-cuts the roll, every local method suffers; those seeds are counted apart.
"""

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from polyfold import NPPE
from polyfold._neighbors import find_exact_neighbors
from polyfold.datasets import make_gaussian, make_swiss_hole, make_swiss_roll
from polyfold.metrics import residual_variance
from surface_truth import has_short_cut

SEEDS = range(30)


def draw(make, seed):
    X, Z = make(11_000, random_state=seed)
    return X[:1000], Z[:1000], X[1000:], Z[1000:]


def unseen_residual(estimator, make, seed):
    X, _, unseen, truth = draw(make, seed)
    return residual_variance(estimator.fit(X).transform(unseen), truth)


@pytest.mark.parametrize("make", [make_swiss_roll, make_swiss_hole, make_gaussian])
def test_surfaces_without_short_cuts_are_unrolled(make):
    """With everything on "auto", which takes 10 neighbours of 1,000 samples and next to no ridge."""
    residuals = []
    for seed in SEEDS:
        X, Z, _, _ = draw(make, seed)
        neighbors = find_exact_neighbors(X, 10, n_jobs=None, verbose=0)
        if make is make_gaussian or not has_short_cut(X, Z, neighbors):
            residuals.append(unseen_residual(NPPE(), make, seed))
    assert len(residuals) >= 20
    assert np.mean(residuals) <= 0.011
    assert np.max(residuals) <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_swiss_roll, make_swiss_hole])
def test_mean_over_all_seeds_is_below_the_peers(make):
    """On thirty seeds, and on ninety.

    The means are decided by the few seeds with a short-cut edge, where a method may fail altogether: over thirty
    other seeds the order of NPPE and MLLE can turn. LLE and Isomap are far behind on any.
    """
    methods = {
        "NPPE": NPPE(),
        "LLE": LocallyLinearEmbedding(n_neighbors=10, random_state=0),
        "MLLE": LocallyLinearEmbedding(n_neighbors=10, method="modified", random_state=0),
        "Isomap": Isomap(n_neighbors=10),
    }
    seeds = range(90)
    tasks = [delayed(unseen_residual)(estimator, make, seed) for estimator in methods.values() for seed in seeds]
    residuals = np.reshape(Parallel(n_jobs=2)(tasks), (len(methods), len(seeds)))
    for count in (len(SEEDS), len(seeds)):
        mean = dict(zip(methods, residuals[:, :count].mean(axis=1).round(4).tolist(), strict=True))
        print(f"{make.__name__}, {count} seeds: {mean}")  # noqa: T201
        assert mean["NPPE"] < min(mean["LLE"], mean["MLLE"], mean["Isomap"]), mean
