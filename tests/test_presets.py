"""The published linear methods against dense eigensolvers, and the defaults of all presets."""

import numpy as np
import pytest
import scipy.linalg

import graph_oracles
import polyfold
from local_equations import write_equations
from paper_oracle import reconstruction_weights
from polyfold import LLTSA, LPP, NPE, NPP, NPPE, OLPP, ONPP, SNPPE, PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold.datasets import make_swiss_roll, make_twin_peaks
from polyfold.objectives import GRAPHS

K = 9
LINEAR = {"NPE": NPE, "ONPP": ONPP, "LPP": LPP, "OLPP": OLPP, "LLTSA": LLTSA}
SETS = [
    make_swiss_roll(200, random_state=1)[0],
    make_twin_peaks(150, random_state=2)[0] * 1e3 + [5, 0, -300],
    np.random.default_rng(3).normal(size=(120, 7)) * np.arange(1, 8),
]


def lltsa_matrix(X, k, m):
    M = np.zeros((len(X), len(X)))
    for neighbors in graph_oracles.nearest(X, k):
        local = X[neighbors] - X[neighbors].mean(axis=0)
        g = np.column_stack([np.full(k, 1 / np.sqrt(k)), np.linalg.svd(local)[0][:, :m]])
        M[np.ix_(neighbors, neighbors)] += np.eye(k) - g @ g.T
    return M


def dense_pair(method, X, m):
    """M and D of a linear method, from papers and not from the library."""
    if method in ("LPP", "OLPP"):
        W = graph_oracles.heat_affinity(X, K)
        return np.diag(W.sum(axis=1)) - W, W.sum(axis=1)
    if method == "LLTSA":
        return lltsa_matrix(X, K, m), np.ones(len(X))
    R = reconstruction_weights(X.T, K)
    return (np.eye(len(X)) - R).T @ (np.eye(len(X)) - R), np.ones(len(X))


