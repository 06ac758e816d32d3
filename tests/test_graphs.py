"""Each graph against an independent oracle: its matrices with `Phi = I`, and the embedding that it stands for."""

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import sklearn.manifold._locally_linear as theirs
from scipy.sparse import csr_array, csr_matrix, diags_array
from sklearn.manifold import Isomap

import graph_oracles
from local_equations import build_graph, write_equations
from polyfold import PolynomialEmbedding
from polyfold.datasets import make_gaussian, make_swiss_hole, make_swiss_roll, make_twin_peaks
from polyfold.objectives import GRAPHS, OBJECTIVES
from polyfold.objectives.diffusion import extend
from polyfold.objectives.equations.patch import Patch

SURFACES = [
    make_swiss_roll(200, random_state=1)[0],
    make_twin_peaks(150, random_state=2)[0],
    make_gaussian(120, random_state=3)[0],
    np.random.default_rng(4).normal(size=(90, 20)),
]


def catch_their_matrix(monkeypatch, method, X, k, m):
    caught = {}

    def catch(M, *args, **kwargs):
        caught["M"] = M.toarray() if hasattr(M, "toarray") else M
        return np.ones((M.shape[0], 1)), 0.0

    monkeypatch.setattr(theirs, "null_space", catch)
    theirs.LocallyLinearEmbedding(n_neighbors=k, n_components=m, method=method, eigen_solver="dense").fit(X)
    return caught["M"]


