"""Figures of a fit as curves: eigenvalues, the ridge, and how neighbourhoods are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyfold._table import make_printable
from polyfold.plotting._axes import (
    PALETTE,
    PLAIN,
    STRIKING,
    quiet_axes,
    require_matplotlib,
    take_axes,
    write_plainly,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Positive values that differ by more than this factor are drawn on a logarithmic axis.
WIDE_RANGE = 50.0

#: Powers of ten that are named on an axis.
MAX_DECADES = 6

#: Coordinates that are named one by one.
MAX_NAMED = 12


def plot_eigenvalues(estimator: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalue of each coordinate.

    Parameters
    ----------
    estimator : fitted estimator
        With ``eigenvalues_``: what the coordinates minimise or, by Isomap's graph, maximise.
    ax : matplotlib Axes, default=None
        None is the current axes.

    Returns
    -------
    matplotlib Axes
        Logarithmic upwards where eigenvalues differ much.

    See Also
    --------
    polyfold.PolynomialEmbedding : Whose ``eigenvalues_`` are drawn.

    Notes
    -----
    O(m) for m coordinates.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from polyfold import NPPE
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.plotting import plot_eigenvalues
    >>> X, _ = make_swiss_roll(300, random_state=0)
    >>> figure, ax = plt.subplots(layout="constrained")
    >>> ax = plot_eigenvalues(NPPE(3, n_neighbors=10).fit(X), ax=ax)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['y0', 'y1', 'y2']
    >>> plt.close(figure)
    """
    require_matplotlib("plot_eigenvalues")
    eigenvalues = np.asarray(_get_fitted(estimator, "eigenvalues_"), dtype=np.float64)
    ax = take_axes(ax)
    positions = np.arange(len(eigenvalues))
    ax.plot(positions, eigenvalues, color=PLAIN, marker="o", linewidth=1.2)
    if len(positions) <= MAX_NAMED:
        ax.set_xticks(positions, [f"y{c}" for c in positions])
    ax.set_xlim(-0.5, len(positions) - 0.5)
    ax.set(xlabel="coordinate", ylabel="eigenvalue")
    if _is_wide(eigenvalues):
        ax.set_yscale("log")
    elif (eigenvalues > 0).all():
        ax.set_ylim(bottom=0)
    quiet_axes(ax)
    return ax


