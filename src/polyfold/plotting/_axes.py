"""Axes to draw on, and how they look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Told apart by people of any colour vision: seven of Okabe and Ito's, brown for their yellow, and five more.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
    "#6600CC",
    "#8C6D31",
    "#880077",
    "#DDBB77",
    "#440033",
    "#003300",
)

#: What is drawn by default, and what stands out against it.
PLAIN, STRIKING = PALETTE[0], PALETTE[4]

#: Background, and classes that have no colour of their own.
PALE_GREY, GREY = "#CCCCCC", "#999999"

#: Area of a point in square points: the smallest and the largest.
POINT_AREAS = 1.0, 36.0


def require_matplotlib(caller: str) -> None:
    """Say how to install matplotlib where it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f'{caller}() needs matplotlib: pip install "polyfold[plot]"') from error


def take_axes(ax: Axes | None) -> Axes:
    """Return `ax` or, where it is None, the current axes, in a new figure if there is none."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    if not plt.get_fignums():
        plt.figure(layout="constrained")  # makes room for legends beside the axes
    current: Axes = plt.gca()
    return current


def draw_points(ax: Any, points: NDArray[np.float64], area: float, **style: Any) -> Any:
    """Draw points without outlines; as pixels where a figure is written as lines, which keeps its file small."""
    return ax.scatter(*points.T, s=area, **({"linewidths": 0, "rasterized": True} | style))


def draw_crosses(ax: Any, points: NDArray[np.float64], **style: Any) -> None:
    """Mark at the edge of a frame what lies beyond it."""
    ax.scatter(*points.T, s=24, marker="x", linewidths=1.2, clip_on=False, **style)


def add_colorbar(ax: Any, drawn: Any, label: str) -> None:
    """Draw the scale of colours beside the axes."""
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.set_label(label, parse_math=False)
    bar.outline.set_visible(False)


def choose_area(n_points: int) -> float:
    """Return the area of each of so many points."""
    return float(np.clip(400 / np.sqrt(n_points), *POINT_AREAS))


def frame_plane(ax: Any, names: tuple[str, str], *, is_line: bool, keep_limits: bool = False) -> None:
    """Name the axes of a plane, with one scale for both; a line has no scale across it."""
    ax.set(xlabel=names[0], ylabel=names[1], xticks=[], yticks=[])
    if not is_line:
        # Axes that share both limits with others cannot change them.
        tied = all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
        ax.set_aspect("equal", adjustable="box" if keep_limits or tied else "datalim")
    soften_spines(ax)


def soften_spines(ax: Any) -> None:
    """Draw a quiet frame."""
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color("0.8")


def quiet_axes(ax: Any) -> None:
    """Prepare axes for curves and bars: no frame above and on the right."""
    ax.spines[["top", "right"]].set_visible(False)


def write_plainly(legend: Any) -> None:
    """Take names in a legend as they are: a dollar sign starts no formula."""
    for text in [*legend.get_texts(), legend.get_title()]:
        text.set_parse_math(False)
