"""Local methods written straight from their papers, dense, one neighbourhood at a time; none of our code."""

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist


def nearest(X, k):
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)[:, :k]


def gram_schmidt(columns):
    done = []
    for column in columns.T:
        rest = column - sum(((q @ column) * q for q in done), np.zeros_like(column))
        rest = rest - sum(((q @ rest) * q for q in done), np.zeros_like(column))
        done.append(rest / np.linalg.norm(rest))
    return np.column_stack(done)


def hessian_matrix(X, k, m):
    """Donoho & Grimes, 2003: the quadratic form of local Hessians."""
    n_samples = len(X)
    M = np.zeros((n_samples, n_samples))
    for neighbors in nearest(X, k):
        local = X[neighbors] - X[neighbors].mean(axis=0)
        U = np.linalg.svd(local)[0][:, :m]
        products = [U[:, a] * U[:, b] for a in range(m) for b in range(a, m)]
        H = gram_schmidt(np.column_stack([np.ones(k), U, *products]))[:, 1 + m :]
        M[np.ix_(neighbors, neighbors)] += H @ H.T
    return M


def heat_affinity(X, k, binary=False):
    """Belkin & Niyogi, 2003, on k nearest neighbours, symmetrised by the mean; the median as σ²."""
    neighbors, squares = nearest(X, k), cdist(X, X, "sqeuclidean")
    variance = np.median([squares[i, j] for i in range(len(X)) for j in neighbors[i]])
    W = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in neighbors[i]:
            W[i, j] = 1.0 if binary else np.exp(-squares[i, j] / (2 * variance))
    return (W + W.T) / 2


def diffusion_affinity(X, k):
    """Coifman & Lafon, 2006: the heat kernel over the density at either end."""
    K = heat_affinity(X, k) + np.eye(len(X))
    q = K.sum(axis=1)
    return K / np.outer(q, q)


def implicit_embedding(M, D, m):
    """The m smallest eigenvectors of M y = λ D y beyond the constant."""
    _, Y = eigh(M, np.diag(D), subset_by_index=[1, m])
    return Y


def isomap_kernel(X, k, mutual=False):
    """Floyd & Warshall's shortest paths along edges to neighbours, or to mutual ones, double-centred.

    Pieces are joined by Kruskal's shortest edges.
    """
    distances = np.full((len(X), len(X)), np.inf)
    lengths = cdist(X, X)
    near = [set(neighbors) for neighbors in nearest(X, k)]
    piece = np.arange(len(X))
    edges = [(i, j) for i in range(len(X)) for j in near[i] if not mutual or i in near[j]]
    pairs = sorted(((i, j) for i in range(len(X)) for j in range(i)), key=lambda pair: lengths[pair])
    for position, (i, j) in enumerate([*edges, *pairs]):
        if position < len(edges) or piece[i] != piece[j]:
            distances[i, j] = distances[j, i] = lengths[i, j]
            piece[piece == piece[j]] = piece[i]
    np.fill_diagonal(distances, 0)
    for via in range(len(X)):
        distances = np.minimum(distances, distances[:, [via]] + distances[[via]])
    J = np.eye(len(X)) - 1 / len(X)
    return -J @ np.square(distances) @ J / 2
