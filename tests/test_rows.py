"""Fits in blocks, in this process: as in memory where neighbours are the same, and against an oracle elsewhere."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from polyfold import LPP, NPPE, SNPPE, PolynomialEmbedding, PolynomialMap
from polyfold._draw import draw_rows
from polyfold._graph import NeighborGraph
from polyfold._rows import HeldRows, choose_chunk_rows
from polyfold._streaming import fit_rows
from polyfold._survey import choose_reference_size
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance
from polyfold.objectives import OBJECTIVES

LOCAL = tuple(OBJECTIVES)


def make_sheet(n_samples, seed, n_columns=12):
    """A curved sheet in many columns, with noise off it."""
    X, _ = make_swiss_roll(n_samples, random_state=seed)
    random = np.random.default_rng(7)
    noise = np.random.default_rng(seed).normal(size=(n_samples, n_columns))
    return np.tanh(X / 10 @ random.normal(size=(3, n_columns))) + 0.05 * noise


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 97 rows, and parts of them of a few."""
    monkeypatch.setattr("polyfold._rows.choose_chunk_rows", lambda n_columns: 97)
    monkeypatch.setattr("polyfold._reference.BLOCK_BYTES", 2**13)


def angle(Y, Z):
    """Return the largest principal angle between the spans of coordinates, means aside."""
    return subspace_angles(Y - Y.mean(axis=0), Z - Z.mean(axis=0)).max()


def visit(X, embedding):
    return fit_rows(HeldRows(X, embedding.n_jobs, 0), embedding._check_parameters()).learned


@pytest.mark.parametrize("graph", LOCAL)
@pytest.mark.parametrize("columns", [3, 12])
def test_blocks_give_the_map_of_memory(graph, columns, small_blocks):
    X = make_swiss_roll(500, random_state=3)[0] if columns == 3 else make_sheet(500, 3)
    embedding = PolynomialEmbedding(
        n_components=2 if columns == 3 else 3, graph=graph, n_neighbors=12, fit_inverse_transform=True
    )
    held = embedding.fit(X)
    learned = visit(X, embedding)
    Y = held.embedding_
    np.testing.assert_allclose(learned.transform(X), Y, atol=1e-8 * np.abs(Y).max())
    np.testing.assert_allclose(learned.extrapolation(X), held.map_.extrapolation(X), rtol=1e-6)
    np.testing.assert_allclose(learned.inverse(Y), held.inverse_transform(Y), atol=1e-6)
    np.testing.assert_array_equal(learned.domain.ranges, held.map_.domain.ranges)


@pytest.mark.parametrize(
    "embedding",
    [
        PolynomialEmbedding(reduce=5, degree=3, n_neighbors=15),
        PolynomialEmbedding(reduce=0.9, alpha=0, n_neighbors=15),
        PolynomialEmbedding(reduce=None, alpha=1e-3, n_neighbors=15, coordinates="smallest"),
        PolynomialEmbedding(center=False, n_neighbors=15),
        PolynomialEmbedding(constraint="orthogonal", n_neighbors=15),
        SNPPE(n_neighbors=15),
        LPP(n_neighbors=15),
    ],
    ids=["axes", "fraction", "columns", "uncentred", "orthogonal", "powers", "linear"],
)
def test_every_setting_in_blocks(embedding, small_blocks):
    X = make_sheet(400, 5)
    Y = embedding.fit(X).embedding_
    np.testing.assert_allclose(visit(X, embedding).transform(X), Y, atol=1e-8 * np.abs(Y).max())


def test_more_columns_than_products_are_held_of(small_blocks, monkeypatch):
    """Then axes are those of a sample, here of all."""
    monkeypatch.setattr("polyfold._frame.EXACT_SIZE", 10)
    X = make_sheet(400, 5)
    embedding = NPPE(reduce=4, n_neighbors=15)
    monkeypatch.setattr("polyfold._draw.LEAST_SAMPLE_ROWS", 400)
    Y = embedding.fit(X).embedding_
    np.testing.assert_allclose(visit(X, embedding).transform(X), Y, atol=1e-7 * np.abs(Y).max())


