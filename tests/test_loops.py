"""The compiled loops, each against NumPy on sizes around their strides."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import polyfold._kernels as kernels
from maps import evaluate_naively, random_map
from polyfold import PolynomialMap
from polyfold._basis import build_basis
from polyfold._fit_kernels import (
    combine_monomials,
    combine_rows,
    hash_rows,
    join_neighbors,
    leave_out_self,
    number_samples,
    solve_positive,
    solve_weight_rows,
    weigh_tails,
    write_weight_rows,
)
from polyfold._kernels import are_finite, compile_few_powers, compile_many_powers, project_rows
from polyfold._slope_kernels import compile_few_slopes, compile_many_slopes

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("n_rows", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("n_axes", [2, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_projection(n_rows, n_axes, dtype):
    rows, center, axes = (RANDOM.normal(size=size).astype(dtype) for size in ((n_rows, 7), 7, (n_axes, 7)))
    projected = np.full((n_rows, n_axes), np.nan)
    project_rows(rows, center, axes, projected)
    np.testing.assert_allclose(projected, (rows - center) @ axes.T, atol=1e-13 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 256, 258])
@pytest.mark.parametrize("n_outputs", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_sums_of_powers(n_rows, n_outputs, degree):
    """Both loops of pure powers, and their slopes, for every remainder of outputs and rows."""
    n_columns = 3
    rows, center = RANDOM.normal(size=(n_rows, n_columns)), RANDOM.normal(size=n_columns)
    C, offset = RANDOM.normal(size=(n_outputs, n_columns, degree)), RANDOM.normal(size=n_outputs)
    x = rows - center
    expected = offset + sum(np.einsum("ij,cj->ic", x ** (q + 1), C[:, :, q]) for q in range(degree))
    few, many = np.full((2, n_rows, n_outputs), np.nan)
    assert compile_few_powers(n_columns, n_outputs, degree)(
        rows, tuple(center), tuple(C.ravel()), tuple(offset), few
    )
    by_powers = np.ascontiguousarray(C.transpose(0, 2, 1))
    assert compile_many_powers(degree)(rows, center, by_powers, offset, many)
    for found in (few, many):
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())

    slopes = sum(x[:, np.newaxis] ** q * C[np.newaxis, :, :, q] for q in range(degree))  # C as the slopes' own
    few, many = np.full((2, n_rows, n_outputs, n_columns), np.nan)
    assert compile_few_slopes(n_columns, n_outputs, degree)(rows, tuple(center), tuple(C.ravel()), few)
    assert compile_many_slopes(degree)(rows, center, by_powers, many)
    for found in (few, many):
        np.testing.assert_allclose(found, slopes, atol=1e-11 * np.abs(slopes).max())


@pytest.mark.parametrize("place", [0, 100, 256, 257])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_seen_in_any_block(place, value):
    rows = np.zeros((258, 1))
    rows[place] = value
    assert not are_finite(rows.ravel())
    values, slopes = np.empty((258, 1)), np.empty((258, 1, 1))
    one, none = np.ones((1, 2, 1)), np.zeros(1)
    assert not compile_few_powers(1, 1, 2)(rows, (0.0,), (1.0, 1.0), (0.0,), values)
    assert not compile_many_powers(2)(rows, none, one, none, values)
    assert not compile_few_slopes(1, 1, 2)(rows, (0.0,), (1.0, 1.0), slopes)
    assert not compile_many_slopes(2)(rows, none, one, slopes)
    for n_axes in (None, 1):
        axes = None if n_axes is None else [[1.0]]
        learned = PolynomialMap([0.0], 1.0, "kronecker", 2, [[1.0], [1.0]], [0.0], axes)
        with pytest.raises(
            ValueError, match=rf"^X contains {'NaN' if np.isnan(value) else 'inf'} \(row {place}, column 0\)\.$"
        ):
            learned.transform(rows)
    assert are_finite(np.array([1e308, -1e308, 5e-324]))
    assert are_finite(np.array([]))


@pytest.mark.parametrize("n_rows", [1, 31, 32, 33, 65])
@pytest.mark.parametrize("n_axes", [None, 2, 3])
@pytest.mark.parametrize("many", [False, True])
def test_tables_of_monomials(n_rows, n_axes, many, monkeypatch):
    if many:  # fewer samples side by side
        monkeypatch.setattr(kernels, "MANY_MONOMIALS", 1)
    learned = random_map("kronecker", 3, 4, 3, n_axes)
    X = RANDOM.normal(size=(n_rows, 4))
    expected, sizes = evaluate_naively(learned, X)
    np.testing.assert_allclose(learned.transform(X), expected, atol=1e-12 * sizes.max())


def test_numbers_in_order_of_occurrence():
    samples = np.array([7, 3, 7, 0, 3, 9])
    members, positions = np.full(5, -1), np.full(6, -1)
    n_members = number_samples(samples, np.full(10, -1, dtype=np.int32), members, positions)
    assert n_members == 4
    assert members[:4].tolist() == [7, 3, 0, 9]
    assert positions.tolist() == [0, 1, 0, 2, 1, 3]


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_positive_systems(size):
    inner = RANDOM.normal(size=(size, size))
    matrix = inner @ inner.T + np.eye(size)
    right = RANDOM.normal(size=size)
    solution = right.copy()
    only_lower = np.tril(matrix) + np.triu(np.full((size, size), np.nan), 1)
    solve_positive(only_lower, solution)
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, right), atol=1e-10)


@pytest.mark.parametrize("n_columns", [2, 5, 6, 12])
@pytest.mark.parametrize("unit", [1.0, 1e-100, 1e100])
def test_weights_rebuild_a_point(n_columns, unit):
    k, regularisation = 5, 1e-3
    X = RANDOM.normal(size=(20, n_columns))
    neighbors = np.array([RANDOM.permutation(20)[:k] for _ in range(6)])
    points = RANDOM.normal(size=(6, n_columns))
    weights = np.full((6, k), np.nan)
    solve_weight_rows(unit * points, unit * X, neighbors, regularisation, weights)
    for point, others, found in zip(points, neighbors, weights, strict=True):
        Z = X[others] - point
        G = Z @ Z.T
        r = np.linalg.solve(G + regularisation * np.trace(G) * np.eye(k), np.ones(k))
        np.testing.assert_allclose(found, r / r.sum(), rtol=1e-7)


def test_weights_among_copies():
    X = np.zeros((4, 2))
    weights = np.full((1, 3), np.nan)
    solve_weight_rows(X[:1], X, np.array([[1, 2, 3]]), 1e-3, weights)
    np.testing.assert_array_equal(weights, 1 / 3)
    columns, entries = np.empty((1, 4), dtype=np.intp), np.empty((1, 4))
    write_weight_rows(
        np.array([2]), np.array([[0, 1, 3]]), np.array([[0.5, 0.2, 0.3]]), np.array([4.0]), columns, entries
    )
    assert columns.tolist() == [[2, 0, 1, 3]]
    np.testing.assert_allclose(entries, [[2.0, -1.0, -0.4, -0.6]])


@pytest.mark.parametrize("d", [1, 3, 4, 7, 8, 24, 25, 30])
def test_products_with_local_rows(d):
    columns = np.array([RANDOM.permutation(9)[:4] for _ in range(6)])
    entries, Q = RANDOM.normal(size=(6, 4)), RANDOM.normal(size=(9, d))
    combined = np.full((6, d), np.nan)
    combine_rows(columns, entries, Q, combined)
    expected = np.einsum("ij,ijf->if", entries, Q[columns])
    np.testing.assert_allclose(combined, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["kronecker", "hadamard"])
def test_products_with_monomials(kind):
    basis = build_basis(kind, 3, 3)
    X, center = RANDOM.normal(size=(9, 3)), RANDOM.normal(size=basis.n_features)
    columns = np.array([RANDOM.permutation(9)[:4] for _ in range(6)])
    entries = RANDOM.normal(size=(6, 4))
    combined = np.full((6, basis.n_features), np.nan)
    combine_monomials(columns, entries, X, basis.parents, basis.variables, basis.factors, center, combined)
    np.testing.assert_allclose(
        combined, np.einsum("ij,ijf->if", entries, (basis.expand(X) - center)[columns]), atol=1e-12
    )


def test_a_sample_is_not_its_own_neighbour():
    numbers = np.array([0, 2, 1, 3])  # sample 1 has number 2
    found = np.array([[0, 1, 2], [3, 2, 1], [3, 0, 1]])
    neighbors = np.full((4, 2), -1)
    leave_out_self(found, np.array([0, 1, 2]), numbers, neighbors)
    assert neighbors[0].tolist() == [2, 1]
    assert neighbors[2].tolist() == [3, 1]
    assert neighbors[1].tolist() == [3, 0]  # did not find itself: the farthest is left out
    assert neighbors[3].tolist() == [-1, -1]


def test_tails():
    Y = np.column_stack([[1.0, -4.0, 2.0, 4.0], [0.0, 0.0, 0.0, 0.0], [3.0, -3.0 * (1 + 1e-7), 1.0, 0.0]])
    tails = np.full((3, 3), np.nan)
    weigh_tails(Y, tails)
    unit = Y / [4.0, 1.0, 3.0 * (1 + 1e-7)]
    np.testing.assert_allclose(tails[0], (unit**3).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(tails[1], (np.abs(unit) ** 3).sum(axis=0))
    np.testing.assert_allclose(
        tails[2], [-1.0, 0.0, 1.0], atol=1e-6
    )  # the first of the farthest, but for rounding


def test_hashes_differ_where_rows_do():
    rows = np.unique(RANDOM.integers(0, 50, size=(400, 3)), axis=0).astype(np.float64)
    rows = np.concatenate([rows, rows])
    hashes = np.empty(len(rows), dtype=np.uint64)
    with np.errstate(over="ignore"):
        hash_rows(rows.view(np.uint64), hashes)
    half = len(rows) // 2
    np.testing.assert_array_equal(hashes[:half], hashes[half:])
    assert len(np.unique(hashes)) == half
    # Neighbouring doubles, equal sums, swapped columns: bits in any place count.
    close = np.array(
        [[1.0, 2.0], [2.0, 1.0], [np.nextafter(1.0, 2), 2.0], [1.0, np.nextafter(2.0, 3)], [-1.0, 2.0]]
    )
    hashes = np.empty(5, dtype=np.uint64)
    with np.errstate(over="ignore"):
        hash_rows(close.view(np.uint64), hashes)
    assert len(set(hashes.tolist())) == 5
    assert len(np.unique(hashes >> np.uint64(32))) == 5


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_connected_components(mutual, seed):
    random = np.random.default_rng(seed)
    n_samples, k = 40, 1 + seed % 3
    neighbors = np.array([random.permutation(np.delete(np.arange(n_samples), i))[:k] for i in range(n_samples)])
    if seed > 3:  # pieces: neighbours in the same half only
        neighbors = (neighbors // 2 * 2 + np.arange(n_samples)[:, np.newaxis] % 2) % n_samples
    edges = np.zeros((n_samples, n_samples), dtype=bool)
    edges[np.repeat(np.arange(n_samples), k), neighbors.ravel()] = True
    wanted = edges & edges.T if mutual else edges
    expected, _ = connected_components(coo_array(wanted), directed=False)
    labels, roots = np.full(n_samples, -1, dtype=np.int32), np.empty(n_samples, dtype=np.int32)
    assert join_neighbors(neighbors, mutual, labels, roots, np.empty(n_samples * k + 1, dtype=np.intp)) == expected


@pytest.mark.parametrize("n_samples", [7, 15, 31])
def test_components_are_walked_to_the_end(n_samples):
    """A tree whose branches wait for each other: to lose one would leave it a component of its own."""
    children = 2 * np.arange(n_samples)[:, np.newaxis] + np.array([1, 2])
    neighbors = np.where(children < n_samples, children, np.arange(n_samples)[:, np.newaxis]).astype(np.intp)
    labels, roots = np.full(n_samples, -1, dtype=np.int32), np.empty(n_samples, dtype=np.int32)
    assert join_neighbors(neighbors, False, labels, roots, np.empty(2 * n_samples + 1, dtype=np.intp)) == 1
