"""The monomials: each once, in order, with the scaling that makes rotations orthogonal."""

from math import factorial, prod

import numpy as np
import pytest
from scipy.stats import special_ortho_group
from sklearn.preprocessing import PolynomialFeatures

from monomial_powers import powers_of
from polyfold._basis import MAX_FEATURES, build_basis, choose_basis, count_features

SHAPES = [(1, 1), (1, 5), (2, 4), (3, 2), (3, 3), (5, 3), (7, 2), (4, 6)]


@pytest.mark.parametrize(("n", "degree"), SHAPES)
def test_kronecker_has_every_monomial_once_as_scikit_learn_lists_them(n, degree):
    basis = build_basis("kronecker", n, degree)
    theirs = PolynomialFeatures(degree, include_bias=False).fit(np.zeros((1, n)))
    np.testing.assert_array_equal(powers_of(basis), theirs.powers_)
    assert basis.n_features == count_features("kronecker", n, degree)


@pytest.mark.parametrize(("n", "degree"), SHAPES)
def test_kronecker_scaling_is_the_root_of_the_multinomial(n, degree):
    basis = build_basis("kronecker", n, degree)
    X = np.random.default_rng(0).normal(size=(20, n))
    for powers, values in zip(powers_of(basis), basis.expand(X).T, strict=True):
        multinomial = factorial(sum(powers)) / prod(factorial(power) for power in powers)
        np.testing.assert_allclose(values, np.sqrt(multinomial) * np.prod(X**powers, axis=1), rtol=1e-12)


@pytest.mark.parametrize(("n", "degree"), SHAPES)
def test_kronecker_features_turn_with_the_data(n, degree):
    """A rotation keeps inner products of features: <phi(x), phi(z)> = Σ_q <x, z>^q."""
    basis = build_basis("kronecker", n, degree)
    X = np.random.default_rng(1).normal(size=(15, n))
    kernel = sum((X @ X.T) ** q for q in range(1, degree + 1))
    np.testing.assert_allclose(basis.expand(X) @ basis.expand(X).T, kernel, rtol=1e-10, atol=1e-12)
    if n > 1:
        turned = basis.expand(X @ special_ortho_group.rvs(n, random_state=2))
        np.testing.assert_allclose(turned @ turned.T, kernel, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("n", "degree"), SHAPES)
def test_hadamard_has_the_pure_powers(n, degree):
    basis = build_basis("hadamard", n, degree)
    X = np.random.default_rng(0).normal(size=(20, n))
    powers = np.hstack([X**q for q in range(1, degree + 1)])
    np.testing.assert_allclose(basis.expand(X), powers, rtol=1e-13)
    np.testing.assert_array_equal(
        powers_of(basis), np.vstack([q * np.eye(n, dtype=int) for q in range(1, degree + 1)])
    )
    assert basis.n_features == count_features("hadamard", n, degree)


def test_the_feature_budget():
    assert choose_basis("auto", 3, 2) == "kronecker"
    assert choose_basis("auto", 560, 2) == "hadamard"
    with pytest.raises(ValueError, match=r"makes 157,640 features, above the limit of 5,000.*needs 1,120"):
        choose_basis("kronecker", 560, 2)
    with pytest.raises(ValueError, match="Lower `degree`, write the polynomial in fewer axes") as error:
        choose_basis("auto", 10_000, 2)
    assert "hadamard" in str(error.value)
    assert "SNPPE" not in str(error.value)
    assert choose_basis("kronecker", 98, 2) == "kronecker"
    assert count_features("kronecker", 98, 2) <= MAX_FEATURES < count_features("kronecker", 99, 2)
    with pytest.raises(ValueError, match="makes 5,049 features"):
        choose_basis("kronecker", 99, 2)


@pytest.mark.parametrize("kind", ["kronecker", "hadamard"])
def test_the_budget_may_be_used_up(kind, monkeypatch):
    n_features = count_features(kind, 4, 3)
    monkeypatch.setattr("polyfold._basis.MAX_FEATURES", n_features)
    assert choose_basis(kind, 4, 3) == kind
    assert choose_basis("auto", 4, 3) == kind
    monkeypatch.setattr("polyfold._basis.MAX_FEATURES", n_features - 1)
    with pytest.raises(
        ValueError, match=rf"makes {n_features} features, above the limit of {n_features - 1}"
    ) as told:
        choose_basis(kind, 4, 3)
    assert str(told.value).endswith("which needs 12." if kind == "kronecker" else "(`reduce`).")
    monkeypatch.setattr("polyfold._basis.MAX_FEATURES", 12)
    with pytest.raises(ValueError, match=r"which needs 12\.$"):
        choose_basis("kronecker", 4, 3)
    monkeypatch.setattr("polyfold._basis.MAX_FEATURES", 11)
    with pytest.raises(ValueError, match=r"\(`reduce`\)\.$"):
        choose_basis("kronecker", 4, 3)


def test_tables_cannot_be_changed():
    basis = build_basis("kronecker", 3, 2)
    with pytest.raises(ValueError, match="read-only"):
        basis.factors[0] = 2.0
