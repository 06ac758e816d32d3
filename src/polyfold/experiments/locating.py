"""Section 5.2: new samples are located in the embedding that was learned, without learning again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.bench.timing import time_once, time_side_by_side
from polyfold.datasets import make_swiss_roll
from polyfold.experiments.methods import METHODS, OURS, PAPER
from polyfold.experiments.outcome import Drawing, Outcome, Row, Table, tabulate
from polyfold.experiments.plan import Plan
from polyfold.experiments.style import (
    add_legend,
    draw_curves,
    draw_plane,
    draw_scale,
    draw_space,
    make_axes,
    make_canvas,
)
from polyfold.experiments.timing import draw_times, time_locating
from polyfold.metrics import residual_variance, trustworthiness

COMPARED = (PAPER, OURS, "NPP", "ONPP", "KE")
N_TRAINING, N_NEIGHBORS = 1000, 10

#: name -> (spacing, samples in all)
CASES = {"even": ("even", 2000), "random": ("random", 2000), "random, many": ("random", 11_000)}


def run(plan: Plan) -> Outcome:
    """Learn from 1,000 samples of the Swiss roll and locate the others."""
    located: list[Row] = []
    times: list[Row] = []
    kept: list[Row] = []
    drawings = []
    for case in CASES:
        for seed in plan.track(plan.list_seeds(full=10, quick=1), f"locating: {case}"):
            X, Z, train, new = draw_roll(case, seed)
            models = {name: plan.fit(name, X[train], N_NEIGHBORS) for name in COMPARED}
            places = {name: model.transform(X[new]) for name, model in models.items()}
            located += [row for name, Y in places.items() for row in rate(case, seed, name, X[new], Z[new], Y)]
            if seed == plan.seed:
                spent = time_locating(plan, models, X[new], {"case": case})
                times += spent
                kept = kept or [weigh(name, model, X[new]) for name, model in models.items()]
                drawings.append(draw_case(case, X, Z, train, new, places, Table("", "", spent)))
    times += time_one_more(plan)
    quality = Table("locating", "Residual variance of the first so many located samples.", located, shown=False)
    seconds = Table("locating_times", "Seconds that locating takes.", times, shown=False, timed=True)
    whole = Table("locating", "", [row for row in located if row["trustworthiness"] is not None])
    caption = "Residual variance of all located samples: median of the draws (least to most); 0 is perfect."
    trust = "Trustworthiness (10 neighbours) of the located samples; 1 is perfect."
    tables = [
        quality,
        tabulate(whole, "method", "case", "residual_variance", caption),
        tabulate(whole, "method", "case", "trustworthiness", trust, "locating_trustworthiness"),
        seconds,
        compare_times(seconds),
        Table(
            "locating_kept", "What must be kept, and how a sample alone differs from the same in a batch.", kept
        ),
    ]
    text = (
        "1,000 samples of the Swiss roll are learned from (k = 10, p = 2) and the others are located: 1,000 of a "
        "grid, 1,000 drawn at random, 10,000 drawn at random. NPP and ONPP are polyfold's presets. KE extends "
        "LLE by a Gaussian kernel whose bandwidth and ridge leave-one-out chooses. Times are the best of "
        "several, methods taking turns."
    )
    return Outcome("Locating new samples (Section 5.2)", text, tables, [*drawings, draw_many(quality, seconds)])


def draw_roll(case: str, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return samples, true coordinates, and who is learned from and who is located."""
    spacing, n_samples = CASES[case]
    X, Z = make_swiss_roll(n_samples, spacing=spacing, random_state=seed)
    order = np.random.default_rng(seed).permutation(n_samples)
    return X, Z, order[:N_TRAINING], order[N_TRAINING:]


def rate(case: str, seed: int, name: str, X: NDArray[Any], Z: NDArray[Any], Y: NDArray[Any]) -> list[Row]:
    """Return the residual variance of more and more of the samples, and the trustworthiness of all."""
    rows = []
    for n in np.linspace(0, len(X), 11, dtype=int)[1:].tolist():
        trust = trustworthiness(X, Y, n_neighbors=10, max_samples=1000) if n == len(X) else None
        row = {"case": case, "seed": seed, "method": name, "located": n}
        rows.append(row | {"residual_variance": residual_variance(Y[:n], Z[:n]), "trustworthiness": trust})
    return rows


