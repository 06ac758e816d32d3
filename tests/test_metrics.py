"""Metrics against independent computations: scikit-learn, SciPy, and dense formulas written out here."""

import numpy as np
import pandas
import pytest
import sklearn.manifold
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from scipy.stats import special_ortho_group

from polyfold import metrics
from polyfold.bench.timing import measure_peak
from polyfold.datasets import make_swiss_roll, make_toroidal_helix


@pytest.fixture(params=[(0, 5), (1, 5), (2, 5), (3, 60)])
def pair(request):
    """Data and a poor embedding of it, without ties, in few columns and in many."""
    seed, n_columns = request.param
    random = np.random.default_rng(seed)
    X = random.normal(size=(120, n_columns))
    return X, X[:, :2] + 0.3 * random.normal(size=(120, 2))


@pytest.mark.parametrize("k", [1, 5, 10, 40])
def test_trustworthiness_is_that_of_scikit_learn(pair, k):
    X, Y = pair
    expected = sklearn.manifold.trustworthiness(X, Y, n_neighbors=k)
    assert metrics.trustworthiness(X, Y, n_neighbors=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [1, 10])
def test_continuity_is_trustworthiness_the_other_way(pair, k):
    X, Y = pair
    expected = sklearn.manifold.trustworthiness(Y, X, n_neighbors=k)
    assert metrics.continuity(X, Y, n_neighbors=k) == pytest.approx(expected, abs=1e-12)


def ranks(X):
    """Rank of j seen from i: 0 is i itself."""
    return np.argsort(np.argsort(cdist(X, X), axis=1), axis=1)


@pytest.mark.parametrize("k", [1, 10, 119])
def test_neighbor_recall_against_dense_ranks(pair, k):
    X, Y = pair
    both = (ranks(X) <= k) & (ranks(Y) <= k)
    np.fill_diagonal(both, False)
    expected = both.sum(axis=1).mean() / k
    assert metrics.neighbor_recall(X, Y, n_neighbors=k) == pytest.approx(expected, abs=1e-12)


def dense_coranking_curve(X, Y):
    """Lee, Peluffo-Ordóñez, Verleysen (2015), from the co-ranking matrix itself."""
    n = len(X)
    Q = np.zeros((n - 1, n - 1))
    rank_x, rank_y = ranks(X), ranks(Y)
    for i in range(n):
        for j in range(n):
            if i != j:
                Q[rank_x[i, j] - 1, rank_y[i, j] - 1] += 1
    R = []
    for K in range(1, n - 1):
        agreement = Q[:K, :K].sum() / (K * n)
        R.append(((n - 1) * agreement - K) / (n - 1 - K))
    return np.arange(1, n - 1), np.array(R)


def test_coranking_curve_and_auc_against_the_coranking_matrix(pair):
    K, R = dense_coranking_curve(*pair)
    found = metrics.coranking_curve(*pair)
    np.testing.assert_array_equal(found[0], K)
    np.testing.assert_allclose(found[1], R, rtol=0, atol=1e-12)
    expected = (R / K).sum() / (1 / K).sum()
    assert metrics.coranking_auc(*pair) == pytest.approx(expected, abs=1e-12)


def test_coranking_curve_of_some_samples_is_their_share_against_all(pair):
    X, Y = pair
    _, R = metrics.coranking_curve(X, Y, max_samples=10, random_state=4)
    drawn = np.random.RandomState(4).choice(len(X), 10, replace=False)
    n_others = len(X) - 1
    for k in (1, 7, 60, 118):
        near_x, near_y = ((np.argsort(cdist(S[drawn], S), axis=1)[:, 1 : k + 1]) for S in (X, Y))
        shared = np.mean([len(set(a) & set(b)) / k for a, b in zip(near_x, near_y, strict=True)])
        assert R[k - 1] == pytest.approx((n_others * shared - k) / (n_others - k), abs=1e-12)


def test_coranking_auc_of_chance_is_near_zero():
    random = np.random.default_rng(0)
    assert abs(metrics.coranking_auc(random.normal(size=(800, 3)), random.normal(size=(800, 2)))) < 0.02


@pytest.mark.parametrize("metric", [metrics.trustworthiness, metrics.continuity, metrics.coranking_auc])
def test_a_subsample_estimates_the_whole(metric):
    X, _ = make_swiss_roll(1500, random_state=0)
    Y = X[:, :2]
    whole = metric(X, Y, max_samples=None)
    parts = [metric(X, Y, max_samples=300, random_state=seed) for seed in range(8)]
    assert np.mean(parts) == pytest.approx(whole, abs=0.01)
    assert len(set(parts)) == 8
    assert metric(X, Y, max_samples=300, random_state=3) == parts[3]
    assert metric(X, Y, max_samples=5000) == pytest.approx(whole, abs=1e-12)