@pytest.mark.parametrize(("k", "m"), [(8, 1), (10, 2), (12, 3), (30, 2)])
@pytest.mark.parametrize("X", SURFACES)
@pytest.mark.parametrize(("graph", "method"), [("lle", "standard"), ("mlle", "modified"), ("ltsa", "ltsa")])
def test_matrix_of_scikit_learn(graph, method, X, k, m, monkeypatch):
    L, D = write_equations(graph, X, k, m)
    expected = catch_their_matrix(monkeypatch, method, X, k, m)
    np.testing.assert_allclose((L.T @ L).toarray(), expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_array_equal(D, np.ones(len(X)))


@pytest.mark.parametrize(("k", "m"), [(8, 1), (6, 2), (10, 2), (12, 3), (30, 2)])
@pytest.mark.parametrize("X", SURFACES)
def test_matrix_of_donoho_and_grimes(X, k, m):
    L, D = write_equations("hessian", X, k, m)
    assert L.shape[0] == len(X) * m * (m + 1) // 2
    np.testing.assert_allclose((L.T @ L).toarray(), graph_oracles.hessian_matrix(X, k, m), atol=1e-8)
    np.testing.assert_array_equal(D, np.ones(len(X)))


AFFINITIES = {
    "laplacian": graph_oracles.heat_affinity,
    "laplacian_binary": lambda X, k: graph_oracles.heat_affinity(X, k, binary=True),
    "diffusion": graph_oracles.diffusion_affinity,
}


@pytest.mark.parametrize("k", [4, 10])
@pytest.mark.parametrize("X", SURFACES)
@pytest.mark.parametrize("graph", AFFINITIES)
def test_matrix_of_an_affinity(graph, X, k):
    """LᵀL is the graph Laplacian D − W, and D⁻¹W is a Markov chain."""
    W = AFFINITIES[graph](X, k)
    L, D = write_equations(graph, X, k)
    np.testing.assert_allclose(D, W.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose((L.T @ L).toarray(), np.diag(D) - W, atol=1e-13)


@pytest.mark.parametrize("graph", OBJECTIVES)
def test_a_constant_has_no_residual_and_blocks_add_up(graph):
    X = SURFACES[0]
    L, D = write_equations(graph, X, 10)
    assert np.abs(L @ np.ones(len(X))).max() < 1e-12
    M, degrees = np.zeros((200, 200)), np.zeros(200)
    parts = build_graph(graph, X, 10)
    for rows in np.array_split(np.random.default_rng(0).permutation(200), 7):
        part, counted, weights, _ = parts.write(rows)
        part = part.to_csr()
        M += (part.T @ part).toarray()
        degrees[counted] += weights
    np.testing.assert_allclose(M, (L.T @ L).toarray(), atol=1e-12)
    np.testing.assert_allclose(degrees, D, rtol=1e-12)


@pytest.mark.parametrize("graph", OBJECTIVES)
def test_neighbourhoods_without_shape(graph):
    """All neighbours alike, or on a line: equations stay finite and a constant still has no residual."""
    line = np.column_stack([np.linspace(0, 1, 60), np.zeros(60), np.zeros(60)])
    for X in (np.repeat(SURFACES[1][:6], 20, axis=0), line):
        L, D = write_equations(graph, X, 10, 2)
        assert np.isfinite(L.data).all()
        assert (D >= 0).all()
        assert np.abs(L @ np.ones(len(X))).max() < 1e-10


CLOUD = make_swiss_roll(40, random_state=5)[0] @ np.random.default_rng(0).normal(size=(3, 8)) / 5
CLOUD = CLOUD + np.sin(CLOUD @ np.random.default_rng(1).normal(size=(8, 8)))
K = 12


def implicit(graph, m):
    if graph == "isomap_mutual":
        eigenvalues, E = scipy.linalg.eigh(graph_oracles.isomap_kernel(CLOUD, K, mutual=True))
        return E[:, ::-1][:, :m] * np.sqrt(eigenvalues[::-1][:m])
    if graph == "isomap":
        return Isomap(n_neighbors=K, n_components=m).fit_transform(CLOUD)
    if graph in AFFINITIES:
        W = AFFINITIES[graph](CLOUD, K)
        return graph_oracles.implicit_embedding(np.diag(W.sum(axis=1)) - W, W.sum(axis=1), m)
    if graph == "hessian":
        return graph_oracles.implicit_embedding(graph_oracles.hessian_matrix(CLOUD, K, m), np.ones(40), m)
    method = {"lle": "standard", "mlle": "modified", "ltsa": "ltsa"}[graph]
    model = theirs.LocallyLinearEmbedding(n_neighbors=K, n_components=m, method=method, eigen_solver="dense")
    return model.fit_transform(CLOUD)


@pytest.mark.filterwarnings("ignore:The map does not generalise:UserWarning")
@pytest.mark.filterwarnings("ignore:40 samples are too few to hold some out:UserWarning")
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("graph", GRAPHS)
def test_rich_polynomials_reach_the_implicit_embedding(graph, m):
    """44 monomials interpolate 40 samples: the explicit embedding is the implicit one."""
    parameters = {"n_neighbors": K, "alpha": 0, "reduce": None, "coordinates": "smallest"}
    with pytest.warns(UserWarning, match="linearly independent on these 40 samples"):
        fitted = PolynomialEmbedding(m, graph=graph, **parameters).fit(CLOUD)
    assert fitted.diagnostics_.rank == 39
    Y = implicit(graph, m)
    if graph.startswith("isomap"):
        np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(Y), atol=1e-6 * np.abs(Y).max())
    assert np.sin(scipy.linalg.subspace_angles(fitted.embedding_, Y).max()) < 1e-5


@pytest.mark.parametrize("container", [csr_array, csr_matrix, np.asarray])
@pytest.mark.parametrize("constraint", ["embedding", "orthogonal"])
@pytest.mark.parametrize("alpha", [0, 1e-3, "auto"])
def test_laplacians_own_affinity_gives_laplacians_map(alpha, constraint, container):
    X, _ = make_swiss_hole(300, random_state=0)
    W = container(graph_oracles.heat_affinity(X, 9))
    parameters = {"alpha": alpha, "constraint": constraint}
    ours = PolynomialEmbedding(graph="laplacian", n_neighbors=9, **parameters).fit(X)
    given = PolynomialEmbedding(graph=W, **parameters).fit(X)
    assert given.alpha_ == ours.alpha_
    np.testing.assert_allclose(given.embedding_, ours.embedding_, atol=1e-8 * np.abs(ours.embedding_).max())
    assert given.diagnostics_.graph == "affinity"
    assert given.n_neighbors_ >= 9
    assert "an affinity, given" in repr(given.diagnostics_)


@pytest.mark.parametrize("degree", [1, 2])
def test_lles_own_affinity_gives_lles_map(degree):
    """Eq. 21 put right: W = R + Rᵀ − RᵀR has negative entries, yet D − W = (I − R)ᵀ(I − R)."""
    X, _ = make_swiss_roll(300, random_state=0)
    L, _ = write_equations("lle", X, 10)
    R = np.eye(300) - L.toarray()
    W = R + R.T - R.T @ R
    assert W.min() < 0
    ours = PolynomialEmbedding(graph="lle", n_neighbors=10, degree=degree, alpha=1e-4).fit(X)
    given = PolynomialEmbedding(graph=csr_array(W), degree=degree, alpha=1e-4).fit(X)
    np.testing.assert_allclose(given.embedding_, ours.embedding_, atol=1e-6 * np.abs(ours.embedding_).max())
    assert "not known: parts of what is kept have none" in repr(given.diagnostics_)
    with pytest.raises(ValueError, match=r'negative entries.*alpha="auto" cannot choose. Give `alpha`'):
        PolynomialEmbedding(graph=csr_array(W)).fit(X)


@pytest.mark.parametrize("graph", OBJECTIVES)
def test_equations_from_a_callable(graph):
    X, _ = make_swiss_roll(300, random_state=0)

    def relate(samples):
        np.testing.assert_array_equal(samples, X)
        # As the fit sees them: shifted to the mean, in units of the RMS distance to it.
        centered = samples - samples.mean(axis=0)
        return write_equations(graph, centered / np.sqrt(np.square(centered).sum(axis=1).mean()), 10)

    ours = PolynomialEmbedding(graph=graph, n_neighbors=10, alpha=1e-4).fit(X)
    given = PolynomialEmbedding(graph=relate, alpha=1e-4).fit(X)
    np.testing.assert_allclose(given.embedding_, ours.embedding_, atol=1e-8 * np.abs(ours.embedding_).max())
    assert given.diagnostics_.graph == "callable"
    assert given.diagnostics_.n_connected_components == 1
    chosen = PolynomialEmbedding(graph=relate).fit(X)
    if graph == "lle":  # one equation per sample: the folds are the same
        assert chosen.alpha_ == PolynomialEmbedding(graph=graph, n_neighbors=10).fit(X).alpha_


def test_pieces_of_a_given_graph_are_counted():
    X = np.concatenate([SURFACES[1][:60], SURFACES[1][60:120] + 100])
    W = np.zeros((120, 120))
    W[:60, :60] = W[60:, 60:] = 1.0
    with pytest.warns(UserWarning, match="2 connected components.*Join them in `graph`"):
        fitted = PolynomialEmbedding(1, graph=csr_array(W), alpha=1e-3).fit(X)
    assert fitted.diagnostics_.n_connected_components == 2
    L = csr_array(np.linalg.cholesky(np.diag(W.sum(axis=1)) - W + 1e-9 * np.eye(120)).T)
    L = L - diags_array(np.asarray(L.sum(axis=1)).ravel())
    with pytest.warns(UserWarning, match="2 connected components"):
        PolynomialEmbedding(1, graph=lambda samples: (L, np.ones(120)), alpha=1e-3).fit(X)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (csr_array(np.eye(50)), r"must have shape \(n_samples, n_samples\) = \(60, 60\), got \(50, 50\)"),
        (csr_array(np.triu(np.ones((60, 60)))), r"must be symmetric. Use \(W \+ W.T\) / 2"),
        (csr_array(np.full((60, 60), np.nan)), "must hold finite real numbers"),
        (csr_array(np.eye(60) * 1j), "must hold finite real numbers"),
        (csr_array((60, 60)), "must have entries other than 0"),
        (-np.ones((60, 60)), "row sums >= 0, got -60 in row 0"),
        (60 * np.eye(60) - np.ones((60, 60)), "row sums above 0.*Is it a graph Laplacian"),
        (np.full((60, 60), "a"), "must hold finite real numbers"),
        ([[1.0, 2.0]], r"must have shape .*got \(1, 2\). It relates the samples given to `fit`"),
        (lambda X: (np.ones(60), np.eye(60)), r"L of shape \(n_equations, 60\)"),
        (lambda X: (np.full((5, 60), np.nan), np.ones(60)), r"entries below 1e\+100"),
        (lambda X: (np.zeros((5, 60)), np.full(60, np.nan)), r"entries below 1e\+100"),
        (lambda X: (np.zeros((5, 60)) * 1j, np.ones(60)), "of real numbers"),
        (lambda X: None, r"must return a pair \(L, D\), got NoneType"),
        (np.ones((60, 60)) * 1e306, "the largest is 1e\\+306. Divide it by a constant"),
        (np.ones((60, 60)) * 1j, "must hold finite real numbers"),
        (np.ones((60, 60, 2)), r"must have shape .*got \(60, 60, 2\)"),
        (lambda X: ("a", np.ones(60)), "a matrix L and a vector D of real numbers, got str and ndarray"),
        (lambda X: np.eye(60), r"must return a pair \(L, D\), got ndarray"),
        (
            lambda X: (np.eye(50), np.ones(50)),
            r"L of shape \(n_equations, 60\) and D of shape \(60,\), got \(50, 50\)",
        ),
        (lambda X: (np.zeros((5, 60)), -np.ones(60)), "D >= 0 and not all 0"),
        (lambda X: (np.full((5, 60), np.inf), np.ones(60)), r"entries below 1e\+100"),
        (lambda X: (np.eye(60), np.ones(60)), "rows of L must sum to 0.*row 0 sums to 1.*center=False"),
        (None, "`graph` must be one of 'diffusion', .*got None"),
    ],
)
def test_wrong_graphs(graph, message):
    with pytest.raises(ValueError, match=message):
        PolynomialEmbedding(graph=graph).fit(SURFACES[1][:60])


