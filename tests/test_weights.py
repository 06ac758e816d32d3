"""Sample weights, `score`, and selection with scikit-learn's tools."""

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from local_equations import build_graph, write_equations
from polyfold import NPPE, SNPPE, PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold._graph import AffinityGraph
from polyfold.datasets import make_swiss_roll, make_twin_peaks
from polyfold.metrics import coranking_auc
from polyfold.objectives import GRAPHS, OBJECTIVES

X = make_twin_peaks(200, random_state=0)[0]
WEIGHTS = np.random.default_rng(0).uniform(0.1, 3, size=200)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_weighted_problem_is_the_dense_one(center, alpha):
    """(LΦ)ᵀW(LΦ) v = λ ΦᵀWΦ v with weights of mean 1."""
    fitted = NPPE(3, n_neighbors=9, alpha=alpha, center=center).fit(X, sample_weight=WEIGHTS)
    w = (WEIGHTS / WEIGHTS.mean())[:, np.newaxis]
    Z = (X - fitted.map_.shift) / fitted.map_.scale
    Phi = build_basis("kronecker", 3, 2).expand(Z)
    Phi = Phi - center * (w * Phi).sum(axis=0) / w.sum()
    U, s, _ = np.linalg.svd(np.sqrt(w) * Phi, full_matrices=False)
    L, _ = write_equations("lle", Z, 9)
    residuals = np.sqrt(w) * (L @ (U / np.sqrt(w)))
    A = residuals.T @ residuals
    A += np.diag(alpha * np.trace(A) / len(A) * (s[0] / s) ** 2)
    eigenvalues, V = np.linalg.eigh(A)
    np.testing.assert_allclose(fitted.eigenvalues_, eigenvalues[:3], rtol=1e-8, atol=1e-14)
    expected = U @ V[:, :3] / np.sqrt(w)
    signs = np.sign((expected * fitted.embedding_).sum(axis=0))
    np.testing.assert_allclose(fitted.embedding_, signs * expected, atol=1e-8)


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
@pytest.mark.parametrize("reduce", [None, 2])
def test_weight_zero_leaves_a_sample_out(estimator, reduce):
    kept = np.arange(200) % 4 > 0
    weights = np.where(kept, WEIGHTS, 0)
    model = estimator(n_neighbors=9, reduce=reduce, fit_inverse_transform=True)
    weighted = model.fit(pd.DataFrame(X), sample_weight=weights)
    whole, report = weighted.embedding_, repr(weighted.diagnostics_)
    model.fit(pd.DataFrame(X[kept]), sample_weight=WEIGHTS[kept])
    np.testing.assert_allclose(whole[kept], model.embedding_, atol=1e-12)
    np.testing.assert_allclose(whole, model.transform(pd.DataFrame(X)), atol=1e-12)
    assert report == repr(model.diagnostics_)


def test_only_the_ratios_of_weights_matter():
    model = NPPE(n_neighbors=9)
    plain = model.fit_transform(X)
    np.testing.assert_allclose(model.fit_transform(X, sample_weight=np.full(200, 7.0)), plain, atol=1e-12)
    weighted = model.fit_transform(X, sample_weight=WEIGHTS)
    assert np.abs(weighted - plain).max() > 1e-4
    np.testing.assert_allclose(model.fit_transform(X, sample_weight=1e-3 * WEIGHTS), weighted, atol=1e-10)
    neighbors = KNeighborsTransformer(n_neighbors=9)
    halved = np.arange(200) % 2
    np.testing.assert_allclose(
        NPPE(n_neighbors=9, neighbors=neighbors).fit(X, sample_weight=halved).embedding_,
        NPPE(n_neighbors=9).fit(X, sample_weight=halved).embedding_,
        atol=1e-9,
    )


def test_wrong_weights():
    with pytest.raises(ValueError, match=r"sample_weight\.shape"):
        NPPE().fit(X, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match="Negative values"):
        NPPE().fit(X, sample_weight=-np.ones(200))
    with pytest.raises(ValueError, match="NaN"):
        NPPE().fit(X, sample_weight=np.full(200, np.nan))
    with pytest.raises(ValueError, match="above 0 for at least 2 samples, got 1"):
        NPPE().fit(X, sample_weight=np.arange(200) == 3)


