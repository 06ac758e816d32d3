"""The published methods: PolynomialEmbedding with some of its parameters fixed."""

from __future__ import annotations

from typing import Any

from polyfold.embedding import PolynomialEmbedding


class NPPE(PolynomialEmbedding):
    """Neighborhood Preserving Polynomial Embedding: all monomials, LLE's local relations.

    :class:`PolynomialEmbedding` with ``graph="lle", basis="kronecker"``. The result does not depend on the
    axes, origin or unit of the data. ``alpha=0, reduce=None, center=False, coordinates="smallest"`` is the
    paper's algorithm 1, which does depend on the origin.

    Parameters
    ----------
    n_components, n_neighbors, degree, alpha, reduce, center, coordinates, neighbors, reference_size, \
    fit_inverse_transform, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    See Also
    --------
    SNPPE : Without cross terms, for many columns.
    NPE : Of degree 1.
    PolynomialEmbedding : The general form.

    Notes
    -----
    Costs are those of :class:`PolynomialEmbedding` with d = C(r + p, p) − 1 monomials, p the degree and r the
    columns or the axes that `reduce` puts them into: `transform` costs O(n r + d m) per sample of n columns, m
    coordinates, and O(d m) without axes.

    References
    ----------
    Qiao, Zhang, Wang, Zhang, "An Explicit Nonlinear Mapping for Manifold Learning", IEEE Transactions on
    Cybernetics 43 (2013) 51-63, algorithm 1.

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
        super().__init__(
            n_components,
            graph="lle",
            n_neighbors=n_neighbors,
            degree=degree,
            basis="kronecker",
            alpha=alpha,
            reduce=reduce,
            center=center,
            coordinates=coordinates,
            neighbors=neighbors,
            reference_size=reference_size,
            fit_inverse_transform=fit_inverse_transform,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )


class SNPPE(PolynomialEmbedding):
    """Simplified NPPE: pure powers of each column, no cross terms.

    :class:`PolynomialEmbedding` with ``graph="lle", basis="hadamard"``: degree times the number of columns
    features, however many columns there are. Without cross terms the result depends on the axes of the data.
    ``alpha=0, center=False, coordinates="smallest"`` is the paper's algorithm 2.

    Parameters
    ----------
    n_components, n_neighbors, degree, alpha, reduce, center, coordinates, neighbors, reference_size, \
    fit_inverse_transform, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    See Also
    --------
    NPPE : With cross terms.
    PolynomialEmbedding : The general form.

    Notes
    -----
    Costs are those of :class:`PolynomialEmbedding` with d = n p monomials, p the degree, for n columns:
    `transform` costs O(n p m) per sample, m coordinates.

    References
    ----------
    Qiao, Zhang, Wang, Zhang, "An Explicit Nonlinear Mapping for Manifold Learning", IEEE Transactions on
    Cybernetics 43 (2013) 51-63, algorithm 2.

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
        alpha: float | str = "auto",
        reduce: float | int | str | None = None,
        center: bool = True,
        coordinates: str = "independent",
        neighbors: Any = "auto",
        reference_size: int | str = "auto",
        fit_inverse_transform: bool = False,
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
            alpha=alpha,
            reduce=reduce,
            center=center,
            coordinates=coordinates,
            neighbors=neighbors,
            reference_size=reference_size,
            fit_inverse_transform=fit_inverse_transform,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )


class LinearEmbedding(PolynomialEmbedding):
    """A linear map: degree 1, and by default neither ridge nor reduction nor choice of coordinates."""

    _graph: str
    _constraint = "embedding"

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        alpha: float | str = 0,
        reduce: float | int | str | None = None,
        center: bool = True,
        coordinates: str = "smallest",
        neighbors: Any = "auto",
        reference_size: int | str = "auto",
        fit_inverse_transform: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            graph=self._graph,
            n_neighbors=n_neighbors,
            degree=1,
            constraint=self._constraint,
            alpha=alpha,
            reduce=reduce,
            center=center,
            coordinates=coordinates,
            neighbors=neighbors,
            reference_size=reference_size,
            fit_inverse_transform=fit_inverse_transform,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )


class NPE(LinearEmbedding):
    """Neighborhood Preserving Embedding (He, Cai, Yan & Zhang, 2005), also called NPP: LLE as a linear map.

    :class:`PolynomialEmbedding` with ``graph="lle", degree=1``, and by default ``alpha=0, reduce=None,
    coordinates="smallest"``. ``center=False`` leaves out the constant term, as published.

    Parameters
    ----------
    n_components, n_neighbors, alpha, reduce, center, coordinates, neighbors, reference_size, \
    fit_inverse_transform, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    See Also
    --------
    NPPE : The same with a polynomial.
    ONPP : The same as an orthogonal projection.
    PolynomialEmbedding : The general form.

    Notes
    -----
    Costs are those of :class:`PolynomialEmbedding` with d = n for N samples of n columns and k neighbours: `fit`
    the neighbour search plus O(N n k min(n, k) + N n² + n³), and `transform` O(n m) per sample, m coordinates.

    References
    ----------
    He, Cai, Yan, Zhang, "Neighborhood preserving embedding", ICCV 2005, 1208-1213.

    Pang, Zhang, Liu, Yu, Li, "Neighborhood preserving projections (NPP): a novel linear dimension reduction
    method", ICIC 2005, Lecture Notes in Computer Science 3644, 117-125.

    Examples
    --------
    >>> from polyfold import NPE
    >>> from polyfold.datasets import make_gaussian
    >>> from polyfold.metrics import residual_variance
    >>> X, Z = make_gaussian(500, random_state=0)
    >>> embedding = NPE(n_neighbors=10).fit(X)
    >>> embedding.map_.degree, residual_variance(embedding.transform(X), Z) < 0.01
    (1, True)
    """

    _graph = "lle"


#: The other name of NPE.
NPP = NPE


class ONPP(LinearEmbedding):
    """Orthogonal Neighborhood Preserving Projections (Kokiopoulou & Saad, 2007): LLE as an orthogonal projection.

    :class:`PolynomialEmbedding` with ``graph="lle", degree=1, constraint="orthogonal"``, and by default
    ``reduce=None, coordinates="smallest"``. The columns of ``map_.coefficients`` are orthonormal, and the
    coordinates are in the unit of X.

    Parameters
    ----------
    n_components, n_neighbors, alpha, reduce, center, coordinates, neighbors, reference_size, \
    fit_inverse_transform, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    See Also
    --------
    NPE : With uncorrelated coordinates instead.
    OLPP : The same of another graph.
    PolynomialEmbedding : The general form.

    Notes
    -----
    Costs are those of :class:`PolynomialEmbedding` with d = n for N samples of n columns and k neighbours: `fit`
    the neighbour search plus O(N n k min(n, k) + N n² + n³), and `transform` O(n m) per sample, m coordinates.

    References
    ----------
    Kokiopoulou, Saad, "Orthogonal neighborhood preserving projections: a projection-based dimensionality reduction
    technique", IEEE Transactions on Pattern Analysis and Machine Intelligence 29 (2007) 2143-2156.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold import ONPP
    >>> from polyfold.datasets import make_swiss_roll
    >>> X, _ = make_swiss_roll(500, random_state=0)
    >>> V = ONPP(n_neighbors=10).fit(X).map_.coefficients
    >>> bool(np.allclose(V.T @ V, np.eye(2), atol=1e-12))
    True
    """

    _graph = "lle"
    _constraint = "orthogonal"


class LPP(LinearEmbedding):
    """Locality Preserving Projections (He & Niyogi, 2003): Laplacian eigenmaps as a linear map.

    :class:`PolynomialEmbedding` with ``graph="laplacian", degree=1``, and by default ``alpha=0, reduce=None,
    coordinates="smallest"``. ``center=False`` leaves out the constant term, as published. For weights 0 and 1, use
    the general form with ``graph="laplacian_binary"``.

    Parameters
    ----------
    n_components, n_neighbors, alpha, reduce, center, coordinates, neighbors, reference_size, \
    fit_inverse_transform, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    See Also
    --------
    OLPP : The same as an orthogonal projection.
    PolynomialEmbedding : The general form.

    Notes
    -----
    Costs are those of :class:`PolynomialEmbedding` with d = n for N samples of n columns and k neighbours: `fit`
    the neighbour search plus O(N k n² + n³), and `transform` O(n m) per sample, m coordinates.

    References
    ----------
    He, Niyogi, "Locality preserving projections", NIPS 2003.

    Examples
    --------
    >>> from polyfold import LPP
    >>> from polyfold.datasets import make_gaussian
    >>> from polyfold.metrics import residual_variance
    >>> X, Z = make_gaussian(500, random_state=0)
    >>> embedding = LPP(n_neighbors=10).fit(X)
    >>> embedding.map_.degree, residual_variance(embedding.transform(X), Z) < 0.05
    (1, True)
    """

    _graph = "laplacian"