def test_affinity_that_nothing_minimises():
    W = np.ones((60, 60))
    W[:30, 30:] = W[30:, :30] = -0.9
    with pytest.raises(ValueError, match="D − W is not positive semidefinite"):
        PolynomialEmbedding(graph=W, alpha=0).fit(SURFACES[1][:60])


def test_weights_as_a_diagonal_matrix_and_affinity_in_a_frame():
    X = SURFACES[1][:60]
    L, D = write_equations("lle", X, 8)
    model = PolynomialEmbedding(graph=lambda samples: (L, D), alpha=1e-3).fit(X)
    diagonal = PolynomialEmbedding(graph=lambda samples: (L.toarray(), diags_array(D)), alpha=1e-3).fit(X)
    np.testing.assert_allclose(diagonal.embedding_, model.embedding_, rtol=1e-9)
    W = graph_oracles.heat_affinity(X, 10)
    array = PolynomialEmbedding(graph=W, alpha=1e-3).fit(X).embedding_
    for other in (pd.DataFrame(W), W.tolist()):
        np.testing.assert_array_equal(PolynomialEmbedding(graph=other, alpha=1e-3).fit(X).embedding_, array)


def test_no_residual_is_no_reason_to_warn():
    """As many coordinates as columns: linear maps have no residual at all, in the samples and beyond."""
    X, _ = make_swiss_roll(300, random_state=0)
    fitted = PolynomialEmbedding(3, graph="ltsa", n_neighbors=10, coordinates="smallest").fit(X)
    assert fitted.diagnostics_.training_objective < 1e-10


