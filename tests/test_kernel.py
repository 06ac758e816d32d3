"""KernelExtrapolation and NystromExtension: the implicit methods that explicit maps are compared with."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import eigh
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.neighbors import kneighbors_graph

from polyfold import KernelExtrapolation, NystromExtension
from polyfold.datasets import make_gaussian, make_swiss_hole, make_swiss_roll, make_twin_peaks

GRAPHS = ["lle", "laplacian", "isomap"]
SURFACES = [make_swiss_roll, make_swiss_hole, make_gaussian, make_twin_peaks]


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(300, random_state=0)


@pytest.fixture(scope="module")
def unseen():
    return make_swiss_roll(200, random_state=1)[0]


# ------------------------------------------------------------------------------- kernel extrapolation


def gaussian(A, B, bandwidth):
    return np.exp(-np.square(cdist(A, B)) / (2 * bandwidth**2))


@pytest.mark.parametrize("bandwidth", [1.0, 4.0, 20.0])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 1.0])
def test_samples_go_where_the_formula_says(bandwidth, epsilon, roll, unseen):
    X, Z = roll
    model = KernelExtrapolation("precomputed", bandwidth=bandwidth, epsilon=epsilon).fit(X, Z)
    inverse = np.linalg.inv(gaussian(X, X, bandwidth) + epsilon * np.eye(300))
    expected = gaussian(unseen, X, bandwidth) @ inverse @ (Z - Z.mean(axis=0)) + Z.mean(axis=0)
    np.testing.assert_allclose(model.transform(unseen), expected, atol=1e-6)
    assert (model.bandwidth_, model.epsilon_) == (pytest.approx(bandwidth), epsilon)


@pytest.mark.parametrize("bandwidth", [1.0, 6.0])
@pytest.mark.parametrize("epsilon", [1e-4, 1e-1])
def test_leave_one_out_is_that_of_refitting(bandwidth, epsilon, roll):
    X, Z = (array[:80] for array in roll)
    model = KernelExtrapolation("precomputed", bandwidth=bandwidth, epsilon=epsilon).fit(X, Z)
    K, T = gaussian(X, X, bandwidth), Z - Z.mean(axis=0)  # the mean is that of all samples
    missed = 0.0
    for i in range(80):
        rest = np.arange(80) != i
        coefficients = np.linalg.solve(K[np.ix_(rest, rest)] + epsilon * np.eye(79), T[rest])
        missed += np.square(T[i] - K[i, rest] @ coefficients)
    np.testing.assert_allclose(model.left_out_r2_, 1 - missed / np.square(T).sum(axis=0), atol=1e-8)


def test_bandwidth_and_epsilon_are_the_best_of_all_pairs(roll):
    X, Z = (array[:120] for array in roll)
    chosen = KernelExtrapolation("precomputed").fit(X, Z)
    typical = np.median(cdist(X, X)[~np.eye(120, dtype=bool)])
    best = max(
        KernelExtrapolation("precomputed", bandwidth=typical * 2.0**power, epsilon=10.0**exponent)
        .fit(X, Z)
        .left_out_r2_.mean()
        for power in range(-4, 3)
        for exponent in range(-10, 1)
    )
    assert chosen.left_out_r2_.mean() == pytest.approx(best, abs=1e-9)
    ratio = np.log2(chosen.bandwidth_ / typical)
    assert ratio == pytest.approx(round(ratio), abs=1e-6)


def test_the_learner_is_lle_unless_another_is_given(roll, unseen):
    X, _ = roll
    default = KernelExtrapolation().fit(X)
    own = LocallyLinearEmbedding(random_state=0).fit_transform(X)
    found = default.target_ * np.sign((default.target_ * own).sum(axis=0))
    difference = found - own  # ARPACK mixes in some of the constant, which has the eigenvalue 0
    np.testing.assert_allclose(difference - difference.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(difference, 0, atol=1e-3)
    for unit in (2.0**-40, 2.0**40):
        np.testing.assert_array_equal(KernelExtrapolation().fit(X * unit).target_, default.target_)
    isomap = KernelExtrapolation(Isomap(n_neighbors=8)).fit(X)
    assert isomap.left_out_r2_.min() > 0.99
    assert isinstance(isomap.estimator_, Isomap)
    theirs = isomap.estimator_.transform(unseen)
    assert np.square(isomap.transform(unseen) - theirs).sum() < 0.02 * np.square(theirs).sum()


def test_choosing_on_fewer_samples(monkeypatch, roll):
    X, Z = roll
    monkeypatch.setattr("polyfold.kernel.CHOICE_SAMPLES", 150)
    model = KernelExtrapolation("precomputed").fit(X, Z)
    given = KernelExtrapolation("precomputed", bandwidth=model.bandwidth_, epsilon=model.epsilon_)
    np.testing.assert_allclose(model.embedding_, given.fit(X, Z).embedding_, atol=1e-6)
    assert model.coefficients_.shape == (300, 2)


def test_far_samples_tend_to_the_mean(roll):
    X, Z = roll
    model = KernelExtrapolation("precomputed").fit(X, Z)
    np.testing.assert_allclose(model.transform(X[:5] + 1e6), np.tile(Z.mean(axis=0), (5, 1)))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"bandwidth": 0}, '`bandwidth` must be "auto" or a number > 0, got 0'),
        ({"bandwidth": "wide"}, "`bandwidth` must be"),
        ({"epsilon": -1}, '`epsilon` must be "auto" or a finite number >= 0'),
        ({"epsilon": 0}, '`epsilon` must be "auto" or a number >= 1e-14, got 0'),
        ({"estimator": "lle"}, "`estimator` must be"),
    ],
)
def test_parameters_of_the_kernel_are_checked(parameters, match, roll):
    with pytest.raises(ValueError, match=match):
        KernelExtrapolation(**{"estimator": "precomputed", **parameters}).fit(*roll)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200])
def test_the_unit_of_coordinates_does_not_matter(factor, roll, unseen):
    X, Z = roll
    Z = Z / np.abs(Z).max()
    base = KernelExtrapolation("precomputed").fit(X, Z)
    scaled = KernelExtrapolation("precomputed").fit(X, Z * factor)
    np.testing.assert_allclose(scaled.transform(unseen) / factor, base.transform(unseen), rtol=1e-6)
    np.testing.assert_allclose(scaled.left_out_r2_, base.left_out_r2_, atol=1e-9)
    constant = KernelExtrapolation("precomputed").fit(X, np.column_stack([Z[:, 0], np.full(300, 0.1)]))
    np.testing.assert_allclose(constant.transform(unseen)[:, 1], 0.1, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [1e-200, 1e200])
def test_bandwidths_beyond_all_samples(bandwidth, roll):
    X, Z = roll
    model = KernelExtrapolation("precomputed", bandwidth=bandwidth, epsilon=1e-3).fit(X, Z)
    assert np.isfinite(model.transform(X)).all()


def test_a_few_samples():
    for n_samples in (3, 4):
        X = np.random.default_rng(0).normal(size=(n_samples, 3))
        assert KernelExtrapolation().fit(X).embedding_.shape == (n_samples, 2)


@pytest.mark.parametrize("model", [KernelExtrapolation(), NystromExtension(graph="isomap", n_neighbors=8)])
def test_a_fit_that_fails_leaves_the_last_one_whole(model, roll, unseen):
    fitted = clone(model).fit(roll[0])
    before = fitted.transform(unseen)
    with pytest.raises(ValueError, match=r"must be|`estimator`"):
        fitted.set_params(**({"graph": "x"} if hasattr(model, "graph") else {"estimator": "x"})).fit(roll[0][:50])
    with pytest.raises(ValueError, match="minimum of 2"):
        fitted.set_params(**model.get_params()).fit(roll[0][:1])
    np.testing.assert_array_equal(fitted.transform(unseen), before)
    with pytest.raises(NotFittedError):
        clone(model).transform(unseen)


# ------------------------------------------------------------------------------------ Nyström extension


@pytest.mark.parametrize("n_neighbors", [7, 12])
@pytest.mark.parametrize("surface", SURFACES)
def test_isomap_is_extended_as_scikit_learn_does(surface, n_neighbors):
    X, _ = surface(250, random_state=0)
    new, _ = surface(150, random_state=1)
    ours = NystromExtension(graph="isomap", n_neighbors=n_neighbors).fit(X)
    theirs = Isomap(n_neighbors=n_neighbors, eigen_solver="dense").fit(X)
    signs = np.sign(np.einsum("ij,ij->j", ours.embedding_, theirs.embedding_))
    size = np.abs(theirs.embedding_).max()
    np.testing.assert_allclose(ours.embedding_ * signs, theirs.embedding_, atol=1e-8 * size)
    np.testing.assert_allclose(ours.transform(new) * signs, theirs.transform(new), atol=1e-8 * size)


def test_isomap_equals_scikit_learn_in_three_coordinates_of_many_columns():
    rng = np.random.default_rng(0)
    X, new = (rng.normal(size=(size, 3)) @ rng.normal(size=(3, 40)) for size in (200, 100))
    ours = NystromExtension(3, graph="isomap", n_neighbors=8).fit(X)
    theirs = Isomap(n_components=3, n_neighbors=8, eigen_solver="dense").fit(X)
    signs = np.sign(np.einsum("ij,ij->j", ours.embedding_, theirs.embedding_))
    expected = theirs.transform(new)
    np.testing.assert_allclose(ours.transform(new) * signs, expected, atol=1e-8 * np.abs(expected).max())


def test_isomap_against_the_formula_written_out(roll, unseen):
    X, _ = roll
    graph = kneighbors_graph(X, 8, mode="distance")
    geodesic = shortest_path(graph, directed=False)
    J = np.eye(300) - 1 / 300
    eigenvalues, E = eigh(-J @ np.square(geodesic) @ J / 2)
    eigenvalues, E = eigenvalues[::-1][:2], E[:, ::-1][:, :2]
    straight = cdist(unseen, X)
    expected = np.empty((200, 2))
    for row in range(200):
        near = np.argsort(straight[row])[:8]
        reached = np.square((straight[row, near][:, np.newaxis] + geodesic[near]).min(axis=0))
        kernel = -(reached - reached.mean() - np.square(geodesic).mean(axis=0) + np.square(geodesic).mean()) / 2
        expected[row] = kernel @ E / np.sqrt(eigenvalues)
    ours = NystromExtension(graph="isomap", n_neighbors=8).fit(X).transform(unseen)
    signs = np.sign(np.einsum("ij,ij->j", ours, expected))
    np.testing.assert_allclose(ours * signs, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("surface", SURFACES)
def test_lle_applies_the_weights_that_rebuild_a_sample(surface):
    X, _ = surface(250, random_state=0)
    new, _ = surface(60, random_state=1)
    ours = NystromExtension(graph="lle", n_neighbors=9).fit(X)
    own = LocallyLinearEmbedding(n_neighbors=9, random_state=0).fit_transform(X)
    signs = np.sign(np.einsum("ij,ij->j", ours.embedding_, own))
    np.testing.assert_allclose(np.abs(ours.embedding_ * signs - own).max(), 0, atol=1e-4 * np.abs(own).max())
    expected = np.empty((60, 2))
    for row, x in enumerate(new):
        near = np.argsort(np.linalg.norm(X - x, axis=1))[:9]
        G = (X[near] - x) @ (X[near] - x).T
        weights = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(9), np.ones(9))
        expected[row] = weights @ ours.embedding_[near] / weights.sum()
    np.testing.assert_allclose(ours.transform(new), expected, atol=1e-9)


def write_affinity(A, B, radii, reach, bandwidth):
    distances = cdist(A, B)
    halves = (distances <= radii).astype(float) + (distances <= reach[:, np.newaxis])
    return halves / 2 * np.exp(-np.square(distances) / bandwidth)


@pytest.mark.parametrize("surface", SURFACES)
def test_laplacian_averages_neighbours_over_the_eigenvalue(surface):
    X, _ = surface(250, random_state=0)
    new, _ = surface(60, random_state=1)
    k = 9
    ours = NystromExtension(graph="laplacian", n_neighbors=k).fit(X)
    distances = cdist(X, X)
    radii = np.sort(distances, axis=1)[:, k]
    edges = np.sort(distances, axis=1)[:, 1 : k + 1]
    bandwidth = 2 * np.median(np.square(edges))
    W = write_affinity(X, X, radii, radii, bandwidth)
    np.testing.assert_array_equal(W, W.T)
    D = np.diag(W.sum(axis=1))
    eigenvalues, E = eigh(D - W, D)
    np.testing.assert_allclose(ours.eigenvalues_, 1 - eigenvalues[1:3], atol=1e-8)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", ours.embedding_, D @ E[:, 1:3])), 1, atol=1e-8)
    reach = np.sort(cdist(new, X), axis=1)[:, k]
    rows = write_affinity(new, X, radii, reach, bandwidth)
    expected = rows / rows.sum(axis=1, keepdims=True) @ ours.embedding_ / ours.eigenvalues_
    np.testing.assert_allclose(ours.transform(new), expected, atol=1e-10)


@pytest.mark.parametrize("size", [300, 700])
@pytest.mark.parametrize("graph", GRAPHS)
def test_training_samples_keep_their_coordinates(graph, size):
    X, _ = make_swiss_roll(size, random_state=2)
    model = NystromExtension(graph=graph, n_neighbors=10).fit(X)
    own = model._weights * model.eigenvalues_ / (model._frame.scale if graph == "isomap" else 1)
    np.testing.assert_allclose(model.transform(X), own, atol=1e-9 * np.abs(own).max())
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    moved = X + 1e-6 * np.random.default_rng(0).normal(size=X.shape)
    spread = model.embedding_.std(axis=0)
    limit = (
        1e-3 if graph == "isomap" else 0.2
    )  # next to a sample, weights are not quite one, neighbours not quite its own
    assert (np.abs(model.transform(moved) - model.embedding_) < limit * spread).all()


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_unit_and_the_type_of_samples(graph, roll, unseen):
    X, _ = roll
    model = NystromExtension(graph=graph, n_neighbors=10)
    base = model.fit(X).transform(unseen)
    for factor in (1e-150, 1e150):
        unit = factor if graph == "isomap" else 1.0
        scaled = clone(model).fit(X * factor).transform(unseen * factor) / unit
        np.testing.assert_allclose(scaled, base, atol=1e-6 * np.abs(base).max())
    single = clone(model).fit(X.astype(np.float32))
    assert single.transform(unseen.astype(np.float32)).dtype == np.float32
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    named = clone(model).set_output(transform="pandas").fit(frame)
    assert list(named.transform(frame).columns) == ["nystromextension0", "nystromextension1"]


@pytest.mark.parametrize("graph", ["laplacian", "isomap"])
def test_far_samples_have_coordinates(graph, roll):
    placed = NystromExtension(graph=graph, n_neighbors=10).fit(roll[0]).transform(roll[0][:5] + 1e6)
    assert np.isfinite(placed).all()


@pytest.mark.parametrize("graph", GRAPHS)
def test_samples_beyond_range_are_told(graph, roll):
    model = NystromExtension(graph=graph, n_neighbors=10).fit(roll[0])
    far = np.vstack([roll[0][:1], np.full((1, 3), 1e308)])
    with pytest.raises(ValueError, match="Row 1 of X is finite but so far from the training samples"):
        model.transform(far)


@pytest.mark.parametrize("graph", GRAPHS)
def test_huge_samples(graph, roll):
    fitted = NystromExtension(graph=graph, n_neighbors=10).fit(roll[0] * 1e200)
    assert np.isfinite(fitted.embedding_).all()


@pytest.mark.parametrize("graph", GRAPHS)
def test_pieces_are_warned_of(graph):
    X, _ = make_blobs(200, 3, centers=4, cluster_std=0.1, random_state=0)
    with pytest.warns(UserWarning, match="4 connected components.*Raise `n_neighbors` above 5"):
        NystromExtension(graph=graph, n_neighbors=5).fit(X)


@pytest.mark.filterwarnings("ignore:The neighbour graph has:UserWarning")
def test_duplicates_are_one_sample_to_lle():
    X = np.repeat(make_swiss_roll(120, random_state=1)[0], 2, axis=0)
    model = NystromExtension(graph="lle", n_neighbors=12).fit(X)
    own = model._weights.reshape(120, 2, 2)
    np.testing.assert_allclose(model.transform(X)[::2], own.mean(axis=1), atol=1e-9)
    many = np.repeat(X[::2], 5, axis=0)  # neighbours all alike: the quick eigensolver gives up
    assert np.isfinite(NystromExtension(graph="lle", n_neighbors=4).fit(many).embedding_).all()


def test_the_same_coordinates_in_every_run():
    X, _ = make_swiss_roll(400, random_state=0)
    first, second = (NystromExtension(graph="lle", n_neighbors=10).fit(X).embedding_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"graph": "ltsa"}, "`graph` must be one of 'isomap', 'laplacian', 'lle', got 'ltsa'"),
        ({"n_components": 0}, "`n_components` must be an integer >= 1"),
        ({"n_components": 300, "graph": "isomap"}, "must be below the number of samples"),
        ({"n_components": 4}, "at most the number of columns"),
        ({"n_neighbors": 300}, "below the number of samples"),
    ],
)
def test_parameters_of_the_extension_are_checked(parameters, match, roll):
    with pytest.raises(ValueError, match=match):
        NystromExtension(**parameters).fit(roll[0])


@pytest.mark.parametrize("model", [KernelExtrapolation(), *(NystromExtension(graph=graph) for graph in GRAPHS)])
def test_equal_samples_are_refused(model):
    with pytest.raises(ValueError, match="All samples of X are equal"):
        model.fit(np.ones((30, 3)))


@pytest.mark.parametrize("model", [KernelExtrapolation(), *(NystromExtension(graph=graph) for graph in GRAPHS)])
def test_new_samples_are_checked(model, roll):
    fitted = model.fit(roll[0])
    with pytest.raises(ValueError, match="NaN"):
        fitted.transform(np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="2 features"):
        fitted.transform(np.ones((2, 2)))
    assert 0 < fitted.score(roll[0]) <= 1


@pytest.mark.parametrize("graph", ["laplacian", "isomap"])
def test_samples_of_a_few_denormals(graph):
    whole = np.round(5 * np.random.default_rng(0).normal(size=(60, 2)))
    found = NystromExtension(1, graph=graph, n_neighbors=8).fit(whole * 5e-324).embedding_
    expected = NystromExtension(1, graph=graph, n_neighbors=8).fit(whole).embedding_
    # The samples themselves are rounded, and so are Isomap's coordinates, which are as long.
    assert np.abs(np.corrcoef(found[:, 0] / np.abs(found).max(), expected[:, 0])[0, 1]) > 0.98


def test_coordinates_larger_than_those_of_the_samples():
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    with pytest.raises(ValueError, match=r"coordinates are too large for float32\. Divide X, or what is followed"):
        KernelExtrapolation("precomputed").fit(X, 1e200 * X.astype(float))
