"""An explicit map for any manifold learner."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_consistent_length, validate_data

from polyfold._assembly import complete_map
from polyfold._diagnostics import warn_about
from polyfold._explicit_diagnostics import describe_regression, measure_local_r2
from polyfold._features import build_features, check_polynomial
from polyfold._learner import PRECOMPUTED, find_targets, is_precomputed, make_learner, name_learner
from polyfold._memory import explain_memory
from polyfold._regression import follow_targets
from polyfold._threads import use_one_blas_thread
from polyfold._transformer import MapTransformer
from polyfold._validation import (
    check_alpha,
    check_boolean,
    check_seed,
    check_verbose,
    check_workers,
    list_automatic,
)


class ExplicitEmbedding(MapTransformer):
    """A polynomial map that follows any manifold learner, or coordinates computed elsewhere.

    The learner embeds the training samples as it always does, giving T. With ``Phi`` the polynomial features of
    the samples, the map ``y = Phi(x) V + c`` then minimises ``||Phi V + 1cᵀ − T||² + alpha s² ||V||²``, s the
    largest singular value of the centred features and each column of T in units of its standard deviation. New
    samples are placed by the polynomial alone: no training data, no search, no optimisation. How faithful it is,
    is in ``diagnostics_.left_out_r2``.

    Parameters
    ----------
    estimator : estimator or "precomputed"
        What is followed: any learner with `fit_transform`, or with `fit` and then `embedding_`, such as
        :class:`sklearn.manifold.Isomap`, :class:`sklearn.manifold.TSNE`, UMAP, PHATE, or a pipeline that ends in
        one. A clone of it is fitted. "precomputed": the coordinates are given as y in :meth:`fit`.
    degree : int, default=2
        Highest total degree of the polynomial.
    basis : {"auto", "kronecker", "hadamard"}, default="auto"
        All monomials, or pure powers without cross terms; as in :class:`PolynomialEmbedding`.
    alpha : float or "auto", default="auto"
        The ridge. "auto" is that with the smallest leave-one-out error, out of 16 from 0 to 1.
    reduce : int, float, "auto" or None, default="auto"
        Principal axes that the polynomial is written in: how many, the share of variance that they must hold, as
        many as features and samples allow, or None for the columns as they are.
    fit_inverse_transform : bool, default=False
        Learn the way back too, for :meth:`inverse_transform`.
    n_jobs : int, default=None
        Threads for building the features; the learner has its own setting.
    random_state : int, RandomState instance or None, default=None
        Seed for a learner that has a `random_state` and leaves it at None, and for the principal axes of more than
        2,000 samples of more than 2,000 columns. None leaves the learner as it is, and is a fixed seed for axes.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    map_ : PolynomialMap
        The learned map. It holds no training data and no reference to this estimator.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples by the map, equal to ``transform(X)``.
    target_ : ndarray of shape (n_samples, n_components)
        Their coordinates by the learner, which the map follows; samples of weight 0 are left out.
    estimator_ : estimator or None
        The fitted learner; None for "precomputed". It may hold the training data: to place samples, keep `map_`.
    alpha_ : float
        The ridge used.
    diagnostics_ : ExplicitDiagnostics
        What was found and chosen: leave-one-out R² of each coordinate, the ridge curve, rank; prints as a report.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X had names.

    See Also
    --------
    PolynomialEmbedding : The map that keeps a graph's relations itself, without a learner.
    KernelExtrapolation : The same coordinates followed by a kernel on the training samples.

    Notes
    -----
    Beside the learner's own cost, `fit` costs O(N d² + d³) for N samples and d polynomial features, in memory that
    grows with d² and not with N d; each of the 16 ridges compared adds O(N d · n_components). `transform` costs
    O(n r + d · n_components) per sample of n columns reduced to r axes.

    A polynomial is continuous. Learners that tear the data into islands (t-SNE, UMAP) put neighbours far apart,
    and no map of a moderate degree follows them across the gap: `fit` warns where a coordinate's leave-one-out R²
    is below 0.7, or where R² within neighbourhoods, ``diagnostics_.local_r2``, is below 0.

    `score` says how well coordinates keep the neighbourhoods of X, as for every map here, and nothing of how
    faithful the map is: for that see ``diagnostics_``.

    The leave-one-out figures are exact for the regression: axes, scale and ridge are those of all samples, and
    the learner has seen all samples.

    References
    ----------
    Qiao, Zhang, Wang, Zhang, "An Explicit Nonlinear Mapping for Manifold Learning", IEEE Transactions on
    Cybernetics 43 (2013) 51-63. They write any embedding's coordinates as a polynomial of the samples.

    The exact leave-one-out error is after Allen, "The relationship between variable selection and data
    augmentation and a method for prediction", Technometrics 16 (1974) 125-127.

    Examples
    --------
    >>> from polyfold import ExplicitEmbedding
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.metrics import residual_variance
    >>> from sklearn.manifold import Isomap
    >>> X, Z = make_swiss_roll(800, random_state=0)
    >>> unseen, truth = make_swiss_roll(2000, random_state=1)
    >>> explicit = ExplicitEmbedding(Isomap(n_neighbors=8), degree=3).fit(X)
    >>> residual_variance(explicit.transform(unseen), truth) < 0.05
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        degree: int = 2,
        basis: str = "auto",
        alpha: float | str = "auto",
        reduce: float | int | str | None = "auto",
        fit_inverse_transform: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.degree = degree
        self.basis = basis
        self.alpha = alpha
        self.reduce = reduce
        self.fit_inverse_transform = fit_inverse_transform
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @explain_memory
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the learner, and a map that follows it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training samples. Sparse unless ``reduce=None``, where the learner takes it.
        y : array-like of shape (n_samples, n_components) or (n_samples,), default=None
            For ``estimator="precomputed"`` the coordinates to follow; in a pipeline that ends in a classifier y
            is the labels, and these would be followed. Otherwise it is passed on to a learner that takes it.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts in the regression; only the ratios matter. A sample of weight 0 is left
            out. The learner and the principal axes do not see the weights.

        Returns
        -------
        self

        Examples
        --------
        Coordinates computed elsewhere, of which a plane has degree 1:

        >>> from polyfold import ExplicitEmbedding
        >>> from polyfold.datasets import make_gaussian
        >>> X, Z = make_gaussian(300, random_state=0)
        >>> explicit = ExplicitEmbedding("precomputed", degree=1).fit(X, Z)
        >>> bool((explicit.diagnostics_.left_out_r2 > 0.999).all())
        True
        """
        degree = check_polynomial(self.degree, self.basis, self.reduce)
        alpha = check_alpha(self.alpha)
        check_boolean("fit_inverse_transform", self.fit_inverse_transform)
        check_workers(self.n_jobs)
        check_seed(self.random_state)
        check_verbose(self.verbose)
        training = self._check_training_samples(X, sample_weight)
        learner = make_learner(self.estimator, self.random_state)
        if y is not None and not training.kept.all():
            check_consistent_length(training.samples, y)
            y = _safe_indexing(y, training.kept)
        targets = find_targets(self, learner, training.used_as_given, y, len(training.weights))
        work: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        with use_one_blas_thread():  # the learner may have more
            features = build_features(
                training.used,
                degree,
                self.basis,
                self.reduce,
                center=True,
                random_state=self.random_state,
                **work,
            )
            regression = follow_targets(features, targets, training.weights, alpha, **work)
            learned, round_trip_error = complete_map(
                regression.write_map(), features.frame, *training.draw(), self.fit_inverse_transform
            )
            embedding = learned.transform(training.samples)
            local_r2 = measure_local_r2(targets, embedding[training.kept].astype(np.float64), n_jobs=self.n_jobs)

        validate_data(self, X, skip_check_array=True)  # learns number and names of the columns
        self.estimator_ = learner
        self.embedding_ = embedding
        self.target_ = targets
        self.alpha_ = regression.curve.best_alpha
        diagnostics = describe_regression(
            features,
            learned,
            regression,
            learner=PRECOMPUTED if learner is None else name_learner(learner),
            local_r2=local_r2,
            round_trip_error=round_trip_error,
            chosen=list_automatic(self, ("alpha", "reduce")),
            names=getattr(self, "feature_names_in_", None),
        )
        self._keep_map(learned, diagnostics)
        warn_about(diagnostics.find_trouble())
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_precomputed(self.estimator):
            tags.target_tags.required = True
            tags.target_tags.multi_output = True
        else:
            theirs = get_tags(self.estimator) if hasattr(self.estimator, "__sklearn_tags__") else tags
            tags.input_tags.sparse &= theirs.input_tags.sparse
            tags.target_tags.required = theirs.target_tags.required
        return tags