@pytest.mark.filterwarnings("ignore:The map does not generalise:UserWarning")
def test_rows_of_equations_need_not_sum_to_zero_without_centring():
    X = SURFACES[1][:60]
    model = PolynomialEmbedding(graph=lambda samples: (np.eye(60), np.ones(60)), center=False, alpha=0)
    with pytest.warns(UserWarning, match="60 connected components"):
        fitted = model.fit(X)
    np.testing.assert_allclose(fitted.eigenvalues_, 1, rtol=1e-9)


def test_weights_with_a_given_graph():
    X = SURFACES[1][:60]
    weights = np.r_[np.zeros(10), np.ones(50)]
    W = graph_oracles.heat_affinity(X, 10)
    fitted = PolynomialEmbedding(graph=W, alpha=1e-3).fit(X, sample_weight=weights)
    alone = PolynomialEmbedding(graph=W[10:, 10:], alpha=1e-3).fit(X[10:])
    np.testing.assert_allclose(fitted.map_.coefficients, alone.map_.coefficients, rtol=1e-9)
    with pytest.raises(ValueError, match="`sample_weight` cannot be combined with a callable"):
        PolynomialEmbedding(graph=lambda samples: None).fit(X, sample_weight=np.arange(60) + 1.0)


@pytest.mark.parametrize(
    ("graph", "m", "least"), [("hessian", 2, 6), ("hessian", 3, 10), ("ltsa", 3, 5), ("mlle", 4, 4)]
)
def test_neighbours_that_a_graph_needs(graph, m, least):
    X = np.random.default_rng(0).normal(size=(100, 6))
    with pytest.raises(ValueError, match=f"need at least {least} neighbours, got n_neighbors={least - 1}"):
        PolynomialEmbedding(m, graph=graph, n_neighbors=least - 1).fit(X)
    assert PolynomialEmbedding(m, graph=graph, n_neighbors=least, alpha=1e-2).fit(X).n_neighbors_ == least


