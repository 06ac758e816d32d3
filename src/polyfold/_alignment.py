"""The methods of a map that bring it, refitted, to the coordinates of an earlier one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyfold._map_input import check_names, check_samples

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap

#: Coordinates that agree less are not the same.
LEAST_R2 = 0.9

#: Coordinates that spread less, in units of the largest, are all the same.
LEAST_SPREAD = 1e-12


@dataclass(frozen=True)
class Alignment:
    """How well a map agrees with the one that it was aligned to.

    Attributes
    ----------
    r2 : tuple of float
        Share of the variance of each of the earlier coordinates that the aligned ones give back, 1 being all.
    scale : float
        What the coordinates were multiplied by.
    n_samples : int
        Samples that they were compared on.
    """

    r2: tuple[float, ...]
    scale: float
    n_samples: int

    def __str__(self) -> str:
        each = ", ".join(f"y{c} {r2:.4f}" for c, r2 in enumerate(self.r2))
        return f"R² on {self.n_samples:,} samples: {each}"


class AlignMethods:
    """Alignment with another map."""

    __slots__ = ()

    def align_to(self, other: PolynomialMap, X: ArrayLike) -> PolynomialMap:
        """Turn, mirror, scale and move the coordinates so that they agree with those of an earlier map.

        Parameters
        ----------
        other : PolynomialMap
            The map to agree with, of the same columns and as many coordinates.
        X : array-like of shape (n_samples, n_inputs)
            Samples to agree on: some that both maps have learned about. At least one more than coordinates.

        Returns
        -------
        PolynomialMap
            This map in other coordinates, its way back included. Its `alignment` says how well they agree.

        Warns
        -----
        UserWarning
            Where some coordinate does not agree: R² below 0.9.

        See Also
        --------
        polyfold.metrics.procrustes : How much of two shapes differs once they are aligned.

        Notes
        -----
        O(N (n r + d m + m²) + d m²) time for N samples of n columns, and maps of d monomials in r axes and m
        coordinates; O(N m) memory.

        References
        ----------
        Schönemann, "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31 (1966) 1-10.

        Examples
        --------
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(2000, random_state=0)
        >>> last_year, this_year = NPPE(n_neighbors=10).fit(X[:1500]).map_, NPPE(n_neighbors=10).fit(X[500:]).map_
        >>> aligned = this_year.align_to(last_year, X)
        >>> min(aligned.alignment.r2) > 0.99
        True
        """
        learned = cast("PolynomialMap", self)
        if not isinstance(other, type(learned)):
            raise TypeError(f"`other` must be a PolynomialMap, got {type(other).__name__}.")
        check_names(other, X)
        return align_map(learned, other, check_samples(learned, X))

    @property
    def alignment(self) -> Alignment | None:
        """How well the map agrees with the one that it was aligned to; None where it was not."""
        training = cast("PolynomialMap", self).training
        return None if training is None else read_alignment(training)


def read_alignment(training: Mapping[str, Any]) -> Alignment | None:
    """Return what was noted of an alignment."""
    try:
        noted = training["alignment"]
        return Alignment(tuple(map(float, noted["r2"])), float(noted["scale"]), int(noted["n_samples"]))
    except (KeyError, TypeError, ValueError, OverflowError):  # none, or not by us
        return None


def align_map(learned: PolynomialMap, other: PolynomialMap, samples: Any) -> PolynomialMap:
    """Return the map in the coordinates ``scale · y turn + move`` that are nearest to those of another.

    Nearest in the sum of squares over the samples, among all similarities, mirrored ones too (Procrustes).
    """
    if (learned.n_inputs, learned.n_outputs) != (other.n_inputs, other.n_outputs):
        raise ValueError(
            f"`other` takes {other.n_inputs} columns to {other.n_outputs} coordinates, this map "
            f"{learned.n_inputs} to {learned.n_outputs}. Only maps between the same can be aligned."
        )
    if learned.columns and other.columns and learned.columns != other.columns:
        raise ValueError("The columns of `other` have other names, or another order.")
    if samples.shape[0] <= learned.n_outputs:
        raise ValueError(f"X must have more than {learned.n_outputs} samples, got {samples.shape[0]}.")
    placed = [each.transform(samples).astype(np.float64) for each in (learned, other)]
    sizes = [float(np.abs(each).max()) or 1.0 for each in placed]  # in these units squares are doubles
    ours, theirs = (each / size for each, size in zip(placed, sizes, strict=True))
    center, target = ours.mean(axis=0), theirs.mean(axis=0)
    U, s, Vt = np.linalg.svd((ours - center).T @ (theirs - target))
    turn = U @ Vt
    for each, middle in ((ours, center), (theirs, target)):
        if np.abs(each - middle).max() <= LEAST_SPREAD:
            raise ValueError("X lies at one point of the coordinates: aligning them needs samples that differ.")
    ratio = float(s.sum() / np.square(ours - center).sum())
    if ratio * np.abs(ours - center).max() <= LEAST_SPREAD * np.abs(theirs - target).max():
        raise ValueError("The two maps have nothing in common on X: no turn or scale brings them nearer.")
    move = target - ratio * center @ turn
    variances = np.square(theirs - target).sum(axis=0)
    misses = np.square(ratio * ours @ turn + move - theirs).sum(axis=0)
    r2 = 1 - misses / np.where(variances > 0, variances, 1.0)
    _warn_where_apart(r2)
    return _move_map(learned, turn, ratio, move, sizes, {"r2": r2.tolist(), "n_samples": len(ours)})


@np.errstate(over="ignore", invalid="ignore")  # what is beyond float64 is told
def _move_map(
    learned: PolynomialMap,
    turn: NDArray[np.float64],
    ratio: float,
    move: NDArray[np.float64],
    sizes: list[float],
    noted: dict[str, Any],
) -> PolynomialMap:
    """Return a map in the coordinates ``ratio · y turn + move``, where y and these are in units of their sizes."""
    before, after = sizes
    scale, move = float(ratio * (np.float64(after) / before)), move * after
    coefficients, offset = scale * learned.coefficients @ turn, scale * learned.offset @ turn + move
    if scale < np.finfo(np.float64).tiny or not (np.isfinite(coefficients).all() and np.isfinite(offset).all()):
        raise ValueError(
            f"Coordinates up to {before:.1e} cannot be brought to those up to {after:.1e} of `other`: the "
            "numbers of the aligned map are beyond float64."
        )
    return replace(
        learned,
        coefficients=coefficients,
        offset=offset,
        decoder=None if learned.decoder is None else _turn_decoder(learned.decoder, turn, scale, move),
        training={**(learned.training or {}), "alignment": {**noted, "scale": scale}},
    )


def _turn_decoder(
    decoder: PolynomialMap, turn: NDArray[np.float64], scale: float, move: NDArray[np.float64]
) -> PolynomialMap:
    """Return the way back from ``scale · y turn + move``: the same polynomial in turned axes."""
    axes = turn.T if decoder.axes is None else turn.T @ decoder.axes
    domain = decoder.domain
    if domain is not None:  # in the axes nothing changes; along which columns it ends is not known
        domain = replace(domain, center=scale * domain.center @ turn + move, ranges=None)
    return replace(
        decoder, shift=scale * decoder.shift @ turn + move, scale=scale * decoder.scale, axes=axes, domain=domain
    )


def _warn_where_apart(r2: NDArray[np.float64]) -> None:
    apart = [f"y{c} ({share:.2f})" for c, share in enumerate(r2) if not share >= LEAST_R2]
    if apart:
        warnings.warn(
            f"The maps do not agree on X: R² is below {LEAST_R2} for {', '.join(apart)}. What such a coordinate "
            "means has changed.",
            UserWarning,
            stacklevel=4,
        )
