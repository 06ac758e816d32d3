"""What every embedding here offers beyond `fit`: coordinates of samples, old and new, and how good they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from polyfold._draw import choose_sample_size, draw_rows
from polyfold._extras import import_needing
from polyfold._record import describe_training
from polyfold._refusal import refuse_disguised, refuse_equal_names
from polyfold._rows import check_table, is_dask, is_large_map, read_columns
from polyfold._sparse import read_sparse
from polyfold.export import load_exporter
from polyfold.metrics import coranking_auc
from polyfold.polymap import PolynomialMap

#: Types that are kept; any other is turned into the first.
FLOATS = [np.float64, np.float32]

#: `score` ranks at most this many samples.
SCORE_SAMPLES = 2000


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """What `fit` is given, checked.

    Attributes
    ----------
    given : array-like of shape (n_samples, n_columns)
        As it came.
    samples : ndarray or csr_array of shape (n_samples, n_columns)
    kept : ndarray of shape (n_samples,)
        Whether a sample has a weight above 0; the others are left out.
    weights : ndarray of shape (n_kept,)
        Of those kept, with mean 1.
    """

    given: Any
    samples: Any
    kept: NDArray[np.bool_]
    weights: NDArray[np.float64]

    @property
    def used(self) -> Any:
        """The samples that are kept."""
        return self.samples if self.kept.all() else self.samples[self.kept]

    @cached_property
    def drawn(self) -> NDArray[np.intp]:
        """Which of those kept make up a sample, from which what needs no more is found."""
        return draw_rows(len(self.weights), choose_sample_size(self.samples.shape[1]))

    def draw(self) -> tuple[Any, NDArray[np.float64]]:
        """Return this sample, and its weights."""
        if len(self.drawn) == len(self.weights):
            return self.used, self.weights
        return self.samples[np.flatnonzero(self.kept)[self.drawn]], self.weights[self.drawn]

    @property
    def used_as_given(self) -> Any:
        """The samples that are kept, with the type and the names that they came with."""
        if self.kept.all():
            return self.given
        return self.used if issparse(self.samples) else _safe_indexing(self.given, self.kept)


def refuse_dask(X: Any, estimator: Any) -> None:
    """Say that a fit needs its samples in memory, before a collection is loaded without a word."""
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__}.fit holds all samples in memory and takes no Dask collection. Give it "
            "X.compute(), or a part of X; transform takes the whole."
        )


class EmbeddingTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator whose `fit` learns `embedding_`, and that has `_check_new_samples` and `_place`."""

    embedding_: NDArray[np.floating[Any]]

    def _draw_collection(self, X: Any) -> NDArray[Any]:
        """Return some samples of a Dask collection."""
        self._check_collection(X)
        drawn: NDArray[Any] = import_needing("polyfold.dask", "dask").draw_lazily(X, SCORE_SAMPLES)
        return drawn

    def _check_collection(self, X: Any) -> None:
        """Check number and names of the columns of a Dask collection."""
        check_is_fitted(self)
        validate_data(self, read_columns(X), reset=False, skip_check_array=True)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return how well the coordinates of X keep its neighbourhoods: the co-ranking AUC.

        It compares maps of any parameters, and so serves :class:`sklearn.model_selection.GridSearchCV`. It ranks
        straight distances, large ones too: of a surface that is rolled up it prefers maps that do not unroll it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, at least 3. Of more than 2,000, as many drawn from a fixed seed are ranked.
        y : ignored
            Present for the pipeline's sake.

        Returns
        -------
        float
            At most 1; chance is 0. See :func:`polyfold.metrics.coranking_auc`.

        See Also
        --------
        polyfold.metrics.coranking_auc : The same of any two tables.

        Notes
        -----
        O(s² (n + log s)) time for s samples of n columns, at most 2,000, beyond placing them, and O(s) memory.

        Examples
        --------
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_gaussian
        >>> X, _ = make_gaussian(300, random_state=0)
        >>> unseen, _ = make_gaussian(300, random_state=1)
        >>> NPPE(n_neighbors=10).fit(X).score(unseen) > 0.9
        True
        """
        samples: Any = self._draw_collection(X) if is_dask(X) else self._check_new_samples(X)
        if samples.shape[0] > SCORE_SAMPLES:
            samples = samples[draw_rows(samples.shape[0], SCORE_SAMPLES)]
        dense = samples.toarray() if issparse(samples) else samples
        return coranking_auc(dense, self._place(samples))


class MapTransformer(EmbeddingTransformer):
    """An estimator whose `fit` learns `map_`, a PolynomialMap, from samples that `reduce` may put into axes."""

    map_: PolynomialMap
    diagnostics_: Any
    reduce: Any

    def _keep_map(self, learned: PolynomialMap, diagnostics: Any) -> None:
        """Store the map, which tells from now on what it was learned from and by, and the diagnostics."""
        names = tuple(getattr(self, "feature_names_in_", ()))
        self.map_ = replace(
            learned,
            columns=names or None,
            training=describe_training(self, diagnostics),
        )
        self.diagnostics_ = diagnostics

    @np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
    def _check_training_samples(self, X: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSamples:
        refuse_dask(X, self)
        refuse_disguised(X)
        refuse_disguised(sample_weight, "sample_weight")
        refuse_equal_names(X)
        accept_sparse = "csr" if self.reduce is not None else False
        samples = check_array(
            X, accept_sparse=accept_sparse, dtype=FLOATS, ensure_min_samples=2, estimator=self, input_name="X"
        )
        if issparse(samples):
            samples = read_sparse(samples)
        weights = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        kept = weights > 0
        if np.count_nonzero(kept) < 2:
            raise ValueError(
                f"`sample_weight` must be above 0 for at least 2 samples, got {np.count_nonzero(kept)}."
            )
        weights = weights[kept] / weights.max()
        return TrainingSamples(X, samples, kept, weights / weights.mean())

    def fit_transform(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.floating[Any]]:
        """Learn the map and return the coordinates of the training samples.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Equal to ``fit(X).transform(X)``.

        Examples
        --------
        >>> import numpy as np
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(300, random_state=0)
        >>> embedding = NPPE(n_neighbors=10)
        >>> np.array_equal(embedding.fit_transform(X), embedding.transform(X))
        True
        """
        self._check_output(X)
        fitted: Self = self.fit(X, y, sample_weight)
        return fitted.embedding_

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Place samples, each on its own.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or data frame} of shape (n_samples, n_features)
            Samples with the columns seen in `fit`. Sparse where these were reduced.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates, float32 where X is float32. Of a Dask collection a lazy Dask array, with its chunks.

        See Also
        --------
        PolynomialMap.transform : What it calls, once X is checked.

        Notes
        -----
        O(n r + d m) time for a sample of n columns, d monomials in r axes and m coordinates; O(d m) where the
        columns are not reduced.

        Examples
        --------
        A sample has the same coordinates alone and among others.

        >>> import numpy as np
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(300, random_state=0)
        >>> fitted = NPPE(n_neighbors=10).fit(X)
        >>> np.array_equal(fitted.transform(X)[7:8], fitted.transform(X[7:8]))
        True
        """
        if is_dask(X):
            self._check_collection(X)
            self._check_output(X)
            return self._place(X)
        samples = self._check_new_samples(X)
        return self._place(samples)

    def _check_output(self, X: Any) -> None:
        """Check before any work that coordinates are wanted as they are."""
        if is_dask(X) and _get_output_config("transform", self)["dense"] != "default":
            raise ValueError(
                'Coordinates of a Dask collection are a lazy Dask array: set_output(transform="default").'
            )

    def _place(self, samples: Any) -> NDArray[np.floating[Any]]:
        return self.map_.transform(samples)

    @np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
    def _check_new_samples(self, X: ArrayLike) -> Any:
        if self._is_plain(X):
            return X
        check_is_fitted(self)
        refuse_disguised(X)
        refuse_equal_names(X)
        if is_large_map(X):  # of any type: the map converts a few rows at a time
            validate_data(self, X, reset=False, skip_check_array=True)
            return check_table(X)
        accept_sparse = "csr" if self.map_.axes is not None else False
        # NaN and infinity come through a polynomial: the map looks for them in its few coordinates.
        return validate_data(
            self, X, reset=False, dtype=FLOATS, accept_sparse=accept_sparse, ensure_all_finite=False
        )

    def _is_plain(self, X: ArrayLike) -> bool:
        """Say whether X is an array that needs no check: a few samples are placed in less time than one takes."""
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in FLOATS or hasattr(self, "feature_names_in_"):
            return False
        return bool(X.shape[0] > 0 and X.shape[1] == getattr(self, "n_features_in_", None))

    def inverse_transform(self, Y: ArrayLike) -> NDArray[np.float64]:
        """Return samples that lie at given coordinates.

        Parameters
        ----------
        Y : array-like or Dask array of shape (n_samples, n_components)
            Coordinates, such as `transform` returns.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Samples. How close they come is in ``diagnostics_.round_trip_error``.

        See Also
        --------
        PolynomialMap.inverse : What it calls, once Y is checked.

        Examples
        --------
        >>> import numpy as np
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_gaussian
        >>> X, _ = make_gaussian(500, random_state=0)
        >>> fitted = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X)
        >>> np.allclose(fitted.inverse_transform(fitted.transform(X)), X, atol=0.05)
        True
        """
        check_is_fitted(self)
        if self.map_.decoder is None:
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without the way back. Set fit_inverse_transform=True and "
                "fit again."
            )
        refuse_disguised(Y, "Y")
        return self.map_.inverse(Y if is_dask(Y) else check_array(Y, dtype=np.float64, input_name="Y"))

    def onnx_parser(self) -> Any:
        """Return what declares the outputs to skl2onnx."""
        return load_exporter("sklearn_onnx").name_outputs

    def onnx_shape_calculator(self) -> Any:
        """Return what tells skl2onnx their shape."""
        return load_exporter("sklearn_onnx").infer_shape

    def onnx_converter(self) -> Any:
        """Return what writes the map into skl2onnx's model."""
        return load_exporter("sklearn_onnx").convert

    @property
    def _n_features_out(self) -> int:
        return self.map_.n_outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.reduce is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