# -- score


def test_score_is_the_coranking_auc_of_a_bounded_draw():
    fitted = NPPE(n_neighbors=9).fit(X)
    assert fitted.score(X) == coranking_auc(X, fitted.embedding_)
    many = make_twin_peaks(30_000, random_state=1)[0]
    assert fitted.score(many) == fitted.score(many)
    assert fitted.score(many) == pytest.approx(fitted.score(many[:2000]), abs=0.02)


@pytest.mark.filterwarnings("ignore:The neighbour graph has:UserWarning")
def test_grid_search_selects_by_it():
    roll = make_swiss_roll(300, random_state=0)[0]
    grid = {"n_neighbors": [8, 30], "degree": [1, 2], "alpha": [0.0, "auto"]}
    search = GridSearchCV(NPPE(), grid, cv=3).fit(roll)
    table = search.cv_results_
    by_hand = [
        np.mean([clone(NPPE(**p)).fit(roll[a]).score(roll[b]) for a, b in KFold(3).split(roll)])
        for p in table["params"]
    ]
    np.testing.assert_allclose(table["mean_test_score"], by_hand, rtol=1e-12)
    assert search.best_index_ == np.argmax(by_hand)
    assert search.best_params_["degree"] == 2
    assert search.score(roll) == search.best_estimator_.score(roll)
    pipeline = make_pipeline(StandardScaler(), PolynomialEmbedding())
    nested = GridSearchCV(pipeline, {"polynomialembedding__reduce": [None, 2]}, cv=3, error_score="raise").fit(
        roll
    )
    assert np.isfinite(nested.cv_results_["mean_test_score"]).all()


def add_up(graph, weights, n_samples):
    """Sum the equations of each sample on its own, so many times as it weighs."""
    M, D = np.zeros((n_samples, n_samples)), np.zeros(n_samples)
    for i, weight in enumerate(weights):
        L, counted, degrees, _ = graph.write(np.array([i]))
        L = L.to_csr()
        M += weight * (L.T @ L).toarray()
        D[counted] += weight * degrees
    return M, D


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", [*OBJECTIVES, "affinity"])
def test_weights_count_equations_and_samples_of_every_graph(name, center):
    graph = build_graph("laplacian" if name == "affinity" else name, X, 9)
    given = name
    if name == "affinity":
        L, D = write_equations("laplacian", X, 9)
        given = np.diag(D) - (L.T @ L).toarray()
        given[np.abs(given) < 1e-14] = 0
        graph = AffinityGraph(csr_array(given), np.ones(200))
    parameters = {"n_neighbors": 9, "alpha": 0, "center": center, "coordinates": "smallest"}
    fitted = PolynomialEmbedding(2, graph=given, **parameters).fit(X, sample_weight=WEIGHTS)
    M, D = add_up(graph, WEIGHTS / WEIGHTS.mean(), 200)
    Z = (X - fitted.map_.shift) / fitted.map_.scale
    Phi = build_basis("kronecker", 3, 2).expand(Z)
    Phi = Phi - center * np.average(Phi, axis=0, weights=D)
    _, V = scipy.linalg.eigh(Phi.T @ M @ Phi, Phi.T @ np.diag(D) @ Phi)
    Y = Phi @ V[:, :2]
    np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(Y), atol=1e-6 * np.abs(Y).max())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("constraint", ["embedding", "orthogonal"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_one_sample_of_all_the_weight(graph, constraint):
    """It either fits or says why not."""
    weights = np.r_[1.0, np.full(199, 1e-18)]
    try:
        fitted = PolynomialEmbedding(graph=graph, constraint=constraint).fit(X, sample_weight=weights)
    except ValueError as error:
        assert "Lower `degree`" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(fitted.embedding_).all()


def test_weights_and_an_affinity_with_negative_entries():
    L, _ = write_equations("lle", X, 9)
    R = np.eye(200) - L.toarray()
    message = r"`sample_weight` cannot be combined with an affinity .* negative entries"
    with pytest.raises(ValueError, match=message):
        PolynomialEmbedding(graph=R + R.T - R.T @ R, alpha=0).fit(X, sample_weight=WEIGHTS)