@pytest.mark.parametrize("case", ["integers", "one decimal", "digits"])
def test_ties_break_alike_however_samples_are_summed(case, small_blocks):
    """On a grid many samples are equally near: units that differ by a bit would choose others."""
    X = make_swiss_roll(900, random_state=0)[0]
    X = {"integers": np.round(X), "one decimal": np.round(X, 1), "digits": load_digits().data[:900]}[case]
    embedding = NPPE(n_neighbors=10, alpha=1e-3, reduce=8 if case == "digits" else "auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of duplicates
        Y = embedding.fit(X).embedding_
    np.testing.assert_allclose(visit(X, embedding).transform(X), Y, atol=1e-9 * np.abs(Y).max())


@pytest.mark.parametrize("graph", ["laplacian", "mlle", "diffusion"])
def test_what_is_known_beforehand_is_found_from_the_same_samples(graph, small_blocks, monkeypatch):
    monkeypatch.setattr("polyfold._neighborhoods.PROBES", 100)
    X = make_swiss_roll(700, random_state=0)[0]
    embedding = PolynomialEmbedding(graph=graph, n_neighbors=10)
    Y = embedding.fit(X).embedding_
    np.testing.assert_allclose(visit(X, embedding).transform(X), Y, atol=1e-8 * np.abs(Y).max())


def test_a_constant_column_of_any_size_is_no_axis():
    X = make_sheet(300, 0)
    wide = np.column_stack([np.full(300, 1.7e12 + 0.123), X * 1e-3])
    fitted = NPPE(n_neighbors=10, reduce=3).fit(wide)
    assert np.abs(fitted.map_.axes[0]).max() < 1e-15
    assert residual_variance(fitted.embedding_, NPPE(n_neighbors=10, reduce=3).fit(X).embedding_) < 1e-9


def test_isomap_in_blocks_is_that_of_landmarks_in_memory(small_blocks, monkeypatch):
    monkeypatch.setattr("polyfold._global.EXACT_SIZE", 100)
    monkeypatch.setattr("polyfold.objectives.isomap.N_LANDMARKS", 80)
    X = make_swiss_roll(600, random_state=1)[0]
    for graph, settings in (
        ("isomap", {}),
        ("isomap", {"center": False}),
        ("isomap_mutual", {"constraint": "orthogonal"}),
    ):
        embedding = PolynomialEmbedding(graph=graph, n_neighbors=10, degree=3, **settings)
        held = embedding.fit(X)
        Y = held.embedding_
        fitted = fit_rows(HeldRows(X, None, 0), embedding._check_parameters())
        np.testing.assert_allclose(fitted.learned.transform(X), Y, atol=1e-8 * np.abs(Y).max())
        curve = np.column_stack([fitted.solution.curve.alphas, fitted.solution.curve.objectives])
        np.testing.assert_allclose(curve, held.diagnostics_.alpha_curve, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The neighbour graph has")
@pytest.mark.parametrize("seed", range(3))
def test_isomap_by_a_reference_set_unrolls(seed):
    X, Z = make_swiss_roll(6000, random_state=seed)
    embedding = PolynomialEmbedding(graph="isomap", n_neighbors=8, degree=3, reference_size=1500).fit(X)
    assert residual_variance(embedding.embedding_, Z) < 0.05
    assert embedding.diagnostics_.n_reference == 1500


def relate_to(name, X, reference, k, n_components=2):
    """Return (L, D) of all samples, all at once, neighbours among `reference` found by scikit-learn."""
    objective = OBJECTIVES[name]
    index = NearestNeighbors(n_neighbors=k + 1).fit(X[reference])
    found = reference[index.kneighbors(X, return_distance=False)]
    neighbors = np.array([[j for j in row if j != i][:k] for i, row in enumerate(found.tolist())])
    among = NearestNeighbors(n_neighbors=k + 1).fit(X[reference]).kneighbors(X[reference], return_distance=False)
    among = np.array([[j for j in row if j != i][:k] for i, row in enumerate(among.tolist())])
    statistics = objective.prepare(
        X[reference], np.arange(len(reference)), among, n_components, n_jobs=None, verbose=0
    )
    if "density" in statistics:  # of samples that are nobody's neighbours by what they give
        squares = np.square(X[neighbors] - X[:, np.newaxis]).sum(axis=2)
        density = 1 + np.exp(-squares / statistics["bandwidth"]).sum(axis=1)
        density[reference] = statistics["density"]
        statistics = statistics | {"density": density}
    graph = NeighborGraph(neighbors, X, np.ones(len(X)), lambda patch: objective.build(patch, **statistics))
    L, counted, weights, _ = graph.write(np.arange(len(X)))
    D = np.zeros(len(X))
    np.add.at(D, counted, weights)
    return csr_array(L.to_csr()), D


#: A sample that is nobody's neighbour is in no equation of these two, and in the given graph stands alone.
ALONE = pytest.mark.filterwarnings("ignore:The neighbour graph has:UserWarning")


@ALONE
@pytest.mark.parametrize("graph", LOCAL)
def test_neighbours_among_a_reference_set(graph, small_blocks):
    """The same equations given as they are, in memory, give the same map."""
    X = make_swiss_roll(600, random_state=2)[0]
    settings = {"n_neighbors": 10, "alpha": 0, "coordinates": "smallest"}
    fitted = PolynomialEmbedding(graph=graph, reference_size=200, **settings).fit(X)
    drawn = draw_rows(600, 200)
    given = PolynomialEmbedding(graph=lambda samples: relate_to(graph, X, drawn, 10), **settings).fit(X)
    assert angle(fitted.embedding_, given.embedding_) < 1e-8
    np.testing.assert_allclose(fitted.eigenvalues_, given.eigenvalues_, rtol=1e-6)
    assert fitted.diagnostics_.n_reference == 200
    assert "among 200 of the samples" in repr(fitted.diagnostics_)


@ALONE
@pytest.mark.parametrize("graph", LOCAL)
def test_a_stream_gives_the_map_of_its_first_batch_as_reference(graph):
    X = make_swiss_roll(600, random_state=4)[0]
    settings = {"n_neighbors": 10, "alpha": 0, "coordinates": "smallest"}
    stream = PolynomialEmbedding(graph=graph, **settings)
    for rows in (slice(0, 250), slice(250, 251), slice(251, 600)):
        stream.partial_fit(X[rows])
    first = np.arange(250)
    given = PolynomialEmbedding(graph=lambda samples: relate_to(graph, X, first, 10), **settings).fit(X)
    assert angle(stream.transform(X), given.embedding_) < 1e-8
    np.testing.assert_allclose(np.abs(stream.eigenvalues_ / given.eigenvalues_), 1, rtol=1e-6)
    assert stream.diagnostics_.n_samples == 600
    np.testing.assert_array_equal(stream.embedding_, stream.transform(X[251:]))
    np.testing.assert_array_equal(stream.map_.domain.ranges, [X.min(axis=0), X.max(axis=0)])
    np.testing.assert_allclose(stream.map_.domain.center, X.mean(axis=0), atol=1e-12)


def test_a_stream_of_one_batch_is_a_fit():
    X = make_sheet(400, 1)
    embedding = PolynomialEmbedding(n_neighbors=15, fit_inverse_transform=True)
    Y = embedding.fit(X).embedding_
    np.testing.assert_allclose(clone(embedding).partial_fit(X).embedding_, Y, atol=1e-9 * np.abs(Y).max())


def test_a_stream_does_not_depend_on_how_later_batches_are_cut():
    X = make_sheet(600, 2)
    maps = []
    for ends in ([300, 600], [300, 301, 420, 600], [300, 450, 455, 600]):
        embedding, start = NPPE(n_neighbors=12), 0
        for end in ends:
            embedding.partial_fit(X[start:end])
            start = end
        maps.append(embedding.map_.transform(X))
    for other in maps[1:]:
        np.testing.assert_allclose(other, maps[0], atol=1e-9 * np.abs(maps[0]).max())


def test_streams_begin_anew_with_fit_and_survive_pickling():
    X = make_sheet(500, 3)
    embedding = NPPE(n_neighbors=12).partial_fit(X[:300])
    twin = pickle.loads(pickle.dumps(embedding))
    Y = embedding.partial_fit(X[300:]).transform(X)
    np.testing.assert_allclose(twin.partial_fit(X[300:]).transform(X), Y, atol=1e-9 * np.abs(Y).max())
    assert embedding.fit(X[:200]).partial_fit(X).diagnostics_.n_samples == 500
    loaded = PolynomialMap.from_json(twin.map_.to_json())
    np.testing.assert_allclose(loaded.transform(X), Y, atol=1e-9 * np.abs(Y).max())


def test_a_stream_that_cannot_be():
    X = make_sheet(100, 3)
    assert not hasattr(PolynomialEmbedding(graph="isomap"), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = PolynomialEmbedding(graph="isomap_mutual").partial_fit
    with pytest.raises(ValueError, match="takes `graph` by its name"):
        PolynomialEmbedding(graph=np.ones((100, 100))).partial_fit(X)
    with pytest.raises(ValueError, match="finds neighbours by itself"):
        NPPE(neighbors=KNeighborsTransformer()).partial_fit(X)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        NPPE().partial_fit(X[:1])
    embedding = NPPE(n_neighbors=12).partial_fit(X)
    before = embedding.map_.to_json()
    with pytest.raises(ValueError, match="features"):
        embedding.partial_fit(X[:, :5])
    with pytest.raises(ValueError, match="NaN"):
        embedding.partial_fit(np.full((3, 12), np.nan))
    assert embedding.map_.to_json() == before
    with pytest.raises(ValueError, match="in the middle of a stream: n_components, alpha"):
        embedding.set_params(n_components=1, alpha=0.5).partial_fit(X)
    embedding.set_params(n_components=2, alpha="auto", verbose=0, n_jobs=2)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        embedding.fit(X[:1])  # which leaves the stream as it is
    assert embedding.partial_fit(X[:1]).diagnostics_.n_samples == 101


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_batches", [2, 20])
def test_a_sorted_stream_is_warned_of(n_batches, seed):
    """Neighbours are looked for in the first batch, which shows a part of the whole."""
    X = make_swiss_roll(2000, random_state=seed)[0]
    stream = NPPE(n_neighbors=10)
    for batch in np.array_split(X, n_batches):
        stream.partial_fit(batch)
    assert stream.diagnostics_.outside_share < 0.02
    ordered = np.array_split(X[np.argsort(X[:, 1])], n_batches)
    with pytest.warns(UserWarning, match="lie well outside of it, and neighbours are looked for in it alone"):
        sorted_stream = NPPE(n_neighbors=10).partial_fit(ordered[0]).partial_fit(ordered[-1])
    assert sorted_stream.diagnostics_.outside_share > 0.3
    assert np.isnan(NPPE(n_neighbors=10).fit(X).diagnostics_.outside_share)


@pytest.mark.parametrize("n_columns", [3, 12, 40])
def test_a_small_first_batch_like_the_rest_is_not(n_columns):
    for seed in range(5):
        X = make_sheet(600, seed, n_columns)
        stream = NPPE(n_neighbors=12).partial_fit(X[:60]).partial_fit(X[60:])
        assert stream.diagnostics_.outside_share < 0.05


def test_a_first_batch_that_fails_leaves_a_fit_as_it_is():
    X = make_sheet(100, 3)
    embedding = NPPE(n_neighbors=12).fit(X)
    with pytest.raises(ValueError, match="`n_neighbors` must be below"):
        embedding.partial_fit(np.random.default_rng(0).normal(size=(5, 7)))
    assert embedding.n_features_in_ == 12
    np.testing.assert_array_equal(embedding.transform(X), embedding.embedding_)


def test_warnings_that_are_errors_come_last():
    X = np.concatenate([make_sheet(60, 3), make_sheet(60, 4) + 100])
    embedding = NPPE(n_neighbors=5)
    with pytest.raises(UserWarning, match="connected components"):
        embedding.partial_fit(X)
    assert embedding.embedding_.shape == (120, 2)
    with pytest.raises(UserWarning, match="connected components"):
        embedding.partial_fit(X)
    assert embedding.diagnostics_.n_samples == 240


@pytest.mark.parametrize("n_columns", [3, 20])
def test_a_stream_with_a_sample_far_out(n_columns):
    X = make_sheet(1500, 0, n_columns)
    embedding = NPPE(n_neighbors=10, neighbors="approx").partial_fit(X * 1e-10)
    with pytest.raises(ValueError, match=r"lies so far|Powers of the data overflow"):
        embedding.partial_fit(np.full((1, n_columns), 1e300))
    with pytest.raises(ValueError, match=r"lies so far|Powers of the data overflow"):
        embedding.partial_fit(np.full((1, n_columns), 1e100))
    assert embedding.diagnostics_.n_samples == 1500


@pytest.mark.parametrize("size", [0, 1, -5, 2.5, "all", True, None])
def test_wrong_reference_size(size):
    with pytest.raises(ValueError, match="`reference_size` must be"):
        NPPE(reference_size=size).fit(make_sheet(50, 0))


def test_reference_sets_that_cannot_be():
    X = make_sheet(100, 0)
    with pytest.raises(ValueError, match="`reference_size` must be above the number of neighbours, got 8"):
        NPPE(n_neighbors=10, reference_size=8).fit(X)
    with pytest.raises(ValueError, match="no `sample_weight`"):
        NPPE(n_neighbors=10, reference_size=50).fit(X, sample_weight=np.ones(100))
    with pytest.raises(TypeError, match=r"`reference_size`\) takes no sparse X"):
        NPPE(n_neighbors=10, reference_size=50).fit(csr_array(X))
    with pytest.raises(ValueError, match="takes `graph` by its name"):
        PolynomialEmbedding(graph=csr_array(np.ones((100, 100))), reference_size=50).fit(X)
    with pytest.raises(NotFittedError):
        NPPE(reference_size=50).transform(X)
    Y = NPPE(n_neighbors=10).fit(X).embedding_
    for size in (100, 10**9, 10**20):  # all samples: exact
        np.testing.assert_array_equal(NPPE(n_neighbors=10, reference_size=size).fit(X).embedding_, Y)


def test_reference_sets_are_bounded():
    assert choose_reference_size(None, 3, geodesic=False) == 10**6
    assert choose_reference_size(None, 64, geodesic=False) == 2**17
    assert choose_reference_size(None, 784, geodesic=False) == 50_000
    assert choose_reference_size(None, 3, geodesic=True) == 20_000
    assert choose_reference_size(77, 784, geodesic=True) == 77
    assert (choose_chunk_rows(3), choose_chunk_rows(256), choose_chunk_rows(10_000)) == (2**22 // 24, 10_000, 838)


def test_a_larger_reference_set_comes_closer_to_all():
    """On every seed, over sizes that grow fourfold."""
    for seed in range(3):
        X = make_swiss_roll(4000, random_state=seed)[0]
        exact = NPPE(n_neighbors=10).fit(X).embedding_
        angles = [
            angle(NPPE(n_neighbors=10, reference_size=size).fit(X).embedding_, exact) for size in (250, 1000, 3999)
        ]
        assert angles[0] > angles[2]
        assert angles[1] < 0.05
        assert angles[2] < 0.01


def test_large_memory_maps_are_visited_in_blocks(tmp_path, monkeypatch, small_blocks):
    X = make_sheet(500, 6).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    held = NPPE(n_neighbors=12).fit(mapped)
    monkeypatch.setattr("polyfold._rows.LARGE_MAP_BYTES", 1000)
    visited = NPPE(n_neighbors=12, n_jobs=2).fit(mapped)
    Y = held.embedding_
    np.testing.assert_allclose(visited.embedding_, Y, atol=1e-5 * np.abs(Y).max())
    assert visited.embedding_.dtype == np.float32
    np.save(tmp_path / "bytes.npy", (X * 20).astype(np.int8))
    small = np.load(tmp_path / "bytes.npy", mmap_mode="r")
    fitted = NPPE(n_neighbors=12).fit(small)
    np.testing.assert_array_equal(fitted.embedding_, fitted.transform(np.asarray(small)))
    with pytest.raises(ValueError, match="expecting 12 features"):
        fitted.transform(np.load(tmp_path / "X.npy", mmap_mode="r")[:, :5])
    bad = X.copy()
    bad[321, 2] = np.inf
    np.save(tmp_path / "bad.npy", bad)
    with pytest.raises(ValueError, match="NaN or infinity in row 321"):
        NPPE().fit(np.load(tmp_path / "bad.npy", mmap_mode="r"))


def test_threads_change_no_bit_of_a_fit_in_blocks(small_blocks):
    X = make_sheet(500, 8)
    one, two = (
        NPPE(n_neighbors=12, reference_size=300, n_jobs=n_jobs).fit(X).map_.to_json() for n_jobs in (None, 2)
    )
    assert one.replace('"n_jobs":null', "") == two.replace('"n_jobs":2', "")
