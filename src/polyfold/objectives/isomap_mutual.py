"""Isomap along edges between samples that are each among the other's neighbours, of which fewer short-cut a fold.

See `isomap`, which does the work.
"""

from polyfold.objectives.equations.objective import Geodesic

GEODESIC = Geodesic(mutual=True)
