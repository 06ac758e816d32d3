"""NPPE and SNPPE written straight from the paper's equations, dense and slow, columns as samples.

An oracle to compare with: it shares no code with the library. The only liberty is the regulariser 1e-3·tr(G) of
eq. 18, without which G is singular for k > n, and the sign slip of eq. 21 put right.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist


def nearest_neighbors(X, k):
    distances = cdist(X.T, X.T)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)[:, :k]


def reconstruction_weights(X, k):
    n_samples = X.shape[1]
    R = np.zeros((n_samples, n_samples))
    for i, neighbors in enumerate(nearest_neighbors(X, k)):
        offsets = X[:, neighbors] - X[:, [i]]
        G = offsets.T @ offsets
        G += 1e-3 * np.trace(G) * np.eye(k)
        r = np.linalg.inv(G) @ np.ones(k)
        R[i, neighbors] = r / r.sum()
    return R


def weight_matrices(R):
    """Eq. 21 as it should read: W_ij = R_ij + R_ji − Σ_k R_ki R_kj, D = I."""
    n_samples = len(R)
    W = np.zeros_like(R)
    for i in range(n_samples):
        for j in range(n_samples):
            W[i, j] = R[i, j] + R[j, i] - R[:, i] @ R[:, j]
    return W, np.eye(n_samples)


def kronecker_features(x, degree):
    """Eq. 7: x ⊗ … ⊗ x stacked over x ⊗ x over x, every product formed, repeated or not."""
    powers = [x]
    for _ in range(degree - 1):
        powers.append(np.kron(powers[-1], x))
    return np.concatenate(powers[::-1])


def hadamard_features(x, degree):
    return np.concatenate([x**q for q in range(degree, 0, -1)])


def embed(samples, k, degree, basis, m, center=False):
    """Return Y (samples as rows) and the eigenvalues of eq. 12, solved on the range of X_p D X_pᵀ."""
    X = samples.T
    if center:
        X = X - X.mean(axis=1, keepdims=True)
    W, D = weight_matrices(reconstruction_weights(X, k))
    features = kronecker_features if basis == "kronecker" else hadamard_features
    Xp = np.stack([features(x, degree) for x in X.T], axis=1)
    if center:
        Xp = Xp - Xp.mean(axis=1, keepdims=True)
    # The Kronecker product repeats monomials, so X_p has exact null directions: leave those out.
    U, s, _ = np.linalg.svd(Xp, full_matrices=False)
    Xp = U[:, s > 1e-9 * s[0]].T @ Xp
    eigenvalues, V = eigh(Xp @ (D - W) @ Xp.T, Xp @ D @ Xp.T, subset_by_index=[0, m - 1])
    return Xp.T @ V, eigenvalues
