"""Ridge regression on whitened features, and its exact leave-one-out error from the one factorisation.

With orthonormal features U (rows times √weight) of singular values s, the fit of ridge alpha (in units of the
largest squared singular value) is ``U diag(1 / (1 + alpha p)) Uᵀ T``, ``p = (s_max / s)²``; leaving sample i out
divides its residual by 1 − h_i, h the diagonal of that hat matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Ridges that leave-one-out chooses from.
RIDGES = 10.0 ** np.arange(-14, 0.5, 1.0)

#: A sample that the fit passes through, to rounding, is not predicted by the others at all.
NO_FREEDOM = 1e-10


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What ridge regression makes of its targets (rows times √weight).

    Attributes
    ----------
    shrinkage : ndarray of shape (n_features,)
        ``1 / (1 + alpha p)``.
    fitted, predicted : ndarray of shape (n_samples, n_targets)
        With each sample, and with it left out; infinite where the others do not determine it.
    """

    shrinkage: NDArray[np.float64]
    fitted: NDArray[np.float64]
    predicted: NDArray[np.float64]


def leave_one_out(
    U: NDArray[np.float64],
    T: NDArray[np.float64],
    penalty: NDArray[np.float64],
    leverage: NDArray[np.float64] | float,
    alpha: float,
) -> LeftOut:
    """Fit T by U, and predict each sample from the others.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_features)
        Orthonormal columns.
    T : ndarray of shape (n_samples, n_targets)
    penalty : ndarray of shape (n_features,)
        p above; infinite drops a feature.
    leverage : ndarray of shape (n_samples,) or float
        Share of each sample in the constant term, which is not penalised.
    alpha : float
    """
    shrinkage = np.where(np.isinf(penalty), 0.0, 1 / (1 + alpha * np.where(np.isinf(penalty), 0.0, penalty)))
    fitted = U @ (shrinkage[:, np.newaxis] * (U.T @ T))
    freedom = np.reshape(1 - leverage - np.square(U) @ shrinkage, (-1, 1))
    residuals = np.divide(T - fitted, freedom, out=np.full(T.shape, np.inf), where=freedom > NO_FREEDOM)
    return LeftOut(shrinkage, fitted, T - residuals)
