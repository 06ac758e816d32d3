"""The ridge chosen by cross-validation, against refits done the long way."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.base import clone

from local_equations import write_equations
from polyfold import NPE, NPPE, SNPPE, NystromExtension, PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold._ridge import ALPHAS
from polyfold.datasets import make_swiss_roll, make_twin_peaks


def held_out_the_long_way(fitted, X, k, alpha, center, n_folds=10):
    """Fit the rest of each fold by a dense generalised eigenproblem in the monomials, and embed the fold."""
    n_components = len(fitted.eigenvalues_)
    Z = (X - fitted.map_.shift) / fitted.map_.scale
    Phi = build_basis(fitted.map_.basis, X.shape[1], fitted.map_.degree).expand(Z)
    L, _ = write_equations("lle", Z, k)
    residuals = L @ Phi
    _, s, Wt = np.linalg.svd(Phi - center * Phi.mean(axis=0), full_matrices=False)
    U = (Phi - center * Phi.mean(axis=0)) @ Wt.T / s
    R = residuals @ Wt.T / s
    objectives, ratios = [], []
    for fold in range(n_folds):
        held = np.arange(len(X)) % n_folds == fold
        rest = U[~held]
        mean = center * rest.mean(axis=0)
        A, B = R[~held].T @ R[~held], (rest - mean).T @ (rest - mean)
        penalty = alpha * np.trace(A) / len(A) * (s[0] / s) ** 2
        _, V = scipy.linalg.eigh(B, A + np.diag(penalty), subset_by_index=[len(A) - n_components, len(A) - 1])
        V = V[:, ::-1] / np.linalg.norm((rest - mean) @ V[:, ::-1], axis=0)
        placed = (U[held] - mean) @ V
        objectives.append(np.square(R[held] @ V).sum() / np.square(placed).sum())
        learned = (rest - mean) @ V
        middle = learned.mean(axis=0)
        ratios.append(np.square(placed - middle).mean(axis=0) / np.square(learned - middle).mean(axis=0))
    return np.exp(np.mean(np.log(objectives))), np.sqrt(np.mean(ratios, axis=0))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("degree", [2, 4])
def test_curve_is_what_refits_give(degree, alpha, center):
    random = np.random.default_rng(0)
    X = make_twin_peaks(203, random_state=0)[0] + 0.05 * random.normal(size=(203, 3))
    parameters = {"n_neighbors": 8, "degree": degree, "alpha": alpha, "center": center}
    fitted = PolynomialEmbedding(2, coordinates="smallest", **parameters).fit(X)
    objective, spreads = held_out_the_long_way(fitted, X, 8, alpha, center)
    np.testing.assert_allclose(fitted.diagnostics_.alpha_curve, [[alpha, objective]], rtol=1e-3)
    np.testing.assert_allclose(fitted.diagnostics_.held_out_spread, spreads, rtol=1e-3)


def test_many_features_take_the_iterative_solver():
    X = np.random.default_rng(1).normal(size=(400, 4))
    fitted = NPPE(2, n_neighbors=12, degree=4, alpha=1e-3).fit(X)
    assert fitted.diagnostics_.n_features == 69
    objective, spreads = held_out_the_long_way(fitted, X, 12, 1e-3, True)
    np.testing.assert_allclose(fitted.diagnostics_.alpha_curve[:, 1], objective, rtol=1e-3)
    np.testing.assert_allclose(fitted.diagnostics_.held_out_spread, spreads, rtol=1e-3)


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
def test_auto_takes_the_best_of_the_curve_and_changes_nothing_else(estimator):
    X = np.random.default_rng(0).normal(size=(150, 6))
    fitted = estimator(n_neighbors=10).fit(X)
    curve = fitted.diagnostics_.alpha_curve
    np.testing.assert_array_equal(curve[:, 0], ALPHAS)
    assert fitted.alpha_ == curve[np.argmin(curve[:, 1]), 0] > 0
    given = estimator(n_neighbors=10, alpha=fitted.alpha_).fit(X)
    np.testing.assert_array_equal(given.embedding_, fitted.embedding_)
    np.testing.assert_allclose(given.diagnostics_.alpha_curve, [[fitted.alpha_, curve[:, 1].min()]], rtol=1e-6)


def test_noise_is_penalised_and_a_clean_surface_is_not():
    random = np.random.default_rng(0)
    noise = random.normal(size=(300, 20))
    assert NPPE(reduce=None, n_neighbors=10).fit(noise).alpha_ >= 1e-3
    for seed in range(5):
        assert NPPE(n_neighbors=10, degree=3).fit(make_swiss_roll(1000, random_state=seed)[0]).alpha_ <= 1e-4


def test_a_map_that_does_not_generalise_says_so():
    """Nearly as many features as samples. Without a ridge local relations hold on the training samples alone."""
    random = np.random.default_rng(3)
    X = random.normal(size=(600, 12)) @ random.normal(size=(12, 12))
    with pytest.warns(UserWarning, match="does not generalise: it does .* times worse on held-out"):
        free = NPPE(reduce=None, alpha=0, n_neighbors=15).fit(X[:100])
    tamed = NPPE(reduce=None, n_neighbors=15).fit(X[:100])
    assert free.diagnostics_.held_out_objective > 10 * free.diagnostics_.training_objective
    assert tamed.diagnostics_.held_out_objective < 5 * tamed.diagnostics_.training_objective
    assert tamed.score(X[100:]) > free.score(X[100:])
    # A third of the columns is an image of the others but for noise: coordinates explode along it.
    with pytest.warns(UserWarning, match="does not generalise: on held-out folds a coordinate spreads"):
        SNPPE(alpha=0, n_neighbors=5).fit(random.normal(size=(100, 30)) ** 3)


def test_too_few_samples_to_tell():
    with pytest.warns(UserWarning, match=r"2 samples are too few to hold some out.*`alpha` is 0\.001 by caution"):
        fitted = NPPE(1, degree=1).fit([[0.0], [1.0]])
    assert fitted.alpha_ == 1e-3
    assert np.isinf(fitted.diagnostics_.alpha_curve[:, 1]).all()
    assert np.isnan(fitted.diagnostics_.held_out_spread).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fold_whose_coordinates_are_all_the_same():
    """Its objective is infinite, without a warning of NumPy's."""
    X = np.array([[0.0], [1.0]])
    fitted = PolynomialEmbedding(1, center=False, constraint="orthogonal").fit(X)
    assert np.isfinite(fitted.embedding_).all()
    assert fitted.diagnostics_.held_out_objective == np.inf


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("size", [20, 30, 36, 150])
@pytest.mark.parametrize(
    "estimator",
    [
        NPE(), SNPPE(), NPPE(), PolynomialEmbedding(1, graph="isomap", degree=1, reduce=0.9),
        PolynomialEmbedding(1, graph="laplacian_binary", alpha=0, reduce=0.9), NystromExtension(graph="isomap"),
        NystromExtension(graph="laplacian"),
    ],
)  # fmt: skip
def test_samples_on_axes_of_their_own(estimator, size):
    """All directions are alike, and there LAPACK and ARPACK find fewer than they are asked for, or none."""
    for X in (np.eye(size), 1e30 * np.eye(size)):
        fitted = clone(estimator).fit(X)
        assert np.isfinite(fitted.embedding_).all()
        np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)
