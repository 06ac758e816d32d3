"""How good an embedding is: against known coordinates, or against the neighbourhoods of the data.

Nothing here holds an N×N matrix: what compares all pairs goes block by block, and what is dear for many
samples can be averaged over `max_samples` of them, each still ranked against all.
"""

from polyfold.metrics._ranks import (
    continuity,
    coranking_auc,
    coranking_curve,
    neighbor_recall,
    trustworthiness,
)
from polyfold.metrics._residuals import procrustes, residual_variance

__all__ = [
    "continuity",
    "coranking_auc",
    "coranking_curve",
    "neighbor_recall",
    "procrustes",
    "residual_variance",
    "trustworthiness",
]