def remove_mean(X, D, center):
    return X - np.average(X, axis=0, weights=D) if center else X


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("X", SETS)
@pytest.mark.parametrize("method", ["NPE", "LPP", "LLTSA"])
def test_linear_methods_are_a_generalised_eigenproblem(method, X, m, center):
    M, D = dense_pair(method, X, m)
    centered = remove_mean(X, D, center)
    _, V = scipy.linalg.eigh(centered.T @ M @ centered, centered.T @ np.diag(D) @ centered)
    Y = centered @ V[:, :m]
    fitted = LINEAR[method](m, n_neighbors=K, center=center).fit(X)
    np.testing.assert_allclose(fitted.embedding_ @ fitted.embedding_.T, Y @ Y.T, atol=1e-7 * np.square(Y).max())
    if method != "LLTSA" or m < X.shape[1]:  # where the tangent plane is all of space, any rotation will do
        np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(Y), atol=1e-7 * np.abs(Y).max())


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("X", SETS)
@pytest.mark.parametrize("method", ["ONPP", "OLPP"])
def test_orthogonal_methods_are_projections(method, X, m, center):
    M, D = dense_pair(method, X, m)
    centered = remove_mean(X, D, center)
    _, V = scipy.linalg.eigh(centered.T @ M @ centered)
    fitted = LINEAR[method](m, n_neighbors=K, center=center).fit(X)
    columns = fitted.map_.coefficients
    assert np.abs(columns.T @ columns - np.eye(m)).max() < 1e-12
    np.testing.assert_allclose(np.abs(columns), np.abs(V[:, :m]), atol=1e-7)
    # In the unit of X: what the map does is this projection, about the (weighted) mean.
    np.testing.assert_allclose(fitted.embedding_, centered @ columns, atol=1e-9 * np.abs(X).max())
    np.testing.assert_allclose(fitted.map_.jacobian(X[:3]), np.tile(columns.T, (3, 1, 1)), atol=1e-12)
    Y = fitted.embedding_
    np.testing.assert_allclose(fitted.eigenvalues_, np.diag(Y.T @ M @ Y), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*polynomial features are linearly independent:UserWarning")
def test_projections_of_columns_that_depend_on_each_other():
    """No direction is taken along which nothing varies, and what is taken is orthonormal all the same."""
    X = make_swiss_roll(200, random_state=1)[0] @ np.random.default_rng(0).normal(size=(3, 6))
    X = np.column_stack([X, np.ones(200)])
    for estimator in (ONPP, OLPP):
        fitted = estimator(3, n_neighbors=K).fit(X)
        V = fitted.map_.coefficients
        assert np.abs(V.T @ V - np.eye(3)).max() < 1e-12
        assert fitted.embedding_.std(axis=0).min() > 1e-3
        reduced = estimator(2, n_neighbors=K, reduce=3).fit(X).map_
        P = reduced.axes @ reduced.coefficients
        assert np.abs(P.T @ P - np.eye(2)).max() < 1e-12


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_projections_at_any_scale(scale):
    X = SETS[0] * scale
    fitted = ONPP(n_neighbors=K).fit(X)
    V = fitted.map_.coefficients
    assert np.abs(V.T @ V - np.eye(2)).max() < 1e-12
    assert np.isfinite(fitted.map_.extrapolation(X)).all()


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
def test_orthogonal_constraint_against_a_dense_eigensolver(graph, degree, basis):
    X = SETS[0]
    parameters = {"graph": graph, "degree": degree, "basis": basis, "n_neighbors": K, "coordinates": "smallest"}
    fitted = PolynomialEmbedding(2, constraint="orthogonal", **parameters).fit(X)
    assert fitted.alpha_ == 0
    Z = X - X.mean(axis=0)
    Z /= np.sqrt(np.square(Z).sum(axis=1).mean())
    Phi = build_basis(basis, 3, degree).expand(Z)
    if graph.startswith("isomap"):
        Phi = Phi - Phi.mean(axis=0)
        kernel = graph_oracles.isomap_kernel(Z, K, mutual=graph == "isomap_mutual")
        _, V = scipy.linalg.eigh(-Phi.T @ kernel @ Phi)
    else:
        L, _ = write_equations(graph, Z, K, 2)
        _, V = scipy.linalg.eigh((L @ Phi).T @ (L @ Phi))
    np.testing.assert_allclose(np.abs(fitted.map_.coefficients), np.abs(V[:, :2]), atol=1e-6)


def test_alias():
    assert NPP is NPE


def test_defaults_are_those_of_the_contract():
    general = PolynomialEmbedding()
    contract = {
        "n_components": 2, "graph": "lle", "n_neighbors": "auto", "degree": 2, "basis": "auto",
        "constraint": "embedding", "alpha": "auto", "reduce": "auto", "center": True, "coordinates": "independent",
        "fit_inverse_transform": False, "n_jobs": None, "random_state": None, "verbose": 0,
    }  # fmt: skip
    assert {name: general.get_params()[name] for name in contract} == contract
    for estimator in LINEAR.values():
        model = estimator()
        assert (model.degree, model.alpha, model.reduce, model.coordinates) == (1, 0, None, "smallest")
        assert {"graph", "basis", "degree", "constraint"}.isdisjoint(model.get_params())
    assert (SNPPE().basis, SNPPE().reduce, SNPPE().coordinates) == ("hadamard", None, "independent")
    assert (NPPE().basis, NPPE().reduce, NPPE().coordinates) == ("kronecker", "auto", "independent")
    fixed = {name: (estimator().graph, estimator().constraint) for name, estimator in LINEAR.items()}
    assert fixed == {
        "NPE": ("lle", "embedding"),
        "ONPP": ("lle", "orthogonal"),
        "LPP": ("laplacian", "embedding"),
        "OLPP": ("laplacian", "orthogonal"),
        "LLTSA": ("ltsa", "embedding"),
    }
    for name in [*LINEAR, "NPP"]:
        assert getattr(polyfold, name) is LINEAR.get(name, NPE)
