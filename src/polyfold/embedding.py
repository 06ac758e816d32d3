"""PolynomialEmbedding and the published methods that are points of it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from polyfold._basis import BASES, build_basis, choose_basis
from polyfold._conditioning import condition_basis
from polyfold._diagnostics import Diagnostics, warn_about
from polyfold._eigen import fix_signs, solve_pair
from polyfold._gram import build_gram_pair
from polyfold._neighbors import (
    check_neighbors,
    choose_n_neighbors,
    count_components,
    count_duplicates,
    find_exact_neighbors,
    find_transformer_neighbors,
)
from polyfold._validation import check_boolean, check_choice, check_integer, check_nonnegative
from polyfold.objectives import OBJECTIVES
from polyfold.polymap import PolynomialMap

#: Types that are kept; any other is turned into the first.
FLOATS = [np.float64, np.float32]


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
        Neighbours of each sample. "auto" is 1 % of the samples, at least 10 and at most 50; with a `neighbors`
        transformer it is the transformer's own number.
    degree : int, default=2
        Highest total degree of the polynomial.
    basis : {"auto", "kronecker", "hadamard"}, default="auto"
        "kronecker" has all monomials, "hadamard" pure powers without cross terms. "auto" is "kronecker"
        unless that means more than 5,000 monomials. Only with "kronecker" is the result indifferent to
        rotations of the data.
    center : bool, default=True
        Shift the data to their mean and centre the features, so that the map has a constant term and the
        coordinates have mean zero. False is the paper to the letter: neither.
    alpha : float, default=0.0
        Ridge on the directions along which the features vary least, in units of the mean eigenvalue of the
        problem. 0 is the paper.
    neighbors : "exact" or transformer, default="exact"
        How neighbours are found: exact Euclidean search, or any scikit-learn neighbours transformer, such as
        :class:`sklearn.neighbors.KNeighborsTransformer`. A fitted one must have been fitted on the same X.
    n_jobs : int, default=None
        Threads for the neighbour search and for the sums over samples; -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed for a `neighbors` transformer that has a `random_state` of its own and leaves it at None. Nothing
        else in `fit` is random.
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
        Feature count, rank and condition, components of the neighbour graph, duplicates.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names.

    Notes
    -----
    With N samples, n columns, k neighbours and d polynomial features, `fit` costs the neighbour search plus
    O(N k² (n + k) + N k d + N d² + d³). It holds X in float64, about ten d×d matrices and, for each thread, two
    more and one block of features. `transform` costs O(d · n_components) per sample.

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
    PolynomialMap(3 columns -> 2 coordinates, degree 2, kronecker basis of 9 monomials, 0.2 kB)
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
        center: bool = True,
        alpha: float = 0.0,
        neighbors: Any = "exact",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.basis = basis
        self.center = center
        self.alpha = alpha
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training samples.
        y : ignored
            Present for the pipeline's sake.

        Returns
        -------
        self
        """
        n_components = check_integer("n_components", self.n_components, 1)
        degree = check_integer("degree", self.degree, 1)
        alpha = check_nonnegative("alpha", self.alpha)
        objective = OBJECTIVES[check_choice("graph", self.graph, OBJECTIVES)]
        kind = check_choice("basis", self.basis, {"auto", *BASES})
        center = check_boolean("center", self.center)
        check_neighbors(self.neighbors)
        samples = check_array(X, dtype=FLOATS, ensure_min_samples=2, estimator=self, input_name="X")
        n_neighbors = choose_n_neighbors(self.n_neighbors, len(samples), self.neighbors)
        kind = choose_basis(kind, samples.shape[1], degree)

        standard, shift, scale = standardise(samples.astype(np.float64), center=center)
        neighbors = self._find_neighbors(X, standard, n_neighbors)
        monomials = build_basis(kind, samples.shape[1], degree)
        n_jobs, verbose = self.n_jobs, self.verbose
        basis = condition_basis(monomials, standard, center=center, n_jobs=n_jobs, verbose=verbose)
        gram = build_gram_pair(standard, neighbors, objective, basis, n_jobs=n_jobs, verbose=verbose)
        B = gram.centered() if center else gram.B
        directions = solve_pair(gram.A, B, basis.T_inverse, n_components, alpha)
        offset = -gram.mean @ directions.vectors if center else np.zeros(n_components)
        V, offset = basis.to_monomials(directions.vectors, offset)
        embedding = PolynomialMap(shift, scale, kind, degree, V, offset).transform(samples)
        signs = fix_signs(embedding)

        validate_data(self, X, skip_check_array=True)  # learns number and names of the columns
        self.map_ = PolynomialMap(shift, scale, kind, degree, V * signs, offset * signs)
        self.embedding_ = embedding * signs
        self.eigenvalues_ = directions.eigenvalues
        self.alpha_ = alpha
        self.n_neighbors_ = n_neighbors
        self.diagnostics_ = Diagnostics(
            n_samples=len(samples),
            basis=kind,
            n_features=monomials.n_features,
            rank=directions.rank,
            condition=directions.condition,
            n_connected_components=count_components(neighbors),
            n_duplicates=count_duplicates(standard),
        )
        warn_about(self.diagnostics_, n_neighbors, stacklevel=3)
        return self

    def _find_neighbors(self, X: ArrayLike, standard: NDArray[np.float64], n_neighbors: int) -> NDArray[np.intp]:
        if isinstance(self.neighbors, str):
            return find_exact_neighbors(standard, n_neighbors, n_jobs=self.n_jobs, verbose=self.verbose)
        return find_transformer_neighbors(self.neighbors, X, standard, n_neighbors, random_state=self.random_state)

    def fit_transform(self, X: ArrayLike, y: object = None) -> NDArray[np.floating[Any]]:
        """Learn the map and return the coordinates of the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training samples.
        y : ignored
            Present for the pipeline's sake.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Equal to ``fit(X).transform(X)``.
        """
        return self.fit(X, y).embedding_

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Place samples, each on its own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with the columns seen in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates, float32 where X is float32.
        """
        check_is_fitted(self)
        samples = validate_data(self, X, reset=False, dtype=FLOATS)
        return self.map_.transform(samples)

    @property
    def _n_features_out(self) -> int:
        return self.map_.n_outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def standardise(X: NDArray[np.float64], *, center: bool) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return ``(X − shift) / scale``, the mean (0 without `center`) and the RMS distance to it.

    One scalar for all columns: a rotation of the data changes neither the distances nor this scale. Divided by
    the largest entry first, so that squares of huge or tiny values stay within range.
    """
    largest = float(np.abs(X).max()) or 1.0
    shift = (X / largest).mean(axis=0) * largest if center else np.zeros(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        offsets = X - shift
        reach = float(np.abs(offsets).max()) or 1.0
        scale = reach * float(np.sqrt(np.square(offsets / reach).sum(axis=1).mean())) or 1.0
    if not np.isfinite(scale):
        raise ValueError("X spans a range too large for float64. Divide it by a constant first.")
    return offsets / scale, shift, scale


class NPPE(PolynomialEmbedding):
    """Neighborhood Preserving Polynomial Embedding: all monomials, LLE's local relations.

    :class:`PolynomialEmbedding` with ``graph="lle", basis="kronecker"``. The result does not depend on the
    axes, origin or unit of the data. ``center=False, alpha=0`` is the paper's algorithm 1, which does depend on
    the origin.

    Parameters
    ----------
    n_components, n_neighbors, degree, center, alpha, neighbors, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    Examples
    --------
    >>> from polyfold import NPPE
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.metrics import residual_variance
    >>> X, Z = make_swiss_roll(1000, random_state=0)
    >>> unseen, truth = make_swiss_roll(10_000, random_state=1)
    >>> Y = NPPE(n_neighbors=10).fit(X).transform(unseen)
    >>> residual_variance(Y, truth) < 0.02
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        degree: int = 2,
        center: bool = True,
        alpha: float = 0.0,
        neighbors: Any = "exact",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            graph="lle",
            n_neighbors=n_neighbors,
            degree=degree,
            basis="kronecker",
            center=center,
            alpha=alpha,
            neighbors=neighbors,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )


class SNPPE(PolynomialEmbedding):
    """Simplified NPPE: pure powers of each column, no cross terms.

    :class:`PolynomialEmbedding` with ``graph="lle", basis="hadamard"``: degree times the number of columns
    features, however many columns there are. Without cross terms the result depends on the axes of the data.
    ``center=False, alpha=0`` is the paper's algorithm 2.

    Parameters
    ----------
    n_components, n_neighbors, degree, center, alpha, neighbors, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    Examples
    --------
    >>> from polyfold import SNPPE
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> SNPPE(degree=2).fit(X[:, X.std(axis=0) > 1]).embedding_.shape
    (1797, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        degree: int = 2,
        center: bool = True,
        alpha: float = 0.0,
        neighbors: Any = "exact",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            graph="lle",
            n_neighbors=n_neighbors,
            degree=degree,
            basis="hadamard",
            center=center,
            alpha=alpha,
            neighbors=neighbors,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
