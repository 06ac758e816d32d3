"""Exact derivatives, against SymPy and finite differences."""

import numpy as np
import pytest
import sympy
from scipy.sparse import csr_array

from polyfold import NPPE, SNPPE, PolynomialEmbedding, PolynomialMap
from polyfold._basis import count_features
from polyfold.datasets import make_swiss_roll


def random_map(basis, degree, n_inputs=3, n_outputs=2, n_axes=None, seed=0):
    random = np.random.default_rng(seed)
    axes = None if n_axes is None else np.linalg.qr(random.normal(size=(n_inputs, n_axes)))[0]
    n_features = count_features(basis, n_axes or n_inputs, degree)
    coefficients = random.normal(size=(n_features, n_outputs))
    return PolynomialMap(
        random.normal(size=n_inputs), 1.7, basis, degree, coefficients, random.normal(size=n_outputs), axes
    )


@pytest.mark.parametrize("n_axes", [None, 2])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
def test_jacobian_is_that_of_sympy(basis, degree, n_axes):
    """From the terms of the map, which were checked against SymPy on their own, differentiated by SymPy."""
    learned = random_map(basis, degree, n_axes=n_axes)
    x = sympy.symbols("x0:3")
    sample = [sympy.Float(value, 40) for value in (0.3, -1.2, 0.7)]
    for c in range(2):
        polynomial = sum(
            sympy.Float(float(term.coefficients[c]), 40) * sympy.prod(x[j] for j in term.columns)
            for term in learned.terms()
        )
        expected = [float(sympy.diff(polynomial, v).subs(dict(zip(x, sample, strict=True)))) for v in x]
        found = learned.jacobian([[0.3, -1.2, 0.7]])[0, c]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_jacobian_is_the_limit_of_differences(estimator, degree):
    X, _ = make_swiss_roll(300, random_state=0)
    learned = estimator(n_neighbors=10, degree=degree).fit(X).map_
    J = learned.jacobian(X)
    assert J.shape == (300, 2, 3)
    step = 1e-5 * learned.scale
    for j in range(3):
        shift = step * np.eye(3)[j]
        slopes = (learned.transform(X + shift) - learned.transform(X - shift)) / (2 * step)
        np.testing.assert_allclose(J[:, :, j], slopes, atol=1e-7 * np.abs(J).max())


def test_jacobian_through_axes_of_dense_sparse_and_single_precision():
    X = np.random.default_rng(0).normal(size=(200, 30)) * np.linspace(3, 0.1, 30)
    learned = PolynomialEmbedding(2, reduce=4, n_neighbors=12, alpha=1e-2).fit(X).map_
    J = learned.jacobian(X)
    assert J.shape == (200, 2, 30)
    direction = np.random.default_rng(1).normal(size=30)
    slopes = (learned.transform(X + 1e-5 * direction) - learned.transform(X - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(J @ direction, slopes, atol=1e-7 * np.abs(slopes).max())
    np.testing.assert_allclose(learned.jacobian(csr_array(X)), J, atol=1e-12)
    single = learned.jacobian(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, J, atol=1e-5 * np.abs(J).max())


def test_jacobian_does_not_depend_on_the_batch(monkeypatch):
    learned = random_map("kronecker", 3)
    X = np.random.default_rng(2).normal(size=(50, 3))
    J = learned.jacobian(X)
    for i in range(50):
        np.testing.assert_array_equal(learned.jacobian(X[i : i + 1])[0], J[i])
    monkeypatch.setattr("polyfold.polymap.BLOCK_BYTES", 100)
    np.testing.assert_array_equal(learned.jacobian(X), J)


def test_jacobian_of_nothing_and_of_bad_samples():
    learned = random_map("kronecker", 3)
    assert learned.jacobian(np.empty((0, 3))).shape == (0, 2, 3)
    with pytest.raises(ValueError, match=r"X contains NaN \(row 1, column 2\)"):
        learned.jacobian([[0, 0, 0], [0, 0, np.nan]])
    with pytest.raises(ValueError, match="finite but so far from the training data"):
        learned.jacobian([[1e200, 0, 0]])
    with pytest.raises(ValueError, match=r"X must have shape \(n_samples, 3\)"):
        learned.jacobian([[0, 0]])
