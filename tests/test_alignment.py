"""A refitted map in the coordinates of an earlier one."""

import warnings
from dataclasses import replace

import numpy as np
import pandas
import pytest
from scipy.spatial import procrustes
from scipy.stats import ortho_group

from maps import random_map
from polyfold import NPPE, PolynomialMap
from polyfold.datasets import make_swiss_roll


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_a_turned_map_is_turned_back(n_outputs, seed):
    learned = random_map("kronecker", 2, 4, n_outputs, 3, seed=seed)
    random = np.random.default_rng(seed)
    turn = ortho_group.rvs(n_outputs, random_state=seed) if n_outputs > 1 else np.array([[-1.0]])
    turned = replace(
        learned,
        coefficients=0.3 * learned.coefficients @ turn,
        offset=0.3 * learned.offset @ turn + random.normal(size=n_outputs),
    )
    X = random.normal(size=(100, 4))
    aligned = turned.align_to(learned, X)
    expected = learned.transform(X)
    np.testing.assert_allclose(aligned.transform(X), expected, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(aligned.alignment.r2, 1)
    assert aligned.alignment.scale == pytest.approx(1 / 0.3)
    assert aligned.alignment.n_samples == 100
    assert str(aligned.alignment).startswith("R² on 100 samples: y0 1.0000")
    assert turned.alignment is None


@pytest.mark.parametrize("seed", range(5))
def test_last_years_axes_stay(seed):
    """Refitted on other samples of the same sheet: orders, signs and all are those of before."""
    X, _ = make_swiss_roll(3000, random_state=seed)
    last = NPPE(n_neighbors=10).fit(X[:2000]).map_
    this = NPPE(n_neighbors=10).fit(X[1000:]).map_
    swapped = replace(this, coefficients=-2 * this.coefficients[:, ::-1], offset=-2 * this.offset[::-1])
    new, _ = make_swiss_roll(1000, random_state=100 + seed)
    for refitted in (this, swapped):
        aligned = refitted.align_to(last, X)
        assert min(aligned.alignment.r2) > 0.98
        before, after = last.transform(new), aligned.transform(new)
        for c in range(2):
            assert np.corrcoef(before[:, c], after[:, c])[0, 1] > 0.99


def test_it_is_the_best_of_all_similarities():
    X = np.random.default_rng(0).normal(size=(200, 3))
    one, other = random_map("kronecker", 2, seed=0), random_map("kronecker", 2, seed=1)
    with pytest.warns(UserWarning, match=r"The maps do not agree on X: R² is below 0\.9 for y0 \(0\.\d\d\), y1"):
        aligned = one.align_to(other, X)
    placed, target = aligned.transform(X), other.transform(X)
    spread = np.square(target - target.mean(axis=0)).sum()
    disparity = np.square(placed - target).sum() / spread
    assert disparity == pytest.approx(procrustes(target, one.transform(X))[2], rel=1e-9)
    misses = np.square(placed - target).sum(axis=0) / np.square(target - target.mean(axis=0)).sum(axis=0)
    np.testing.assert_allclose(aligned.alignment.r2, 1 - misses)


@pytest.mark.parametrize("times", [1, 2])
def test_the_way_back_goes_along(times):
    X, _ = make_swiss_roll(600, random_state=0)
    last = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X[:500]).map_
    this = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X).map_
    turned = replace(last, coefficients=3 * last.coefficients[:, ::-1], offset=last.offset[::-1])
    aligned = this.align_to(turned, X)
    if times == 2:
        aligned = aligned.align_to(last, X)
    expected = this.inverse(this.transform(X))
    np.testing.assert_allclose(aligned.inverse(aligned.transform(X)), expected, atol=1e-9)
    ours, theirs = (each.decoder.extrapolation(each.transform(X)) for each in (aligned, this))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(aligned.extrapolation(X), this.extrapolation(X))


def test_it_is_kept_in_files(tmp_path):
    X, _ = make_swiss_roll(600, random_state=0)
    learned = NPPE(n_neighbors=10).fit(X).map_
    aligned = learned.align_to(learned, X)
    aligned.save(tmp_path / "map")
    loaded = PolynomialMap.load(tmp_path / "map")
    assert loaded.alignment == aligned.alignment
    assert loaded.training["estimator"] == "NPPE"
    assert replace(learned, training={"alignment": "nonsense"}).alignment is None


def test_bad_input():
    learned = random_map("kronecker", 2)
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(ValueError, match="takes 4 columns to 2 coordinates, this map 3 to 2"):
        learned.align_to(random_map("kronecker", 2, 4), X)
    with pytest.raises(ValueError, match="Only maps between the same can be aligned"):
        learned.align_to(random_map("kronecker", 2, 3, 1), X)
    with pytest.raises(ValueError, match="columns of `other` have other names"):
        replace(learned, columns=list("abc")).align_to(replace(learned, columns=list("acb")), X)
    with pytest.raises(TypeError, match="`other` must be a PolynomialMap, got NPPE"):
        learned.align_to(NPPE(), X)
    with pytest.raises(ValueError, match="X must have more than 2 samples, got 2"):
        learned.align_to(learned, X[:2])
    with pytest.raises(ValueError, match="X lies at one point of the coordinates"):
        learned.align_to(learned, np.ones((10, 3)))
    line = PolynomialMap([0.0], 1.0, "hadamard", 2, [[1.0], [0.0]], [0.0])
    parabola = PolynomialMap([0.0], 1.0, "hadamard", 2, [[0.0], [1.0]], [0.0])
    with pytest.raises(ValueError, match="nothing in common on X"):
        line.align_to(parabola, [[-1.0], [0.0], [1.0]])
    frame = pandas.DataFrame(X, columns=["b", "a", "c"])
    with pytest.raises(ValueError, match="X has the same columns in another order"):
        learned.align_to(replace(learned, columns=("a", "b", "c")), frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned.align_to(learned, X)


@pytest.mark.parametrize("size", [1e-290, 1e-160, 1.0, 1e160, 1e290])
@pytest.mark.parametrize("other_size", [1e-130, 1e10])
def test_coordinates_of_any_size(size, other_size):
    one = random_map("kronecker", 2, 4, 2, seed=0)
    turn = ortho_group.rvs(2, random_state=0)
    maps = [
        replace(one, coefficients=each * one.coefficients @ way, offset=each * one.offset @ way)
        for each, way in ((size, turn), (other_size, np.eye(2)))
    ]
    X = np.random.default_rng(0).normal(size=(50, 4))
    expected = maps[1].transform(X)
    if other_size / size > 1e300 or size / other_size > 1e300:
        with pytest.raises(ValueError, match="the numbers of the aligned map are beyond float64"):
            maps[0].align_to(maps[1], X)
        return
    aligned = maps[0].align_to(maps[1], X)
    np.testing.assert_allclose(aligned.transform(X), expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(aligned.alignment.r2, 1)
    assert str(PolynomialMap.from_json(aligned.to_json()).alignment) == str(aligned.alignment)


def test_what_is_noted_by_others_is_no_alignment():
    for noted in (5, {"r2": ["a"], "scale": 1, "n_samples": 3}, {"r2": [None], "scale": 1, "n_samples": 3}, {}):
        assert replace(random_map("kronecker", 1), training={"alignment": noted}).alignment is None
