"""Isomap along edges between samples that are each among the other's neighbours, of which fewer short-cut a fold.

See `isomap`, which does the work.
"""

#: Along edges between mutual neighbours only.
MUTUAL = True
