"""`graph="isomap"`: geodesic distances, exact and from landmarks, and the ridge by exact leave-one-out."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.csgraph
from sklearn.manifold import Isomap

import graph_oracles
from polyfold import PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold._regression import leave_one_out, shrink
from polyfold.datasets import make_swiss_roll, make_twin_peaks
from polyfold.metrics import residual_variance
from polyfold.objectives.isomap import (
    N_LANDMARKS,
    Landmarks,
    build_distance_graph,
    center_exactly,
    draw_landmarks,
    measure_geodesics,
    measure_landmarks,
)

K = 10
ROLL, TRUTH = make_swiss_roll(250, random_state=0)


def standardise(X):
    Z = X - X.mean(axis=0)
    return Z / np.sqrt(np.square(Z).sum(axis=1).mean())


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("k", [3, K])  # 3 leave pieces to be joined
@pytest.mark.parametrize("X", [ROLL, make_twin_peaks(150, random_state=1)[0]])
def test_kernel_is_that_of_all_shortest_paths(X, k, mutual):
    graph = build_distance_graph(X, graph_oracles.nearest(X, k), mutual=mutual)
    squares = measure_geodesics(graph, np.arange(len(X)), n_jobs=2, verbose=0)
    kernel = center_exactly(squares, np.full(len(X), 1 / len(X)))
    expected = graph_oracles.isomap_kernel(X, k, mutual=mutual)
    np.testing.assert_allclose(kernel, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("alpha", [0, 1e-4, 1e-2])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_what_is_maximised(degree, alpha):
    """tr(YᵀKY) over the span of the monomials, coefficients penalised; each coordinate times √eigenvalue."""
    fitted = PolynomialEmbedding(2, graph="isomap", degree=degree, alpha=alpha, n_neighbors=K).fit(ROLL)
    Z = standardise(ROLL)
    Phi = build_basis("kronecker", 3, degree).expand(Z)
    Phi = Phi - Phi.mean(axis=0)
    C = Phi.T @ graph_oracles.isomap_kernel(ROLL, K) @ Phi
    ridge = alpha * np.linalg.norm(Phi, 2) ** 2 * np.eye(len(C))
    eigenvalues, V = scipy.linalg.eigh(C, Phi.T @ Phi + ridge)
    Y = Phi @ V[:, :-3:-1] * np.sqrt(eigenvalues[:-3:-1])
    np.testing.assert_allclose(fitted.eigenvalues_, eigenvalues[:-3:-1], rtol=1e-7)
    np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(Y), atol=1e-6 * np.abs(Y).max())


def test_ridge_is_chosen_by_leaving_each_sample_out():
    """Against a refit without each sample, constant term and all."""
    random = np.random.default_rng(0)
    X = ROLL + 0.5 * random.normal(size=ROLL.shape)
    fitted = PolynomialEmbedding(2, graph="isomap", degree=4, n_neighbors=K).fit(X)
    curve = fitted.diagnostics_.alpha_curve
    assert fitted.alpha_ == curve[np.argmin(curve[:, 1]), 0]
    targets = Isomap(n_neighbors=K).fit_transform(X)
    Z = standardise(X)
    Phi = build_basis("kronecker", 3, 4).expand(Z)
    centered = Phi - Phi.mean(axis=0)
    for alpha in curve[[-1, -3, -5, -7], 0]:
        ridge = alpha * np.linalg.norm(centered, 2) ** 2
        missed = 0.0
        for i in range(0, 250, 10):
            rest = np.delete(np.arange(250), i)
            middle, mean = Phi[rest].mean(axis=0), targets[rest].mean(axis=0)
            F = Phi[rest] - middle
            V = np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ (targets[rest] - mean))
            missed += np.square(targets[i] - mean - (Phi[i] - middle) @ V).sum()
        U, s, _ = np.linalg.svd(centered, full_matrices=False)
        shrinkage = shrink(np.square(s[0] / s), alpha)
        everything = leave_one_out(U, targets, U.T @ targets, shrinkage, 1 / 250).predicted
        ours = everything[::10]
        assert np.square(targets[::10] - ours).sum() == pytest.approx(missed, rel=1e-6)
        expected = np.square(targets - everything).sum() / np.square(targets).sum()
        assert curve[curve[:, 0] == alpha, 1] == pytest.approx(expected, rel=1e-5)


def test_samples_that_a_fit_passes_through_are_not_predicted():
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(10, 10)))[0]
    left_out = leave_one_out(U, np.ones((10, 1)), U.T @ np.ones((10, 1)), np.ones(10), 0.0)
    assert np.isinf(left_out.predicted).all()


def test_landmarks_stand_for_all_samples(monkeypatch):
    X, Z = make_swiss_roll(1200, random_state=3)
    model = PolynomialEmbedding(graph="isomap", n_neighbors=K)
    exact = model.fit(X).embedding_
    monkeypatch.setattr("polyfold._global.EXACT_SIZE", 1000)
    monkeypatch.setattr("polyfold.objectives.isomap.N_LANDMARKS", 300)
    landmarks = PolynomialEmbedding(graph="isomap", n_neighbors=K).fit(X)
    assert np.abs(landmarks.embedding_ - exact).max() < 0.01 * np.abs(exact).max()
    assert residual_variance(landmarks.embedding_, Z) < residual_variance(exact, Z) + 0.002
    again = PolynomialEmbedding(graph="isomap", n_neighbors=K, n_jobs=2).fit(X)
    np.testing.assert_array_equal(again.embedding_, landmarks.embedding_)
    other = PolynomialEmbedding(graph="isomap", n_neighbors=K, random_state=1).fit(X)
    assert 0 < np.abs(other.embedding_ - exact).max() < 0.01 * np.abs(exact).max()


def test_more_landmarks_than_dimensions_give_the_exact_kernel():
    """On a plane K has rank 2, and any few landmarks determine it."""
    from polyfold.objectives.isomap import learn_placement

    X = np.random.default_rng(0).normal(size=(100, 2))
    squares = np.square(X[:, np.newaxis] - X).sum(axis=2)
    F = learn_placement(squares[:7, :7]).place(squares[:, :7])
    assert F.shape == (100, 2)
    kernel = center_exactly(squares, np.full(100, 0.01))
    centered = F - F.mean(axis=0)
    np.testing.assert_allclose(centered @ centered.T, kernel, atol=1e-9)


def test_pieces_are_joined_by_the_shortest_edges():
    random = np.random.default_rng(0)
    blobs = [random.normal(size=(40, 2)) * 0.2 + [10 * i, 10 * (i % 2)] for i in range(4)]
    X = np.concatenate(blobs)
    graph = build_distance_graph(X, graph_oracles.nearest(X, 5))
    squares = measure_geodesics(graph, np.arange(160), n_jobs=None, verbose=0)
    assert np.isfinite(squares).all()
    neighbors = graph_oracles.nearest(X, 5)
    own = {tuple(sorted((i, int(j)))) for i in range(160) for j in neighbors[i]}
    edges = {tuple(sorted(pair)) for pair in zip(*map(np.ndarray.tolist, graph.nonzero()), strict=True)}
    bridges = sorted(edges - own)
    assert len(bridges) == 3
    for i, j in bridges:
        a, b = i // 40, j // 40
        assert b == a + 1
        between = np.linalg.norm(blobs[a][:, np.newaxis] - blobs[b], axis=2)
        assert np.linalg.norm(X[i] - X[j]) == pytest.approx(between.min())
    with pytest.warns(UserWarning, match="4 connected components: they were joined by the shortest edges"):
        fitted = PolynomialEmbedding(1, graph="isomap", n_neighbors=5, degree=1).fit(X)
    assert abs(np.corrcoef(fitted.embedding_[:, 0], X[:, 0])[0, 1]) > 0.99


@pytest.mark.filterwarnings("ignore:.*samples are duplicates:UserWarning")
@pytest.mark.filterwarnings("ignore:The neighbour graph has:UserWarning")
def test_duplicates_are_no_distance_apart():
    X = np.concatenate([ROLL[:100], ROLL[:100], ROLL[:100]])
    fitted = PolynomialEmbedding(graph="isomap", n_neighbors=8).fit(X)
    np.testing.assert_allclose(fitted.embedding_[:100], fitted.embedding_[100:200])


def test_weights_count_as_repetitions_do():
    """Where neighbours are the same, which needs a graph of everything: then K is that of plain distances."""
    X = make_twin_peaks(40, random_state=0)[0]
    weights = np.r_[np.full(20, 2.0), np.ones(20)]
    weighted = PolynomialEmbedding(graph="isomap", n_neighbors=39, alpha=0).fit(X, sample_weight=weights)
    repeated = np.concatenate([X[:20], X[:20], X[20:]])
    with pytest.warns(UserWarning, match="20 of 60 samples are duplicates"):
        twice = PolynomialEmbedding(graph="isomap", n_neighbors=59, alpha=0).fit(repeated)
    Y, Z = weighted.transform(X), twice.transform(X)
    distances = [np.linalg.norm(E[:, np.newaxis] - E, axis=2) for E in (Y, Z)]
    np.testing.assert_allclose(distances[0], distances[1], atol=1e-6 * distances[1].max())


def test_coordinates_are_in_the_unit_of_the_samples():
    """As Isomap's own are: distances in the embedding are those along the surface."""
    for scale in (1e-6, 1.0, 1e9):
        fitted = PolynomialEmbedding(graph="isomap", n_neighbors=K).fit(ROLL * scale)
        theirs = Isomap(n_neighbors=K).fit_transform(ROLL * scale)
        ratio = fitted.embedding_.std(axis=0) / theirs.std(axis=0)
        np.testing.assert_allclose(ratio, 1, atol=0.03)
        np.testing.assert_allclose(fitted.eigenvalues_, np.square(theirs).sum(axis=0), rtol=0.1)