def weigh(name: str, model: Any, X: NDArray[Any]) -> Row:
    """Return what a model keeps to locate samples, and whether it locates each on its own."""
    Y = model.transform(X)
    alone = np.vstack([model.transform(row[np.newaxis]) for row in X[:50]])
    if hasattr(model, "map_"):
        kept = len(model.map_.to_json())
    else:
        kept = model.samples_.nbytes + model.coefficients_.nbytes
    apart = float(np.abs(alone - Y[:50]).max() / np.abs(Y).max())
    return {"method": name, "kilobytes": kept / 1000, "alone_against_batch": apart}


def time_one_more(plan: Plan) -> list[Row]:
    """Return seconds for one more sample: by learning again, and by the map."""
    X, _ = make_swiss_roll(N_TRAINING + 1, random_state=plan.seed)
    learner, learned = METHODS["LLE"].make(N_NEIGHBORS, 2), plan.fit(PAPER, X[:-1], N_NEIGHBORS)
    seconds = {
        "LLE": min(time_once(lambda: learner.fit(X)) for _ in range(3)),
        PAPER: time_side_by_side({PAPER: lambda: learned.transform(X[-1:])}, 3)[PAPER],
    }
    return [{"case": "one more", "method": name, "located": 1, "seconds": s} for name, s in seconds.items()]


def compare_times(seconds: Table) -> Table:
    """Return the time for all located samples, over that of NPP, and how it grows."""
    rows = []
    for case in CASES:
        n = seconds.select("located", case=case).max()
        least = seconds.select("located", case=case).min()
        base = seconds.select("seconds", case=case, method="NPP", located=n)[0]
        for name in COMPARED:
            few, all_ = (seconds.select("seconds", case=case, method=name, located=k)[0] for k in (least, n))
            row = {"case": case, "method": name, "located": int(n), "milliseconds": 1e3 * all_}
            rows.append(row | {"times NPP": all_ / base, "growth": all_ / few})
    return Table(
        "locating_times_summary",
        "Time of locating all samples, and its growth from a fifth of them to all.",
        rows,
        timed=True,
    )


def draw_case(
    case: str,
    X: NDArray[Any],
    Z: NDArray[Any],
    train: NDArray[Any],
    new: NDArray[Any],
    places: dict[str, NDArray[Any]],
    seconds: Table,
) -> Drawing:
    """Draw training data, time, and where each method puts the located samples."""
    canvas = make_canvas(10.8, 5.2)
    figures: Any = canvas.subfigures(2, 1)
    above, below = figures
    grid = above.add_gridspec(1, 5, width_ratios=(1, 1, 1.6, 0.65, 0.35))
    draw_space(above, grid[0], X[train], Z[train, 0], "X: 1,000 for training")
    draw_plane(above.add_subplot(grid[1]), Z[train], Z[train, 0], "Z: their coordinates", letter="z")
    axes = above.add_subplot(grid[2])
    draw_times(axes, seconds, case=case)
    axes.set_title("time cost")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    above.add_subplot(grid[3]).set_axis_off()  # room for the legend
    panels = below.subplots(1, len(places))
    for panel, (name, Y) in zip(panels, places.items(), strict=True):
        title = f"{name}\nρ = {residual_variance(Y, Z[new]):.2g}"
        drawn = draw_plane(panel, Y, Z[new, 0], title, 5 if len(Y) < 5000 else 1.5)
    draw_scale(above.add_subplot(grid[4]), drawn, "t")
    caption = (
        f"Swiss roll, {case}: what was learned from, the time of locating, and the {len(new):,} located samples, "
        "coloured by their true position along the roll."
    )
    return Drawing(f"locating_{case.replace(', ', '_')}", caption, canvas)


def draw_many(quality: Table, seconds: Table) -> Drawing:
    """Draw time and residual variance against the number of located samples, up to 10,000."""
    case = "random, many"
    canvas, axes = make_axes(1, 2, 5.0, 3.5)
    draw_times(axes[0, 0], seconds, case=case)
    axes[0, 0].set_title("time cost")
    sizes = quality.list_values("located", case=case)
    values = {
        name: np.array(
            [quality.select("residual_variance", case=case, method=name, seed=seed)
             for seed in quality.list_values("seed", case=case)]
        )
        for name in COMPARED
    }  # fmt: skip
    draw_curves(axes[0, 1], COMPARED, sizes, values, band=True)
    axes[0, 1].set_yscale("log")
    axes[0, 1].set(xlabel="located samples", ylabel="residual variance", title="residual variance")
    add_legend(canvas, axes[0, 0])
    caption = (
        "10,000 samples located after learning from 1,000. Left the time; right the residual variance, median "
        "and range of the draws."
    )
    return Drawing("locating_curves", caption, canvas)
