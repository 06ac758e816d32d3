"""Compiled loops of `fit`, as those of `polyfold._kernels` are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._kernels import ANY_ORDER, compile_loop

#: Squared offsets above this, or below its inverse, are put into another unit: their products overflow.
LARGE_SQUARE = 1e150

#: Up to so many features, the sums over neighbours are taken four at a time instead of all.
FEW_FEATURES = 24


def _number_samples(
    samples: NDArray[np.intp],
    seen: NDArray[np.int32],
    members: NDArray[np.intp],
    positions: NDArray[np.intp],
) -> int:
    """Write the number of each sample in the order in which they first occur, and return how many there are.

    `seen` has -1 for each sample to begin with.
    """
    n_members = 0
    for e in range(samples.shape[0]):
        sample = samples[e]
        if seen[sample] < 0:
            seen[sample] = n_members
            members[n_members] = sample
            n_members += 1
        positions[e] = seen[sample]
    return n_members


number_samples = compile_loop(_number_samples)


def _solve_positive(matrix: NDArray[np.float64], solution: NDArray[np.float64]) -> None:
    """Solve a symmetric positive definite system in place, by Cholesky; only the lower triangle is read."""
    size = len(solution)
    for j in range(size):
        for i in range(j, size):
            rest = matrix[i, j]
            for m in range(j):
                rest -= matrix[i, m] * matrix[j, m]
            matrix[i, j] = np.sqrt(rest) if i == j else rest / matrix[j, j]
    for i in range(size):
        rest = solution[i]
        for m in range(i):
            rest -= matrix[i, m] * solution[m]
        solution[i] = rest / matrix[i, i]
    for i in range(size - 1, -1, -1):
        rest = solution[i]
        for m in range(i + 1, size):
            rest -= matrix[m, i] * solution[m]
        solution[i] = rest / matrix[i, i]


solve_positive = compile_loop(_solve_positive, fastmath=ANY_ORDER)


def _solve_weight_rows(
    points: NDArray[np.float64],
    X: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    regularisation: float,
    weights: NDArray[np.float64],
) -> None:
    """Write the weights that rebuild each point from its neighbours, see `polyfold.objectives.lle`.

    With Z the neighbours less the point, ``G = Z Zᵀ`` is k×k, and where k is larger than the number of columns,
    ``(Z Zᵀ + c)⁻¹ 1 = (1 − Z (Zᵀ Z + c)⁻¹ Zᵀ 1) / c``.
    """
    k, n_columns = neighbors.shape[1], X.shape[1]
    size = min(k, n_columns)
    Z = np.empty((n_columns, k))  # a column of the samples in each row: these are the longer loops
    gram = np.empty((size, size))
    solution = np.empty(size)
    for i in range(points.shape[0]):
        squares = 0.0
        for c in range(n_columns):
            for j in range(k):
                Z[c, j] = X[neighbors[i, j], c] - points[i, c]
                squares += Z[c, j] * Z[c, j]
        if not 1 / LARGE_SQUARE < squares < LARGE_SQUARE:  # the weights do not depend on the unit
            largest = np.abs(Z).max()
            if largest == 0:  # all neighbours coincide with the point
                for j in range(k):
                    weights[i, j] = 1.0 / k
                continue
            Z /= largest
            squares = np.square(Z).sum()
        if k <= n_columns:
            np.dot(Z.T, Z, gram)
            for a in range(size):
                solution[a] = 1.0
        else:
            for a in range(size):
                total = 0.0
                for j in range(k):
                    total += Z[a, j]
                solution[a] = total
                for b in range(a + 1):
                    total = 0.0
                    for j in range(k):
                        total += Z[a, j] * Z[b, j]
                    gram[a, b] = total
        for a in range(size):
            gram[a, a] += regularisation * squares
        solve_positive(gram, solution)
        if k <= n_columns:
            for j in range(k):
                weights[i, j] = solution[j]
        else:
            for j in range(k):
                weights[i, j] = 1.0
            for c in range(n_columns):
                for j in range(k):
                    weights[i, j] -= Z[c, j] * solution[c]
        total = 0.0
        for j in range(k):
            total += weights[i, j]
        for j in range(k):
            weights[i, j] /= total


solve_weight_rows = compile_loop(_solve_weight_rows, fastmath=ANY_ORDER)


def _write_weight_rows(
    centers: NDArray[np.intp],
    neighbors: NDArray[np.intp],
    weights: NDArray[np.float64],
    center_weights: NDArray[np.float64],
    columns: NDArray[np.intp],
    entries: NDArray[np.float64],
) -> None:
    """Write the equations of centres less the weighted sum of their neighbours."""
    for i in range(centers.shape[0]):
        root = np.sqrt(center_weights[i])
        columns[i, 0], entries[i, 0] = centers[i], root
        for j in range(neighbors.shape[1]):
            columns[i, j + 1], entries[i, j + 1] = neighbors[i, j], -root * weights[i, j]


write_weight_rows = compile_loop(_write_weight_rows)


def _combine_rows(
    columns: NDArray[np.intp],
    entries: NDArray[np.float64],
    Q: NDArray[np.float64],
    combined: NDArray[np.float64],
) -> None:
    """Write the product of a matrix, given by the columns and values of its entries, with Q."""
    d = Q.shape[1]
    if d <= FEW_FEATURES:  # four sums at a time stay in registers
        for i in range(columns.shape[0]):
            for f in range(0, d - 3, 4):
                a = b = c = e = 0.0
                for j in range(columns.shape[1]):
                    column, entry = columns[i, j], entries[i, j]
                    a += entry * Q[column, f]
                    b += entry * Q[column, f + 1]
                    c += entry * Q[column, f + 2]
                    e += entry * Q[column, f + 3]
                combined[i, f], combined[i, f + 1], combined[i, f + 2], combined[i, f + 3] = a, b, c, e
            for f in range(d - d % 4, d):
                total = 0.0
                for j in range(columns.shape[1]):
                    total += entries[i, j] * Q[columns[i, j], f]
                combined[i, f] = total
        return
    for i in range(columns.shape[0]):
        for f in range(d):
            combined[i, f] = 0.0
        for j in range(columns.shape[1]):
            column, entry = columns[i, j], entries[i, j]
            for f in range(d):
                combined[i, f] += entry * Q[column, f]


combine_rows = compile_loop(_combine_rows, fastmath={"contract"})


def _combine_monomials(
    columns: NDArray[np.intp],
    entries: NDArray[np.float64],
    X: NDArray[np.float64],
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    factors: NDArray[np.float64],
    center: NDArray[np.float64],
    combined: NDArray[np.float64],
) -> None:
    """Write the product of a matrix, given as for `combine_rows`, with the monomials of X less `center`.

    Those of the samples of a row are made side by side, and forgotten: they stay near the processor.
    """
    k, d = columns.shape[1], parents.shape[0]
    beside, monomials = np.empty((X.shape[1], k)), np.empty((d, k))
    for i in range(columns.shape[0]):
        row = entries[i]
        for j in range(k):
            for c in range(X.shape[1]):
                beside[c, j] = X[columns[i, j], c]
        for f in range(d):
            values, made = beside[variables[f]], monomials[f]
            factor, middle, total = factors[f], center[f], 0.0
            if parents[f] < 0:
                for j in range(k):
                    made[j] = values[j] * factor
                    total += row[j] * (made[j] - middle)
            else:
                parent = monomials[parents[f]]
                for j in range(k):
                    made[j] = values[j] * factor * parent[j]
                    total += row[j] * (made[j] - middle)
            combined[i, f] = total


combine_monomials = compile_loop(_combine_monomials, fastmath=ANY_ORDER)


def _leave_out_self(
    found: NDArray[np.intp], samples: NDArray[np.intp], numbers: NDArray[Any], neighbors: NDArray[np.intp]
) -> None:
    """Write what was found for each sample, one more than there is place for, less the sample itself.

    All go by their numbers. Among many duplicates a sample may not have found itself: then the farthest is left
    out.
    """
    k = neighbors.shape[1]
    for i in range(samples.shape[0]):
        row, place = numbers[samples[i]], 0
        for j in range(k + 1):
            number = numbers[found[i, j]]
            if number != row and place < k:
                neighbors[row, place] = number
                place += 1


leave_out_self = compile_loop(_leave_out_self)


def _weigh_tails(Y: NDArray[Any], tails: NDArray[np.float64]) -> None:
    """Write, of each column in units of its largest entry, the sum of cubes, that of absolute cubes, and an entry.

    The entry is the first of those that are, but for a millionth, the largest.
    """
    for f in range(Y.shape[1]):
        largest = 0.0
        for i in range(Y.shape[0]):
            largest = max(largest, abs(np.float64(Y[i, f])))
        unit = largest if largest > 0 else 1.0
        tails[:, f] = 0.0
        for i in range(Y.shape[0]):
            y = Y[i, f] / unit
            cube = y * y * y
            tails[0, f] += cube
            tails[1, f] += abs(cube)
            if tails[2, f] == 0 and abs(y) >= 1 - 1e-6:
                tails[2, f] = y


weigh_tails = compile_loop(_weigh_tails)


def _hash_rows(bits: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> None:
    """Write a number for each row that differs where rows do, but for one chance in 2⁶⁴."""
    for i in range(bits.shape[0]):
        value = np.uint64(0x9E3779B97F4A7C15)
        for j in range(bits.shape[1]):
            value ^= bits[i, j]
            value *= np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        hashes[i] = value


hash_rows = compile_loop(_hash_rows)


def _join_neighbors(
    neighbors: NDArray[np.intp],
    mutual: bool,
    labels: NDArray[np.int32],
    roots: NDArray[np.int32],
    waiting: NDArray[np.intp],
) -> int:
    """Count connected components: a label for all that can be walked to, and labels that meet are joined.

    `labels` is -1 for each sample to begin with; the other two are room to work in.
    """
    k = neighbors.shape[1]
    n_labels = n_joined = 0
    for start in range(len(neighbors)):
        if labels[start] >= 0:
            continue
        label = n_labels
        labels[start], roots[label], waiting[0] = label, label, start
        n_labels += 1
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            sample = waiting[n_waiting]
            for j in range(k):
                other = neighbors[sample, j]
                if mutual:
                    is_mutual = False
                    for m in range(k):
                        is_mutual |= neighbors[other, m] == sample
                    if not is_mutual:
                        continue
                if labels[other] < 0:
                    labels[other] = label
                    waiting[n_waiting] = other
                    n_waiting += 1
                elif labels[other] != label:
                    a, b = label, labels[other]
                    while roots[a] != a:
                        roots[a] = roots[roots[a]]
                        a = roots[a]
                    while roots[b] != b:
                        roots[b] = roots[roots[b]]
                        b = roots[b]
                    if a != b:
                        roots[max(a, b)] = min(a, b)
                        n_joined += 1
    return n_labels - n_joined


join_neighbors = compile_loop(_join_neighbors)