def test_blocks_do_not_show(pair, monkeypatch):
    X, Y = pair
    names = ["trustworthiness", "continuity", "neighbor_recall", "coranking_auc"]
    whole = [getattr(metrics, name)(X, Y) for name in names]
    whole.append(metrics.residual_variance(Y, X, kind="distances"))
    monkeypatch.setattr("polyfold._blocks.BLOCK_BYTES", 32 * len(X) * 7)
    parts = [getattr(metrics, name)(X, Y) for name in names]
    parts.append(metrics.residual_variance(Y, X, kind="distances"))
    assert parts == pytest.approx(whole, abs=1e-13)


def test_affine_residual_variance_is_one_minus_squared_correlation(pair):
    """R over all entries of standardised Z against its best affine fit from Y, as DESIGN defines it."""
    Z, Y = pair
    Z = Z[:, :5] * [1, 100, 1, 1, 1e-3] + [0, 0, 1e3, 0, 0]
    standard = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    with_constant = np.column_stack([np.ones(len(Y)), Y])
    fit = with_constant @ np.linalg.lstsq(with_constant, standard, rcond=None)[0]
    expected = 1 - np.corrcoef(standard.ravel(), fit.ravel())[0, 1] ** 2
    assert metrics.residual_variance(Y, Z) == pytest.approx(expected, abs=1e-10)


def test_affine_residual_variance_ignores_affine_maps_of_either(pair):
    Z, Y = pair
    Z = Z[:, :5]
    random = np.random.default_rng(9)
    rho = metrics.residual_variance(Y, Z)
    moved = 1e5 * (Y @ random.normal(size=(2, 2))) + 1e6
    assert metrics.residual_variance(moved, Z) == pytest.approx(rho, abs=1e-9)
    assert metrics.residual_variance(Y, Z * [2, -3, 5, 1e4, 1] + 7) == pytest.approx(rho, abs=1e-9)


def test_distance_residual_variance_is_one_minus_squared_correlation(pair):
    Z, Y = pair
    expected = 1 - np.corrcoef(pdist(Y), pdist(Z))[0, 1] ** 2
    assert metrics.residual_variance(Y, Z, kind="distances") == pytest.approx(expected, abs=1e-12)
    turned = 3 * Y @ special_ortho_group.rvs(2, random_state=0) - 5
    assert metrics.residual_variance(turned, Y, kind="distances") == pytest.approx(0, abs=1e-12)


def test_affine_residual_variance_does_not_mind_a_tiny_column(pair):
    _, Y = pair
    assert metrics.residual_variance(Y * [1, 1e-14], Y) == pytest.approx(0, abs=1e-9)
    assert metrics.residual_variance(np.column_stack([Y, np.ones(len(Y))]), Y) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("place", [0, 150])
@pytest.mark.parametrize("distance", [1e5, 1e8])
def test_an_outlier_does_not_blur_the_ranks(place, distance):
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[place] = distance
    assert metrics.trustworthiness(X, X) == 1
    assert metrics.continuity(X, X[:, [1, 2, 0]]) == 1
    assert metrics.coranking_auc(X, X[:, [1, 2, 0]]) > 1 - 1e-6


def test_far_apart_clusters_do_not_blur_the_ranks():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:150] += 1e7
    turned = X[:, [1, 2, 0]]
    assert metrics.trustworthiness(X, turned) == 1
    assert metrics.coranking_auc(X, turned) > 1 - 1e-6


def test_one_dimensional_truth(pair):
    _, Y = pair
    assert metrics.residual_variance(Y, 3 * Y[:, 0] - 1) == pytest.approx(0, abs=1e-12)
    _, t = make_toroidal_helix(50)
    assert metrics.procrustes(t, t.ravel()) == pytest.approx(0, abs=1e-12)


def dense_procrustes(Y, Z):
    """Best rotation, scale and translation of Y onto Z, by the orthogonal Procrustes theorem."""
    Y, Z = Y - Y.mean(axis=0), Z - Z.mean(axis=0)
    nuclear = np.linalg.svd(Z.T @ Y, compute_uv=False).sum()
    return 1 - nuclear**2 / (np.square(Y).sum() * np.square(Z).sum())


