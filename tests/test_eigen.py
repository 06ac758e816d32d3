"""The eigenproblem's steps against SciPy's dense generalized solver, and what each error says."""

import re

import numpy as np
import pytest
import scipy.linalg

from polyfold._eigen import (
    RANK_TOLERANCE,
    Whitening,
    _smallest_eigenpairs,
    fix_signs,
    orthonormalize,
    solve_kernel,
    solve_orthogonal,
    solve_orthogonal_kernel,
    solve_pair,
    whiten,
)
from polyfold._factors import find_largest

SEEDS = range(3)


def make_pair(seed, d=6, spread=1.0, n_samples=40):
    """A symmetric positive pair, the features behind B, and an invertible change of coordinates T."""
    random = np.random.default_rng(seed)
    Phi = random.normal(size=(n_samples, d)) * np.logspace(0, -spread, d)
    residuals = random.normal(size=(n_samples, d))
    T = random.normal(size=(d, d)) + 3 * np.eye(d)
    Q = Phi @ T
    return (residuals @ T).T @ (residuals @ T), Q.T @ Q, Phi, T


@pytest.mark.parametrize("seed", SEEDS)
def test_whitening(seed):
    _, B, Phi, T = make_pair(seed)
    found = whiten(B, np.linalg.inv(T), 2)
    np.testing.assert_allclose(found.W.T @ B @ found.W, np.eye(6), atol=1e-10)
    singular = np.linalg.svd(Phi, compute_uv=False)
    np.testing.assert_allclose(found.singular, singular, rtol=1e-8)
    assert found.rank == 6
    assert found.condition == pytest.approx(singular[0] / singular[-1])
    np.testing.assert_allclose(found.penalty, (singular[0] / singular) ** 2, rtol=1e-6)
    # Ordered by the singular vectors of Phi itself: the first direction is the one of the most variance.
    _, _, Vt = np.linalg.svd(Phi)
    first = T @ found.W[:, 0]
    assert abs(first @ Vt[0]) / np.linalg.norm(first) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize(("share", "rank"), [(0.5, 5), (2.0, 6)])
def test_the_cut_is_at_the_tolerance(share, rank):
    singular = np.array([1.0, 1, 1, 1, 1, share * RANK_TOLERANCE])
    # In coordinates that make B the identity: there its own rounding does not decide.
    assert whiten(np.eye(6), np.diag(singular), 2).rank == rank


