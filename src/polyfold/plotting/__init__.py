"""Pictures of embeddings and of the maps behind them, with matplotlib: pip install "polyfold[plot]".

Each function draws on the axes `ax`, or on the current ones where it is None, and returns them. None shows or
saves a figure or changes matplotlib's settings, and matplotlib is imported when the first is called.
"""

from polyfold.plotting._curves import plot_eigenvalues, plot_quality, plot_ridge
from polyfold.plotting._scatter import plot_embedding, plot_unseen
from polyfold.plotting._sensitivity import plot_sensitivity
from polyfold.plotting._thumbnails import plot_thumbnails

__all__ = [
    "plot_eigenvalues",
    "plot_embedding",
    "plot_quality",
    "plot_ridge",
    "plot_sensitivity",
    "plot_thumbnails",
    "plot_unseen",
]
