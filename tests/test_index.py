"""Searches and compiled steps of `fit`, against SciPy, scikit-learn and dense algebra."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from local_equations import build_graph
from polyfold import NPPE, PolynomialEmbedding, _gram, _index
from polyfold._basis import build_basis
from polyfold._blocks import map_blocks, renumber, row_slices
from polyfold._conditioning import condition_basis
from polyfold._eigen import fix_signs
from polyfold._gram import build_gram_folds
from polyfold._index import (
    CellIndex,
    TableIndex,
    TreeIndex,
    build_index,
    choose_search,
    find_others,
    measure_recall,
)
from polyfold._neighbors import count_components, count_duplicates, find_exact_neighbors
from polyfold.datasets import make_swiss_roll
from polyfold.objectives import OBJECTIVES
from polyfold.objectives.equations.patch import LocalRows
from polyfold.objectives.lle import solve_weights

DIGITS = load_digits().data


def find_by_sklearn(X, k):
    distances, found = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors()
    return distances, found


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(("n_samples", "n_columns", "k"), [(50, 1, 3), (400, 3, 10), (300, 15, 20), (300, 16, 7)])
def test_exact_search_is_exact(n_samples, n_columns, k, n_jobs):
    X = np.random.default_rng(0).normal(size=(n_samples, n_columns)) + 100
    np.testing.assert_array_equal(find_exact_neighbors(X, k, n_jobs=n_jobs, verbose=0), find_by_sklearn(X, k)[1])
    assert isinstance(build_index(X, n_jobs=n_jobs), TreeIndex if n_columns <= 15 else TableIndex)


@pytest.mark.parametrize("n_columns", [2, 20])
def test_among_duplicates_a_sample_is_not_its_own_neighbour(n_columns):
    X = np.zeros((40, n_columns))
    X[30:] = np.random.default_rng(0).normal(size=(10, n_columns))
    neighbors = find_exact_neighbors(X, 5, n_jobs=None, verbose=0)
    assert not (neighbors == np.arange(40)[:, np.newaxis]).any()
    assert all(len(set(row)) == 5 for row in neighbors.tolist())
    assert (neighbors[:30] < 30).all()


@pytest.mark.parametrize("n_columns", [3, 40])
def test_approximate_search_finds_nearly_all(n_columns):
    random = np.random.default_rng(1)
    X = np.tanh(random.normal(size=(4000, 3)) @ random.normal(size=(3, n_columns)))
    index = build_index(X, n_jobs=2, search="approx")
    assert isinstance(index, TreeIndex if n_columns == 3 else CellIndex)
    found = find_others(index, X, 10, np.arange(len(X)), verbose=0)
    exact = find_by_sklearn(X, 10)[1]
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found.tolist(), exact.tolist(), strict=True)])
    assert recall > 0.97
    some = np.arange(0, len(X), 10)
    assert measure_recall(X, some, found[some], n_jobs=None) == pytest.approx(recall, abs=0.02)
    assert measure_recall(X, some, np.roll(found, 1, axis=0)[some], n_jobs=None) < 0.2


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_approximate_search_repeats_bit_for_bit(n_jobs):
    first = build_index(DIGITS, n_jobs=1, search="approx")
    again = build_index(DIGITS, n_jobs=n_jobs, search="approx")
    found = [find_others(index, DIGITS, 10, np.arange(len(DIGITS)), verbose=0) for index in (first, again)]
    np.testing.assert_array_equal(*found)


def test_more_cells_are_looked_at_where_these_hold_too_few(monkeypatch):
    monkeypatch.setattr(_index, "PROBES", 1)
    index = build_index(DIGITS, n_jobs=None, search="approx")
    found = find_others(index, DIGITS, 400, np.arange(len(DIGITS)), verbose=0)
    assert found.min() >= 0
    assert all(len(set(row)) == 400 for row in found[::100].tolist())


def test_the_search_is_chosen_by_size_and_by_what_is_installed(monkeypatch):
    assert choose_search("auto", 10**6, 3) == choose_search("approx", 10**6, 3) == "exact"
    assert choose_search("auto", 19_999, 16) == choose_search("exact", 10**6, 16) == "exact"
    assert choose_search("auto", 20_000, 16) == choose_search("approx", 1000, 16) == "approx"
    assert choose_search("approx", 999, 16) == "exact"
    monkeypatch.setattr(_index, "find_spec", lambda name: None)
    assert choose_search("auto", 10**6, 16) == "exact"
    with pytest.raises(ImportError, match=r'pip install "polyfold\[neighbors\]"'):
        choose_search("approx", 10**6, 16)


def test_a_fit_tells_how_neighbours_were_found():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = NPPE(reduce=20, neighbors="exact").fit(DIGITS).diagnostics_
        approximate = NPPE(reduce=20, neighbors="approx").fit(DIGITS).diagnostics_
    assert (exact.search, exact.recall) == ("exact", 1.0)
    assert approximate.search == "approx"
    assert 0.9 < approximate.recall <= 1
    assert f"{approximate.recall:.1%} of the nearest found" in repr(approximate)


def test_a_poor_recall_is_warned_about(monkeypatch):
    monkeypatch.setattr(_index, "PROBES", 1)
    with pytest.warns(UserWarning, match="approximate search found only"):
        model = NPPE(n_neighbors=30, reduce=20, neighbors="approx").fit(DIGITS)
    assert model.diagnostics_.recall < 0.9


@pytest.mark.parametrize("graph", ["lle", "laplacian", "isomap"])
def test_threads_change_no_bit_of_a_fit(graph):
    X, _ = make_swiss_roll(1500, random_state=0)
    settings = {"graph": graph, "n_neighbors": 10, "degree": 3}
    maps = [PolynomialEmbedding(n_jobs=n_jobs, **settings).fit(X).map_ for n_jobs in (1, 2, 4)]
    for other in maps[1:]:
        np.testing.assert_array_equal(other.coefficients, maps[0].coefficients)
        np.testing.assert_array_equal(other.offset, maps[0].offset)


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_components_are_scipys(k, mutual):
    for seed in range(20):
        neighbors = np.random.default_rng(seed).integers(0, 120, size=(120, k))
        edges = np.zeros((120, 120), dtype=bool)
        edges[np.repeat(np.arange(120), k), neighbors.ravel()] = True
        edges = edges & edges.T if mutual else edges
        expected = connected_components(csr_array(edges), directed=False, return_labels=False)
        assert count_components(neighbors, mutual=mutual) == expected


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_duplicates_are_numpys(dtype):
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(500, 4)).astype(dtype)
    X[random.random(X.shape) < 0.3] *= -1  # zeros of both signs are equal
    assert count_duplicates(X) == len(X) - len(np.unique(X + 0.0, axis=0))
    assert count_duplicates(random.normal(size=(500, 4))) == 0


@pytest.mark.parametrize(("n_columns", "k"), [(1, 5), (3, 10), (9, 10), (10, 10), (11, 10), (60, 8)])
def test_weights_are_those_of_the_dense_system(n_columns, k):
    random = np.random.default_rng(0)
    X = random.normal(size=(100, n_columns))
    X[:k] = X[0]  # one point has neighbours that are all alike
    neighbors = np.argsort(random.random((100, 100)), axis=1)[:, :k]
    neighbors[0] = np.arange(k)
    weights = solve_weights(X, X, neighbors)
    for i in range(100):
        Z = X[neighbors[i]] - X[i]
        G = Z @ Z.T
        trace = np.trace(G)
        G = G / trace + 1e-3 * np.eye(k) if trace > 0 else np.eye(k)
        expected = np.linalg.solve(G, np.ones(k))
        np.testing.assert_allclose(weights[i], expected / expected.sum(), atol=1e-11)


@pytest.mark.parametrize("scale", [1e-300, 1e-162, 1e-157, 1e-80, 1e80, 1e150])
@pytest.mark.parametrize("n_columns", [2, 8])
def test_weights_do_not_depend_on_the_unit(n_columns, scale):
    X = np.random.default_rng(0).normal(size=(6, n_columns))
    around = np.arange(1, 6)[np.newaxis]
    np.testing.assert_allclose(
        solve_weights(X[:1] * scale, X * scale, around), solve_weights(X[:1], X, around), rtol=1e-10
    )


@pytest.mark.parametrize("n_features", [1, 3, 4, 7, 9, 24, 25, 40])
def test_local_rows_are_a_sparse_matrix(n_features):
    random = np.random.default_rng(0)
    rows = LocalRows(random.integers(0, 50, size=(30, 4)), random.normal(size=(30, 4)), 50)
    Q = random.normal(size=(50, n_features))
    np.testing.assert_allclose(rows @ Q, rows.to_csr() @ Q, atol=1e-14)
    members, restricted = rows.restrict()
    np.testing.assert_allclose(restricted @ Q[members], rows @ Q, atol=1e-14)
    assert restricted.shape == (30, len(members))
    assert rows.shape == (30, 50)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_the_longer_tail_is_positive(dtype, scale):
    for seed in range(20):
        Y = np.random.default_rng(seed).gamma(1.0, size=(300, 3)) - 1
        signs = np.array([1, -1, 1])
        given = (scale * Y * signs).astype(dtype)
        assert np.array_equal(fix_signs(given), signs)
        assert fix_signs(given).dtype == dtype


def test_of_equal_tails_the_first_of_the_farthest_is_positive():
    half = np.random.default_rng(0).normal(size=(200, 2))
    Y = np.vstack([half, -half])
    farthest = np.abs(half).argmax(axis=0)
    assert np.array_equal(fix_signs(Y), np.sign(half[farthest, [0, 1]]))
    assert np.array_equal(fix_signs(-Y), -fix_signs(Y))
    # A millionth apart counts as equal: the order of the rows decides, not rounding.
    assert fix_signs(np.array([[-1.0], [1 + 1e-9], [-0.5], [0.5]])) == -1
    assert np.array_equal(fix_signs(np.zeros((5, 1))), [1])


@pytest.mark.parametrize("n_folds", [1, 2, 5, 10, 300])
def test_a_sample_is_in_the_fold_of_its_number(n_folds):
    numbers = np.random.default_rng(n_folds).permutation(300) % n_folds
    parts = _gram.split_by_fold(numbers.astype(np.min_scalar_type(n_folds)), n_folds)
    assert len(parts) == n_folds
    for fold, rows in enumerate(parts):
        assert np.array_equal(rows, np.flatnonzero(numbers == fold))


def test_samples_are_numbered_as_they_come():
    members, positions = renumber(np.array([7, 3, 7, 0, 3]), 9)
    np.testing.assert_array_equal(members, [7, 3, 0])
    np.testing.assert_array_equal(positions, [0, 1, 0, 2, 1])


@pytest.mark.parametrize("graph", OBJECTIVES)
def test_features_held_or_made_anew_give_the_same_pair(graph, monkeypatch):
    X, _ = make_swiss_roll(500, random_state=0)
    X = (X - X.mean(axis=0)) / 10
    basis = condition_basis(build_basis("kronecker", 3, 2), X, center=True, n_jobs=None, verbose=0)
    held = build_gram_folds(build_graph(graph, X, 10), X, basis, n_jobs=None, verbose=0)
    monkeypatch.setattr(_gram, "HELD_BYTES", 0)
    monkeypatch.setattr(_gram, "BLOCK_BYTES", 2**14)  # and many blocks
    made = build_gram_folds(build_graph(graph, X, 10), X, basis, n_jobs=2, verbose=0)
    for a, b in zip(held, made, strict=True):
        np.testing.assert_allclose(a.A, b.A, atol=1e-12 * np.abs(a.A).max())
        np.testing.assert_allclose(a.B, b.B, atol=1e-12 * np.abs(a.B).max())
        np.testing.assert_allclose(a.feature_sum, b.feature_sum, atol=1e-12)
        assert a.weight_sum == pytest.approx(b.weight_sum)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_come_back_in_order_and_stop_at_an_error(n_jobs):
    begun = []

    def work(block):
        begun.append(block.start)
        if block.start == 400:
            raise KeyboardInterrupt
        return block.start

    blocks = row_slices(10_000, 1, 100)
    some = list(map_blocks(work, blocks[:4], n_jobs=n_jobs, verbose=0, description="some"))
    assert some == [0, 100, 200, 300]
    with pytest.raises(KeyboardInterrupt):
        list(map_blocks(work, blocks, n_jobs=n_jobs, verbose=0, description="all"))
    assert len(begun) < 50


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_a_fit(n_jobs):
    script = f"""
