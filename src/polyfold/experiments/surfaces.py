"""Section 5.1: surfaces in space are unfolded, over many draws instead of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from polyfold.datasets import make_gaussian, make_swiss_hole, make_swiss_roll
from polyfold.experiments.methods import METHODS, OURS, PAPER
from polyfold.experiments.outcome import Drawing, Outcome, Table, tabulate
from polyfold.experiments.plan import Plan
from polyfold.experiments.style import (
    add_legend,
    draw_bars,
    draw_plane,
    draw_scale,
    draw_space,
    make_axes,
    make_canvas,
)
from polyfold.metrics import residual_variance

SURFACES = {"SwissRoll": make_swiss_roll, "SwissHole": make_swiss_hole, "Gaussian": make_gaussian}
COMPARED = (PAPER, OURS, "LLE", "NPP", "ONPP")
N_SAMPLES, N_NEIGHBORS = 1000, 10


def run(plan: Plan) -> Outcome:
    """Embed three surfaces by five methods."""
    seeds = plan.list_seeds(full=20, quick=3)
    rows, drawings = [], []
    for surface, make in SURFACES.items():
        for seed in plan.track(seeds, f"surfaces: {surface}"):
            X, Z = make(N_SAMPLES, random_state=seed)
            n_short_cuts = 0 if surface == "Gaussian" else count_short_cuts(X, Z, N_NEIGHBORS)
            found = {name: plan.fit(name, X, N_NEIGHBORS).embedding_ for name in COMPARED}
            for name, Y in found.items():
                rows.append(
                    {
                        "surface": surface,
                        "seed": seed,
                        "short_cuts": n_short_cuts,
                        "method": name,
                        "residual_variance": residual_variance(Y, Z),
                        "residual_variance_of_distances": residual_variance(Y, Z, kind="distances"),
                    }
                )
            if seed == plan.seed:
                drawings.append(draw_surface(surface, X, Z, found))
    table = Table("surfaces", "Residual variance of each draw.", rows, shown=False)
    caption = "Residual variance: median of the draws (least to most); 0 is a perfect unfolding."
    summary = tabulate(table, "method", "surface", "residual_variance", caption)
    drawings.append(draw_residuals(table))
    text = (
        f"{N_SAMPLES:,} points of each surface, k = {N_NEIGHBORS}, p = 2, {len(seeds)} draws. “{PAPER}” is the "
        "simplified form to the letter: pure powers, not centred, no ridge. Residual variance is 1 − R² between "
        "the true coordinates and their best affine fit from the embedding, since the paper's own formula "
        "depends on the order, sign and scale of eigenvectors."
    )
    return Outcome("Learning surfaces in R³ (Section 5.1)", text, [table, summary], drawings)


def count_short_cuts(X: NDArray[Any], Z: NDArray[Any], n_neighbors: int) -> int:
    """Count edges to neighbours that are more than twice as long on the unrolled sheet as in space."""
    neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(return_distance=False)
    t, h = Z.T
    sheet = np.column_stack([(t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2, h])  # arc length along the spiral
    on_sheet, in_space = (np.linalg.norm(P[neighbors] - P[:, np.newaxis], axis=2) for P in (sheet, X))
    return int(np.count_nonzero(on_sheet > 2 * in_space))


def draw_surface(surface: str, X: NDArray[Any], Z: NDArray[Any], found: dict[str, NDArray[Any]]) -> Drawing:
    """Draw samples, true coordinates and embeddings, as in the paper's figure."""
    canvas = make_canvas(10.4, 5.4)
    grid = canvas.add_gridspec(2, 4)
    draw_space(canvas, grid[0, 0], X, Z[:, 0], f"X: {surface}")
    places = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)]
    panels = {"Z: true coordinates": Z} | {f"Y: {name}\nρ = {_rate(Y, Z)}": Y for name, Y in found.items()}
    for (row, column), (title, Y) in zip(places, panels.items(), strict=True):
        letter = "z" if Y is Z else "y"
        drawn = draw_plane(canvas.add_subplot(grid[row, column]), Y, Z[:, 0], title, letter=letter)
    draw_scale(canvas.add_subplot(grid[1, 3]), drawn, "first true coordinate")
    caption = (
        f"{surface}: samples X, true coordinates Z and embeddings Y of the first draw. ρ is the residual "
        "variance; a good embedding shows the colours in the order of Z, up to an affine map."
    )
    return Drawing(f"surface_{surface.lower()}", caption, canvas)


def _rate(Y: NDArray[Any], Z: NDArray[Any]) -> str:
    return f"{residual_variance(Y, Z):.2g}"


def draw_residuals(table: Table) -> Drawing:
    """Draw the bar plot of residual variances, of both kinds."""
    canvas, axes = make_axes(1, 2, 5.2, 3.4)
    kinds = {
        "residual_variance": "residual variance, affine",
        "residual_variance_of_distances": "residual variance, of distances",
    }
    for panel, (column, label) in zip(axes[0], kinds.items(), strict=True):
        values = {
            name: np.array([table.select(column, surface=each, method=name) for each in SURFACES])
            for name in METHODS
            if name in COMPARED
        }
        draw_bars(panel, list(SURFACES), values, label=label)
        panel.set(yscale="log", ylim=(1e-5, 1))
    add_legend(canvas, axes[0, 0])
    caption = (
        "Residual variance of the three surfaces: bars are medians over the draws, dots the draws. Left after "
        "the best affine fit, right between distances, which also asks that both coordinates have the right scale."
    )
    return Drawing("surfaces_residual_variance", caption, canvas)