def test_report_speaks_of_isomap():
    report = repr(PolynomialEmbedding(graph="isomap", n_neighbors=K).fit(ROLL).diagnostics_)
    assert "of Isomap's own coordinates missed" in report
    assert "the best objective on samples left out" in report


@pytest.mark.parametrize(
    ("X", "m"),
    [
        (ROLL, 8),
        (np.random.default_rng(0).normal(size=(12, 2)), 5),
        (np.linspace(0, 1, 3100)[:, np.newaxis], 2),
    ],
)
def test_no_more_coordinates_than_distances_have(X, m):
    with pytest.raises(ValueError, match=r"`n_components`=\d exceeds what geodesic distances span: only \d of"):
        PolynomialEmbedding(m, graph="isomap", n_neighbors=10).fit(X)


@pytest.mark.filterwarnings("ignore:.*samples are duplicates:UserWarning")
@pytest.mark.filterwarnings("ignore:The neighbour graph has:UserWarning")
def test_a_design_repeated_many_times():
    """Its kernel maps a constant to exactly zero, which must not be where an eigensolver starts."""
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * 4)).reshape(4, -1).T
    fitted = PolynomialEmbedding(2, graph="isomap", degree=1, n_neighbors=5).fit(np.repeat(corners, 40, axis=0))
    assert np.isfinite(fitted.embedding_).all()