class OLPP(LinearEmbedding):
    """Orthogonal LPP (Kokiopoulou & Saad, 2007): Laplacian eigenmaps as an orthogonal projection.

    :class:`PolynomialEmbedding` with ``graph="laplacian", degree=1, constraint="orthogonal"``, and by default
    ``reduce=None, coordinates="smallest"``. The columns of ``map_.coefficients`` are orthonormal, and the
    coordinates are in the unit of X.

    Parameters
    ----------
    n_components, n_neighbors, alpha, reduce, center, coordinates, neighbors, reference_size, \
    fit_inverse_transform, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    See Also
    --------
    LPP : With uncorrelated coordinates instead.
    ONPP : The same of another graph.
    PolynomialEmbedding : The general form.

    Notes
    -----
    Costs are those of :class:`PolynomialEmbedding` with d = n for N samples of n columns and k neighbours: `fit`
    the neighbour search plus O(N k n² + n³), and `transform` O(n m) per sample, m coordinates.

    All directions are found at once, as by Kokiopoulou and Saad, where each minimises the objective. Cai and
    others, whose method has the same name, find one after another, each relative to the variance along it.

    References
    ----------
    Kokiopoulou, Saad, "Orthogonal neighborhood preserving projections: a projection-based dimensionality reduction
    technique", IEEE Transactions on Pattern Analysis and Machine Intelligence 29 (2007) 2143-2156.

    Cai, He, Han, Zhang, "Orthogonal Laplacianfaces for face recognition", IEEE Transactions on Image Processing 15
    (2006) 3608-3614.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold import OLPP
    >>> from polyfold.datasets import make_swiss_roll
    >>> X, _ = make_swiss_roll(500, random_state=0)
    >>> V = OLPP(n_neighbors=10).fit(X).map_.coefficients
    >>> bool(np.allclose(V.T @ V, np.eye(2), atol=1e-12))
    True
    """

    _graph = "laplacian"
    _constraint = "orthogonal"


class LLTSA(LinearEmbedding):
    """Linear Local Tangent Space Alignment (Zhang, Yang, Zhao & Ge, 2007): LTSA as a linear map.

    :class:`PolynomialEmbedding` with ``graph="ltsa", degree=1``, and by default ``alpha=0, reduce=None,
    coordinates="smallest"``.

    Parameters
    ----------
    n_components, n_neighbors, alpha, reduce, center, coordinates, neighbors, reference_size, \
    fit_inverse_transform, n_jobs, random_state, verbose
        As in :class:`PolynomialEmbedding`, where the attributes are described too.

    See Also
    --------
    NPE : The same of another graph.
    PolynomialEmbedding : The general form.

    Notes
    -----
    Costs are those of :class:`PolynomialEmbedding` with d = n for N samples of n columns and k neighbours: `fit`
    the neighbour search plus O(N k n (n + k) + n³), and `transform` O(n m) per sample, m coordinates.

    References
    ----------
    Zhang, Yang, Zhao, Ge, "Linear local tangent space alignment and application to face recognition",
    Neurocomputing 70 (2007) 1547-1553.

    Examples
    --------
    >>> from polyfold import LLTSA
    >>> from polyfold.datasets import make_gaussian
    >>> from polyfold.metrics import residual_variance
    >>> X, Z = make_gaussian(500, random_state=0)
    >>> embedding = LLTSA(n_neighbors=10).fit(X)
    >>> embedding.map_.degree, residual_variance(embedding.transform(X), Z) < 0.001
    (1, True)
    """

    _graph = "ltsa"
