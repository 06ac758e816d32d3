"""The fast path against the paper's equations, and the optimality of what is returned."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from local_equations import build_graph, write_equations
from paper_oracle import embed
from polyfold import NPPE, SNPPE, PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold._conditioning import condition_basis
from polyfold._gram import build_gram_folds, sum_folds
from polyfold.datasets import make_gaussian, make_swiss_roll, make_twin_peaks
from strategies import sample_clouds

QUIET = pytest.mark.filterwarnings("ignore::UserWarning")


def largest_angle_sine(Y, Z):
    """Sine of the largest principal angle between two subspaces."""
    return np.sin(scipy.linalg.subspace_angles(Y, Z).max())


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
def test_same_subspace_as_the_paper(basis, degree, m, center):
    surface = make_twin_peaks(150, random_state=3)[0] + [0.3, -0.2, 0.1]
    X = np.column_stack([surface, np.cos(2 * surface[:, 0])])
    Y, eigenvalues = embed(X, 8, degree, basis, m, center=center)
    parameters = {"n_neighbors": 8, "degree": degree, "basis": basis, "center": center}
    fitted = PolynomialEmbedding(m, alpha=0, coordinates="smallest", **parameters).fit(X)
    assert largest_angle_sine(fitted.embedding_, Y) < 1e-8
    np.testing.assert_allclose(fitted.eigenvalues_, eigenvalues, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_same_subspace_in_other_dimensions(basis, n_columns):
    X = np.random.default_rng(n_columns).normal(size=(120, n_columns))
    m = min(2, n_columns * 2)
    Y, _ = embed(X, 10, 2, basis, m, center=True)
    fitted = PolynomialEmbedding(m, n_neighbors=10, basis=basis, alpha=0, coordinates="smallest").fit(X)
    assert largest_angle_sine(fitted.embedding_, Y) < 1e-8


@pytest.mark.parametrize(("make", "k"), [(make_swiss_roll, 10), (make_gaussian, 6), (make_twin_peaks, 4)])
def test_residual_operator_gives_the_matrix_of_scikit_learn(make, k, monkeypatch):
    """LᵀL is scikit-learn's M = (I − R)ᵀ(I − R), caught on its way to the eigensolver."""
    from sklearn.manifold import _locally_linear as theirs

    caught = {}

    def catch(M, *args, **kwargs):
        caught["M"] = M
        return np.ones((M.shape[0], 1)), 0.0

    monkeypatch.setattr(theirs, "null_space", catch)
    X, _ = make(300, random_state=1)
    theirs.LocallyLinearEmbedding(n_neighbors=k, eigen_solver="dense").fit(X)
    L, D = write_equations("lle", X, k)
    M = caught["M"]
    np.testing.assert_allclose((L.T @ L).toarray(), M.toarray() if hasattr(M, "toarray") else M, atol=1e-13)
    np.testing.assert_array_equal(D, np.ones(len(X)))


def far_from_the_origin(seed, size=1e-6, n_columns=2):
    """Data that without centring vary along one direction; a ridge then all but forbids every other."""
    return np.random.default_rng(seed).uniform(-size, size, size=(12, n_columns)) - 30


@QUIET
@settings(max_examples=150, deadline=None)
@example(X=far_from_the_origin(42, 1e-5, 3), degree=1, basis="kronecker", alpha=0.0, center=False, share=1.0)
@example(X=far_from_the_origin(45, 1e-5, 3), degree=1, basis="kronecker", alpha=0.0, center=False, share=1.0)
@example(X=far_from_the_origin(0), degree=3, basis="kronecker", alpha=1e-6, center=False, share=0.5)
@example(X=far_from_the_origin(1), degree=3, basis="kronecker", alpha=1e-2, center=False, share=0.5)
@example(X=far_from_the_origin(2), degree=2, basis="hadamard", alpha=1e-6, center=False, share=0.5)
@example(X=far_from_the_origin(3), degree=1, basis="kronecker", alpha=1e-6, center=False, share=1.0)
@given(
    X=sample_clouds(),
    degree=st.integers(1, 3),
    basis=st.sampled_from(["kronecker", "hadamard"]),
    alpha=st.sampled_from([0.0, 1e-6, 1e-2]),
    center=st.booleans(),
    share=st.floats(0, 1),
)
def test_optimality(X, degree, basis, alpha, center, share):
    """(A + P) v = λ B v and VᵀBV = I, with A, B and P formed densely from the map's own coordinates."""
    k = min(6, len(X) - 1)
    parameters = {"n_neighbors": k, "degree": degree, "basis": basis, "center": center, "reduce": None}
    parameters["coordinates"] = "smallest"
    rank = PolynomialEmbedding(1, alpha=0, **parameters).fit(X).diagnostics_.rank
    m = max(1, round(share * rank))
    fitted = PolynomialEmbedding(m, alpha=alpha, **parameters).fit(X)

    learned = fitted.map_
    Z = (X - learned.shift) / learned.scale
    Phi = build_basis(basis, X.shape[1], degree).expand(Z)
    if center:
        Phi = Phi - Phi.mean(axis=0)
    L, _ = write_equations("lle", Z, k)
    U, s, Wt = np.linalg.svd(Phi, full_matrices=False)
    U, s, Wt = U[:, :rank], s[:rank], Wt[:rank]
    residuals = L @ U
    penalty = alpha * np.square(residuals).sum() / rank * (s[0] / s) ** 2

    # Coefficients of a direction grow as its singular value falls, and rounding grows with them.
    rounding = 1e-13 * s[0] / s[-1] + 1e-11
    Y = fitted.embedding_
    np.testing.assert_allclose(Y.T @ Y, np.eye(m), atol=0.01 * rounding)
    u = U.T @ Y
    gradient = residuals.T @ (residuals @ u) + penalty[:, np.newaxis] * u
    # Residuals may be far smaller than the features of size 1 that they are differences of. Each equation is
    # measured by its own row and column, so that a huge penalty on one direction does not excuse the others.
    size = np.linalg.norm(residuals)
    scale = size + size**2 + penalty.max()
    rows = np.sqrt(np.square(residuals).sum(axis=0) + penalty + size**2)
    columns = np.sqrt(fitted.eigenvalues_ + size + size**2)
    allowed = 3 * (1 + alpha) * (rounding * (np.outer(rows, columns) + fitted.eigenvalues_) + 1e-14 * size)
    assert (np.abs(gradient - u * fitted.eigenvalues_) <= allowed).all()
    assert (np.diff(fitted.eigenvalues_) >= -rounding * scale).all()
    # Nothing in the span does better: the sum of the m smallest eigenvalues is the minimum.
    best = np.linalg.eigvalsh(residuals.T @ residuals + np.diag(penalty))[:m]
    assert fitted.eigenvalues_.sum() <= best.sum() + m * rounding * scale


