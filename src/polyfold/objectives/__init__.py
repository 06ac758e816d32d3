"""Graphs: one file each, by whose name ``graph="..."`` asks for it; neighbourhoods in, equations out.

A local graph looks at a patch, a set of samples that holds some centres and all their neighbours, and returns
``(L, D)``: a sparse matrix of local equations (columns: the samples of the patch) and the weight of each
sample of the patch. Summed over patches, the embedding Y that it asks for minimises ``||L Y||²`` subject to
``Yᵀ diag(D) Y = I``. What it must know of all samples beforehand, it finds out in `prepare`. Its file ends with an
`OBJECTIVE`, and a new one needs nothing more. Graphs are pure functions and know nothing of polynomials.

Isomap is not a sum over neighbourhoods: its files say along which edges geodesic distances go.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from polyfold.objectives.equations.objective import Objective

#: The files of this folder.
GRAPHS: tuple[str, ...] = tuple(sorted(module.name for module in iter_modules(__path__) if not module.ispkg))

_FILES = {name: import_module(f"{__name__}.{name}") for name in GRAPHS}

#: The local methods.
OBJECTIVES: dict[str, Objective] = {
    name: file.OBJECTIVE for name, file in _FILES.items() if hasattr(file, "OBJECTIVE")
}

#: The global ones, and whether each goes along edges between mutual neighbours only.
GEODESIC: dict[str, bool] = {name: file.MUTUAL for name, file in _FILES.items() if name not in OBJECTIVES}
