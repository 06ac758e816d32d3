"""Implicit comparators: they keep the training set and place new samples through a kernel on it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils.validation import validate_data

from polyfold._blocks import row_slices
from polyfold._diagnostics import warn_about
from polyfold._eigen import fix_signs
from polyfold._extrapolation import Extrapolation, choose_extrapolation, compute_kernel
from polyfold._implicit import ImplicitEmbedding, check_range, standardise
from polyfold._learner import find_targets, fit_lle, is_precomputed, make_learner
from polyfold._memory import explain_memory
from polyfold._neighbors import (
    choose_n_neighbors,
    count_components,
    estimate_dimension,
    find_exact_neighbors,
)
from polyfold._nystrom import learn_kernel
from polyfold._regression import standardise_targets
from polyfold._threads import use_one_blas_thread
from polyfold._validation import (
    check_choice,
    check_integer,
    check_nonnegative,
    check_seed,
    check_verbose,
    check_workers,
    is_auto,
)

#: Graphs whose Nyström formula is known here.
NYSTROM_GRAPHS = ("isomap", "laplacian", "lle")

#: Bandwidths that leave-one-out chooses from, in units of the median distance between samples ...
BANDWIDTHS = 2.0 ** np.arange(-4, 2.5, 1.0)

#: ... and ε, in units of the kernel's diagonal.
EPSILONS = 10.0 ** np.arange(-10, 0.5, 1.0)

#: Below this the kernel matrix is singular to rounding.
LEAST_EPSILON = 1e-14

#: They are chosen on at most this many samples: each bandwidth costs an eigendecomposition.
CHOICE_SAMPLES = 2000


class KernelExtrapolation(ImplicitEmbedding):
    """Place new samples by kernel extrapolation, the comparator "KE" of the paper.

    The embedding Y of the training samples, LLE's by default, is extended through a Gaussian kernel on the inputs:
    ``y(x) = k₀(x)ᵀ (K₀ + εI)⁻¹ (Y − c) + c`` with ``k₀(x, x') = exp(−|x − x'|² / 2σ²)`` and c the mean of Y. It is
    kernel ridge regression on Y.

    Parameters
    ----------
    estimator : estimator, "precomputed" or None, default=None
        The learner whose embedding is extended, as in :class:`ExplicitEmbedding`. None is scikit-learn's
        LocallyLinearEmbedding with its defaults: 5 neighbours, 2 coordinates.
    bandwidth : float or "auto", default="auto"
        σ, in the unit of X. "auto" is that of 7, from 1/16 to 4 times the median distance of samples, with the
        smallest leave-one-out error.
    epsilon : float or "auto", default="auto"
        ε. "auto" is that of 11, from 1e-10 to 1, with the smallest leave-one-out error.
    random_state : int, RandomState instance or None, default=None
        Seed for a learner that has a `random_state` and leaves it at None. None is a fixed seed for the default
        learner and leaves others as they are.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples by the extension, equal to ``transform(X)``.
    target_ : ndarray of shape (n_samples, n_components)
        Their coordinates by the learner.
    estimator_ : estimator or None
        The fitted learner; None for "precomputed". The default one has seen the samples shifted to their mean and
        divided by their RMS distance to it.
    bandwidth_, epsilon_ : float
        Those used.
    left_out_r2_ : ndarray of shape (n_components,)
        Share of the variance of each coordinate that is predicted for samples left out.
    samples_ : ndarray of shape (n_samples, n_features)
        The training samples, standardised: every new sample is compared with all of them.
    coefficients_ : ndarray of shape (n_samples, n_components)
        ``(K₀ + εI)⁻¹ (Y − c)``.
    n_features_in_, feature_names_in_
        As in :class:`PolynomialEmbedding`.

    See Also
    --------
    ExplicitEmbedding : The same coordinates followed by a polynomial.
    NystromExtension : The other implicit comparator.

    Notes
    -----
    For N training samples of n columns, `fit` costs the learner plus O(N³) for each of 7 bandwidths (chosen on at
    most 2,000 samples, and one more factorisation beyond) and 32 N² bytes. `transform` costs O(N n) per sample and
    needs the whole training set, where an explicit map of the same coordinates, of d monomials in r axes, costs
    O(n r + d m) for m coordinates and needs none: see :class:`ExplicitEmbedding`. Far from all training samples
    every coordinate tends to its mean.

    References
    ----------
    Vishwanathan, Borgwardt, Guttman, Smola, "Kernel extrapolation", Neurocomputing 69 (2006) 721-729.

    Examples
    --------
    >>> from polyfold import KernelExtrapolation
    >>> from polyfold.datasets import make_swiss_roll
    >>> X, Z = make_swiss_roll(500, random_state=0)
    >>> extension = KernelExtrapolation("precomputed").fit(X, Z)
    >>> bool((extension.left_out_r2_ > 0.9).all())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        bandwidth: float | str = "auto",
        epsilon: float | str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.bandwidth = bandwidth
        self.epsilon = epsilon
        self.random_state = random_state
        self.verbose = verbose

    @explain_memory
    @use_one_blas_thread()
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the learner, and the kernel that extends it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training samples.
        y : array-like of shape (n_samples, n_components) or (n_samples,), default=None
            For ``estimator="precomputed"`` the coordinates; otherwise passed on to a learner that takes it.

        Returns
        -------
        self

        Examples
        --------
        >>> from polyfold import KernelExtrapolation
        >>> from polyfold.datasets import make_gaussian
        >>> X, Z = make_gaussian(300, random_state=0)
        >>> extension = KernelExtrapolation("precomputed", bandwidth=2.0).fit(X, Z)
        >>> round(extension.bandwidth_, 6)
        2.0
        """
        bandwidth = _check_at_least("bandwidth", self.bandwidth, np.finfo(np.float64).tiny)
        epsilon = _check_at_least("epsilon", self.epsilon, LEAST_EPSILON)
        check_seed(self.random_state)
        check_verbose(self.verbose)
        given, frame, samples = self._check_training_samples(X)
        learner, targets = self._learn_targets(samples, X, y)
        check_range(targets, 1.0, given.dtype)
        T, mean, deviation = standardise_targets(targets, np.ones(len(given)))
        learned = self._extrapolate(samples, T, None if bandwidth is None else bandwidth / frame.scale, epsilon)

        validate_data(self, X, skip_check_array=True)  # learns number and names of the columns
        self.estimator_ = learner
        self.target_ = targets
        self.samples_, self._frame = samples, frame
        self._width, self.bandwidth_, self.epsilon_ = learned.width, learned.width * frame.scale, learned.epsilon
        self.left_out_r2_ = 1 - learned.missed / len(T)
        self.coefficients_, self._mean = learned.coefficients * deviation, mean
        self.embedding_ = self._place(given)
        return self

    def _count_pair_matrices(self) -> int:
        """Return how many matrices of all pairs of samples a fit holds at a time."""
        return 6

    def _learn_targets(
        self, samples: NDArray[np.float64], X: ArrayLike, y: ArrayLike | None
    ) -> tuple[Any, NDArray[np.float64]]:
        """Return the fitted learner and its coordinates; LLE sees the samples in their own unit, of any size."""
        n_samples, n_columns = samples.shape
        if self.estimator is not None:
            learner = make_learner(self.estimator, self.random_state)
            return learner, find_targets(self, learner, X, y, n_samples)
        sizes = {"n_neighbors": min(5, n_samples - 1), "n_components": min(2, n_columns, n_samples - 1)}
        learner = fit_lle(samples, **sizes, random_state=0 if self.random_state is None else self.random_state)
        return learner, learner.embedding_

    def _extrapolate(
        self, samples: NDArray[np.float64], T: NDArray[np.float64], width: float | None, epsilon: float | None
    ) -> Extrapolation:
        """Choose bandwidth and ε on a part of the samples, and solve for the coefficients of all."""
        drawn = np.sort(np.random.default_rng(0).permutation(len(samples))[:CHOICE_SAMPLES])
        squares = cdist(samples[drawn], samples[drawn], "sqeuclidean")
        typical = float(np.sqrt(np.median(squares[squares > 0])))
        widths = BANDWIDTHS * typical if width is None else np.array([width])
        epsilons = EPSILONS if epsilon is None else np.array([epsilon])
        learned = choose_extrapolation(squares, T[drawn], widths, epsilons, verbose=self.verbose)
        if len(drawn) == len(samples):
            return learned
        squares = cdist(samples, samples, "sqeuclidean")
        chosen = np.array([learned.width]), np.array([learned.epsilon])
        return choose_extrapolation(squares, T, *chosen, verbose=self.verbose)

    def _place(self, samples: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        placed = np.empty((len(samples), self.coefficients_.shape[1]))
        for rows in row_slices(len(samples), row_bytes=16 * len(self.samples_)):
            squares = cdist(standardise(samples[rows], self._frame), self.samples_, "sqeuclidean")
            placed[rows] = compute_kernel(squares, self._width) @ self.coefficients_ + self._mean
        with np.errstate(over="ignore"):
            return placed.astype(samples.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = is_precomputed(self.estimator)
        return tags


def _check_at_least(name: str, value: Any, least: float) -> float | None:
    """Return a parameter that is a number of some size, None for "auto"."""
    if is_auto(value):
        return None
    number = check_nonnegative(name, value, alternative='"auto" or ')
    if number < least:
        rule = f">= {least:g}" if least > 1e-300 else "> 0"
        raise ValueError(f'`{name}` must be "auto" or a number {rule}, got {value!r}.')
    return number


class NystromExtension(ImplicitEmbedding):
    """Place new samples by the Nyström formula, with the data-dependent kernel of the method.

    The coordinates of LLE, Laplacian eigenmaps and Isomap are eigenvectors of a kernel K̃ that the training samples
    define. The formula ``y(x) = Σ_i K̃(x, x_i) y_i / λ`` continues them to a new sample:

    - "lle": the weights that rebuild x from its neighbours, applied to their coordinates;
    - "laplacian": the mean of its neighbours' coordinates, weighted by a heat kernel, divided by the eigenvalue;
    - "isomap": inner products of the geodesic distances of x, through its neighbours, as in scikit-learn's
      ``Isomap.transform``; pieces of the neighbour graph are joined by fewer edges than there, with a warning.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    graph : {"lle", "laplacian", "isomap"}, default="lle"
        The method that is extended.
    n_neighbors : int or "auto", default="auto"
        Neighbours of each sample; "auto" as in :class:`PolynomialEmbedding`.
    n_jobs : int, default=None
        Threads for the neighbour search and the geodesics.
    random_state : int, RandomState instance or None, default=None
        Seed of LLE's eigensolver; None is a fixed seed.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples by the method, equal to ``transform(X)``.
    eigenvalues_ : ndarray of shape (n_components,)
        λ of each coordinate; 1 for "lle", where they cancel.
    n_neighbors_ : int
        The number of neighbours used.
    samples_ : ndarray of shape (n_samples, n_features)
        The training samples, standardised: the neighbours of every new sample are searched among them.
    n_features_in_, feature_names_in_
        As in :class:`PolynomialEmbedding`.

    See Also
    --------
    KernelExtrapolation : The other implicit comparator.
    PolynomialEmbedding : The explicit maps of the same graphs.

    Notes
    -----
    For N training samples of n columns, m coordinates and k neighbours, `transform` costs per sample the search,
    O(N n) in many columns, and O(k² (n + k)) for "lle", O(N (n + m)) for "laplacian", O(N (k + m)) for "isomap".
    `fit` costs the search and, for "lle", O(N n k min(n, k)) and smallest eigenvectors of a sparse matrix of N
    rows; for "laplacian" O(N² n) and the largest ones of another; for "isomap" O(N² (k + log N + m)) and 48 N²
    bytes. Dense algebra, O(N³), takes the place of sparse up to 500 samples, and for "lle" where scikit-learn
    takes it.

    `transform` needs the whole training set, for "isomap" 8 N² bytes of geodesics too. A neighbour that changes
    moves a sample by a jump. The explicit maps of the same graphs, ``PolynomialEmbedding(graph=...)``, do neither.

    References
    ----------
    Bengio, Paiement, Vincent, Delalleau, Le Roux, Ouimet, "Out-of-sample extensions for LLE, Isomap, MDS,
    Eigenmaps, and spectral clustering", NIPS 2003.

    Examples
    --------
    >>> from polyfold import NystromExtension
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.metrics import residual_variance
    >>> X, _ = make_swiss_roll(500, random_state=0)
    >>> unseen, truth = make_swiss_roll(500, random_state=1)
    >>> extension = NystromExtension(graph="isomap", n_neighbors=8).fit(X)
    >>> residual_variance(extension.transform(unseen), truth) < 0.1
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: str = "lle",
        n_neighbors: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @explain_memory
    @use_one_blas_thread()
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Embed the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training samples.
        y : ignored
            Present for the pipeline's sake.

        Returns
        -------
        self

        Examples
        --------
        >>> from polyfold import NystromExtension
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(300, random_state=0)
        >>> NystromExtension(n_neighbors=10).fit(X).eigenvalues_
        array([1., 1.])
        """
        n_components = check_integer("n_components", self.n_components, 1)
        check_choice("graph", self.graph, NYSTROM_GRAPHS)
        check_workers(self.n_jobs)
        check_seed(self.random_state)
        check_verbose(self.verbose)
        given, frame, samples = self._check_training_samples(X)
        if n_components >= len(given):
            raise ValueError(
                f"`n_components` must be below the number of samples, got n_components={n_components} with "
                f"n_samples={len(given)}. Lower `n_components` or add samples."
            )
        if self.graph == "lle" and n_components > given.shape[1]:
            raise ValueError(
                f'`n_components` must be at most the number of columns for graph="lle", got '
                f"n_components={n_components} with n_features={given.shape[1]}."
            )
        work: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        dimension = estimate_dimension(samples, n_jobs=self.n_jobs) if is_auto(self.n_neighbors) else np.nan
        number = choose_n_neighbors(self.n_neighbors, len(given), dimension, "exact")
        neighbors = find_exact_neighbors(samples, number, **work)
        kernel = learn_kernel(self.graph, samples, neighbors, random_state=self.random_state, **work)
        coordinates, eigenvalues = kernel.find_coordinates(n_components)
        n_positive = int(np.count_nonzero(eigenvalues > 0))
        if n_positive < n_components:
            raise ValueError(
                f"`n_components`={n_components} exceeds the number of positive eigenvalues of the kernel, "
                f"{n_positive}. Lower `n_components` or raise `n_neighbors`."
            )
        unit = frame.scale if self.graph == "isomap" else 1.0
        check_range(coordinates, unit, given.dtype)
        coordinates = coordinates * fix_signs(coordinates)

        validate_data(self, X, skip_check_array=True)  # learns number and names of the columns
        self.samples_, self._frame, self._kernel = samples, frame, kernel
        self._weights, self._unit = coordinates / eigenvalues, unit
        with np.errstate(over="ignore"):
            self.eigenvalues_ = eigenvalues * unit * unit
        self.n_neighbors_ = number
        self.embedding_ = self._place(given)
        warn_about(self._find_trouble(count_components(neighbors)))
        return self

    def _count_pair_matrices(self) -> int:
        """Return how many matrices of all pairs of samples a fit holds at a time."""
        return 6 if self.graph == "isomap" else 0

    def _find_trouble(self, n_pieces: int) -> list[str]:
        if n_pieces == 1:
            return []
        consequence = (
            "they were joined by the shortest edges between them, and distances across are guesses"
            if self.graph == "isomap"
            else "coordinates tell the components apart and may show nothing of what is in them"
        )
        return [
            f"The neighbour graph has {n_pieces} connected components: {consequence}. Raise `n_neighbors` above "
            f"{self.n_neighbors_}, or fit each component on its own."
        ]

    def _place(self, samples: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        placed = np.empty((len(samples), self._weights.shape[1]))
        for rows in row_slices(len(samples), row_bytes=16 * len(self.samples_)):
            with np.errstate(over="ignore", invalid="ignore"):  # what is out of range is looked for in the end
                located = standardise(samples[rows], self._frame)
                placed[rows] = self._kernel.relate(located) @ self._weights * self._unit
        with np.errstate(over="ignore"):
            return placed.astype(samples.dtype, copy=False)
