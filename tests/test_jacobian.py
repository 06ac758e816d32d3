"""Exact derivatives, against SymPy and finite differences."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from scipy.sparse import csr_array

from maps import random_map
from polyfold import NPPE, SNPPE, PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold.datasets import make_swiss_roll


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


@pytest.mark.parametrize(("basis", "n_inputs"), [("kronecker", 3), ("hadamard", 3), ("hadamard", 30)])
def test_jacobian_does_not_depend_on_the_batch(basis, n_inputs, monkeypatch):
    learned = random_map(basis, 3, n_inputs)
    X = np.random.default_rng(2).normal(size=(50, n_inputs))
    J = learned.jacobian(X)
    for i in range(50):
        np.testing.assert_array_equal(learned.jacobian(X[i : i + 1])[0], J[i])
    monkeypatch.setattr("polyfold._slopes.BLOCK_BYTES", 100)
    monkeypatch.setattr("polyfold._slopes.PLAIN_BLOCK_BYTES", 100)
    np.testing.assert_array_equal(learned.jacobian(X), J)
    monkeypatch.setattr("polyfold._slopes.MANY_MULTIPLICATIONS", 0)
    np.testing.assert_array_equal(learned.jacobian(X), J)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1.0, 1e150])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize(("n_inputs", "n_outputs"), [(1, 1), (3, 2), (5, 5), (40, 1), (100, 3)])
def test_slopes_of_pure_powers_are_those_of_the_monomials(n_inputs, n_outputs, degree, scale):
    """Two loops against the table of monomials, which is checked against SymPy; in all types and orders."""
    learned = random_map("hadamard", degree, n_inputs, n_outputs)
    learned = replace(learned, shift=learned.shift * scale, scale=1.7 * scale)
    X = scale * np.random.default_rng(0).normal(size=(30, n_inputs))
    table = build_basis("hadamard", n_inputs, degree)
    located = (X / scale - learned.shift / scale) / 1.7
    expected = table.differentiate(located, learned.coefficients) / learned.scale
    limit = np.abs(expected).max()
    for samples in (X, np.asfortranarray(X), X[::-1][::-1]):
        np.testing.assert_allclose(learned.jacobian(samples), expected, rtol=0, atol=1e-13 * limit)
    if scale in (1e-3, 1.0):
        single = learned.jacobian(X.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, expected, rtol=0, atol=1e-5 * limit)


@pytest.mark.parametrize("n_inputs", [3, 100])
def test_bad_samples_of_pure_powers(n_inputs):
    learned = random_map("hadamard", 3, n_inputs)
    X = np.zeros((300, n_inputs))
    X[280, 2] = np.inf
    with pytest.raises(ValueError, match=r"X contains inf \(row 280, column 2\)"):
        learned.jacobian(X)
    X[280, 2] = 1e250
    with pytest.raises(ValueError, match="Row 280 of X is finite but so far"):
        learned.jacobian(X)
    assert learned.jacobian(np.zeros((4, n_inputs), dtype=int)).dtype == np.float64
    X[280, 2] = np.nan
    for basis in ("hadamard", "kronecker"):
        with pytest.raises(ValueError, match=r"X contains NaN \(row 280, column 2\)"):
            random_map(basis, 1, n_inputs).jacobian(X)


def test_jacobian_of_nothing_and_of_bad_samples():
    learned = random_map("kronecker", 3)
    assert learned.jacobian(np.empty((0, 3))).shape == (0, 2, 3)
    with pytest.raises(ValueError, match=r"X contains NaN \(row 1, column 2\)"):
        learned.jacobian([[0, 0, 0], [0, 0, np.nan]])
    with pytest.raises(ValueError, match="finite but so far from the training data"):
        learned.jacobian([[1e200, 0, 0]])
    with pytest.raises(ValueError, match=r"X must have shape \(n_samples, 3\)"):
        learned.jacobian([[0, 0]])
