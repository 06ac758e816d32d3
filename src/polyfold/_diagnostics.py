"""What a fit found out about the data, and the warnings that follow from it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostics:
    """Facts about a fit.

    Attributes
    ----------
    n_samples : int
    basis : str
        The basis used, "auto" resolved.
    n_features : int
        Monomials in the basis.
    rank : int
        How many of them are linearly independent on the samples.
    condition : float
        Largest over smallest singular value of the features, within the rank.
    n_connected_components : int
        Of the neighbour graph.
    n_duplicates : int
        Samples that repeat an earlier one exactly.
    """

    n_samples: int
    basis: str
    n_features: int
    rank: int
    condition: float
    n_connected_components: int
    n_duplicates: int


def warn_about(diagnostics: Diagnostics, n_neighbors: int, *, stacklevel: int) -> None:
    """Warn of what may spoil the embedding, each time with a cure."""
    if diagnostics.n_connected_components > 1:
        warnings.warn(
            f"The neighbour graph has {diagnostics.n_connected_components} connected components: coordinates "
            f"may tell the components apart instead of unfolding them. Raise `n_neighbors` above {n_neighbors}, "
            "or fit each component on its own.",
            stacklevel=stacklevel,
        )
    if diagnostics.n_duplicates:
        warnings.warn(
            f"{diagnostics.n_duplicates} of {diagnostics.n_samples} samples are duplicates of another. They use "
            "up neighbourhoods without adding shape: drop them, for example with numpy.unique(X, axis=0), or "
            "raise `n_neighbors`.",
            stacklevel=stacklevel,
        )
    if diagnostics.rank < diagnostics.n_features:
        warnings.warn(
            f"Only {diagnostics.rank} of {diagnostics.n_features} polynomial features are linearly independent "
            f"on these {diagnostics.n_samples} samples; the map uses those. Lower `degree`, drop constant or "
            "repeated columns, add samples, or remove outliers that dwarf the rest.",
            stacklevel=stacklevel,
        )