def test_auto_takes_as_many_neighbours_as_the_graph_needs():
    X = np.random.default_rng(0).normal(size=(300, 6))
    fitted = PolynomialEmbedding(5, graph="hessian", degree=1).fit(X)
    assert fitted.n_neighbors_ >= 21


def test_a_callable_cannot_spoil_the_samples():
    X = SURFACES[1][:60].copy()
    before = X.copy()

    def relate(samples):
        samples[:] = 0
        return np.eye(60) - 1 / 60, np.ones(60)

    PolynomialEmbedding(graph=relate, alpha=1e-3).fit(X)
    np.testing.assert_array_equal(X, before)


def test_the_row_of_an_equation_that_does_not_sum_to_zero_is_named():
    L = (np.eye(60) - np.eye(60, k=1))[:59]
    L[0] *= 1e12
    L[5, 0] += 0.5
    with pytest.raises(ValueError, match=r"row 5 sums to 0\.5"):
        PolynomialEmbedding(graph=lambda samples: (L, np.ones(60))).fit(SURFACES[1][:60])


@pytest.mark.parametrize("seed", range(3))
def test_density_around_samples_that_were_not_prepared(seed):
    """A centre that is new has 1 and the kernel of its own neighbours; the others have what they had."""
    random = np.random.default_rng(seed)
    X, density = random.normal(size=(12, 3)), random.uniform(1, 2, size=30)
    known = np.where(np.arange(12) < 3, -1, random.permutation(30)[:12])
    centers, neighbors = np.arange(6), random.integers(3, 12, size=(6, 4))  # of whom only the first three are new
    statistics = {"bandwidth": 0.7, "density": density}
    found = extend(statistics, Patch(X, centers, neighbors, np.ones(6)), known)
    assert found["bandwidth"] == 0.7
    assert found["density"].shape == (12,)
    assert statistics["density"] is density
    for i in range(12):
        squares = np.square(X[neighbors[i]] - X[i]).sum(axis=1) if i < 3 else None
        expected = 1 + np.exp(-squares / 0.7).sum() if i < 3 else density[known[i]]
        assert found["density"][i] == pytest.approx(expected, rel=1e-12)
