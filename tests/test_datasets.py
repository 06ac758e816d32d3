"""The surfaces: the formulas of the definition, written out a second time."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from polyfold import datasets

SURFACES = [getattr(datasets, name) for name in datasets.__all__ if name.startswith("make_")]
RANDOM = [make for make in SURFACES if make not in (datasets.make_punctured_sphere, datasets.make_corner_planes)]


def test_there_are_seven():
    assert len(SURFACES) == 7


@pytest.mark.parametrize("make", SURFACES)
@pytest.mark.parametrize("n_samples", [1, 2, 7, 100, 997, 1000])
def test_shapes(make, n_samples):
    X, Z = make(n_samples, random_state=0)
    assert X.shape == (n_samples, 3)
    assert Z.shape == (n_samples, 1 if make is datasets.make_toroidal_helix else 2)
    assert X.dtype == Z.dtype == np.float64
    assert np.isfinite(X).all()
    if n_samples > 1:
        assert pdist(X).min() > 0


@pytest.mark.parametrize("make", RANDOM)
def test_seeds(make):
    np.testing.assert_array_equal(make(50, random_state=1)[0], make(50, random_state=1)[0])
    assert not np.array_equal(make(50, random_state=1)[0], make(50, random_state=2)[0])
    shared = np.random.RandomState(0)
    assert not np.array_equal(make(50, random_state=shared)[0], make(50, random_state=shared)[0])


@pytest.mark.parametrize("make", SURFACES)
@pytest.mark.parametrize("bad", [0, -1, 2.5, "many"])
def test_wrong_sizes(make, bad):
    with pytest.raises(ValueError, match="`n_samples` must be an integer >= 1"):
        make(bad)


@pytest.mark.parametrize(("make", "turns"), [(datasets.make_swiss_roll, 2), (datasets.make_swiss_hole, 2)])
def test_rolls(make, turns):
    X, Z = make(5000, random_state=0)
    t, h = Z.T
    np.testing.assert_allclose(X, np.transpose([t * np.cos(t), h, t * np.sin(t)]))
    low, high = 3 * np.pi / 2, 3 * np.pi / 2 * (1 + turns)
    assert low <= t.min() < low + 0.05
    assert high - 0.05 < t.max() <= high
    assert 0 <= h.min() < 0.1
    assert 20.9 < h.max() <= 21


def test_the_hole_is_empty_and_the_rest_uniform():
    _, Z = datasets.make_swiss_hole(20_000, random_state=0)
    t, h = Z.T
    in_t, in_h = (t > 9) & (t < 12), (h > 9) & (h < 14)
    assert not (in_t & in_h).any()
    hole = 3 * 5
    assert (in_t & ~in_h).mean() == pytest.approx(3 * 16 / (3 * np.pi * 21 - hole), abs=0.01)
    assert (in_h & ~in_t).mean() == pytest.approx((3 * np.pi - 3) * 5 / (3 * np.pi * 21 - hole), abs=0.01)


def test_turns_lengthen_the_roll():
    _, Z = datasets.make_swiss_roll(5000, turns=4, random_state=0)
    assert Z[:, 0].max() == pytest.approx(7.5 * np.pi, abs=0.05)


@pytest.mark.parametrize("turns", ["a", np.nan, -1.0])
def test_wrong_turns(turns):
    with pytest.raises(ValueError, match="`turns` must be a finite number >= 0"):
        datasets.make_swiss_roll(10, turns=turns)
    with pytest.raises(ValueError, match=r"`turns` must be at most 1e\+06, got 1e\+308"):
        datasets.make_swiss_roll(10, turns=1e308)


def test_even_spacing_is_a_grid_with_cells_about_square_on_the_sheet():
    _, Z = datasets.make_swiss_roll(2000, spacing="even")
    t, h = np.unique(Z[:, 0]), np.unique(Z[:, 1])
    assert len(t) * len(h) - 2000 < len(t)
    np.testing.assert_allclose(np.diff(t), np.diff(t)[0])
    np.testing.assert_allclose(np.diff(h), np.diff(h)[0])
    length = np.trapezoid(np.sqrt(1 + t**2), t)
    assert 0.8 < (length / len(t)) / (21 / len(h)) < 1.25
    np.testing.assert_allclose([t[0], t[-1], h[0], h[-1]], [1.5 * np.pi, 4.5 * np.pi, 0, 21])
    with pytest.raises(ValueError, match="`spacing` must be one of 'even', 'random'"):
        datasets.make_swiss_roll(10, spacing="odd")


def test_gaussian():
    X, Z = datasets.make_gaussian(20_000, random_state=0)
    x, y, z = X.T
    np.testing.assert_allclose(z, np.exp(-(x**2 + y**2) / 2) / (2 * np.pi))
    np.testing.assert_array_equal(Z, X[:, :2])
    np.testing.assert_allclose(Z.std(axis=0), 1, atol=0.02)


def test_twin_peaks():
    X, Z = datasets.make_twin_peaks(20_000, random_state=0)
    x, y, z = X.T
    np.testing.assert_allclose(z, np.sin(np.pi * x) * np.tanh(3 * y), atol=1e-15)
    np.testing.assert_array_equal(Z, X[:, :2])
    np.testing.assert_allclose([Z.min(), Z.max(), Z.mean()], [-1, 1, 0], atol=0.02)


def test_punctured_sphere():
    X, Z = datasets.make_punctured_sphere(1000)
    np.testing.assert_allclose(np.linalg.norm(X - [0, 0, 1], axis=1), 1)
    # Stereographic projection from the north pole (0, 0, 2) onto the plane z = 0 gives the grid back.
    np.testing.assert_allclose(2 * X[:, :2] / (2 - X[:, 2:]), Z, atol=1e-12)
    radii = np.linalg.norm(Z, axis=1)
    assert (np.diff(radii) > -1e-9).all()
    assert X[:, 2].max() < 2


def test_toroidal_helix():
    X, Z = datasets.make_toroidal_helix(4000, random_state=0)
    t = Z[:, 0]
    np.testing.assert_allclose(t, 2 * np.pi * np.arange(4000) / 4000)
    r = 2 + np.cos(8 * t)
    noise = X - np.transpose([r * np.cos(t), r * np.sin(t), np.sin(8 * t)])
    assert noise.std() == pytest.approx(0.05, rel=0.05)
    assert abs(noise.mean()) < 0.005


def test_corner_planes_keep_lengths_within_each_plane():
    X, Z = datasets.make_corner_planes(900)
    assert set(Z[:, 0]) == set(Z[:, 1]) == set(range(30))
    fold = 15
    for plane in (Z[:, 1] <= fold, Z[:, 1] >= fold):
        np.testing.assert_allclose(pdist(X[plane]), pdist(Z[plane]))
    normal_flat, slope = np.array([0, 0, 1.0]), X[Z[:, 1] > fold]
    assert (X[Z[:, 1] <= fold] @ normal_flat == 0).all()
    np.testing.assert_allclose(slope[:, 2], slope[:, 1] - fold)
