"""Legal but hard input: the result is finite and sensible, and a warning names the cure where there is one."""

import warnings

import numpy as np
import pytest

from polyfold import NPPE, SNPPE
from polyfold.datasets import make_swiss_roll, make_twin_peaks
from polyfold.metrics import residual_variance

ESTIMATORS = [NPPE, SNPPE]


def assert_sensible(fitted, X):
    """Finite, of unit norm and uncorrelated, centred, and reproduced by transform."""
    Y = fitted.embedding_
    m = Y.shape[1]
    assert np.isfinite(fitted.map_.coefficients).all()
    assert np.isfinite(fitted.eigenvalues_).all()
    np.testing.assert_allclose(Y.T @ Y, np.eye(m), atol=1e-9)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_array_equal(fitted.transform(X), Y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_constant_columns_change_nothing_but_the_rank(estimator):
    X, _ = make_twin_peaks(200, random_state=0)
    padded = np.insert(X, [1, 3], 7.0, axis=1)
    plain = estimator(n_neighbors=10).fit(X)
    with pytest.warns(UserWarning, match="features are linearly independent.*drop constant"):
        fitted = estimator(n_neighbors=10).fit(padded)
    assert_sensible(fitted, padded)
    assert fitted.diagnostics_.rank == plain.diagnostics_.rank
    np.testing.assert_allclose(fitted.embedding_, plain.embedding_, atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_duplicate_columns(estimator):
    X, _ = make_twin_peaks(200, random_state=0)
    doubled = np.column_stack([X, X[:, 0]])
    with pytest.warns(UserWarning, match="features are linearly independent"):
        fitted = estimator(n_neighbors=10).fit(doubled)
    assert_sensible(fitted, doubled)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_duplicate_rows(estimator):
    X, _ = make_twin_peaks(200, random_state=0)
    repeated = np.concatenate([X, X[:40]])
    with pytest.warns(UserWarning, match="40 of 240 samples are duplicates"):
        fitted = estimator(n_neighbors=12, coordinates="smallest").fit(repeated)
    assert fitted.diagnostics_.n_duplicates == 40
    assert_sensible(fitted, repeated)
    unseen, truth = make_twin_peaks(1000, random_state=1)
    plain = estimator(n_neighbors=12, coordinates="smallest").fit(X)
    reference = residual_variance(plain.transform(unseen), truth)
    assert residual_variance(fitted.transform(unseen), truth) < reference + 0.05


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_row_many_times_over(estimator):
    """All neighbours of a sample may be its copies: G = 0, equal weights, no division by zero."""
    X = np.repeat(make_twin_peaks(30, random_state=0)[0], 8, axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = estimator(n_neighbors=5).fit(X)
    messages = " ".join(str(warning.message) for warning in caught)
    assert "210 of 240 samples are duplicates" in messages
    assert "30 connected components" in messages
    assert_sensible(fitted, X)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("seed", range(5))
def test_exactly_planar_data(estimator, degree, seed):
    random = np.random.default_rng(seed)
    plane = random.uniform(-1, 1, size=(300, 2))
    X = plane @ random.normal(size=(2, 5))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Only .* polynomial features")
        fitted = estimator(n_neighbors=10, degree=degree).fit(X)
    assert_sensible(fitted, X)
    if estimator is NPPE:
        assert fitted.diagnostics_.rank == {1: 2, 2: 5, 3: 9}[degree]
    # A plane is its own best coordinates, up to an affine map.
    assert residual_variance(fitted.embedding_, plane) < 0.02


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_two_far_apart_clusters(estimator):
    X, _ = make_twin_peaks(200, random_state=0)
    apart = np.concatenate([X, X * [1, -1, 1] + 1000])
    with pytest.warns(UserWarning, match="2 connected components.*Raise `n_neighbors` above 10"):
        fitted = estimator(n_neighbors=10).fit(apart)
    assert fitted.diagnostics_.n_connected_components == 2
    assert_sensible(fitted, apart)
    # Keeping all local relations, the first coordinate can only tell the clusters apart.
    first = fitted.embedding_[:, 0]
    assert min(first[:200].min(), first[200:].min()) < 0 < max(first[:200].max(), first[200:].max())
    assert np.ptp(first[:200]) < 1e-2 * np.ptp(first)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fewer_and_more_neighbours_than_columns(estimator):
    X, _ = make_twin_peaks(60, random_state=0)
    for k in (1, 2, 3, 4, 20):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The neighbour graph has")
            assert_sensible(estimator(n_neighbors=k).fit(X), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fewer_samples_than_features(estimator):
    X = np.random.default_rng(0).normal(size=(25, 30))
    with pytest.warns(UserWarning, match="Only 24 of .* features are linearly independent on these 25 samples"):
        fitted = estimator(n_neighbors=8, reduce=None).fit(X)
    assert fitted.diagnostics_.rank == 24
    assert_sensible(fitted, X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.float16, bool])
def test_integer_and_small_input_types(estimator, dtype):
    values = np.random.default_rng(0).integers(0, 2 if dtype is bool else 100, size=(200, 6))
    X = np.unique(values, axis=0).astype(dtype)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Only .* polynomial features|The map does not generalise")
        fitted = estimator(n_neighbors=10).fit(X)
        reference = estimator(n_neighbors=10).fit(X.astype(np.float64))
    assert fitted.embedding_.dtype == np.float64
    np.testing.assert_allclose(fitted.embedding_, reference.embedding_, atol=1e-12)
    np.testing.assert_array_equal(fitted.transform(X), fitted.transform(X.astype(np.float64)))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_read_only_memory_map(estimator, tmp_path):
    X, _ = make_swiss_roll(200, random_state=0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    fitted = estimator(n_neighbors=10).fit(mapped)
    np.testing.assert_array_equal(fitted.transform(mapped), estimator(n_neighbors=10).fit(X).embedding_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_huge_and_tiny_values(estimator, scale):
    X, _ = make_twin_peaks(200, random_state=0)
    reference = estimator(n_neighbors=10).fit(X)
    fitted = estimator(n_neighbors=10).fit(X * scale)
    assert_sensible(fitted, X * scale)
    np.testing.assert_allclose(fitted.embedding_, reference.embedding_, atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_high_degree(estimator):
    X, _ = make_twin_peaks(500, random_state=0)
    for degree in (6, 9, 12):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Only .* polynomial features|The map does not generalise")
            assert_sensible(estimator(n_components=4, n_neighbors=10, degree=degree).fit(X), X)


def test_one_far_outlier():
    X, _ = make_twin_peaks(200, random_state=0)
    far = np.concatenate([X, [[1e3, 0, 0]]])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Only .* polynomial features|Column 0 carries 99.99%")
        assert_sensible(NPPE(n_neighbors=10).fit(far), far)
