"""Local objectives: one file each, neighbourhoods in, a residual operator out.

An objective looks at a patch, a set of samples that holds some centres and all their neighbours, and returns
``(L, D)``: a sparse matrix of local equations (columns: the samples of the patch) and the weight of each
sample of the patch. Summed over patches, the embedding Y that it asks for minimises ``||L Y||²`` subject to
``Yᵀ diag(D) Y = I``. A centre of weight w counts as w
centres. Objectives are pure functions and know nothing of polynomials.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.objectives import lle

#: (X of the patch, positions of the centres, positions of their neighbours, weights of the centres) -> (L, D)
Objective = Callable[
    [NDArray[np.float64], NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]],
    tuple[Any, NDArray[np.float64]],
]

OBJECTIVES: dict[str, Objective] = {"lle": lle.build_residuals}
