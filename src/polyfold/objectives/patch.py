"""What every local objective takes and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Patch:
    """A set of samples that holds some centres and all their neighbours.

    Attributes
    ----------
    X : ndarray of shape (n_patch, n_columns)
        The samples of the patch.
    members : ndarray of shape (n_patch,)
        Which of all samples they are.
    centers : ndarray of shape (n_centers,)
        Positions in the patch, all different.
    neighbors : ndarray of shape (n_centers, n_neighbors)
        Positions in the patch of each centre's neighbours.
    weights : ndarray of shape (n_centers,)
        How much each centre counts: one of weight w counts as w centres.
    """

    X: NDArray[np.float64]
    members: NDArray[np.intp]
    centers: NDArray[np.intp]
    neighbors: NDArray[np.intp]
    weights: NDArray[np.float64]

    @property
    def offsets(self) -> NDArray[np.float64]:
        """The neighbours of each centre less the centre: shape (n_centers, n_neighbors, n_columns)."""
        return np.asarray(self.X[self.neighbors] - self.X[self.centers, np.newaxis])

    @property
    def center_weights(self) -> NDArray[np.float64]:
        """The D of objectives in which only centres count: the weights of the centres, 0 elsewhere."""
        D = np.zeros(len(self.X))
        D[self.centers] = self.weights
        return D


class Equations(NamedTuple):
    """Local equations, ``||L Y||²``, and the weight of each sample in ``Yᵀ diag(D) Y``.

    Attributes
    ----------
    L : sparse array of shape (n_equations, n_patch)
        Each row sums to zero: a constant has no residual.
    D : ndarray of shape (n_patch,)
    signs : ndarray of shape (n_equations,) or None
        -1 for equations whose squared residual is subtracted.
    """

    L: Any
    D: NDArray[np.float64]
    signs: NDArray[np.float64] | None = None
