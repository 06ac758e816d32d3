"""From a solution to the finished map: its units and signs, what its samples cover, and the way back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._decoder import add_decoder
from polyfold._domain import learn_domain
from polyfold._eigen import fix_signs
from polyfold._frame import Frame
from polyfold._solution import Solution
from polyfold.polymap import PolynomialMap

#: Data up to so large, or so small, are projected in their own units by an orthogonal linear map.
LARGEST_SCALE = 1e100


def write_map(
    solution: Solution, frame: Frame, kind: str, degree: int, sample: Any, *, orthogonal: bool, metric: bool
) -> tuple[PolynomialMap, float]:
    """Return the map, signs fixed by a sample, in its unit where it keeps lengths; and the eigenvalues' unit.

    Parameters
    ----------
    solution : Solution
        In the units of the frame.
    frame : Frame
    kind, degree : str, int
        Of the monomials.
    sample : array or sparse array of shape (n_drawn, n_columns)
        Of the samples; see `polyfold._draw`.
    orthogonal : bool
        Whether coefficients are orthonormal: then a linear map is a projection.
    metric : bool
        Whether eigenvalues are squared lengths, and coordinates that are free to be are lengths.
    """
    V, offset, scale = solution.coefficients, solution.offset, frame.scale
    with np.errstate(over="ignore", under="ignore"):
        area = float(np.square(np.float64(scale)))
        unit = area if metric else 1.0
        if orthogonal and degree == 1 and 1 / LARGEST_SCALE < scale < LARGEST_SCALE:
            offset, scale, unit = offset * scale, 1.0, unit * area
        elif metric and not orthogonal:
            V, offset = V * scale, offset * scale
    learned = PolynomialMap(frame.shift, scale, kind, degree, V, offset, frame.axes)
    signs = fix_signs(learned.transform(sample))
    return replace(learned, coefficients=V * signs, offset=offset * signs), unit


def complete_map(
    learned: PolynomialMap, frame: Frame, sample: Any, weights: NDArray[np.float64], with_decoder: bool
) -> tuple[PolynomialMap, float | None]:
    """Add to the map what its samples cover, and the way back where it is wanted, with its error.

    Mean and ranges are those of all samples, as the frame has them; the edge of the domain and the way back are
    learned from a sample of them and its weights.
    """
    located, squared_lengths = learned._measure(sample, frame.mean)
    learned = replace(learned, domain=learn_domain(frame.mean, located, squared_lengths, frame.ranges))
    return add_decoder(learned, sample, weights) if with_decoder else (learned, None)
