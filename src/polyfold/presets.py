"""The published methods: PolynomialEmbedding with some of its parameters fixed."""

from __future__ import annotations

from typing import Any

from polyfold.embedding import PolynomialEmbedding


class NPPE(PolynomialEmbedding):
    """Neighborhood Preserving Polynomial Embedding: all monomials, LLE's local relations.

    :class:`PolynomialEmbedding` with ``graph="lle", basis="kronecker"``. The result does not depend on the
    axes, origin or unit of the data. ``alpha=0, reduce=None, center=False`` is the paper's algorithm 1, which does
    depend on the origin.

    Parameters
    ----------
    n_components, n_neighbors, degree, alpha, reduce, center, neighbors, fit_inverse_transform, n_jobs, \
    random_state, verbose
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
        alpha: float | str = "auto",
        reduce: float | int | str | None = "auto",
        center: bool = True,
        neighbors: Any = "exact",
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
            neighbors=neighbors,
            fit_inverse_transform=fit_inverse_transform,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )


class SNPPE(PolynomialEmbedding):
    """Simplified NPPE: pure powers of each column, no cross terms.

    :class:`PolynomialEmbedding` with ``graph="lle", basis="hadamard"``: degree times the number of columns
    features, however many columns there are. Without cross terms the result depends on the axes of the data.
    ``alpha=0, center=False`` is the paper's algorithm 2.

    Parameters
    ----------
    n_components, n_neighbors, degree, alpha, reduce, center, neighbors, fit_inverse_transform, n_jobs, \
    random_state, verbose
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
        alpha: float | str = "auto",
        reduce: float | int | str | None = None,
        center: bool = True,
        neighbors: Any = "exact",
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
            neighbors=neighbors,
            fit_inverse_transform=fit_inverse_transform,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
