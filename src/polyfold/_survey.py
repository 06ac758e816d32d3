"""The first look at samples in blocks: their moments, a sample of them, and those to look for neighbours among."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._draw import Drawn, draw_from_block, merge_drawn
from polyfold._moments import Moments, measure_moments, merge_moments

#: ``reference_size="auto"``: at most so many samples, and so many bytes of them in float64, but always some.
REFERENCE_ROWS, REFERENCE_BYTES, LEAST_REFERENCE_ROWS = 10**6, 2**26, 50_000

#: ... and for geodesic distances, of which each has N_LANDMARKS, so many.
GEODESIC_ROWS = 20_000


@dataclass(frozen=True)
class SurveySizes:
    """What a survey is to bring.

    Attributes
    ----------
    n_samples : int or None
        In all; None where that is not known.
    sample : int
        How many are drawn.
    reference : int or None
        How many are drawn to look for neighbours among; None where that is settled.
    with_products : bool
        Whether the products of columns are summed.
    """

    n_samples: int | None
    sample: int
    reference: int | None
    with_products: bool


@dataclass(frozen=True, eq=False)
class Survey:
    """What was seen of all samples: their moments, and some of them."""

    moments: Moments
    sample: Drawn
    reference: Drawn | None


def choose_reference_size(reference_size: int | None, n_columns: int, *, geodesic: bool) -> int:
    """Return how many samples are drawn to look for neighbours among; None leaves it to their size."""
    if reference_size is not None:
        return reference_size
    if geodesic:
        return GEODESIC_ROWS
    return min(REFERENCE_ROWS, max(REFERENCE_BYTES // (8 * n_columns), LEAST_REFERENCE_ROWS))


def survey_block(block: NDArray[Any], first: int, sizes: SurveySizes) -> Survey:
    """Survey a block whose first row has the number `first`."""
    moments = measure_moments(block, with_products=sizes.with_products, first=first)
    sample = draw_from_block(block, first, sizes.sample, sizes.n_samples)
    if sizes.reference is None:
        return Survey(moments, sample, None)
    return Survey(moments, sample, draw_from_block(block, first, sizes.reference, sizes.n_samples))


def merge_surveys(shares: Sequence[Survey]) -> Survey:
    """Return the survey of all blocks from those of parts."""
    references = [share.reference for share in shares if share.reference is not None]
    return Survey(
        merge_moments([share.moments for share in shares]),
        merge_drawn([share.sample for share in shares]),
        merge_drawn(references) if references else None,
    )


@dataclass(frozen=True, eq=False)
class Seen:
    """The part of a survey that is brought here: moments, and the sample in float32 or float64."""

    moments: Moments
    sample: NDArray[np.floating[Any]]


def report_survey(survey: Survey) -> Seen:
    """Leave out the samples that neighbours are looked for among."""
    return Seen(survey.moments, survey.sample.settle()[1])
