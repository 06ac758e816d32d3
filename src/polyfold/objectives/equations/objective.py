"""What a graph says of itself, beside how it writes its equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.objectives.equations.patch import Equations, Patch


def prepare_nothing(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp], n_components: int, **work: Any
) -> dict[str, Any]:
    """Say that equations need nothing but their patch."""
    return {}


def prepare_n_components(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp], n_components: int, **work: Any
) -> dict[str, Any]:
    """Say that equations need the number of coordinates."""
    return {"n_components": n_components}


def extend_nothing(statistics: dict[str, Any], patch: Patch, known: NDArray[np.intp]) -> dict[str, Any]:
    """Say that what is known of some samples serves for others."""
    return statistics


@dataclass(frozen=True)
class Geodesic:
    """A method of distances along the neighbour graph.

    Attributes
    ----------
    mutual : bool
        Whether along edges between samples that are each among the other's neighbours only.
    """

    mutual: bool


@dataclass(frozen=True)
class Objective:
    """A local method.

    Attributes
    ----------
    build : callable
        From a patch and the statistics of `prepare`, by name, to `Equations`.
    prepare : callable
        From (samples, centres among them, neighbours of these, n_components) to statistics.
    extend : callable
        From the statistics of some samples to those of a patch that holds others too.
    prepares_all : bool
        Whether all samples must be centres there, or some tell as much.
    least_neighbors : callable
        How many neighbours n_components coordinates need.
    count_floats : callable
        From the numbers of neighbours and columns to the floats needed to build the equations of a centre.
    """

    build: Callable[..., Equations]
    prepare: Callable[..., dict[str, Any]] = prepare_nothing
    extend: Callable[[dict[str, Any], Patch, NDArray[np.intp]], dict[str, Any]] = extend_nothing
    prepares_all: bool = False
    least_neighbors: Callable[[int], int] = lambda n_components: 1
    count_floats: Callable[[int, int], int] = lambda k, n_columns: 3 * k * n_columns + 6 * k * k
