"""PolynomialEmbedding and the published methods that are points of it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from polyfold._assembly import complete_map, write_map
from polyfold._block_input import check_batch, check_blocks, open_rows
from polyfold._blocks import show_stage
from polyfold._diagnostics import warn_about
from polyfold._features import Features, build_features, check_polynomial
from polyfold._global import GeodesicKernel, solve_global
from polyfold._gram import build_gram_folds
from polyfold._graph_diagnostics import describe_fit
from polyfold._local import solve_local
from polyfold._memory import explain_memory
from polyfold._neighbors import check_neighbors
from polyfold._relations import (
    Relations,
    check_graph,
    describe_given,
    find_relations,
    name_graph,
    take_graph,
)
from polyfold._rows import (
    HeldRows,
    check_reference_size,
    is_dask,
    read_columns,
)
from polyfold._streaming import (
    Fitted,
    Settings,
    Stream,
    begin_stream,
    continue_stream,
    fit_rows,
)
from polyfold._threads import use_one_blas_thread
from polyfold._transformer import MapTransformer, TrainingSamples
from polyfold._validation import (
    check_alpha,
    check_boolean,
    check_choice,
    check_integer,
    check_seed,
    check_verbose,
    check_workers,
    list_automatic,
)
from polyfold.objectives import GEODESIC


def _can_stream(embedding: PolynomialEmbedding) -> bool:
    """Say whether an embedding has `partial_fit`, and why not where it has none."""
    if isinstance(embedding.graph, str) and embedding.graph in GEODESIC:
        raise AttributeError(
            f'There is no partial_fit with graph="{embedding.graph}": ridges are rated by a second look at all '
            "samples. Use fit, which takes Dask arrays and memory maps too."
        )
    return True


class PolynomialEmbedding(MapTransformer):
    """Manifold learning that returns an explicit polynomial map.

    With ``Phi`` the polynomial features of the samples, L the residual operator of a local method and D its
    sample weights, the map ``y = Phi(x) V + c`` minimises ``||L Phi V||²`` subject to
    ``Vᵀ Phiᵀ diag(D) Phi V = I``: the coordinates keep the local relations of the data and are uncorrelated.
    With ``graph="isomap"`` it maximises ``tr(Yᵀ K Y)`` instead, K the inner products of geodesic distances.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates, at most the rank of the features.
    graph : str, sparse matrix or callable, default="lle"
        What is kept of the samples:

        - "lle": each is an affine combination of its neighbours (locally linear embedding).
        - "mlle": several such combinations of each (modified LLE).
        - "ltsa": coordinates are affine along local tangent planes (local tangent space alignment).
        - "hessian": they have no second derivatives along these (Hessian eigenmaps).
        - "laplacian": neighbours are near each other, weighted by a heat kernel exp(−d²/2σ²), σ² the median
          squared distance of neighbours (Laplacian eigenmaps); "laplacian_binary": all neighbours alike. They are
          symmetrised by the mean, so that a pair of which only one is a neighbour of the other counts half.
        - "diffusion": the same with the density of the samples divided out (diffusion maps).
        - "isomap": distances along the neighbour graph, exact up to 3,000 samples and from 500 landmarks beyond.
          Coordinates are in the unit of X, unless their coefficients are orthonormal. Pieces of the graph are
          joined, with a warning. "isomap_mutual": along edges between samples that are each among the other's
          neighbours, of which fewer short-cut a fold.
        - A symmetric affinity W of shape (n_samples, n_samples), sparse or an array: minimises
          ``½ Σ W_ij |y_i − y_j|²`` subject to ``Yᵀ diag(W 1) Y = I``.
        - A callable: given the samples, it returns (L, D), L with one row per equation and one column per sample
          (sparse or an array), each row summing to zero, and D with one weight per sample. ``||L Y||²`` is
          minimised: of a graph Laplacian ``D − W``, L is a square root.
    n_neighbors : int or "auto", default="auto"
        Neighbours of each sample; unused where `graph` is W or a callable. "auto" is 1 % of the samples or
        m(m+1)/2, m the estimated intrinsic dimension, whichever is more, at least 10 and at most 50, or what the
        graph needs; with a `neighbors` transformer it is the transformer's own number.
    degree : int, default=2
        Highest total degree of the polynomial.
    basis : {"auto", "kronecker", "hadamard"}, default="auto"
        "kronecker" has all monomials, "hadamard" pure powers without cross terms. "auto" is "kronecker"
        unless that means more than 5,000 monomials, which ``reduce="auto"`` prevents beyond 3 columns. Only with
        "kronecker" is the result indifferent to rotations of the data.
    constraint : {"embedding", "orthogonal"}, default="embedding"
        What keeps coordinates from shrinking to a point: their own scale, as above, or orthonormal coefficients
        ``VᵀV = I``. With "orthogonal" and degree 1 the map is an orthogonal projection in the unit of X.
    alpha : float or "auto", default="auto"
        Ridge on the directions along which the features vary least, in units of the mean eigenvalue of the
        problem. 0 is the paper. "auto" takes the ridge with the smallest objective on held-out folds (sample i is
        in fold i mod 10), from 0 and 1e-6 to 1. For "isomap" it is that of a regression, in units of the largest
        squared singular value of the features, and "auto" takes the one with the smallest leave-one-out error.
        With orthonormal coefficients there is none.
    reduce : int, float, None or "auto", default="auto"
        Principal axes that the polynomial is written in: a number of axes, the fraction of variance that they
        hold, or None for the columns themselves. "auto" takes as many as make 500 polynomial features (30 axes at
        degree 2) and 0.8 features for each sample; up to 3 columns are left as they are. The map stays one
        polynomial of the original columns.
    center : bool, default=True
        Shift the data to their mean and centre the features, so that the map has a constant term and the
        coordinates have mean zero. False is the paper to the letter: neither.
    coordinates : {"independent", "smallest"}, default="independent"
        Which eigenvectors become coordinates. On a manifold much longer than wide the second smallest is a
        function of the first; "independent" looks at 8 more than asked for and keeps those whose gradients along
        the manifold are independent. Where that cannot be told (tangent planes are noise, as in most images), and
        for "isomap", it is "smallest". ``diagnostics_`` says which were skipped.
    neighbors : {"auto", "exact", "approx"} or transformer, default="auto"
        How neighbours are found. "exact" compares all samples, or asks a k-d tree in up to 15 columns. "approx"
        looks only at the 16 nearest of 4 √n_samples cells, in more columns than that and from 1,000 samples on;
        it needs ``pip install "polyfold[neighbors]"``, and ``diagnostics_.recall`` says how many of the nearest
        it found (0.98 on images). "auto" is "exact" up to 20,000 samples, and beyond "approx" where that is
        installed. Or any scikit-learn neighbours transformer, such as
        :class:`sklearn.neighbors.KNeighborsTransformer`; a fitted one must have been fitted on the same X.
    reference_size : int or "auto", default="auto"
        Samples among which neighbours are looked for. A number below that of all samples draws so many of them,
        uniformly and always the same ones; one not below is exact. "auto" is all samples where they are held in
        memory. Of Dask collections, and of memory maps above 1 GB, it is at most a million samples and as many as
        have 64 MB, but no fewer than 50,000 (for "isomap" 20,000).
    fit_inverse_transform : bool, default=False
        Learn the way back from coordinates to samples too, see :meth:`inverse_transform`.
    n_jobs : int, default=None
        Threads for the neighbour search and for the sums over samples; -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed for a `neighbors` transformer that has a `random_state` of its own and leaves it at None, for the
        principal axes of more than 2,000 samples of more than 2,000 columns, and for Isomap's landmarks. Nothing
        else in `fit` is random, and None is a fixed seed for axes and landmarks.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    map_ : PolynomialMap
        The learned map. It holds no training data and no reference to this estimator.
    embedding_ : ndarray or Dask array of shape (n_samples, n_components)
        Coordinates of the training samples, equal to ``transform(X)``; of a Dask collection lazy, and as large
        when it is pickled as what X is made from. After `partial_fit`, of the last batch.
    eigenvalues_ : ndarray of shape (n_components,)
        Values of the minimised objective (the ridge included), one for each coordinate, ascending; for "isomap" of
        the maximised one, descending.
    alpha_ : float
        The ridge used.
    n_neighbors_ : int
        The number of neighbours used; of a given graph, the mean.
    diagnostics_ : Diagnostics
        What was found and chosen, and why; prints as a report.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X had names.

    Notes
    -----
    With N samples, n columns, r axes, k neighbours and d polynomial features, `fit` costs the neighbour search
    plus O(N n k min(n, k) + N k d + N d² + 100 d³), and about ``8 (3 N n + 2 N r + 3 N k + 35 d²)`` bytes
    beside the 350 MB of the libraries, for one thread; each more adds 0.1 to 0.2 GB. The features of all samples
    are held once where they take no more than half a gigabyte. `transform` costs O(n r + d · n_components) per
    sample.

    "ltsa", "hessian" and the affinities have k equations a sample (m(m+1)/2 for "hessian") instead of one, and
    cost O(N k d²) in place of O(N d²). "isomap" costs O(N² (k + log N)) up to 3,000 samples and
    O(500 N (k + log N) + 500² N) beyond, and 32 N² bytes up to 3,000 samples, 8 N (1,000 + d) beyond.

    The search costs about O(N k log N) in up to 15 columns, O(N² n) in more where all samples are compared, and
    O(N √N n) in cells. Principal axes cost O(N n min(N, n)), or O(N n r) where N and n are above 2,000 and
    `reduce` is no fraction.

    Where the columns are reduced, neighbourhoods are measured in the columns or in the principal axes, whichever
    keeps the neighbours of the columns better in a trial on at most 2,000 samples; of sparse X in the axes, and
    for "isomap" of other X in the columns.

    Columns are compared as they are: standardise columns of different units first, for example with
    :class:`sklearn.preprocessing.StandardScaler`, and leave alone those that share a unit, such as pixels.

    References
    ----------
    Qiao, Zhang, Wang, Zhang, "An Explicit Nonlinear Mapping for Manifold Learning", IEEE Transactions on
    Cybernetics 43 (2013) 51-63.

    Graphs: Roweis, Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290 (2000)
    2323-2326 ("lle"). Zhang, Wang, "MLLE: modified locally linear embedding using multiple weights", NIPS 2006
    ("mlle"). Zhang, Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space alignment",
    SIAM Journal on Scientific Computing 26 (2004) 313-338 ("ltsa"). Donoho, Grimes, "Hessian eigenmaps: locally
    linear embedding techniques for high-dimensional data", PNAS 100 (2003) 5591-5596 ("hessian"). Belkin, Niyogi,
    "Laplacian eigenmaps for dimensionality reduction and data representation", Neural Computation 15 (2003)
    1373-1396 ("laplacian"). Coifman, Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis 21
    (2006) 5-30 ("diffusion"). Tenenbaum, de Silva, Langford, "A global geometric framework for nonlinear
    dimensionality reduction", Science 290 (2000) 2319-2323, and de Silva, Tenenbaum, "Global versus local methods
    in nonlinear dimensionality reduction", NIPS 2002 ("isomap", and its landmarks).

    Independent coordinates are after Chen, Meilă, "Selecting the independent coordinates of manifolds with large
    aspect ratios", NeurIPS 2019.

    Examples
    --------
    >>> from polyfold import PolynomialEmbedding
    >>> from polyfold.datasets import make_swiss_roll
    >>> X, Z = make_swiss_roll(1000, random_state=0)
    >>> embedding = PolynomialEmbedding(n_neighbors=10).fit(X)
    >>> embedding.map_
    PolynomialMap(3 columns -> 2 coordinates, degree 2, kronecker basis of 9 monomials, 0.4 kB)
    >>> embedding.transform(X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: Any = "lle",
        n_neighbors: int | str = "auto",
        degree: int = 2,
        basis: str = "auto",
        constraint: str = "embedding",
        alpha: float | str = "auto",
        reduce: float | int | str | None = "auto",
        center: bool = True,
        coordinates: str = "independent",
        neighbors: Any = "auto",
        reference_size: int | str = "auto",
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
        self.constraint = constraint
        self.alpha = alpha
        self.reduce = reduce
        self.center = center
        self.coordinates = coordinates
        self.neighbors = neighbors
        self.reference_size = reference_size
        self.fit_inverse_transform = fit_inverse_transform
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @explain_memory
    @use_one_blas_thread()
    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or data frame} of shape (n_samples, n_features)
            The training samples. Sparse unless ``reduce=None``. Dask collections, and memory maps above 1 GB, are
            visited in blocks and never held whole; with `reference_size` so are others.
        y : ignored
            Present for the pipeline's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            How much the local relation of each sample counts, and its coordinates in the constraint; only the
            ratios matter. A sample of weight 0 is left out. Neighbours and principal axes do not see the weights.

        Returns
        -------
        self

        Examples
        --------
        >>> from polyfold import PolynomialEmbedding
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(500, random_state=0)
        >>> fitted = PolynomialEmbedding(n_neighbors=10, degree=3).fit(X)
        >>> fitted.diagnostics_.rank, len(fitted.eigenvalues_)
        (19, 2)
        """
        settings = self._check_parameters()
        rows = open_rows(self, X, sample_weight)
        if rows is None:
            training = self._check_training_samples(X, sample_weight)
            fitted, samples = self._fit_held(training, settings), training.samples
        else:
            fitted, samples = fit_rows(rows, settings), rows.X if isinstance(rows, HeldRows) else None
        embedding = None if samples is None else fitted.learned.transform(samples)
        validate_data(self, read_columns(X), skip_check_array=True)  # learns number and names of the columns
        self._keep_fit(fitted)
        self.__dict__.pop("_stream", None)
        self.embedding_ = self._place(X) if embedding is None else embedding
        warn_about(self.diagnostics_.find_trouble())
        return self

    def _fit_held(self, training: TrainingSamples, settings: Settings) -> Fitted:
        """Learn a map from samples that are held in memory, all at once."""
        n_components, center = settings.n_components, settings.center
        work: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        features = build_features(
            training.used,
            settings.degree,
            settings.basis,
            settings.reduce,
            center=center,
            random_state=self.random_state,
            n_components=n_components,
            **work,
        )
        relations = self._find_relations(training, features)
        common = {"alpha": settings.alpha, "orthogonal": settings.orthogonal, "center": center, **work}
        is_metric = isinstance(relations.kept, GeodesicKernel)
        if isinstance(relations.kept, GeodesicKernel):
            solution = solve_global(relations.kept, features, training.weights, n_components, **common)
        else:
            folds = build_gram_folds(relations.kept, features.coordinates, features.basis, **work)
            common |= {"independent": settings.independent, "signed": relations.kept.is_signed}
            sample = features.coordinates[training.drawn]
            solution = solve_local(folds, features.basis, sample, n_components, **common)
        frame, (drawn, weights) = features.frame, training.draw()
        kind = {"orthogonal": settings.orthogonal, "metric": is_metric}
        learned, unit = write_map(solution, frame, features.kind, settings.degree, drawn, **kind)
        with show_stage("domain and way back", self.verbose):
            learned, error = complete_map(learned, frame, drawn, weights, self.fit_inverse_transform)
        return Fitted(learned, solution, unit, frame, relations.facts, len(training.weights), error)

    @available_if(_can_stream)  # type: ignore[untyped-decorator, unused-ignore]
    @explain_memory
    @use_one_blas_thread()
    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from one more batch of a stream.

        The first batch fixes mean, scale, axes and the reference set: all of it, or `reference_size` samples of
        it. The local relations of each batch are added to the sums against that set, and the map is solved for
        again; so the first batch should show the shape of all data: of a stream that is sorted, or that drifts, it
        does not, of which a warning tells. The map is the one that a `fit` to all batches gives with that set and
        in these units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The batch; the first one has at least two samples, and more than `n_neighbors`.
        y : ignored
            Present for the pipeline's sake.

        Returns
        -------
        self
            `embedding_` holds the coordinates of this batch.

        Notes
        -----
        A batch of b samples costs what these cost in `fit`, neighbours looked for among the s samples of the set,
        plus O(100 d³) for the map, d its monomials, and the placing of a sample of at most 20,000. The estimator
        holds up to 160 d² bytes of sums, that sample and the set while the stream goes on.

        Examples
        --------
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(900, random_state=0)
        >>> stream = NPPE(n_neighbors=10)
        >>> for first in (0, 300, 600):
        ...     stream = stream.partial_fit(X[first : first + 300])
        >>> stream.diagnostics_.n_samples
        900
        """
        settings = self._check_parameters()
        if is_dask(X):
            raise TypeError("partial_fit takes batches in memory. Give the whole Dask collection to fit.")
        check_blocks(self, "partial_fit", X)
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is None:
            samples = check_batch(self, X, first=True)
            stream, fitted = begin_stream(HeldRows(samples, self.n_jobs, self.verbose), settings)
        else:
            stream.check_settings(settings)
            samples = check_batch(self, X, first=False)
            rows = HeldRows(samples, self.n_jobs, self.verbose, stream.n_samples)
            stream, fitted = continue_stream(stream, rows)
        embedding = fitted.learned.transform(samples)
        if "_stream" not in self.__dict__:
            validate_data(self, X, skip_check_array=True)  # learns number and names of the columns
        self._keep_fit(fitted)
        self._stream, self.embedding_ = stream, embedding
        warn_about(self.diagnostics_.find_trouble())
        return self

    def _keep_fit(self, fitted: Fitted) -> None:
        """Store what was learned."""
        with np.errstate(over="ignore"):  # of Isomap squared lengths
            self.eigenvalues_ = fitted.solution.eigenvalues * fitted.unit
        self.alpha_ = fitted.solution.curve.best_alpha
        self.n_neighbors_ = fitted.facts.n_neighbors
        diagnostics = describe_fit(
            fitted.frame,
            fitted.facts,
            fitted.learned,
            fitted.solution,
            n_samples=fitted.n_samples,
            graph=name_graph(self.graph),
            constraint=self.constraint,
            coordinates=self.coordinates,
            round_trip_error=fitted.round_trip_error,
            chosen=self._list_automatic(),
            names=getattr(self, "feature_names_in_", None),
        )
        self._keep_map(fitted.learned, diagnostics)

    def _list_automatic(self) -> frozenset[str]:
        """Name the parameters that `fit` chose."""
        automatic = list_automatic(self, ("n_neighbors", "alpha", "reduce"))
        # A neighbours transformer brings its own number.
        return automatic - {"n_neighbors"} if hasattr(self.neighbors, "n_neighbors") else automatic

    def _check_parameters(self) -> Settings:
        check_choice("constraint", self.constraint, {"embedding", "orthogonal"})
        check_choice("coordinates", self.coordinates, {"independent", "smallest"})
        check_neighbors(self.neighbors)
        return Settings(
            n_components=check_integer("n_components", self.n_components, 1),
            graph=name_graph(check_graph(self.graph)),
            n_neighbors=self.n_neighbors,
            degree=check_polynomial(self.degree, self.basis, self.reduce),
            basis=self.basis,
            orthogonal=self.constraint == "orthogonal",
            alpha=check_alpha(self.alpha),
            reduce=self.reduce,
            center=check_boolean("center", self.center),
            independent=self.coordinates == "independent",
            neighbors=self.neighbors,
            reference_size=check_reference_size(self.reference_size),
            fit_inverse_transform=check_boolean("fit_inverse_transform", self.fit_inverse_transform),
            n_jobs=check_workers(self.n_jobs),
            random_state=check_seed(self.random_state),
            verbose=check_verbose(self.verbose),
        )

    def _find_relations(self, training: TrainingSamples, features: Features) -> Relations:
        if not isinstance(self.graph, str):
            graph = take_graph(self.graph, training.used, training.kept, training.weights, center=self.center)
            return describe_given(graph, features.visible, self.n_jobs)
        return find_relations(
            self.graph,
            training.used_as_given,
            features,
            training.weights,
            self.n_components,
            n_neighbors=self.n_neighbors,
            neighbors=self.neighbors,
            alpha=check_alpha(self.alpha),
            center=self.center,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
