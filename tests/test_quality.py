"""How well surfaces are unrolled: thirty seeds, unseen points, the worst as well as the mean.

Where a neighbour edge short-cuts the roll, every local method suffers; those seeds are counted apart.
"""

import numpy as np
import pytest
from coordinates import measure_seed
from joblib import Parallel, delayed
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from polyfold import NPPE
from polyfold.datasets import make_gaussian, make_swiss_hole, make_swiss_roll
from polyfold.experiments.surfaces import count_short_cuts
from polyfold.metrics import residual_variance
from processes import N_JOBS

SEEDS = range(30)

#: All seeds take minutes: `make check` runs them, and every run a few.
FEW_OR_ALL = pytest.mark.parametrize(
    "seeds", [pytest.param(range(6), id="few"), pytest.param(SEEDS, id="all", marks=pytest.mark.slow)]
)


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
        if make is make_gaussian or not count_short_cuts(X, Z, 10):
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
    residuals = np.reshape(Parallel(n_jobs=N_JOBS)(tasks), (len(methods), len(seeds)))
    for count in (len(SEEDS), len(seeds)):
        mean = dict(zip(methods, residuals[:, :count].mean(axis=1).round(4).tolist(), strict=True))
        print(f"{make.__name__}, {count} seeds: {mean}")  # noqa: T201
        assert mean["NPPE"] < min(mean["LLE"], mean["MLLE"], mean["Isomap"]), mean


def measure_case(case, seeds, degrees):
    """Return residual variances of shape (seeds without a short-cut, degrees, 2): independent and smallest."""
    found = Parallel(n_jobs=N_JOBS)(delayed(measure_seed)(case, seed, degrees) for seed in seeds)
    return np.array([[row[:2] for row in rows] for rows in found if rows is not None])


@pytest.mark.parametrize("case", ["strip, T = 3", "strip, T = 4"])
@pytest.mark.parametrize(
    "seeds", [pytest.param(range(4), id="few"), pytest.param(SEEDS, id="all", marks=pytest.mark.slow)]
)
def test_long_strips(case, seeds):
    """With the smallest coordinates the second is a function of the first at degrees 4 and 5."""
    rhos = measure_case(case, seeds, (2, 3, 4, 5))
    assert len(rhos) >= 0.9 * len(seeds) - 1
    assert rhos[:, :, 0].max() <= 0.07
    assert rhos[:, :, 0].mean() <= 0.04
    if len(seeds) >= 30:
        assert rhos[:, :, 0].mean(axis=0).max() <= 0.04
    smallest = rhos[:, 2:, 1].mean(axis=0)
    assert smallest.min() > 0.4
    assert smallest.max() < 0.6


@FEW_OR_ALL
def test_twin_peaks(seeds):
    rhos = measure_case("twin peaks", seeds, (3,))
    assert len(rhos) == len(seeds)
    assert rhos[:, 0, 0].mean() <= 0.05
    assert rhos[:, 0, 1].mean() > 0.45


@FEW_OR_ALL
@pytest.mark.parametrize("case", ["Swiss roll", "Swiss hole", "Gaussian"])
def test_independent_coordinates_do_no_harm_where_none_repeat(case, seeds):
    rhos = measure_case(case, seeds, (2, 3))
    assert len(rhos) >= 2 / 3 * len(seeds)
    assert (rhos[:, :, 0] <= rhos[:, :, 1] + 1e-6).all()
