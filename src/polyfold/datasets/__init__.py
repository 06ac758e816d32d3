"""Data to learn from: surfaces whose true coordinates are known."""

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
    "make_corner_planes",
    "make_gaussian",
    "make_punctured_sphere",
    "make_swiss_hole",
    "make_swiss_roll",
    "make_toroidal_helix",
    "make_twin_peaks",
]
