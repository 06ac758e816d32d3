"""What a fit that follows a learner's coordinates found out and chose, and the warnings that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._diagnostics import MapDiagnostics, describe_map
from polyfold._features import Features
from polyfold._index import build_index
from polyfold._neighbors import count_duplicates
from polyfold._regression import ROUNDING, TargetRegression, standardise_targets
from polyfold.polymap import PolynomialMap

#: Below this leave-one-out R² a coordinate is not followed.
LEAST_R2 = 0.7

#: Below this share of what is within neighbourhoods, they are not followed.
LEAST_LOCAL_R2 = 0.0

#: Neighbourhoods are of this share of the samples, along a single coordinate of the root of it, which is as wide;
#: of at least so many samples, and around at most so many.
LOCAL_SHARE, LEAST_LOCAL, LOCAL_CENTERS = 0.05, 10, 500

#: Below this training R² the rows of X and y may not belong together.
UNRELATED_R2 = 0.2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExplicitDiagnostics(MapDiagnostics):
    """Facts about a map that follows coordinates, and the choices made; prints as a report.

    Attributes
    ----------
    learner : str
        Class of what is followed, or "precomputed".
    r2, left_out_r2 : ndarray of shape (n_components,)
        Share of the variance of each coordinate that the map gives back, for the samples that it was learned from
        and for each left out of the regression; minus infinity where the others do not determine one.
    local_r2 : float
        Share of the variance within neighbourhoods, the nearest 5 % of the samples in the learner's coordinates
        (22 % along a single one), that the map gives back for the samples that it was learned from. Below 0 where
        the learner has torn the data into pieces: the map reaches each of them, and blurs what is within. NaN
        where all neighbours have the same coordinates.

    And those of `MapDiagnostics`.
    """

    learner: str
    r2: NDArray[np.float64]
    left_out_r2: NDArray[np.float64]
    local_r2: float

    def _list_lines(self) -> list[tuple[str, str]]:
        return [
            ("samples", self._describe_samples()),
            ("follows", "coordinates as given" if self.learner == "precomputed" else self.learner),
            ("columns", self._describe_axes()),
            ("features", self._describe_features()),
            ("ridge", self._describe_alpha()),
            ("R²", f"{_list_figures(self.r2)} on training samples"),
            ("R², left out", f"{_list_figures(self.left_out_r2)} for each sample left out of the regression"),
            ("R², nearby", self._describe_nearby()),
        ]

    def _describe_nearby(self) -> str:
        if np.isnan(self.local_r2):
            return "not known: neighbours have the same coordinates"
        verdict = "torn or blurred" if self.local_r2 < LEAST_LOCAL_R2 else "followed"
        return f"{self.local_r2:.3f} within neighbourhoods of training samples: {verdict}"

    def _describe_alpha(self) -> str:
        if "alpha" not in self.chosen:
            return f"{self.alpha:.3g} (given)"
        without = self.alpha_curve[0, 1]
        return (
            f"{self.alpha:.2g} (auto: misses least of samples left out; without a ridge {without:.2g} is missed)"
        )

    def find_trouble(self) -> list[str]:
        """Say what may spoil the map, each time with a cure."""
        messages = super().find_trouble()
        worst = int(np.argmin(self.left_out_r2))
        if np.isinf(self.left_out_r2[worst]):
            messages.append(
                f"Some of {self.n_samples} samples cannot be left out, as the others do not determine them: "
                'whether the map is faithful is not known. Add samples, lower `degree`, use alpha="auto", or '
                "remove outliers."
            )
        elif self.left_out_r2[worst] < LEAST_R2:
            messages.append(
                f"The map does not follow {self._name_learner()}: coordinate {worst} has R² "
                f"{self.left_out_r2[worst]:.2f} for samples left out ({self.r2[worst]:.2f} on training samples). "
                "A polynomial is continuous and cannot follow where neighbours were torn apart into clusters. "
                f"{self._advise(worst)}"
            )
        elif self.local_r2 < LEAST_LOCAL_R2:
            messages.append(
                f"The map follows {self._name_learner()} from afar only: within neighbourhoods R² is "
                f"{self.local_r2:.2f}, so that clusters that were torn apart blur and reach into each other. "
                f"{self._advise(worst)}"
            )
        return messages

    def _name_learner(self) -> str:
        return "the coordinates given" if self.learner == "precomputed" else self.learner

    def _advise(self, worst: int) -> str:
        automatic = " and ".join(f'{name}="auto"' for name in ("alpha", "reduce") if name not in self.chosen)
        if automatic and self.r2[worst] > LEAST_R2:
            return f"Use {automatic}, lower `degree` or add samples."
        if self.r2.max() < UNRELATED_R2:
            return "Are the rows of X and of the coordinates in the same order?"
        rest = (
            "coordinates that keep the data in one piece, such as those of PolynomialEmbedding with "
            'graph="isomap", or fit each cluster on its own.'
        )
        if self.learner == "precomputed":
            return f"Try another `degree`, {rest}"
        return f"Try another `degree`, more neighbours or a higher perplexity in the learner, {rest}"


def _list_figures(figures: NDArray[np.float64]) -> str:
    return ", ".join(f"{figure:.3f}" for figure in figures)


def describe_regression(
    features: Features,
    learned: PolynomialMap,
    regression: TargetRegression,
    *,
    learner: str,
    local_r2: float,
    **settings: Any,
) -> ExplicitDiagnostics:
    """Gather what the steps of a fit found; see :func:`polyfold._diagnostics.describe_map` for the settings."""
    return ExplicitDiagnostics(
        **describe_map(
            features.frame,
            learned,
            regression.whitening,
            regression.curve,
            n_samples=len(features.coordinates),
            n_duplicates=count_duplicates(features.visible),
            **settings,
        ),
        learner=learner,
        r2=regression.r2,
        left_out_r2=regression.left_out_r2,
        local_r2=local_r2,
    )


def measure_local_r2(targets: NDArray[np.float64], fitted: NDArray[np.float64], *, n_jobs: int | None) -> float:
    """Return the share of the variance of the targets within neighbourhoods of theirs that the fit gives back.

    Each coordinate is in units of its deviation; NaN where all neighbours have the same targets.
    """
    T, mean, deviation = standardise_targets(targets, np.ones(len(targets)))
    with np.errstate(over="ignore"):
        F = (fitted - mean) / np.where(deviation > 0, deviation, 1.0)
    share = np.sqrt(LOCAL_SHARE) if np.count_nonzero(deviation) == 1 else LOCAL_SHARE
    number = min(max(round(share * len(T)), LEAST_LOCAL), len(T))
    centers = np.random.default_rng(0).permutation(len(T))[:LOCAL_CENTERS]
    _, around = build_index(T, n_jobs=n_jobs).find(T[centers], number)
    missed, varied = (_sum_within(values, around) for values in (T - F, T))
    return 1 - missed / varied if varied > ROUNDING * around.size else float("nan")


def _sum_within(values: NDArray[np.float64], around: NDArray[np.intp]) -> float:
    """Return the sum of squares within groups of samples, each about its mean."""
    groups = values[around]
    return float(np.square(groups - groups.mean(axis=1, keepdims=True)).sum())