import sys
from polyfold import NPPE
from polyfold.datasets import make_swiss_roll
X, _ = make_swiss_roll(2_000_000, random_state=0)
model = NPPE(n_neighbors=20, n_jobs={n_jobs})
model.fit(X[:500])
print("begins", flush=True)
model.fit(X)
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode != 0
    assert told.rstrip().endswith("KeyboardInterrupt")


def test_every_long_stage_shows_progress(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NPPE(verbose=1).fit(DIGITS[:400])
    shown = capfd.readouterr().err
    for stage in ("columns", "features", "dimension", "trial", "neighbours", "Gram pair", "ridge", "domain"):
        assert stage in shown


@pytest.mark.parametrize("apart", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("n_columns", [16, 60])
def test_clusters_far_apart_have_their_own_neighbours(apart, n_columns):
    random = np.random.default_rng(0)
    X = random.random((120, n_columns)) + np.repeat([0, 1, 3], 40)[:, np.newaxis] * apart
    squares = cdist(X, X, "sqeuclidean")
    distances, found = build_index(X, n_jobs=None).find(X, 11)
    np.testing.assert_array_equal(found, np.argsort(squares, axis=1, kind="stable")[:, :11])
    np.testing.assert_allclose(distances, np.sqrt(np.sort(squares, axis=1)[:, :11]), rtol=1e-6)


def test_samples_that_are_repeated_more_often_than_asked_for():
    X = np.repeat(np.random.default_rng(0).normal(size=(6, 20)), 30, axis=0)
    distances, found = build_index(X, n_jobs=None).find(X, 8)
    assert (distances == 0).all()
    assert (found // 30 == np.repeat(np.arange(6), 30)[:, np.newaxis]).all()


@pytest.mark.parametrize("n_columns", [3, 20])
def test_no_queries(n_columns):
    X = np.random.default_rng(0).normal(size=(50, n_columns))
    distances, found = build_index(X, n_jobs=None).find(X[:0], 7)
    assert distances.shape == found.shape == (0, 7)
    assert found.dtype == np.intp