@pytest.mark.parametrize("scale", [1e-200, 1e160, 1e200])
def test_extreme_scales(scale):
    fitted = PolynomialEmbedding(graph="isomap", n_neighbors=K, fit_inverse_transform=True).fit(ROLL * scale)
    plain = PolynomialEmbedding(graph="isomap", n_neighbors=K).fit(ROLL)
    np.testing.assert_allclose(fitted.embedding_ / scale, plain.embedding_, rtol=1e-6, atol=1e-6)
    assert np.isfinite(fitted.inverse_transform(fitted.embedding_)).all()


def test_orthonormal_coefficients_have_no_ridge_and_nothing_held_out():
    fitted = PolynomialEmbedding(graph="isomap", constraint="orthogonal", alpha=0.5, n_neighbors=K).fit(ROLL)
    assert fitted.alpha_ == 0
    assert np.isnan(fitted.diagnostics_.held_out_objective)
    assert "not known" in repr(fitted.diagnostics_)


@pytest.mark.parametrize("degree", [1, 2])
def test_eigenvalues_are_what_is_maximised(degree):
    parameters = {"graph": "isomap", "degree": degree, "n_neighbors": K}
    kernel = graph_oracles.isomap_kernel(ROLL, K)
    projected = PolynomialEmbedding(constraint="orthogonal", **parameters).fit(ROLL)
    Y = projected.embedding_
    np.testing.assert_allclose(projected.eigenvalues_, np.diag(Y.T @ kernel @ Y), rtol=1e-6)
    lengths = PolynomialEmbedding(alpha=0, **parameters).fit(ROLL)
    np.testing.assert_allclose(lengths.eigenvalues_, np.square(lengths.embedding_).sum(axis=0), rtol=1e-6)


