"""Graphs: one file each, by whose name ``graph="..."`` asks for it; neighbourhoods in, equations out.

A local graph looks at a patch, a set of samples that holds some centres and all their neighbours, and returns
``(L, D)``: a sparse matrix of local equations (columns: the samples of the patch) and the weight of each
sample of the patch. Summed over patches, the embedding Y that it asks for minimises ``||L Y||²`` subject to
``Yᵀ diag(D) Y = I``. What it must know of all samples beforehand, it finds out in `prepare`. Its file ends with an
`OBJECTIVE`, and a new one needs nothing more. Graphs are pure functions and know nothing of polynomials.

Isomap is not a sum over neighbourhoods: its files end with a `GEODESIC`, along which edges distances go.
"""

from __future__ import annotations

from importlib import import_module

from polyfold._graph_names import list_graphs
from polyfold.objectives.equations.objective import Geodesic, Objective

#: The files of this folder.
GRAPHS = list_graphs()

#: The local methods, and the global ones.
OBJECTIVES: dict[str, Objective] = {}
GEODESIC: dict[str, Geodesic] = {}

for _name in GRAPHS:
    _file = import_module(f"{__name__}.{_name}")
    if hasattr(_file, "OBJECTIVE"):
        OBJECTIVES[_name] = _file.OBJECTIVE
    elif hasattr(_file, "GEODESIC"):
        GEODESIC[_name] = _file.GEODESIC
    else:
        raise ImportError(f"{_file.__file__} must end with an OBJECTIVE, as each file here: it makes a graph.")
