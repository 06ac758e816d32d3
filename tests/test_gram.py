"""The Gram pair, fold by fold, against dense algebra; whatever is held, and however it is cut."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import polyfold._gram as gram
from local_equations import build_graph, write_equations
from polyfold._basis import build_basis
from polyfold._conditioning import condition_basis
from polyfold._gram import GramPair, build_gram_folds, count_folds, prepare_features, split_by_fold, sum_folds

GRAPHS = ["lle", "mlle", "ltsa", "hessian", "laplacian", "diffusion"]
X = np.random.default_rng(0).normal(size=(40, 2))
BASIS = condition_basis(build_basis("kronecker", 2, 2), X, center=True, n_jobs=None, verbose=0)


def expect_folds(name, n_folds):
    """Each fold's pair, from all equations of its samples, with whole matrices."""
    graph = build_graph(name, X, 8)
    Q = BASIS.expand(X)
    for fold in range(n_folds):
        L, counted, D, _ = graph.write(np.arange(fold, len(X), n_folds))
        weights = np.zeros(len(X))
        weights[counted] = D
        residuals = L.to_csr() @ Q
        yield residuals.T @ residuals, Q.T @ np.diag(weights) @ Q, weights @ Q, weights.sum()


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("rows", [None, 1])
@pytest.mark.parametrize("name", GRAPHS)
def test_folds_are_those_of_dense_algebra(name, held, rows, monkeypatch):
    if not held:
        monkeypatch.setattr(gram, "HELD_BYTES", 0)
    if rows:
        monkeypatch.setattr(gram, "BLOCK_BYTES", 1)
        monkeypatch.setattr(gram, "SMALL_BLOCK_BYTES", 1)
    folds = build_gram_folds(build_graph(name, X, 8), X, BASIS, n_jobs=2 if rows else None, verbose=0, n_folds=3)
    assert len(folds) == 3
    for found, (A, B, total, weight) in zip(folds, expect_folds(name, 3), strict=True):
        np.testing.assert_allclose(found.A, A, atol=1e-10 * np.abs(A).max())
        np.testing.assert_allclose(found.B, B, atol=1e-10 * np.abs(B).max())
        np.testing.assert_allclose(found.feature_sum, total, atol=1e-10 * np.abs(B).max())
        assert found.weight_sum == pytest.approx(weight)


@pytest.mark.parametrize("shared", [0, 1000])
@pytest.mark.parametrize("name", ["lle", "laplacian"])
def test_monomials_made_anew_or_once(name, shared, monkeypatch):
    """Few samples in an equation, or many: both ways are the same product."""
    monkeypatch.setattr(gram, "HELD_BYTES", 0)
    monkeypatch.setattr(gram, "SHARED", shared)
    L = build_graph(name, X, 8).write(np.arange(5)).L
    found = prepare_features(X, BASIS, n_jobs=None, verbose=0).combine(L)
    np.testing.assert_allclose(found, L.to_csr() @ BASIS.expand(X), atol=1e-12)


def test_a_matrix_of_scipy_is_combined_too(monkeypatch):
    monkeypatch.setattr(gram, "HELD_BYTES", 0)
    L = csr_array(write_equations("lle", X, 8)[0][:7])
    features = prepare_features(X, BASIS, n_jobs=None, verbose=0)
    assert features.held is None
    np.testing.assert_allclose(features.combine(L), L @ BASIS.expand(X), atol=1e-12)
    some = np.array([3, 1, 3])
    np.testing.assert_allclose(features.take(some), BASIS.expand(X[some]), atol=1e-14)


def test_what_is_held(monkeypatch):
    held = prepare_features(X, BASIS, n_jobs=None, verbose=0)
    np.testing.assert_allclose(held.held, BASIS.expand(X), atol=1e-13)
    np.testing.assert_array_equal(held.take(np.array([5, 2])), held.held[[5, 2]])
    # At the limit, and one byte below it.
    monkeypatch.setattr(gram, "HELD_BYTES", held.held.nbytes)
    assert prepare_features(X, BASIS, n_jobs=None, verbose=0).held is not None
    monkeypatch.setattr(gram, "HELD_BYTES", held.held.nbytes - 1)
    assert prepare_features(X, BASIS, n_jobs=None, verbose=0).held is None


def test_floats_of_a_row(monkeypatch):
    """An equation a sample for LLE, eight for Laplacian eigenmaps; and monomials where these are not held."""
    d = len(BASIS.center)
    held = prepare_features(X, BASIS, n_jobs=None, verbose=0)
    assert held.count_floats(build_graph("lle", X, 8)) == 2 * d
    assert held.count_floats(build_graph("laplacian", X, 8)) == 9 * d
    monkeypatch.setattr(gram, "HELD_BYTES", 0)
    anew = prepare_features(X, BASIS, n_jobs=None, verbose=0)
    assert anew.count_floats(build_graph("lle", X, 8)) == (2 + 9 + 1) * d
    assert anew.count_floats(build_graph("laplacian", X, 8)) == (9 + 16 + 8) * d


def test_spread_about_the_mean():
    random = np.random.default_rng(1)
    Q, D = random.normal(size=(30, 4)), random.uniform(0.5, 2, size=30)
    pair = GramPair(np.eye(4), Q.T @ np.diag(D) @ Q, D @ Q, float(D.sum()))
    mean, B = pair.measure_spread(center=True)
    np.testing.assert_allclose(mean, np.average(Q, axis=0, weights=D))
    np.testing.assert_allclose(B, (Q - mean).T @ np.diag(D) @ (Q - mean), atol=1e-12)
    origin, as_it_is = pair.measure_spread(center=False)
    np.testing.assert_array_equal(origin, np.zeros(4))
    np.testing.assert_array_equal(as_it_is, pair.B)


def test_sums_of_folds_leave_the_folds_alone():
    folds = [
        GramPair(np.full((2, 2), i), np.full((2, 2), 2.0 * i), np.full(2, 3.0 * i), 4.0 * i) for i in (1, 2, 3)
    ]
    folds = [GramPair(f.A.astype(float), f.B, f.feature_sum, f.weight_sum) for f in folds]
    total = sum_folds(folds)
    assert (total.A == 6).all()
    assert (total.B == 12).all()
    assert (total.feature_sum == 18).all()
    assert total.weight_sum == 24
    assert (folds[0].A == 1).all()
    assert (folds[0].B == 2).all()
    assert (folds[0].feature_sum == 3).all()


def test_numbers_of_folds():
    assert [count_folds(4, 10), count_folds(500, 10), count_folds(500, 1000)] == [4, 10, 10]
    assert [count_folds(500, 1001), count_folds(3, 1001)] == [5, 3]
    parts = split_by_fold(np.array([2, 0, 2, 1, 0]), 4)
    assert [part.tolist() for part in parts] == [[1, 4], [3], [0, 2], []]


def test_folds_go_by_the_number_of_a_sample_not_its_place():
    """A graph may have its samples in another order; sample i is in fold i mod K all the same."""
    graph = build_graph("lle", X, 8)
    assert graph.order is None or sorted(graph.order) == list(range(len(X)))
    default = build_gram_folds(graph, X, BASIS, n_jobs=None, verbose=0)
    assert len(default) == 10
    assert [fold.weight_sum for fold in default] == [4.0] * 10


def test_powers_that_overflow():
    far = X.copy()
    far[0] = 1e200
    with pytest.raises(ValueError, match="Powers of the data overflow"):
        build_gram_folds(build_graph("lle", X, 8), far, BASIS, n_jobs=None, verbose=0)