def test_rank_that_is_too_low_is_told():
    flat = np.diag([1.0, 1, 1, 0, 0, 0])
    expected = (
        "`n_components`=4 exceeds the rank of the features: only 3 of 6 are linearly independent on these "
        "samples. Lower `n_components`, raise `degree`, add samples or columns that vary, standardise columns of "
        "different units, or remove outliers that dwarf the rest."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        whiten(flat, np.eye(6), 4)
    assert whiten(flat, np.eye(6), 3).rank == 3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("m", [1, 3, 6])
def test_smallest_directions_of_a_pair(seed, alpha, m):
    A, B, _, T = make_pair(seed)
    whitening = whiten(B, np.linalg.inv(T), m)
    found = solve_pair(A, whitening, m, alpha)
    mean = np.trace(whitening.W.T @ A @ whitening.W) / 6
    # The ridge, diagonal in the whitened basis, in the coordinates of A.
    inverse = np.linalg.inv(whitening.W)
    ridge = inverse.T @ np.diag(alpha * mean * whitening.penalty) @ inverse
    values, vectors = scipy.linalg.eigh(A + ridge, B)
    np.testing.assert_allclose(found.eigenvalues, values[:m], rtol=1e-8)
    for v, w in zip(found.vectors.T, vectors.T, strict=False):
        np.testing.assert_allclose(v * np.sign(v @ w), w, atol=1e-6)
    np.testing.assert_allclose(found.vectors.T @ B @ found.vectors, np.eye(m), atol=1e-8)


def test_a_problem_without_residuals():
    _, B, _, T = make_pair(0)
    found = solve_pair(np.zeros((6, 6)), whiten(B, np.linalg.inv(T), 2), 2)
    np.testing.assert_array_equal(found.eigenvalues, 0)
    np.testing.assert_allclose(found.vectors.T @ B @ found.vectors, np.eye(2), atol=1e-10)


def test_problems_that_cannot_be_solved_say_why():
    whitening = Whitening(np.eye(3), np.array([4.0, 2.0, 1.0]))
    expected = (
        "The eigenproblem cannot be solved to any digit: the features have rank 3 of 3 and condition 4e+00. "
        "Lower `degree`, raise `alpha`, or remove outliers that dwarf the rest."
    )
    unsolvable = np.diag([1.0, 1.0, -5.0])  # not positive: no Cholesky factor
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        solve_pair(unsolvable, whitening, 2)
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        solve_orthogonal(unsolvable * 1e3, whitening, np.eye(3), 2)
    with np.errstate(over="raise", invalid="raise"):  # numbers beyond a double are told in the same words
        for large, T in ((1e300, 1.0), (1.0, 1e-200), (np.inf, 1.0)):
            steep = Whitening(1e10 * np.eye(3), np.array([4.0, 2.0, 1.0]))
            with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
                solve_orthogonal(large * np.ones((3, 3)), steep, T * np.eye(3), 2)
        for large, alpha in ((1e300, 0.0), (1e280, 1e20)):
            with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
                solve_pair(large * np.ones((3, 3)), steep, 2, alpha)
    with pytest.raises(ValueError, match="any digit") as caught:
        solve_pair(unsolvable, whitening, 2)
    assert type(caught.value) is ValueError  # and not its subclass LinAlgError


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("m", [1, 2, 4])
def test_orthonormal_coefficients(seed, m):
    A, B, _, T = make_pair(seed)
    found = solve_orthogonal(A, whiten(B, np.linalg.inv(T), m), T, m)
    back = np.linalg.inv(T)
    values, vectors = np.linalg.eigh(back.T @ A @ back)
    np.testing.assert_allclose(found.eigenvalues, values[:m], rtol=1e-7)
    coefficients = T @ found.vectors
    np.testing.assert_allclose(coefficients.T @ coefficients, np.eye(m), atol=1e-8)
    for v, w in zip(coefficients.T, vectors.T, strict=False):
        np.testing.assert_allclose(v * np.sign(v @ w), w, atol=1e-5)


@pytest.mark.parametrize("size", [0.0, 1e-30])
def test_orthonormal_coefficients_without_residuals(size):
    A, B, _, T = make_pair(0)
    found = solve_orthogonal(size * A, whiten(B, np.linalg.inv(T), 2), T, 2)
    coefficients = T @ found.vectors
    np.testing.assert_allclose(coefficients.T @ coefficients, np.eye(2), atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("m", [1, 3])
def test_largest_directions_of_a_kernel(seed, m):
    C, B, _, T = make_pair(seed)
    whitening = whiten(B, np.linalg.inv(T), m)
    for alpha in (0.0, 0.2):
        shrunk = 1 / np.sqrt(1 + alpha * whitening.penalty)
        values, U = np.linalg.eigh(np.diag(shrunk) @ C @ np.diag(shrunk))
        found = solve_kernel(C, whitening, m, alpha)
        np.testing.assert_allclose(found.eigenvalues, values[::-1][:m], rtol=1e-10)
        expected = whitening.W @ (np.diag(shrunk) @ U[:, ::-1][:, :m] * np.sqrt(values[::-1][:m]))
        for v, w in zip(found.vectors.T, expected.T, strict=True):
            np.testing.assert_allclose(v * np.sign(v @ w), w, atol=1e-8 * np.abs(w).max())
    orthogonal = solve_orthogonal_kernel(C, whitening, T, m)
    coefficients = T @ orthogonal.vectors
    np.testing.assert_allclose(coefficients.T @ coefficients, np.eye(m), atol=1e-8)
    inner = np.linalg.inv(T @ whitening.W)
    values = np.linalg.eigvalsh(inner.T @ C @ inner)
    np.testing.assert_allclose(orthogonal.eigenvalues, values[::-1][:m], rtol=1e-8)


def test_negative_eigenvalues_of_a_kernel_are_none():
    whitening = Whitening(np.eye(3), np.ones(3))
    found = solve_kernel(np.diag([2.0, -1.0, -3.0]), whitening, 3, 0.0)
    np.testing.assert_allclose(found.eigenvalues, [2, 0, 0])
    np.testing.assert_allclose(np.abs(found.vectors), np.diag([np.sqrt(2), 0, 0]), atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_next_to_orthonormal_ones(seed):
    random = np.random.default_rng(seed)
    exact = np.linalg.qr(random.normal(size=(7, 3)))[0]
    skew = np.eye(3) + 0.1 * np.triu(random.normal(size=(3, 3)), 1)
    offset = random.normal(size=3)
    coefficients, constant = orthonormalize(exact @ skew, offset)
    np.testing.assert_allclose(coefficients.T @ coefficients, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(coefficients, exact, atol=1e-12)
    # The constant is moved as the columns are: coordinates before, in the new ones.
    np.testing.assert_allclose(constant, np.linalg.solve(skew.T, offset), atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("largest", [1e3, 1e12, 1e16])
def test_small_eigenpairs_beside_large_ones(seed, largest):
    """A ridge puts entries on the diagonal that an ordinary eigensolver would lose the small ones beside."""
    random = np.random.default_rng(seed)
    inner = random.normal(size=(4, 4))
    small = inner @ inner.T + 0.1 * np.eye(4)
    C = scipy.linalg.block_diag(small, np.diag(largest * np.array([1.0, 2.0])))
    expected, vectors = np.linalg.eigh(small)
    values, U = _smallest_eigenpairs(C, 5, shift=1e-6 * expected[0])
    np.testing.assert_allclose(values[:4], expected, rtol=1e-7)
    assert values[4] == pytest.approx(largest, rel=1e-6)
    np.testing.assert_allclose(U.T @ U, np.eye(5), atol=1e-10)
    for v, w in zip(U[:4, :4].T, vectors.T, strict=True):
        np.testing.assert_allclose(v * np.sign(v @ w), w, atol=1e-5)


def test_signs():
    long_tail = np.array([5.0, -1, -1, -1, -1, -1])
    even = np.array([-2.0, 2.0, 1.0, -1.0, 0.5, -0.5])  # both tails alike: the first of the farthest decides
    Y = np.column_stack([long_tail, -long_tail, even, -even, np.zeros(6)])
    signs = fix_signs(Y)
    np.testing.assert_array_equal(signs, [1, -1, -1, 1, 1])
    assert fix_signs(Y.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(fix_signs(1e200 * Y), signs)
    # A skew of less than a millionth is rounding, and one of a few millionths is not.
    for skew, expected in ((1e-7, -1.0), (3e-6, 1.0)):
        barely = even.copy()
        barely[1] *= 1 + skew
        assert fix_signs(barely[:, np.newaxis])[0] == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_eigenpairs_far_apart_are_found_one_group_after_the_other(seed):
    """The second group is ten digits above the first: found beside it, its vectors would have few digits."""
    random = np.random.default_rng(seed)
    Q = np.linalg.qr(random.normal(size=(6, 6)))[0]
    expected = np.array([1e-10, 2e-10, 1.0, 2.0, 4.0, 8.0])
    C = (Q * expected) @ Q.T
    values, U = _smallest_eigenpairs((C + C.T) / 2, 5, shift=1e-12)
    np.testing.assert_allclose(values[2:], expected[2:5], rtol=1e-9)
    np.testing.assert_allclose(U.T @ U, np.eye(5), atol=1e-12)
    for v, w in zip(U[:, 2:].T, Q[:, 2:5].T, strict=True):
        np.testing.assert_allclose(v * np.sign(v @ w), w, atol=1e-9)


@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_orthonormal_columns_keep_their_signs(signs):
    coefficients = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0] * signs
    found, offset = orthonormalize(coefficients * (1 + 1e-9), np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, coefficients, atol=1e-8)
    np.testing.assert_allclose(offset, [1.0, 2.0], atol=1e-7)


def test_an_eigenvector_of_next_to_nothing():
    """Where C is 1e-309, the vector of the inverse problem is 3e154 long, and its square overflows."""
    values, U = _smallest_eigenpairs(np.array([[9e-310]]), 1, shift=1e-316)
    np.testing.assert_allclose(values, 9e-310, rtol=1e-3)
    np.testing.assert_allclose(np.abs(U), 1)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_longer_tail_outweighs_the_farthest_sample(unit, sign):
    Y = sign * unit * np.array([[0.0], [-3.0], [2.5], [2.5], [2.5]])
    assert fix_signs(Y).tolist() == [sign]


@pytest.mark.parametrize("sign", [-1, 1])
def test_of_tails_that_are_alike_the_first_of_the_farthest_decides(sign):
    Y = sign * np.array([[0.1], [1.0], [-2.0], [2.0], [-1.0], [-0.1]])
    assert fix_signs(Y).tolist() == [-sign]
    assert fix_signs(np.hstack([Y, np.zeros_like(Y)])).tolist() == [-sign, 1]


def test_equal_eigenvalues_are_all_found():
    """LAPACK, asked for the largest of some that differ by less than rounding, may find none."""
    for seed in range(10):
        noise = 1e-17 * np.random.default_rng(seed).normal(size=(32, 32))
        B = 1.03 * np.eye(32) + noise + noise.T
        for number in (1, 3, 32):
            for A, other in ((np.eye(32), B), (B, None), (np.eye(32), None)):
                values, V = find_largest(A, number, other)
                expected = scipy.linalg.eigh(A, other, eigvals_only=True)[-number:]
                np.testing.assert_allclose(values, expected)
                np.testing.assert_allclose(V.T @ (V if other is None else other @ V), np.eye(number), atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_are_those_of_all(seed):
    random = np.random.default_rng(seed)
    A, B = (each @ each.T for each in random.normal(size=(2, 12, 12)))
    for other in (None, B):
        values, V = find_largest(A, 4, other)
        np.testing.assert_allclose(values, scipy.linalg.eigh(A, other, eigvals_only=True)[-4:], rtol=1e-9)
        right = V if other is None else other @ V
        np.testing.assert_allclose(A @ V, right * values, atol=1e-9 * values[-1] * np.abs(right).max())
