"""PolynomialEmbedding and the published methods that are points of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from polyfold._basis import BASES, MonomialBasis, build_basis, choose_basis
from polyfold._conditioning import condition_basis
from polyfold._decoder import learn_decoder
from polyfold._diagnostics import describe_fit, warn_about
from polyfold._domain import learn_domain
from polyfold._eigen import fix_signs, solve_pair, whiten
from polyfold._frame import build_frame, check_reduce, choose_n_axes
from polyfold._gram import Neighborhoods, build_gram_folds, sum_folds
from polyfold._neighbors import (
    check_neighbors,
    choose_n_neighbors,
    count_duplicates,
    estimate_dimension,
    find_exact_neighbors,
    find_transformer_neighbors,
)
from polyfold._ridge import ALPHAS, average_objective, cross_validate
from polyfold._space import choose_space, compare_spaces
from polyfold._validation import check_boolean, check_choice, check_integer, check_nonnegative
from polyfold.metrics import coranking_auc
from polyfold.objectives import OBJECTIVES
from polyfold.polymap import PolynomialMap

#: Types that are kept; any other is turned into the first.
FLOATS = [np.float64, np.float32]

#: `score` ranks at most this many samples.
SCORE_SAMPLES = 2000


class PolynomialEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Manifold learning that returns an explicit polynomial map.

    With ``Phi`` the polynomial features of the samples, L the residual operator of a local method and D its
    sample weights, the map ``y = Phi(x) V + c`` minimises ``||L Phi V||²`` subject to
    ``Vᵀ Phiᵀ diag(D) Phi V = I``: the coordinates keep the local relations of the data and are uncorrelated.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates, at most the rank of the features.
    graph : {"lle"}, default="lle"
        The local relations that are kept: "lle", each sample rebuilt from its neighbours.
    n_neighbors : int or "auto", default="auto"
        Neighbours of each sample. "auto" is 1 % of the samples or m(m+1)/2, m the estimated intrinsic dimension,
        whichever is more, at least 10 and at most 50; with a `neighbors` transformer it is the transformer's own
        number.
    degree : int, default=2
        Highest total degree of the polynomial.
    basis : {"auto", "kronecker", "hadamard"}, default="auto"
        "kronecker" has all monomials, "hadamard" pure powers without cross terms. "auto" is "kronecker"
        unless that means more than 5,000 monomials, which ``reduce="auto"`` prevents beyond 3 columns. Only with
        "kronecker" is the result indifferent to rotations of the data.
    alpha : float or "auto", default="auto"
        Ridge on the directions along which the features vary least, in units of the mean eigenvalue of the
        problem. 0 is the paper. "auto" takes the ridge with the smallest objective on held-out folds (sample i is
        in fold i mod 10), from 0 and 1e-6 to 1.
    reduce : int, float, None or "auto", default="auto"
        Principal axes that the polynomial is written in: a number of axes, the fraction of variance that they
        hold, or None for the columns themselves. "auto" takes as many as make 500 polynomial features (30 axes at
        degree 2) and 0.8 features for each sample; up to 3 columns are left as they are. The map stays one
        polynomial of the original columns.
    center : bool, default=True
        Shift the data to their mean and centre the features, so that the map has a constant term and the
        coordinates have mean zero. False is the paper to the letter: neither.
    neighbors : "exact" or transformer, default="exact"
        How neighbours are found: exact Euclidean search, or any scikit-learn neighbours transformer, such as
        :class:`sklearn.neighbors.KNeighborsTransformer`. A fitted one must have been fitted on the same X.
    fit_inverse_transform : bool, default=False
        Learn the way back from coordinates to samples too, see :meth:`inverse_transform`.
    n_jobs : int, default=None
        Threads for the neighbour search and for the sums over samples; -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed for a `neighbors` transformer that has a `random_state` of its own and leaves it at None, and for the
        principal axes of more than 2,000 samples of more than 2,000 columns. Nothing else in `fit` is random, and
        None is a fixed seed for the axes.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    map_ : PolynomialMap
        The learned map. It holds no training data and no reference to this estimator.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples, equal to ``transform(X)``.
    eigenvalues_ : ndarray of shape (n_components,)
        Values of the minimised objective (the ridge included), one for each coordinate, ascending.
    alpha_ : float
        The ridge used.
    n_neighbors_ : int
        The number of neighbours used.
    diagnostics_ : Diagnostics
        What was found and chosen, and why; prints as a report.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names.

    Notes
    -----
    With N samples, n columns, r axes, k neighbours and d polynomial features, `fit` costs the neighbour search
    plus O(N k² (n + k) + N k d + N d² + 100 d³), and about ``8 (3 N n + 2 N r + 3 N k + 35 d²)`` bytes beside the
    350 MB of the libraries, for one thread; each more adds 0.1 to 0.2 GB. `transform` costs
    O(n r + d · n_components) per sample.

    Where the columns are reduced, neighbourhoods are measured in the columns or in the principal axes, whichever
    keeps the neighbours of the columns better in a trial on at most 2,000 samples; of sparse X in the axes.

    Columns are compared as they are: standardise columns of different units first, for example with
    :class:`sklearn.preprocessing.StandardScaler`, and leave alone those that share a unit, such as pixels.

    References
    ----------
    Qiao, Zhang, Wang, Zhang, "An Explicit Nonlinear Mapping for Manifold Learning", IEEE Transactions on
    Cybernetics 43 (2013) 51-63.

    Examples
    --------
    >>> from polyfold import PolynomialEmbedding
    >>> from polyfold.datasets import make_swiss_roll
    >>> X, Z = make_swiss_roll(1000, random_state=0)
    >>> embedding = PolynomialEmbedding(n_neighbors=10).fit(X)
    >>> embedding.map_
    PolynomialMap(3 columns -> 2 coordinates, degree 2, kronecker basis of 9 monomials, 0.3 kB)
    >>> embedding.transform(X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: str = "lle",
        n_neighbors: int | str = "auto",
        degree: int = 2,
        basis: str = "auto",
        alpha: float | str = "auto",
        reduce: float | int | str | None = "auto",
        center: bool = True,
        neighbors: Any = "exact",
        fit_inverse_transform: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.basis = basis
        self.alpha = alpha
        self.reduce = reduce
        self.center = center
        self.neighbors = neighbors
        self.fit_inverse_transform = fit_inverse_transform
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training samples. Sparse unless ``reduce=None``.
        y : ignored
            Present for the pipeline's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            How much the local relation of each sample counts, and its coordinates in the constraint; only the
            ratios matter. A sample of weight 0 is left out. Neighbours and principal axes do not see the weights.

        Returns
        -------
        self
        """
        n_components, degree, alpha, center = self._check_parameters()
        samples, weights = self._check_samples(X, sample_weight)
        kept = weights > 0
        used = samples if kept.all() else samples[kept]
        weights = weights[kept] / weights.max()
        weights /= weights.mean()

        n_axes = choose_n_axes(self.reduce, used, self.basis, degree, n_components)
        frame, columns, coordinates = build_frame(used, n_axes, center=center, random_state=self.random_state)
        kind = choose_basis(self.basis, coordinates.shape[1], degree)
        monomials = build_basis(kind, coordinates.shape[1], degree)
        given = X if kept.all() else used if issparse(used) else _safe_indexing(X, kept)
        graph = self._find_neighborhoods(given, columns, coordinates, monomials)

        work: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        basis = condition_basis(monomials, coordinates, center=center, **work)
        folds = build_gram_folds(graph, coordinates, weights, OBJECTIVES[self.graph], basis, **work)
        gram = sum_folds(folds)
        mean = gram.mean if center else np.zeros(monomials.n_features)
        whitening = whiten(gram.centered() if center else gram.B, basis.T_inverse, n_components)
        alphas = ALPHAS if alpha is None else np.array([alpha])
        curve = cross_validate(
            folds, gram, mean, whitening, n_components, alphas, center=center, verbose=self.verbose
        )
        directions = solve_pair(gram.A, whitening, n_components, curve.best_alpha)
        V, offset = basis.to_monomials(directions.vectors, -mean @ directions.vectors)
        learned = PolynomialMap(frame.shift, frame.scale, kind, degree, V, offset, frame.axes)
        signs = fix_signs(learned.transform(used))
        learned = replace(learned, coefficients=V * signs, offset=offset * signs)
        learned, round_trip_error = self._complete_map(learned, used, weights)
        embedding = learned.transform(samples)

        validate_data(self, X, skip_check_array=True)  # learns number and names of the columns
        self.map_ = learned
        self.embedding_ = embedding
        self.eigenvalues_ = directions.eigenvalues
        self.alpha_ = curve.best_alpha
        self.n_neighbors_ = graph.n_neighbors
        self.diagnostics_ = describe_fit(
            frame,
            graph,
            learned,
            whitening,
            curve,
            n_duplicates=count_duplicates(coordinates if columns is None else columns),
            training_objective=average_objective(folds, mean, directions.vectors),
            round_trip_error=round_trip_error,
            chosen=self._list_automatic(),
            names=getattr(self, "feature_names_in_", None),
        )
        warn_about(self.diagnostics_)
        return self

    def _list_automatic(self) -> frozenset[str]:
        """Name the parameters that `fit` chose."""
        automatic = {name for name in ("n_neighbors", "alpha", "reduce") if _is_auto(getattr(self, name))}
        if hasattr(self.neighbors, "n_neighbors"):  # a transformer brings its own number
            automatic.discard("n_neighbors")
        return frozenset(automatic)

    def _check_parameters(self) -> tuple[int, int, float | None, bool]:
        n_components = check_integer("n_components", self.n_components, 1)
        degree = check_integer("degree", self.degree, 1)
        alpha = None if _is_auto(self.alpha) else check_nonnegative("alpha", self.alpha, alternative='"auto" or ')
        check_reduce(self.reduce)
        check_choice("graph", self.graph, OBJECTIVES)
        check_choice("basis", self.basis, {"auto", *BASES})
        check_boolean("fit_inverse_transform", self.fit_inverse_transform)
        check_neighbors(self.neighbors)
        return n_components, degree, alpha, check_boolean("center", self.center)

    def _check_samples(self, X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Any, NDArray[np.float64]]:
        accept_sparse = "csr" if self.reduce is not None else False
        samples = check_array(
            X, accept_sparse=accept_sparse, dtype=FLOATS, ensure_min_samples=2, estimator=self, input_name="X"
        )
        if issparse(samples):
            samples = csr_array(samples)
        weights = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        if np.count_nonzero(weights) < 2:
            raise ValueError(
                f"`sample_weight` must be above 0 for at least 2 samples, got {np.count_nonzero(weights)}."
            )
        return samples, weights

    def _find_neighborhoods(
        self,
        X: ArrayLike,
        columns: NDArray[np.float64] | None,
        coordinates: NDArray[np.float64],
        monomials: MonomialBasis,
    ) -> Neighborhoods:
        visible = coordinates if columns is None else columns
        dimension = estimate_dimension(visible, n_jobs=self.n_jobs)
        n_neighbors = choose_n_neighbors(self.n_neighbors, len(visible), dimension, self.neighbors)
        space = "axes" if columns is None else "columns"
        scores: dict[str, float] = {}
        if not isinstance(self.neighbors, str):
            neighbors = find_transformer_neighbors(
                self.neighbors, X, visible, n_neighbors, random_state=self.random_state
            )
            return Neighborhoods(neighbors, visible, dimension, space, scores)
        if columns is not None and coordinates is not columns:
            trial_alpha = None if _is_auto(self.alpha) else float(self.alpha)
            settings = OBJECTIVES[self.graph], n_neighbors, self.n_components, trial_alpha
            with suppress(ValueError):  # too few samples, or too alike: then the axes, without a trial
                scores = compare_spaces(
                    columns, coordinates, monomials, *settings, center=self.center, n_jobs=self.n_jobs
                )
            space = choose_space(scores)
        measured = visible if space == "columns" else coordinates
        neighbors = find_exact_neighbors(measured, n_neighbors, n_jobs=self.n_jobs, verbose=self.verbose)
        return Neighborhoods(neighbors, measured, dimension, space, scores)

    def _complete_map(
        self, learned: PolynomialMap, samples: Any, weights: NDArray[np.float64]
    ) -> tuple[PolynomialMap, float | None]:
        """Add to the map what its samples cover, and the way back where it is wanted, with its error."""
        center = np.asarray(samples.mean(axis=0), dtype=np.float64).ravel()
        if not np.isfinite(center).all():
            center = learned.shift
        located, squared_lengths = learned._measure(samples, center)
        learned = replace(learned, domain=learn_domain(center, located, squared_lengths))
        if not self.fit_inverse_transform:
            return learned, None
        variance = (weights @ squared_lengths) or 1.0
        targets, squared_lengths = learned._measure(samples, learned.shift)
        decoder = learn_decoder(learned.transform(samples).astype(np.float64), targets, weights)
        off_axes = weights @ np.maximum(squared_lengths - np.square(targets).sum(axis=1), 0.0)
        return replace(learned, decoder=decoder.map), float((decoder.squared_error + off_axes) / variance)

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
        """
        return self.fit(X, y, sample_weight).embedding_

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Place samples, each on its own.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples with the columns seen in `fit`. Sparse where these were reduced.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates, float32 where X is float32.
        """
        samples = self._check_new_samples(X)
        return self.map_.transform(samples)

    def _check_new_samples(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        accept_sparse = "csr" if self.map_.axes is not None else False
        return validate_data(self, X, reset=False, dtype=FLOATS, accept_sparse=accept_sparse)

    def inverse_transform(self, Y: ArrayLike) -> NDArray[np.float64]:
        """Return samples that lie at given coordinates.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Coordinates, such as `transform` returns.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Samples. How close they come is in ``diagnostics_.round_trip_error``.
        """
        check_is_fitted(self)
        if self.map_.decoder is None:
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without the way back. Set fit_inverse_transform=True and "
                "fit again."
            )
        return self.map_.inverse(check_array(Y, dtype=np.float64, input_name="Y"))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return how well the coordinates of X keep its neighbourhoods: the co-ranking AUC.

        It compares maps of any parameters, and so serves :class:`sklearn.model_selection.GridSearchCV`.

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
        """
        samples = self._check_new_samples(X)
        if samples.shape[0] > SCORE_SAMPLES:
            draw = np.random.default_rng(0).choice(samples.shape[0], SCORE_SAMPLES, replace=False)
            samples = samples[np.sort(draw)]
        dense = samples.toarray() if issparse(samples) else samples
        return coranking_auc(dense, self.map_.transform(samples))

    @property
    def _n_features_out(self) -> int:
        return self.map_.n_outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.reduce is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
