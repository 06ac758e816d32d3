"""Principal axes of neighbourhoods, seen from the neighbours: what MLLE, LTSA and Hessian eigenmaps begin with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polyfold.objectives.equations.patch import Equations, LocalRows, Patch

#: An axis along which a neighbourhood varies by less than this share of the most is rounding.
FLAT = 1e-12

#: So is an offset of less than this share of the samples' own size.
ROUNDING = 1e-14


def decompose_offsets(offsets: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the left singular vectors of each neighbourhood and the squared singular values, largest first.

    Parameters
    ----------
    offsets : ndarray of shape (n_centers, n_neighbors, n_columns)

    Returns
    -------
    U : ndarray of shape (n_centers, n_neighbors, n_neighbors)
    squares : ndarray of shape (n_centers, min(n_neighbors, n_columns))
    """
    _, k, n_columns = offsets.shape
    if k > n_columns:
        U, singular, _ = np.linalg.svd(offsets)
        return U, np.square(singular)
    squares, U = np.linalg.eigh(offsets @ offsets.transpose(0, 2, 1))
    return U[:, :, ::-1], np.maximum(squares[:, ::-1], 0.0)


def find_tangent_coordinates(patch: Patch, n_components: int) -> NDArray[np.float64]:
    """Return orthonormal coordinates of each centre's neighbours in their tangent plane, with mean zero.

    The leading left singular vectors of the neighbours less their mean; zero along axes on which these do not
    vary. Shape (n_centers, n_neighbors, at most n_components).
    """
    members = patch.X[patch.neighbors]
    U, squares = decompose_offsets(members - members.mean(axis=1, keepdims=True))
    n_axes = min(n_components, squares.shape[1])
    # Neighbours that are all alike differ by rounding, which is not orthogonal to a constant.
    rounding = ROUNDING**2 * np.square(members).sum(axis=(1, 2))[:, np.newaxis]
    vary = squares[:, :n_axes] > np.maximum(FLAT * squares[:, :1], rounding)
    return np.asarray(U[:, :, :n_axes] * vary[:, np.newaxis])


def write_neighbor_equations(patch: Patch, coefficients: NDArray[np.float64]) -> Equations:
    """Return equations among the neighbours of each centre.

    Parameters
    ----------
    coefficients : ndarray of shape (n_centers, n_equations, n_neighbors)
    """
    _, n_rows, k = coefficients.shape
    entries = (coefficients * np.sqrt(patch.weights)[:, np.newaxis, np.newaxis]).reshape(-1, k)
    columns = np.repeat(patch.neighbors, n_rows, axis=0)
    return Equations(LocalRows(columns, entries, len(patch.X)), patch.centers, patch.weights)
