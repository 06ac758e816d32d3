"""What the implicit comparators have in common: they keep the training samples, standardised, to place others."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from polyfold._frame import Frame, build_frame
from polyfold._refusal import refuse_disguised, refuse_equal_names
from polyfold._threads import use_one_blas_thread
from polyfold._transformer import FLOATS, EmbeddingTransformer, refuse_dask

#: Standardised numbers below this are 0, so that squares of what differs are doubles, in the systems of LLE too.
LEAST_DISTANCE = 1e-130


class ImplicitEmbedding(EmbeddingTransformer):
    """An estimator that keeps its training samples, as standardised columns, to place others.

    A subclass learns `samples_` and `embedding_` in `fit`, and has `_place`.
    """

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> NDArray[np.floating[Any]]:
        """Fit and return the coordinates of the training samples.

        Parameters
        ----------
        X, y
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Equal to ``fit(X).transform(X)``.

        Examples
        --------
        >>> import numpy as np
        >>> from polyfold import NystromExtension
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(300, random_state=0)
        >>> extension = NystromExtension(n_neighbors=10)
        >>> np.allclose(extension.fit_transform(X), extension.transform(X))
        True
        """
        fitted: Self = self.fit(X, y)
        return fitted.embedding_

    @use_one_blas_thread()
    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Place samples by their relation to each training sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with the columns seen in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates, float32 where X is float32.

        Examples
        --------
        >>> import numpy as np
        >>> from polyfold import KernelExtrapolation
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(300, random_state=0)
        >>> extension = KernelExtrapolation().fit(X)
        >>> np.allclose(extension.transform(X[:5]), extension.embedding_[:5])
        True
        """
        placed: NDArray[np.floating[Any]] = self._place(self._check_new_samples(X))
        if not np.isfinite(placed).all():
            row = int(np.argmin(np.isfinite(placed).all(axis=1)))
            raise ValueError(f"Row {row} of X is finite but so far from the training samples that it overflows.")
        return placed

    @np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
    def _check_new_samples(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        check_is_fitted(self)
        refuse_disguised(X)
        refuse_equal_names(X)
        return np.asarray(validate_data(self, X, reset=False, dtype=FLOATS))

    @np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
    def _check_training_samples(
        self, X: ArrayLike
    ) -> tuple[NDArray[np.floating[Any]], Frame, NDArray[np.float64]]:
        """Return the samples as they are, what standardises them, and standardised."""
        refuse_dask(X, self)
        refuse_disguised(X)
        refuse_equal_names(X)
        samples = check_array(X, dtype=FLOATS, ensure_min_samples=2, estimator=self, input_name="X")
        frame, _, _ = build_frame(samples, None, center=True, random_state=None)
        standardised = standardise(samples, frame)
        if not frame.variances.any() or (standardised == standardised[0]).all():  # denormals may have no spread
            raise ValueError("All samples of X are equal: nothing tells them apart.")
        return np.asarray(samples), frame, standardised

    @abstractmethod
    def _count_pair_matrices(self) -> int:
        """Return how many matrices of all pairs of samples a fit holds at a time."""

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def standardise(X: NDArray[np.floating[Any]], frame: Frame) -> NDArray[np.float64]:
    """Return samples in the unit of the training samples: each one alike, to the bit, whenever it comes."""
    with np.errstate(over="ignore"):
        located = np.subtract(X, frame.shift, dtype=np.float64) / frame.scale
    located[np.abs(located) < LEAST_DISTANCE] = 0
    return np.asarray(located)


def check_range(coordinates: NDArray[np.float64], unit: float, dtype: Any) -> None:
    """Check that coordinates of the training samples, in some unit, are numbers of the type of these."""
    with np.errstate(over="ignore", under="ignore"):
        kept = (coordinates * unit).astype(dtype)
    if not np.isfinite(kept).all():
        raise ValueError(
            f"The coordinates are too large for {dtype}. Divide X, or what is followed, by a constant."
        )
