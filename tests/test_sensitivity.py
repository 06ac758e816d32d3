"""Which columns move the coordinates."""

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from maps import random_map
from polyfold import NPPE, PolynomialMap
from polyfold.datasets import make_swiss_roll


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("basis", "n_axes"), [("kronecker", None), ("hadamard", None), ("kronecker", 3)])
def test_it_averages_the_jacobian(basis, n_axes, signed, monkeypatch):
    learned = random_map(basis, 3, 6, 2, n_axes, columns=list("abcdef"))
    X = np.random.default_rng(0).normal(size=(200, 6)) * np.arange(6)
    slopes = learned.jacobian(X)
    average = slopes.mean(axis=0) if signed else np.sqrt(np.square(slopes).mean(axis=0))
    expected = (average * X.std(axis=0)).T
    monkeypatch.setattr("polyfold._sensitivity.SMALL_BLOCK_BYTES", 1000)
    found = learned.sensitivity(X, signed=signed)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    assert found.labels == tuple("abcdef")
    assert found.names == ("y0", "y1")
    np.testing.assert_array_equal(found["y1"], found.values[:, 1])
    assert found.values[0].tolist() == [0, 0]  # a column that does not move
    if n_axes:
        np.testing.assert_allclose(learned.sensitivity(csr_array(X), signed=signed).values, expected, rtol=1e-9)


def test_the_swiss_roll():
    X, Z = make_swiss_roll(1000, random_state=0)
    learned = NPPE(n_neighbors=10).fit(pandas.DataFrame(X, columns=["x", "y", "z"])).map_
    table = learned.sensitivity(X).to_pandas()
    along = abs(np.corrcoef(learned.transform(X).T, Z[:, 1])[:2, 2]).argmax()  # the coordinate of the width
    assert table[f"y{along}"].idxmax() == "y"
    assert table[f"y{1 - along}"].idxmin() == "y"
    assert learned.sensitivity(X).largest(1).labels[0] in ("x", "z")


def test_images_can_be_drawn():
    X = load_digits().data[:400]
    learned = NPPE(n_neighbors=20).fit(X).map_
    pictures = learned.sensitivity(X, signed=True).images((8, 8))
    assert pictures.shape == (2, 8, 8)
    np.testing.assert_array_equal(pictures[1].ravel(), learned.sensitivity(X, signed=True)["y1"])
    assert (pictures[:, 0, 0] == 0).all()  # a corner that is always blank
    with pytest.raises(ValueError, match=r"`shape` must multiply to the 64 columns, got \(8, 9\)"):
        learned.sensitivity(X).images((8, 9))


def test_bad_input():
    learned = random_map("kronecker", 2)
    for X in (np.zeros((0, 3)), np.zeros((1, 3))):
        with pytest.raises(ValueError, match="X must have at least 2 samples"):
            learned.sensitivity(X)
    with pytest.raises(ValueError, match="`signed` must be True or False"):
        learned.sensitivity(np.zeros((3, 3)), signed="yes")
    for degree in (1, 2):
        with pytest.raises(ValueError, match="X contains NaN"):
            random_map("kronecker", degree).sensitivity([[0, 0, 0], [0, np.nan, 0]])


def test_what_overflows_is_told():
    line = PolynomialMap([0.0], 1.0, "hadamard", 1, [[1e-9]], [0.0])
    for X in ([[0.0], [1e200]], [[1.6e308], [1.6e308]]):
        with pytest.raises(ValueError, match="so far from the training data that sums of squares overflow"):
            line.sensitivity(X)


@pytest.mark.parametrize("signed", [False, True])
def test_a_bad_sample_is_named_by_its_row_among_all(signed, monkeypatch):
    monkeypatch.setattr("polyfold._sensitivity.SMALL_BLOCK_BYTES", 64)
    X = np.zeros((40, 3))
    X[33, 2] = np.inf
    with pytest.raises(ValueError, match=r"X contains inf \(row 33, column 2\)"):
        random_map("kronecker", 2).sensitivity(X, signed=signed)


def test_sparse_samples_far_from_the_origin():
    learned = random_map("kronecker", 1, 4, n_axes=2)
    X = np.random.default_rng(0).normal(size=(100, 4)) + 1e9
    X[:50, 1] = 0
    np.testing.assert_allclose(learned.sensitivity(csr_array(X)).values, learned.sensitivity(X).values, rtol=1e-6)


@pytest.mark.parametrize("exponent", [-300, -160, 160, 300])
@pytest.mark.parametrize("signed", [False, True])
def test_it_does_not_depend_on_the_unit(exponent, signed):
    X, _ = make_swiss_roll(200, random_state=0)
    expected = NPPE(n_neighbors=10).fit(X).map_.sensitivity(X, signed=signed)
    unit = 2.0 ** round(exponent / np.log10(2))  # of which products are exact
    found = NPPE(n_neighbors=10).fit(unit * X).map_.sensitivity(unit * X, signed=signed)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9)


def test_counts_and_shapes_are_whole_numbers():
    found = random_map("kronecker", 2).sensitivity(np.eye(3))
    for n in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="`n` must be an integer >= 1"):
            found.largest(n)
    for shape in ("abc", (1.5, 2), (-1, -3)):
        with pytest.raises(ValueError, match="`shape` must be an integer >= 1"):
            found.images(shape)