def test_procrustes(pair):
    Z, Y = pair
    assert metrics.procrustes(Y, Z) == pytest.approx(dense_procrustes(Y, Z), abs=1e-12)
    turned = 3 * Y @ special_ortho_group.rvs(2, random_state=1) - 5
    assert metrics.procrustes(turned, Y) == pytest.approx(0, abs=1e-12)
    assert metrics.procrustes(Y * [1, 5], Y) > 0.05


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_units_do_not_matter(pair, scale):
    X, Y = pair
    for name in metrics.__all__:
        metric = getattr(metrics, name)
        np.testing.assert_allclose(metric(X * scale, Y), metric(X, Y), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", metrics.__all__)
def test_bad_input(name):
    metric = getattr(metrics, name)
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metric(X, X[:40])
    with pytest.raises(ValueError, match="contains NaN"):
        metric(X, np.where(X > 2, np.nan, X))
    with pytest.raises(ValueError, match="minimum of 2"):
        metric(X[:1], X[:1])
    with pytest.raises(TypeError, match="Sparse data was passed"):
        metric(csr_array(X), X)


def test_undefined_values_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="Column 1 of Z is constant"):
        metrics.residual_variance(X, X * [1, 0] + 0.1)
    with pytest.raises(ValueError, match="`kind` must be one of 'affine', 'distances'"):
        metrics.residual_variance(X, X, kind="linear")
    with pytest.raises(ValueError, match="All pairwise distances are equal"):
        metrics.residual_variance(np.ones((5, 1)), np.arange(5.0), kind="distances")
    with pytest.raises(ValueError, match="All rows of Y are equal"):
        metrics.procrustes(np.ones((50, 2)), X)
    with pytest.raises(ValueError, match="below half the number of samples, 50, got 25"):
        metrics.trustworthiness(X, X, n_neighbors=25)
    with pytest.raises(ValueError, match="below the number of samples, 50, got 50"):
        metrics.neighbor_recall(X, X, n_neighbors=50)
    with pytest.raises(ValueError, match="`max_samples` must be an integer >= 1"):
        metrics.coranking_auc(X, X, max_samples=0)
    with pytest.raises(ValueError, match="at least 3 samples"):
        metrics.coranking_auc(X[:2], X[:2])
    with pytest.raises(ValueError, match="`max_samples` must be an integer >= 1"):
        metrics.coranking_curve(X, X, max_samples=0)


@pytest.mark.slow
def test_tens_of_thousands_of_rows_need_no_square_matrix():
    """All six on 20,000 rows; a float64 matrix of 20,000 squared alone would be 3.2 GB."""
    script = """
import numpy as np
from polyfold import metrics
X = np.random.default_rng(0).normal(size=(20_000, 3))
Y = X[:, :2]
metrics.residual_variance(Y, X)
"""
    work = """
for name in ("trustworthiness", "continuity"):
    assert 0.5 < getattr(metrics, name)(X, Y, max_samples=500, random_state=0) < 1
assert 0 < metrics.neighbor_recall(X, Y) < 1
assert 0 < metrics.coranking_auc(X, Y, max_samples=200) < 1
assert 0 < metrics.residual_variance(Y, X) < 1
assert 0 < metrics.residual_variance(Y, X, kind="distances") < 1
assert 0 < metrics.procrustes(Y, X) < 1
"""
    assert measure_peak(script + work) - measure_peak(script) < 400e6


RANDOM = np.random.default_rng(5)
DATA, PLACES = RANDOM.random((60, 3)), RANDOM.random((60, 2))
WIDEST = np.where(DATA > 0.5, 1.7e308, -1.7e308)

MEASURES = {
    "trustworthiness": metrics.trustworthiness,
    "continuity": metrics.continuity,
    "recall": metrics.neighbor_recall,
    "auc": metrics.coranking_auc,
    "procrustes": metrics.procrustes,
    "affine": metrics.residual_variance,
    "distances": lambda X, Y: metrics.residual_variance(X, Y, kind="distances"),
}


@pytest.mark.parametrize("name", MEASURES)
def test_columns_that_span_all_of_float64(name):
    measure = MEASURES[name]
    for wide in (WIDEST, 1.7e308 * DATA, 5e-324 * np.round(100 * DATA)):
        plain = wide * 2.0**-1000 if np.abs(wide).max() > 1 else wide / 5e-324
        assert measure(wide, PLACES) == measure(plain, PLACES)
        assert measure(PLACES, wide) == measure(PLACES, plain)


def test_residual_variance_of_columns_of_any_size():
    Z = np.random.default_rng(0).random((100, 2))
    expected = metrics.residual_variance(Z[::-1], Z)
    assert expected > 0.5
    for size in (1e-150, 1e-165, 1e-300, 1e150):
        assert metrics.residual_variance(Z[::-1], Z * [1, size]) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="Column 1 of Z is constant"):
        metrics.residual_variance(Z, Z * [1, 0] + [0, 0.1])


@pytest.mark.parametrize("apart", [1e4, 1e6, 1e9])
def test_clusters_far_apart_in_many_columns(apart):
    """The product form of distances has no digits left of what is within a cluster."""
    random = np.random.default_rng(0)
    X = random.random((100, 60)) + np.repeat([0, apart], 50)[:, np.newaxis]
    mirrored = X[:, ::-1]
    assert metrics.trustworthiness(X, mirrored) == 1
    assert metrics.neighbor_recall(X, mirrored) == 1
    assert metrics.coranking_auc(X, mirrored) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_no_table_of_real_numbers(name):
    with pytest.raises(ValueError, match=r"(X|Y) holds a number beyond float64"):
        MEASURES[name]([[10**400, 1]] * 60, PLACES)
    frame = pandas.DataFrame(DATA, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="has more than one column of the name 'a'"):
        MEASURES[name](PLACES, frame)
    days = pandas.date_range("2020", periods=60)
    for times in (days, days.to_series(), days.to_numpy()):
        with pytest.raises(ValueError, match="must hold real numbers, got datetime64"):
            MEASURES[name](times, PLACES)