def plot_ridge(source: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the objective on held-out samples against the ridge, and mark the ridge that was used.

    Parameters
    ----------
    source : fitted estimator or PolynomialMap
        With ``diagnostics_.alpha_curve``, or a map, loaded from a file too, that was learned by one.
    ax : matplotlib Axes, default=None
        None is the current axes.

    Returns
    -------
    matplotlib Axes
        Logarithmic to the right, and linear from 0 to the smallest ridge above it. A ridge without a finite
        objective is left out.

    See Also
    --------
    polyfold.PolynomialEmbedding : Chooses the ridge by this curve.

    Notes
    -----
    O(a) for a ridges: the fit has computed them.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_digits
    >>> from polyfold import NPPE
    >>> from polyfold.plotting import plot_ridge
    >>> X, y = load_digits(return_X_y=True)
    >>> figure, ax = plt.subplots(layout="constrained")
    >>> plot_ridge(NPPE().fit(X[y == 3]), ax=ax).get_xscale()
    'symlog'
    >>> plt.close(figure)
    """
    require_matplotlib("plot_ridge")
    curve, used = _read_ridge(source)
    curve = curve[np.isfinite(curve).all(axis=1)]
    if not len(curve):
        raise ValueError("No ridge in `alpha_curve` has a finite objective on held-out samples: nothing to draw.")
    ax = take_axes(ax)
    alphas, objectives = curve.T
    ax.axvline(used, color=STRIKING, linewidth=1.0, linestyle=":", zorder=1)
    ax.plot(alphas, objectives, color=PLAIN, marker="o", markersize=4, linewidth=1.2)
    chosen = alphas == used
    ax.plot(
        alphas[chosen], objectives[chosen], color=STRIKING, marker="o", linestyle="", label=f"used: {used:.3g}"
    )
    smallest = alphas[alphas > 0].min(initial=max(used, 1.0))
    ax.set_xscale("symlog", linthresh=smallest, linscale=1.0)
    ax.set_xticks([0.0, *_choose_decades(smallest, max(alphas.max(), smallest))])
    ax.set_xlim(-0.25 * smallest, 2 * max(alphas.max(), used, smallest))
    if _is_wide(objectives):
        ax.set_yscale("log")
    ax.set(xlabel="ridge α", ylabel="objective on held-out samples")
    ax.legend(frameon=False)
    quiet_axes(ax)
    return ax


def _choose_decades(low: float, high: float) -> NDArray[np.float64]:
    """Return a few powers of ten between two numbers."""
    first, last = np.ceil(np.log10(low) - 1e-9), np.floor(np.log10(high) + 1e-9)
    step = max(np.ceil((last - first + 1) / MAX_DECADES), 1.0)
    return np.asarray(10.0 ** np.arange(last, first - 0.5, -step)[::-1])


def plot_quality(
    X: ArrayLike,
    Y: ArrayLike | Mapping[str, ArrayLike],
    *,
    label: str | None = None,
    max_samples: int | None = 2000,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw how well neighbourhoods of each size are kept: R_NX(K), 1 being perfect and 0 chance.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components), or mapping of str to such
        The embedding, or several by name, a curve for each.
    label : str, default=None
        Name of a single embedding.
    max_samples : int or None, default=2000
        Average over this many samples drawn at random, each ranked against all; None is all of them.
    random_state : int, RandomState instance or None, default=0
        Seed of that draw.
    ax : matplotlib Axes, default=None
        None is the current axes. What it holds stays, so that curves can be added.

    Returns
    -------
    matplotlib Axes
        The legend has the area under each curve, :func:`polyfold.metrics.coranking_auc`.

    See Also
    --------
    polyfold.metrics.coranking_curve : The figures behind it.

    Notes
    -----
    O(s N (n + m + log N)) time for each embedding of N samples of n columns in m coordinates, s the samples
    averaged over, at most `max_samples`; O(N) memory.

    References
    ----------
    Lee, Peluffo-Ordóñez, Verleysen, "Multi-scale similarities in stochastic neighbour embedding: reducing
    dimensionality while preserving both local and global structure", Neurocomputing 169 (2015) 246-261.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from polyfold import NPE, NPPE
    >>> from polyfold.datasets import make_swiss_roll
    >>> from polyfold.plotting import plot_quality
    >>> X, _ = make_swiss_roll(300, random_state=0)
    >>> placed = {each.__name__: each(n_neighbors=10).fit_transform(X) for each in (NPPE, NPE)}
    >>> figure, ax = plt.subplots(layout="constrained")
    >>> plot_quality(X, placed, ax=ax).get_xscale()
    'log'
    >>> plt.close(figure)
    """
    require_matplotlib("plot_quality")
    from polyfold.metrics import coranking_curve
    from polyfold.metrics._ranks import average_scales

    curves = {
        name: coranking_curve(X, each, max_samples=max_samples, random_state=random_state)
        for name, each in _name_embeddings(X, Y, label).items()
    }
    ax = take_axes(ax)
    n_before = len(ax.get_legend_handles_labels()[0])
    for position, (name, (K, agreement)) in enumerate(curves.items(), start=n_before):
        area = f"AUC {average_scales(K, agreement):.3f}"
        text = f"{make_printable(name)} ({area})" if name else area
        ax.plot(K, agreement, color=PALETTE[position % len(PALETTE)], linewidth=1.5, label=text)
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=1)
    ax.set_xscale("log")
    ax.set_ylim(top=1.0)
    ax.set(xlabel="neighbours K", ylabel="neighbours kept, $R_{NX}(K)$")
    write_plainly(ax.legend(frameon=False))
    quiet_axes(ax)
    return ax


def _name_embeddings(X: ArrayLike, Y: Any, label: str | None) -> dict[str, ArrayLike]:
    if not isinstance(Y, Mapping):
        embeddings = {label or "": Y}
    elif label is not None:
        raise ValueError("`label` must be None with several embeddings: the keys of `Y` are their names.")
    elif not Y:
        raise ValueError("`Y` must hold at least one embedding, got none.")
    else:
        embeddings = {str(name): each for name, each in Y.items()}
    n_samples = np.shape(X)[0]
    for name, each in embeddings.items():
        if len(each) != n_samples:
            called = f"Y[{name!r}]" if isinstance(Y, Mapping) else "Y"
            raise ValueError(
                f"`{called}` must have a row for each of the {n_samples:,} samples, got {len(each):,}."
            )
    return embeddings


def _read_ridge(source: Any) -> tuple[NDArray[np.float64], float]:
    """Return rows of a ridge and its objective, NaN where it had none, and the ridge that was used."""
    from polyfold.polymap import PolynomialMap

    if not isinstance(source, PolynomialMap):
        diagnostics = _get_fitted(source, "diagnostics_")
        return np.asarray(diagnostics.alpha_curve, dtype=np.float64), float(diagnostics.alpha)
    found = (source.training or {}).get("diagnostics")
    if not isinstance(found, Mapping) or not {"alpha", "alpha_curve"} <= set(found):
        raise ValueError("This map does not say what ridge it was learned with: `training` has no `alpha_curve`.")
    return np.array(found["alpha_curve"], dtype=np.float64).reshape(-1, 2), float(found["alpha"])


def _get_fitted(estimator: Any, name: str) -> Any:
    """Return what an estimator has learned, or say that it was not fitted or has no such thing."""
    if hasattr(estimator, name):
        return getattr(estimator, name)
    from sklearn.utils.validation import check_is_fitted

    if hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    raise TypeError(f"`{type(estimator).__name__}` has no `{name}`. Give an estimator that learns a map, fitted.")


def _is_wide(values: NDArray[np.float64]) -> bool:
    return bool((values > 0).all() and values.max() > WIDE_RANGE * values.min())