def test_gram_pair_does_not_depend_on_the_blocks(monkeypatch):
    X, _ = make_swiss_roll(200, random_state=0)
    basis = condition_basis(build_basis("kronecker", 3, 2), X[:50], center=True, n_jobs=None, verbose=0)
    data = build_graph("lle", X, 7), X, basis
    [whole] = build_gram_folds(*data, n_jobs=None, verbose=0, n_folds=1)
    monkeypatch.setattr("polyfold._blocks.BLOCK_BYTES", 20_000)
    folds = build_gram_folds(*data, n_jobs=2, verbose=0)
    assert [fold.weight_sum for fold in folds] == [20] * 10
    parts = sum_folds(folds)
    np.testing.assert_allclose(parts.A, whole.A, rtol=1e-12, atol=1e-12 * np.abs(whole.A).max())
    np.testing.assert_allclose(parts.B, whole.B, rtol=1e-12, atol=1e-12 * np.abs(whole.B).max())
    np.testing.assert_allclose(parts.feature_sum, whole.feature_sum, rtol=1e-12)
    assert parts.weight_sum == whole.weight_sum == 200
    Q = (basis.monomials.expand(X) - basis.center) @ basis.T
    np.testing.assert_allclose(whole.B, Q.T @ Q, rtol=1e-10)
    mean, spread = whole.measure_spread(center=True)
    np.testing.assert_allclose(mean, Q.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(spread, 200 * np.cov(Q.T, bias=True), rtol=1e-10)
    np.testing.assert_array_equal(whole.measure_spread(center=False)[1], whole.B)


@pytest.mark.parametrize(("noise", "rank"), [(1e-5, 3), (1e-7, 3), (1e-10, 2), (0.0, 2)])
@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
@QUIET
def test_rank_is_cut_relative_to_the_largest_singular_value(estimator, noise, rank):
    """A third direction a hundred-millionth of the first is noise, and is left out with its huge coefficients."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3)) * [1.0, 0.5, noise]
    fitted = estimator(1, n_neighbors=10, degree=1, alpha=0).fit(X)
    assert fitted.diagnostics_.rank == rank
    assert fitted.diagnostics_.n_features == 3
    assert np.abs(fitted.map_.coefficients).max() < 1e8


@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.parametrize("distance", [20, 50, 300])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@QUIET
def test_many_samples_and_one_outlier(degree, distance, alpha):
    """Against a dense SVD of the features: an outlier anywhere must not drown the digits of the rest."""
    X = np.insert(make_twin_peaks(5000, random_state=0)[0], 2501, [distance, 0, 0], axis=0)
    model = PolynomialEmbedding(2, n_neighbors=10, degree=degree, alpha=alpha, coordinates="smallest")
    fitted = clone(model).fit(X)
    Z = (X - fitted.map_.shift) / fitted.map_.scale
    Phi = build_basis("kronecker", 3, degree).expand(Z)
    U, s, _ = np.linalg.svd(Phi - Phi.mean(axis=0), full_matrices=False)
    U, s = U[:, : fitted.diagnostics_.rank], s[: fitted.diagnostics_.rank]
    residuals = write_equations("lle", Z, 10)[0] @ U
    penalty = alpha * np.square(residuals).sum() / len(s) * (s[0] / s) ** 2
    # Whitening by the square root of the penalised problem keeps the digits of its small eigenvalues.
    root = np.linalg.qr(np.vstack([residuals, np.diag(np.sqrt(penalty))]), mode="r")
    _, _, Vt = np.linalg.svd(root)
    expected = U @ Vt[-2:].T
    assert largest_angle_sine(fitted.embedding_, expected) < 1e-6
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = clone(model).fit(X[order]).embedding_
    assert np.abs(shuffled - fitted.embedding_[order]).max() < 1e-6 * np.abs(shuffled).max()
