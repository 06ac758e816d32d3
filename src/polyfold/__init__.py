"""Explicit manifold learning: an embedding of curved data that is a polynomial map.

Names are imported when first used, so that ``import polyfold`` is cheap and a fitted map can be
evaluated in a process that never loads scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyfold import datasets, metrics, plotting
    from polyfold._errors import ModelFormatError
    from polyfold.embedding import PolynomialEmbedding
    from polyfold.explicit import ExplicitEmbedding
    from polyfold.kernel import KernelExtrapolation, NystromExtension
    from polyfold.polymap import PolynomialMap
    from polyfold.presets import LLTSA, LPP, NPE, NPP, NPPE, OLPP, ONPP, SNPPE
    from polyfold.suggestion import suggest

__all__ = [
    "LLTSA",
    "LPP",
    "NPE",
    "NPP",
    "NPPE",
    "OLPP",
    "ONPP",
    "SNPPE",
    "ExplicitEmbedding",
    "KernelExtrapolation",
    "ModelFormatError",
    "NystromExtension",
    "PolynomialEmbedding",
    "PolynomialMap",
    "datasets",
    "metrics",
    "plotting",
    "suggest",
]

_HOMES = {
    "LLTSA": "polyfold.presets",
    "LPP": "polyfold.presets",
    "NPE": "polyfold.presets",
    "NPP": "polyfold.presets",
    "NPPE": "polyfold.presets",
    "OLPP": "polyfold.presets",
    "ONPP": "polyfold.presets",
    "SNPPE": "polyfold.presets",
    "ExplicitEmbedding": "polyfold.explicit",
    "KernelExtrapolation": "polyfold.kernel",
    "ModelFormatError": "polyfold._errors",
    "NystromExtension": "polyfold.kernel",
    "PolynomialEmbedding": "polyfold.embedding",
    "PolynomialMap": "polyfold.polymap",
    "suggest": "polyfold.suggestion",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("polyfold")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"polyfold.{name}")
    raise AttributeError(f"module 'polyfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