@pytest.mark.parametrize("center", [True, False])
def test_weighted_kernel_is_the_dense_one(center):
    """max tr(YᵀWKWY) subject to YᵀWY = I, K centred about the weighted mean; then each times √eigenvalue."""
    weights = np.random.default_rng(0).uniform(0.2, 3, size=250)
    w = weights / weights.mean()
    parameters = {"alpha": 0, "n_neighbors": K, "center": center}
    fitted = PolynomialEmbedding(2, graph="isomap", **parameters).fit(ROLL, sample_weight=weights)
    graph = build_distance_graph(ROLL, graph_oracles.nearest(ROLL, K))
    squares = measure_geodesics(graph, np.arange(250), n_jobs=None, verbose=0)
    J = np.eye(250) - np.outer(np.ones(250), w / w.sum())
    kernel = np.diag(w) @ (-J @ squares @ J.T / 2) @ np.diag(w)
    Z = (ROLL - fitted.map_.shift) / fitted.map_.scale
    Phi = build_basis("kronecker", 3, 2).expand(Z)
    Phi = Phi - center * np.average(Phi, axis=0, weights=w)
    eigenvalues, V = scipy.linalg.eigh(Phi.T @ kernel @ Phi, Phi.T @ np.diag(w) @ Phi)
    Y = Phi @ V[:, :-3:-1] * np.sqrt(eigenvalues[:-3:-1])
    np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(Y), atol=1e-6 * np.abs(Y).max())


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("make_seed", [lambda: None, lambda: 5, lambda: np.random.RandomState(5)])
def test_landmarks_are_measured_along_the_graph(mutual, make_seed, monkeypatch):
    monkeypatch.setattr("polyfold.objectives.isomap.N_LANDMARKS", 40)
    neighbors = graph_oracles.nearest(ROLL, K)
    found = measure_landmarks(ROLL, neighbors, mutual=mutual, random_state=make_seed(), n_jobs=None, verbose=0)
    chosen = draw_landmarks(len(ROLL), make_seed())
    assert len(set(chosen.tolist())) == 40
    graph = build_distance_graph(ROLL, neighbors, mutual=mutual)
    lengths = scipy.sparse.csgraph.shortest_path(graph, directed=False)
    np.testing.assert_allclose(found.distances, lengths[:, chosen], rtol=1e-9, atol=1e-12)
    # Landmarks lie where classical scaling of the distances among them lays them.
    center = np.eye(40) - 1 / 40
    eigenvalues, E = np.linalg.eigh(-center @ np.square(lengths[np.ix_(chosen, chosen)]) @ center / 2)
    flat = (E * np.maximum(eigenvalues, 0)) @ E.T
    F = found.placement.place(np.square(found.distances))[chosen]
    np.testing.assert_allclose(F @ F.T, flat, atol=1e-6 * np.abs(flat).max())


def test_samples_reach_landmarks_through_their_nearest_neighbour_on_the_way():
    random = np.random.default_rng(0)
    distances = random.uniform(1, 9, size=(20, 5))
    own = np.array([-1, 3, -1, 0, -1])
    neighbors, lengths = random.integers(0, 20, size=(5, 4)), random.uniform(0, 5, size=(5, 4))
    found = Landmarks(None, distances).measure(own, neighbors, lengths)
    assert found.shape == (5, 5)
    for i in range(5):
        ways = [distances[j] + length for j, length in zip(neighbors[i], lengths[i], strict=True)]
        expected = np.min(ways, axis=0) if own[i] < 0 else distances[own[i]]
        np.testing.assert_allclose(found[i], expected**2, rtol=1e-12)


def test_landmarks_are_drawn_by_the_seed():
    drawn = [draw_landmarks(3000, seed) for seed in (None, 0, 1)]
    for each in drawn:
        assert len(np.unique(each)) == len(each) == N_LANDMARKS
        assert (np.diff(each) > 0).all()
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[1] != drawn[2]).any()
    np.testing.assert_array_equal(draw_landmarks(7, 1), np.arange(7))


def test_landmarks_are_drawn_by_whoever_is_given(monkeypatch):
    monkeypatch.setattr("polyfold.objectives.isomap.N_LANDMARKS", 20)
    expected = np.sort(np.random.RandomState(3).choice(500, 20, replace=False))
    np.testing.assert_array_equal(draw_landmarks(500, np.random.RandomState(3)), expected)
    expected = np.sort(np.random.default_rng(3).choice(500, 20, replace=False))
    np.testing.assert_array_equal(draw_landmarks(500, 3), expected)
