"""What a fit found out about the data and chose, and the warnings that follow from it: what holds of every map."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._eigen import Whitening
from polyfold._frame import Frame
from polyfold._ridge import RidgeCurve
from polyfold.polymap import PolynomialMap

#: A column with more than this share of the variance hides the others.
DOMINANT_SHARE = 0.99

#: In a table of at most so many columns, a column with so small a share of the largest deviation is unseen.
FEW_COLUMNS, SCALE_LIMIT = 50, 1e4

STANDARDISE = (
    "If columns have different units, standardise them first, for example with "
    "sklearn.preprocessing.StandardScaler"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MapDiagnostics:
    """Facts about the samples, the polynomials and the ridge of a fit.

    Attributes
    ----------
    n_samples, n_columns : int
        Of X, samples of weight 0 left out.
    dominant_column : str
        The name, or else the position, of the column with the largest variance.
    dominant_share : float
        Its share of the variance of all columns.
    scale_range : float
        The largest over the smallest standard deviation of the columns that vary.
    n_duplicates : int
        Samples that repeat an earlier one exactly.
    n_axes : int or None
        Principal axes that the columns were reduced to.
    explained_variance : float
        Share of the variance within them.
    basis : str
        The basis used, "auto" resolved.
    degree : int
    n_features : int
        Monomials in the basis.
    rank : int
        How many of them are linearly independent on the samples.
    condition : float
        Largest over smallest singular value of the features, within the rank.
    alpha : float
        The ridge used.
    alpha_curve : ndarray of shape (n_alphas, 2)
        Each ridge tried and its objective on held-out samples.
    round_trip_error : float or None
        Share of the variance of X that is lost on the way to the coordinates and back, each sample left out of
        what brings it back.
    chosen : frozenset of str
        The parameters that were "auto".
    """

    n_samples: int
    n_columns: int
    dominant_column: str
    dominant_share: float
    scale_range: float
    n_duplicates: int
    n_axes: int | None
    explained_variance: float
    basis: str
    degree: int
    n_features: int
    rank: int
    condition: float
    alpha: float
    alpha_curve: NDArray[np.float64]
    round_trip_error: float | None
    chosen: frozenset[str]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<20} {text}" for name, text in self.list_lines())

    def list_lines(self) -> list[tuple[str, str]]:
        """Return the report: what is told of, and what there is to tell."""
        lines = self._list_lines()
        if self.round_trip_error is not None:
            lines.append(
                ("round trip", f"{self.round_trip_error:.1%} of the variance is lost, each sample left out")
            )
        return lines

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def _list_lines(self) -> list[tuple[str, str]]:
        """Return the lines of the report that hold of a kind of fit."""
        raise NotImplementedError

    def _describe_samples(self) -> str:
        return f"{self.n_samples:,} of {self.n_columns:,} columns, {self.n_duplicates:,} duplicates"

    def _describe_axes(self) -> str:
        if self.n_axes is None:
            return "all used as they are"
        why = "auto: up to 500 features and 0.8 for each sample" if "reduce" in self.chosen else "given"
        return f"{self.n_axes} principal axes ({why}), {self.explained_variance:.1%} of the variance"

    def _describe_features(self) -> str:
        return (
            f"{self.n_features:,} monomials of degree 1 to {self.degree} ({self.basis}), rank {self.rank:,}, "
            f"condition {self.condition:.1e}"
        )

    def find_trouble(self) -> list[str]:
        """Say what may spoil the map, each time with a cure."""
        return [*self._find_column_trouble(), *self._find_rank_trouble()]

    def _find_column_trouble(self) -> list[str]:
        if self.n_columns > 1 and self.dominant_share > DOMINANT_SHARE:
            return [
                f"Column {self.dominant_column} carries {self.dominant_share:.2%} of the variance: distances "
                f"hardly see the other columns. {STANDARDISE}; if an outlier makes the variance, remove it."
            ]
        if self.n_columns <= FEW_COLUMNS and self.scale_range > SCALE_LIMIT:
            return [
                f"Standard deviations of the columns differ by a factor of {self.scale_range:.0e}: distances do "
                f"not see the smallest. {STANDARDISE}."
            ]
        return []

    def _find_rank_trouble(self) -> list[str]:
        if self.rank == self.n_features:
            return []
        return [
            f"Only {self.rank} of {self.n_features} polynomial features are linearly independent on these "
            f"{self.n_samples} samples; the map uses those. Lower `degree`, drop constant or repeated columns, "
            "standardise columns of different units, add samples, or remove outliers that dwarf the rest."
        ]


def describe_map(
    frame: Frame,
    learned: PolynomialMap,
    whitening: Whitening,
    curve: RidgeCurve,
    *,
    n_samples: int,
    n_duplicates: int,
    round_trip_error: float | None,
    chosen: frozenset[str],
    names: NDArray[Any] | None,
) -> dict[str, Any]:
    """Return the fields of :class:`MapDiagnostics`; `names` are those of the columns, where they have any."""
    dominant = int(np.argmax(frame.variances))
    return {
        "n_samples": n_samples,
        "n_columns": learned.n_inputs,
        "dominant_column": str(dominant) if names is None else repr(str(names[dominant])),
        "dominant_share": float(frame.variances.max() / (frame.variances.sum() or 1.0)),
        "scale_range": _compare_scales(frame.variances),
        "n_duplicates": n_duplicates,
        "n_axes": None if frame.axes is None else frame.axes.shape[1],
        "explained_variance": frame.explained_variance,
        "basis": learned.basis,
        "degree": learned.degree,
        "n_features": learned.n_features,
        "rank": whitening.rank,
        "condition": whitening.condition,
        "alpha": curve.best_alpha,
        "alpha_curve": np.column_stack([curve.alphas, curve.objectives]),
        "round_trip_error": round_trip_error,
        "chosen": chosen,
    }


def _compare_scales(variances: NDArray[np.float64]) -> float:
    """Return the largest over the smallest standard deviation of the columns that vary."""
    varying = variances[variances > 0]
    return float(np.sqrt(varying.max()) / np.sqrt(varying.min())) if len(varying) else 1.0


def warn_about(trouble: list[str]) -> None:
    """Warn of what may spoil the embedding, at the line that called the library."""
    for message in trouble:
        warnings.warn(message, stacklevel=_count_frames_within())


def _count_frames_within() -> int:
    """Count the frames of this library, of scikit-learn and of decorators between the caller and a warning."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "contextlib",
        "polyfold",
        "sklearn",
    ):
        level, frame = level + 1, frame.f_back
    return level
