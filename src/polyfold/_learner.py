"""Any manifold learner, asked for the coordinates of its training samples."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.utils.validation import check_array

from polyfold._refusal import refuse_disguised

#: The `estimator` that stands for coordinates computed elsewhere.
PRECOMPUTED = "precomputed"

#: Coordinates beyond this leave no room for the sums that make them.
LARGEST = 1e303


def is_precomputed(estimator: Any) -> bool:
    """Say whether coordinates are given instead of an estimator."""
    return isinstance(estimator, str) and estimator == PRECOMPUTED


def make_learner(estimator: Any, random_state: Any) -> Any:
    """Return a clone of the learner, with a seed where it has none; None for "precomputed"."""
    if is_precomputed(estimator):
        return None
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ValueError(f"`estimator` must be an object, got the class {name}. Write {name}().")
    if not (hasattr(estimator, "fit_transform") or hasattr(estimator, "fit")):
        raise ValueError(
            f'`estimator` must be "{PRECOMPUTED}" or an object with `fit_transform`, or with `fit` and then '
            f"`embedding_`, such as sklearn.manifold.Isomap(), got {estimator!r}."
        )
    learner = clone(estimator, safe=False)
    parameters = learner.get_params() if hasattr(learner, "get_params") and random_state is not None else {}
    seeds = {name: random_state for name, value in parameters.items() if value is None and _is_seed(name)}
    if seeds:
        learner.set_params(**seeds)
    return learner


def fit_lle(X: NDArray[np.float64], **settings: Any) -> LocallyLinearEmbedding:
    """Fit scikit-learn's LLE, densely where its sparse eigensolver gives up, on duplicates for example."""
    try:
        return LocallyLinearEmbedding(**settings).fit(X)
    except ValueError:
        return LocallyLinearEmbedding(**settings, eigen_solver="dense").fit(X)


def name_learner(learner: Any) -> str:
    """Return the name of a learner's class, within what keeps it from being fitted again."""
    return type(learner.estimator if isinstance(learner, FrozenEstimator) else learner).__name__


def _is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")  # also of a step of a pipeline


def embed(learner: Any, X: Any, y: Any, n_samples: int) -> NDArray[np.float64]:
    """Fit the learner and return its coordinates of the samples, whichever way it has of giving them.

    It is given a copy: some may overwrite what they are given.
    """
    X = X.copy() if hasattr(X, "copy") else X
    if hasattr(learner, "fit_transform"):
        coordinates = _call(learner.fit_transform, X, y)
    else:
        _call(learner.fit, X, y)
        coordinates = getattr(learner, "embedding_", None)
        if coordinates is None:
            raise ValueError(
                f"`estimator` must have `fit_transform`, or `embedding_` after `fit`: {type(learner).__name__} "
                'has neither. Compute coordinates with it and use estimator="precomputed".'
            )
    return check_coordinates(coordinates, n_samples, type(learner).__name__)


def _call(method: Any, X: Any, y: Any) -> Any:
    """Call with y where the method takes it: some learners have no such parameter."""
    return method(X, y) if "y" in signature(method).parameters else method(X)


@np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
def check_coordinates(coordinates: ArrayLike, n_samples: int, source: str) -> NDArray[np.float64]:
    """Return coordinates as an array of shape (n_samples, n_components)."""
    refuse_disguised(coordinates, source)
    array = check_array(coordinates, dtype=np.float64, ensure_2d=False, input_name=source)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != n_samples:
        raise ValueError(
            f"{source} gives coordinates of shape {array.shape} for {n_samples} samples: there must be one row "
            "for each."
        )
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise ValueError("The coordinates to follow are too large for float64. Divide them by a constant.")
    return np.asarray(array)


def find_targets(estimator: Any, learner: Any, X: Any, y: Any, n_samples: int) -> NDArray[np.float64]:
    """Return the learner's coordinates of the samples, or y where they are precomputed.

    Parameters
    ----------
    estimator : estimator
        That asks for them, to be named in an error.
    learner : estimator or None
        None where coordinates are precomputed.
    X : array-like of shape (n_samples, n_columns)
    y : array-like or None
    n_samples : int
    """
    if learner is not None:
        return embed(learner, X, y, n_samples)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} with estimator={PRECOMPUTED!r} requires y to be passed, but the target y "
            "is None. Give the coordinates as y, one row for each sample."
        )
    return check_coordinates(y, n_samples, "y")
