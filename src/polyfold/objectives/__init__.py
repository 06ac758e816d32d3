"""Local objectives: one file each, neighbourhoods in, equations out.

An objective looks at a patch, a set of samples that holds some centres and all their neighbours, and returns
``(L, D)``: a sparse matrix of local equations (columns: the samples of the patch) and the weight of each
sample of the patch. Summed over patches, the embedding Y that it asks for minimises ``||L Y||²`` subject to
``Yᵀ diag(D) Y = I``. What it must know of all samples beforehand, it finds out in `prepare`. Objectives are pure
functions and know nothing of polynomials.

`isomap` is not a sum over neighbourhoods; its file gives the kernel of geodesic distances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.objectives import diffusion, hessian, laplacian, lle, ltsa, mlle
from polyfold.objectives.patch import Equations, Patch


def _prepare_nothing(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp], n_components: int, **work: Any
) -> dict[str, Any]:
    return {}


def _prepare_n_components(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp], n_components: int, **work: Any
) -> dict[str, Any]:
    return {"n_components": n_components}


def _extend_nothing(statistics: dict[str, Any], patch: Patch, known: NDArray[np.intp]) -> dict[str, Any]:
    return statistics


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
    prepare: Callable[..., dict[str, Any]] = _prepare_nothing
    extend: Callable[[dict[str, Any], Patch, NDArray[np.intp]], dict[str, Any]] = _extend_nothing
    prepares_all: bool = False
    least_neighbors: Callable[[int], int] = lambda n_components: 1
    count_floats: Callable[[int, int], int] = lambda k, n_columns: 3 * k * n_columns + 6 * k * k


OBJECTIVES: dict[str, Objective] = {
    "lle": Objective(lle.build_equations, count_floats=lambda k, n_columns: 4 * k + n_columns),
    "mlle": Objective(mlle.build_equations, mlle.prepare, least_neighbors=lambda n_components: n_components),
    "ltsa": Objective(
        ltsa.build_equations, _prepare_n_components, least_neighbors=lambda n_components: n_components + 2
    ),
    "hessian": Objective(hessian.build_equations, _prepare_n_components, least_neighbors=hessian.count_columns),
    "laplacian": Objective(laplacian.build_heat_equations, laplacian.prepare),
    "laplacian_binary": Objective(laplacian.build_binary_equations),
    "diffusion": Objective(diffusion.build_equations, diffusion.prepare, diffusion.extend, prepares_all=True),
}

#: The global methods: along edges to neighbours, and along edges between mutual neighbours.
ISOMAP, ISOMAP_MUTUAL = "isomap", "isomap_mutual"
GEODESIC = (ISOMAP, ISOMAP_MUTUAL)

GRAPHS = (*OBJECTIVES, *GEODESIC)
