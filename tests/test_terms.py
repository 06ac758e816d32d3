"""A map written out: the terms have the values of the map."""

from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest
import sympy

from maps import random_map
from polyfold import NPPE, SNPPE
from polyfold.datasets import make_twin_peaks


def make_map(n_inputs, n_axes, basis, degree, seed=0):
    return random_map(basis, degree, n_inputs, 2, n_axes, seed)


def evaluate(terms, X):
    return sum(np.prod(X[:, list(term.columns)], axis=1)[:, np.newaxis] * term.coefficients for term in terms)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
@pytest.mark.parametrize(("n_inputs", "n_axes"), [(1, None), (3, None), (5, 2), (4, 4), (6, 1)])
def test_terms_have_the_values_of_the_map(n_inputs, n_axes, basis, degree, centered):
    learned = make_map(n_inputs, n_axes, basis, degree)
    X = np.random.default_rng(1).normal(size=(30, n_inputs))
    terms = learned.terms(centered=centered)
    expected = learned.transform(X)
    placed = evaluate(terms, X - learned.shift if centered else X)
    np.testing.assert_allclose(placed, expected, atol=1e-10 * np.abs(expected).max())
    columns = [term.columns for term in terms]
    assert columns == sorted(set(columns), key=lambda c: (len(c), c))
    if basis == "kronecker" or n_axes is not None:
        assert len(terms) == comb(n_inputs + degree, degree)


def test_against_sympy():
    learned = make_map(3, 2, "kronecker", 3, seed=4)
    x = sympy.symbols("x0:3")
    z = [
        sum(a * (xi - s) for a, xi, s in zip(axis, x, learned.shift, strict=True)) / learned.scale
        for axis in learned.axes.T
    ]
    monomials = []
    for q in (1, 2, 3):
        for factors in combinations_with_replacement(range(2), q):
            orders = comb(q, factors.count(0))
            monomials.append(sympy.sqrt(orders) * sympy.prod(z[v] for v in factors))
    for output in range(2):
        y = learned.offset[output] + sum(
            c * m for c, m in zip(learned.coefficients[:, output], monomials, strict=True)
        )
        polynomial = sympy.Poly(sympy.expand(y.evalf(30)), *x)
        for term in learned.terms():
            powers = tuple(term.columns.count(v) for v in range(3))
            assert float(polynomial.coeff_monomial(powers)) == pytest.approx(term.coefficients[output], abs=1e-12)


@pytest.mark.parametrize(("n_axes", "degree"), [(None, 3), (4, 2), (3, 3)])
def test_largest_are_the_first_of_all(n_axes, degree):
    learned = make_map(12, n_axes, "kronecker", degree)

    def size(term):
        return np.abs(term.coefficients).max() * learned.scale ** len(term.columns)

    ranked = sorted(learned.terms(centered=True), key=size, reverse=True)
    for n in (1, 5, 50, 10**6):
        for found, expected in zip(learned.terms(largest=n, centered=True), ranked[:n], strict=True):
            assert found.columns == expected.columns
            np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-12)


def test_largest_of_many(monkeypatch):
    monkeypatch.setattr("polyfold._terms.PRUNE_BEYOND", 10)
    test_largest_are_the_first_of_all(4, 2)


def test_many_terms():
    wide = make_map(784, 5, "kronecker", 2)
    with pytest.raises(
        ValueError, match=r"has 308,505 terms in its 784 columns, above .* 100,000.*terms\(largest=20\)"
    ):
        wide.terms()
    assert len(wide.terms(largest=20)) == 20
    with pytest.raises(ValueError, match="more than the 200,000,000 that are looked through"):
        make_map(784, 2, "kronecker", 4).terms(largest=3)
    with pytest.raises(ValueError, match="`largest` must be an integer >= 1, got 0"):
        wide.terms(largest=0)
    with pytest.raises(ValueError, match="a tensor of"):
        make_map(11, 10, "kronecker", 7).terms(largest=3)


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
def test_of_a_fit(estimator):
    X = make_twin_peaks(200, random_state=0)[0] @ np.random.default_rng(0).normal(size=(3, 12)) + 3
    X += 0.1 * np.random.default_rng(1).normal(size=X.shape)
    fitted = estimator(n_neighbors=15, reduce=4).fit(X)
    np.testing.assert_allclose(evaluate(fitted.map_.terms(), X), fitted.embedding_, atol=1e-10)
