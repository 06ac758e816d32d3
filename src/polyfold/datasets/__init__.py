"""Data to learn from: surfaces whose true coordinates are known, and image sets of the literature."""

from polyfold.datasets.images import load_coil20, load_frey_faces, load_isomap_faces, load_mnist, load_usps
from polyfold.datasets.surfaces import (
    make_corner_planes,
    make_gaussian,
    make_punctured_sphere,
    make_swiss_hole,
    make_swiss_roll,
    make_toroidal_helix,
    make_twin_peaks,
)

__all__ = [
    "load_coil20",
    "load_frey_faces",
    "load_isomap_faces",
    "load_mnist",
    "load_usps",
    "make_corner_planes",
    "make_gaussian",
    "make_punctured_sphere",
    "make_swiss_hole",
    "make_swiss_roll",
    "make_toroidal_helix",
    "make_twin_peaks",
]
