"""Neighbours: exact, from any scikit-learn transformer, and what is said of the graph."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer
from sklearn.utils import check_random_state

from polyfold import NPPE
from polyfold._neighbors import (
    choose_n_neighbors,
    count_components,
    count_duplicates,
    estimate_dimension,
    find_exact_neighbors,
)
from polyfold.datasets import make_swiss_roll

X, _ = make_swiss_roll(300, random_state=0)


@pytest.mark.parametrize("n_columns", [1, 3, 40])
@pytest.mark.parametrize("k", [1, 7, 149])
def test_exact_neighbours_are_exact(n_columns, k):
    cloud = np.random.default_rng(0).normal(size=(150, n_columns))
    distances = cdist(cloud, cloud)
    np.fill_diagonal(distances, np.inf)
    found = find_exact_neighbors(cloud, k, n_jobs=None, verbose=0)
    np.testing.assert_array_equal(found, np.argsort(distances, axis=1)[:, :k])


def test_a_sample_is_never_its_own_neighbour():
    copies = np.repeat([[0.0, 0.0], [1.0, 0.0]], 30, axis=0)
    found = find_exact_neighbors(copies, 5, n_jobs=None, verbose=0)
    assert found.shape == (60, 5)
    assert (found != np.arange(60)[:, np.newaxis]).all()
    assert (copies[found] == copies[:, np.newaxis]).all()


def test_blocks_of_the_search_do_not_show(monkeypatch):
    whole = find_exact_neighbors(X, 7, n_jobs=None, verbose=0)
    monkeypatch.setattr("polyfold._blocks.BLOCK_BYTES", 2**12 * 37)
    np.testing.assert_array_equal(find_exact_neighbors(X, 7, n_jobs=2, verbose=0), whole)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("fitted", [False, True])
def test_a_neighbours_transformer_gives_the_same_map(mode, fitted):
    exact = NPPE(n_neighbors=10).fit(X)
    # Counting the sample itself, as "connectivity" does, a fitted transformer needs one more.
    transformer = KNeighborsTransformer(n_neighbors=11 if fitted else 3, mode=mode)
    if fitted:
        transformer.fit(X)
    model = NPPE(n_neighbors=10, neighbors=transformer).fit(X)
    np.testing.assert_allclose(model.embedding_, exact.embedding_, atol=1e-10)
    assert transformer.n_neighbors == (11 if fitted else 3)
    assert hasattr(transformer, "n_samples_fit_") == fitted


def test_a_transformer_fitted_on_a_frame_sees_a_frame():
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    model = NPPE(n_neighbors=10, neighbors=KNeighborsTransformer(n_neighbors=10).fit(frame)).fit(frame)
    np.testing.assert_allclose(model.embedding_, NPPE(n_neighbors=10).fit(X).embedding_, atol=1e-10)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize(("mode", "expected"), [("distance", 12), ("connectivity", 11)])
def test_auto_takes_the_number_of_the_transformer(mode, expected, fitted):
    """A connectivity graph counts the sample itself, as scikit-learn documents."""
    transformer = KNeighborsTransformer(n_neighbors=12, mode=mode)
    model = NPPE(neighbors=transformer.fit(X) if fitted else transformer).fit(X)
    assert model.n_neighbors_ == expected
    np.testing.assert_allclose(model.embedding_, NPPE(n_neighbors=expected).fit(X).embedding_, atol=1e-10)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_all_other_samples_as_neighbours(mode):
    model = NPPE(n_neighbors=59, neighbors=KNeighborsTransformer(mode=mode)).fit(X[:60])
    np.testing.assert_allclose(model.embedding_, NPPE(n_neighbors=59).fit(X[:60]).embedding_, atol=1e-9)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_a_radius_transformer_serves_where_every_sample_has_enough(mode):
    """The nearest are taken, also from a graph that does not tell how near they are."""
    model = NPPE(n_neighbors=10, neighbors=RadiusNeighborsTransformer(radius=20.0, mode=mode)).fit(X)
    np.testing.assert_allclose(model.embedding_, NPPE(n_neighbors=10).fit(X).embedding_, atol=1e-10)
    with pytest.raises(ValueError, match=r"found only \d neighbours for sample \d+ and `n_neighbors` asks for 10"):
        NPPE(n_neighbors=10, neighbors=RadiusNeighborsTransformer(radius=2.0, mode=mode)).fit(X)


def test_a_transformer_fitted_on_other_data_is_refused():
    with pytest.raises(ValueError, match="fitted on the X that is given to `fit`"):
        NPPE(n_neighbors=10, neighbors=KNeighborsTransformer().fit(X[:100])).fit(X)
    with pytest.raises(ValueError, match="does not belong to these 300 samples"):
        NPPE(n_neighbors=10, neighbors=KNeighborsTransformer(n_neighbors=11).fit(X[::-1])).fit(X)
    with pytest.raises(ValueError, match="returned a graph of shape"):
        NPPE(n_neighbors=10, neighbors=PCA(2)).fit(X)


class RandomNeighbors(TransformerMixin, BaseEstimator):
    """An approximate index, as far from exact as can be."""

    def __init__(self, n_neighbors=5, random_state=None):
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X, y=None):
        self.n_samples_fit_ = len(X)
        return self

    def transform(self, X):
        random = check_random_state(self.random_state)
        graph = np.zeros((len(X), len(X)))
        for row in graph:
            row[random.choice(len(X), self.n_neighbors + 1, replace=False)] = 1.0
        return graph


def test_random_state_seeds_a_transformer_that_has_none():
    def coefficients(seed, own=None):
        model = NPPE(n_neighbors=8, neighbors=RandomNeighbors(random_state=own), random_state=seed)
        return model.fit(X).map_.coefficients

    np.testing.assert_array_equal(coefficients(0), coefficients(0))
    assert not np.array_equal(coefficients(0), coefficients(1))
    np.testing.assert_array_equal(coefficients(0, own=5), coefficients(1, own=5))


@pytest.mark.parametrize(
    ("n_samples", "dimension", "expected"),
    [
        (2, np.nan, 1),
        (8, 2.0, 7),
        (11, 2.0, 10),
        (600, 2.0, 10),
        (600, 9.0, 45),
        (600, 6.9, 28),
        (600, 30.0, 50),
        (1500, 2.0, 15),
        (5000, 2.0, 50),
        (10**6, np.nan, 50),
    ],
)
def test_auto_is_one_percent_within_bounds(n_samples, dimension, expected):
    """And no less than the second-order terms of a local quadratic."""
    assert choose_n_neighbors("auto", n_samples, dimension, "exact") == expected


@pytest.mark.parametrize("dimension", [1, 2, 4, 8])
@pytest.mark.parametrize("n_samples", [300, 5000])
def test_dimension_of_uniform_samples_in_a_turned_plane(dimension, n_samples):
    random = np.random.default_rng(dimension)
    plane = random.random((n_samples, dimension)) @ random.normal(size=(dimension, 20))
    estimate = estimate_dimension(plane, n_jobs=None)
    assert 0.65 * dimension < estimate < 1.15 * dimension  # the edges of the plane pull it down
    assert estimate_dimension(1e3 * plane - 7, n_jobs=None) == pytest.approx(estimate)


def test_dimension_of_samples_that_do_not_tell():
    assert np.isnan(estimate_dimension(np.zeros((20, 3)), n_jobs=None))
    assert np.isnan(estimate_dimension(np.eye(3), n_jobs=None))
    assert np.isnan(estimate_dimension(np.eye(12), n_jobs=None))  # all distances are equal


def test_components_and_duplicates_are_counted():
    assert count_components(np.array([[1], [0], [3], [2], [2]])) == 2
    assert count_duplicates(np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0], [2.0, 1.0]])) == 2
    assert count_duplicates(np.random.default_rng(0).normal(size=(50, 2))[:, ::-1]) == 0
