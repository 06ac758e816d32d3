"""The extrapolation score: what it measures, and that it ranks."""

import pickle

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from image_sets import needs
from polyfold import NPPE, SNPPE, PolynomialMap
from polyfold.datasets import load_coil20, load_usps, make_swiss_roll

RANDOM = np.random.default_rng(0)
MIXED = RANDOM.normal(size=(400, 5)) @ RANDOM.normal(size=(5, 40)) + 0.3 * RANDOM.normal(size=(400, 40)) + 10


@pytest.mark.parametrize("center", [True, False])
def test_without_axes_it_is_the_mahalanobis_distance(center):
    X, _ = make_swiss_roll(500, random_state=0)
    X = X + 20
    learned = NPPE(n_neighbors=10, center=center).fit(X).map_
    unseen = 1.5 * make_swiss_roll(100, random_state=1)[0] + 20
    truth = EmpiricalCovariance().fit(X)
    edge = np.quantile(np.sqrt(truth.mahalanobis(X)), 0.99)
    np.testing.assert_allclose(learned.extrapolation(unseen), np.sqrt(truth.mahalanobis(unseen)) / edge, rtol=1e-8)
    assert learned.extrapolation(X.mean(axis=0)[np.newaxis]) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(("estimator", "reduce", "r"), [(NPPE, 6, 6), (SNPPE, None, 30)])
def test_with_axes_it_is_the_larger_of_two(estimator, reduce, r):
    """Also where many columns are not reduced: then the leading 30 directions count."""
    learned = estimator(reduce=reduce, n_neighbors=15).fit(MIXED).map_
    pca = PCA(r, svd_solver="full").fit(MIXED)

    def distances(X):
        scores = pca.transform(X)
        along = np.linalg.norm(scores / pca.transform(MIXED).std(axis=0), axis=1)
        return along, np.linalg.norm(X - pca.inverse_transform(scores), axis=1)

    unseen = MIXED[:100] + RANDOM.normal(size=(100, 40)) * RANDOM.uniform(0, 3, size=(100, 1))
    edges = [np.quantile(d, 0.99) for d in distances(MIXED)]
    ratios = np.stack([d / edge for d, edge in zip(distances(unseen), edges, strict=True)])
    np.testing.assert_allclose(learned.extrapolation(unseen), ratios.max(axis=0), rtol=1e-6)
    assert len(set(ratios.argmax(axis=0))) == 2
    assert np.mean(learned.extrapolation(MIXED) > 1) <= 0.02


def test_a_broken_rule_is_seen():
    """Columns that always agreed and no longer do, constant ones that move: thin directions count."""
    X = make_swiss_roll(300, random_state=0)[0]
    X = np.column_stack([X, X[:, 0], np.full(300, 3.0)])
    with pytest.warns(UserWarning, match="linearly independent"):
        learned = NPPE(n_neighbors=10).fit(X).map_
    usual = X[:5].copy()
    assert learned.extrapolation(usual).max() < 2
    apart, moved = usual.copy(), usual.copy()
    apart[:, 3] += 1
    moved[:, 4] += 1
    assert learned.extrapolation(apart).min() > 100
    assert learned.extrapolation(moved).min() > 100


def test_it_travels_with_the_map_and_says_when_it_is_missing():
    learned = NPPE(reduce=5).fit(MIXED).map_
    restored = pickle.loads(pickle.dumps(learned))
    np.testing.assert_array_equal(restored.extrapolation(MIXED), learned.extrapolation(MIXED))
    bare = PolynomialMap([0.0], 1.0, "hadamard", 1, [[1.0]], [0.0])
    with pytest.raises(ValueError, match="does not hold what its training samples covered"):
        bare.extrapolation([[1.0]])
    bad = MIXED[:3].copy()
    bad[1, 3] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN \(row 1, column 3\)"):
        learned.extrapolation(bad)


def area(usual, unusual):
    return roc_auc_score(np.repeat([0, 1], [len(usual), len(unusual)]), np.concatenate([usual, unusual]))


@needs("usps")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "digits", [pytest.param(range(1), id="few"), pytest.param(range(10), id="all", marks=pytest.mark.slow)]
)
def test_usps_digits_are_told_from_other_digits(digits):
    X, y = load_usps()
    X = X.astype(float)
    random = np.random.default_rng(0)
    others, doubled = [], []
    for digit in digits:
        own = random.permutation(np.flatnonzero(y == digit))
        learned = NPPE(alpha=1e-3, n_neighbors=20).fit(X[own[:600]]).map_
        unseen = learned.extrapolation(X[own[600:]])
        foreign = random.choice(np.flatnonzero(y != digit), 1500, replace=False)
        others.append(area(unseen, learned.extrapolation(X[foreign])))
        doubled.append(area(unseen, learned.extrapolation(2 * X[own[600:]])))
    assert others[0] >= 0.95
    assert np.mean(others) >= 0.93
    assert doubled[0] >= 0.99
    assert np.mean(doubled) >= 0.99


@needs("coil20")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_coil_objects_are_told_from_other_objects():
    X, y = load_coil20()
    X = X.astype(float)
    random = np.random.default_rng(0)
    others, doubled = [], []
    for thing in np.unique(y):
        own = random.permutation(np.flatnonzero(y == thing))
        learned = NPPE().fit(X[own[:48]]).map_
        unseen = learned.extrapolation(X[own[48:]])
        others.append(area(unseen, learned.extrapolation(X[y != thing])))
        doubled.append(area(unseen, learned.extrapolation(2 * X[own[48:]])))
    assert np.mean(others) >= 0.97
    assert np.mean(doubled) >= 0.99
