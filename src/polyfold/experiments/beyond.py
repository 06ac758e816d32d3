"""Beyond the paper: where the published form fails, and what polyfold does about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.manifold import LocallyLinearEmbedding

from polyfold import NPPE, SNPPE, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll, make_twin_peaks
from polyfold.experiments.methods import CHOSEN_COLOUR, OURS, PAPER
from polyfold.experiments.outcome import Drawing, Outcome, Row, Table, tabulate
from polyfold.experiments.plan import Plan
from polyfold.experiments.style import (
    add_legend,
    draw_bars,
    draw_curves,
    draw_plane,
    draw_scale,
    draw_space,
    make_axes,
    make_canvas,
)
from polyfold.experiments.surfaces import count_short_cuts
from polyfold.metrics import residual_variance

N_NEIGHBORS = 10

#: By how many degrees the roll is turned, about one axis and then about another.
ANGLES = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90)

#: Ridges; 0 is drawn at the left edge.
ALPHAS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)

#: Graphs of other methods, each with the number of neighbours it is used with.
GRAPHS = {"lle": 10, "mlle": 10, "ltsa": 10, "hessian": 10, "laplacian": 10, "isomap": 8}


def run(plan: Plan) -> Outcome:
    """Turn the roll, lengthen it, take twin peaks, choose the ridge, change the graph."""
    text = (
        "Each figure has one sentence: what fails, and what is done. Cross terms make the map the same in all "
        "axes; coordinates that repeat each other are skipped; the ridge is chosen on held-out samples; any "
        "graph can be made explicit."
    )
    parts = [turn_roll(plan), lengthen_strip(plan), fold_twin_peaks(plan), choose_ridge(plan), change_graph(plan)]
    return sum(parts, Outcome("Beyond the paper", text, [], []))


def turn_roll(plan: Plan) -> Outcome:
    """Turn the Swiss roll in space: pure powers see other columns, cross terms do not."""
    rows: list[Row] = []
    angles = ANGLES[::3] if plan.quick else ANGLES
    for seed in plan.track(plan.list_seeds(full=10, quick=2), "beyond: turned roll"):
        X, Z = make_swiss_roll(1000, random_state=seed)
        for angle in angles:
            turned = X @ make_rotation(angle)
            for name in (PAPER, OURS):
                Y = plan.fit(name, turned, N_NEIGHBORS).embedding_
                row = {"seed": seed, "angle": angle, "method": name}
                rows.append(row | {"residual_variance": residual_variance(Y, Z)})
    table = Table("beyond_turned", "Residual variance of the turned Swiss roll.", rows, shown=False)
    canvas, axes = make_axes(1, 1, 5.6, 3.3)
    found = {
        name: table.select("residual_variance", method=name).reshape(-1, len(angles)) for name in (PAPER, OURS)
    }
    draw_curves(axes[0, 0], (PAPER, OURS), angles, found, band=True)
    axes[0, 0].set(xlabel="turned by, degrees", ylabel="residual variance", ylim=(0, None))
    add_legend(canvas, axes)
    caption = (
        "Turning the Swiss roll in space makes the simplified form fail, since the roll's circles are sums of "
        "pure powers only along the axes; with cross terms the answer is the same at every angle."
    )
    return Outcome("", "", [table], [Drawing("beyond_turned", caption, canvas)])


def make_rotation(angle: float) -> NDArray[np.float64]:
    """Return a turn by so many degrees in the plane of the first two columns, and then in that of the last two."""
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    first, second = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return np.asarray(first @ second)


def lengthen_strip(plan: Plan) -> Outcome:
    """Lengthen the roll: the second eigenvector becomes a function of the first."""
    rows: list[Row] = []
    turns = (2.0, 3.0) if plan.quick else (2.0, 2.5, 3.0, 3.5, 4.0)
    for seed in plan.track(plan.list_seeds(full=6, quick=1), "beyond: long strips"):
        for each in turns:
            X, Z = make_swiss_roll(2000 if plan.quick else 4000, turns=each, random_state=seed)
            found = embed_both(plan, X, degree=4)
            rows += [{"seed": seed, "turns": each, **row} for row in rate(found, Z)]
            if seed == plan.seed and each == 3.0:
                panels = X, Z, found
    caption = "Residual variance of strips of growing length, p = 4: median of the draws (least to most)."
    table = Table("beyond_strips", caption, rows, shown=False)
    sentence = (
        "On a strip much longer than wide the second smallest eigenvector is a function of the first, for LLE as "
        "for NPPE; coordinates whose gradients are independent give the second one back."
    )
    drawing = Drawing("beyond_strips", sentence, draw_choice(*panels, "X: a strip, turns = 3"))
    return Outcome("", "", [table, tabulate(table, "method", "turns", "residual_variance", caption)], [drawing])


def fold_twin_peaks(plan: Plan) -> Outcome:
    """Embed twin peaks, where the smallest eigenvectors repeat each other too."""
    rows: list[Row] = []
    for seed in plan.track(plan.list_seeds(full=10, quick=2), "beyond: twin peaks"):
        X, Z = make_twin_peaks(1000, random_state=seed)
        found = embed_both(plan, X, degree=3)
        rows += [{"seed": seed, "surface": "twin peaks", **row} for row in rate(found, Z)]
        if seed == plan.seed:
            panels = X, Z, found
    caption = "Residual variance of twin peaks, p = 3: median of the draws (least to most)."
    table = Table("beyond_twin_peaks", caption, rows, shown=False)
    sentence = (
        "On twin peaks the smallest eigenvectors repeat each other although the sheet is square: the embedding "
        "is a curve, which independent coordinates unfold."
    )
    drawing = Drawing("beyond_twin_peaks", sentence, draw_choice(*panels, "X: twin peaks"))
    summary = tabulate(table, "method", "surface", "residual_variance", caption)
    return Outcome("", "", [table, summary], [drawing])


#: What repeats coordinates.
SMALLEST = "NPPE, smallest eigenvalues"


def embed_both(plan: Plan, X: NDArray[Any], degree: int) -> dict[str, NDArray[Any]]:
    """Embed with the smallest eigenvalues, with independent coordinates, and by LLE."""
    smallest = NPPE(n_neighbors=N_NEIGHBORS, degree=degree, coordinates="smallest")
    independent = NPPE(n_neighbors=N_NEIGHBORS, degree=degree)
    lle = LocallyLinearEmbedding(n_neighbors=N_NEIGHBORS, random_state=0)
    models = {SMALLEST: smallest, OURS: independent, "LLE": lle}
    return {name: plan.listen(name, model, X).embedding_ for name, model in models.items()}


def rate(found: dict[str, NDArray[Any]], Z: NDArray[Any]) -> list[Row]:
    """Return the residual variance of each embedding."""
    return [{"method": name, "residual_variance": residual_variance(Y, Z)} for name, Y in found.items()]


def draw_choice(X: NDArray[Any], Z: NDArray[Any], found: dict[str, NDArray[Any]], title: str) -> Any:
    """Draw samples, true coordinates and the embeddings."""
    canvas = make_canvas(10.8, 2.9)
    grid = canvas.add_gridspec(1, 6, width_ratios=(1, 1, 1, 1, 1, 0.35))
    draw_space(canvas, grid[0], X, Z[:, 0], title)
    draw_plane(canvas.add_subplot(grid[1]), Z, Z[:, 0], "Z: true coordinates", letter="z")
    for position, (name, Y) in enumerate(found.items(), start=2):
        label = f"{name.replace(', ', ',' + chr(10))}\nρ = {residual_variance(Y, Z):.2g}"
        drawn = draw_plane(canvas.add_subplot(grid[position]), Y, Z[:, 0], label)
    draw_scale(canvas.add_subplot(grid[5]), drawn, "first true coordinate")
    return canvas


def choose_ridge(plan: Plan) -> Outcome:
    """Learn each of scikit-learn's digits with more and more ridge, and look at samples held out."""
    X, y = load_digits(return_X_y=True)
    digits = range(0, 10, 5) if plan.quick else range(10)
    alphas = (ALPHAS[0], 1e-3, ALPHAS[-1]) if plan.quick else ALPHAS
    rows: list[Row] = []
    for digit in plan.track(digits, "beyond: ridge"):
        own = np.random.default_rng(plan.seed + digit).permutation(X[y == digit])
        train, unseen = own[:120], own[120:]
        for alpha in (*alphas, "auto"):
            model = plan.listen("SNPPE", SNPPE(n_neighbors=N_NEIGHBORS, alpha=alpha), train)
            spread = model.transform(unseen).std(axis=0) / model.embedding_.std(axis=0)
            row = {"digit": digit, "choice": "auto" if alpha == "auto" else "given", "alpha": model.alpha_}
            rows.append(row | {"held_out_objective": _read_objective(model), "unseen_spread": float(spread.max())})
    caption = "Spread of unseen over that of training coordinates, and the objective on held-out folds."
    table = Table("beyond_ridge", caption, rows, shown=False)
    return Outcome("", "", [table], [draw_ridge(table)])


def draw_ridge(table: Table) -> Drawing:
    """Draw what each ridge does to samples held out."""
    canvas, axes = make_axes(1, 2, 4.6, 3.4)
    drawn = {"held_out_objective": "held-out objective", "unseen_spread": "spread of unseen samples"}
    digits = table.list_values("digit")
    alphas = table.list_values("alpha", choice="given")
    places = np.array([ALPHAS[1] / 10, *alphas[1:]])
    for panel, (column, label) in zip(axes[0], drawn.items(), strict=True):
        for digit in digits:
            found = table.select(column, digit=digit, choice="given")
            panel.plot(places, found, color="0.45", linewidth=1, marker=".", label="each digit")
            best = [table.select(each, digit=digit, choice="auto")[0] for each in ("alpha", column)]
            panel.scatter(*best, marker="*", s=45, color=CHOSEN_COLOUR, zorder=3, label="chosen by held-out folds")
        panel.set(xscale="log", xlabel="ridge alpha", ylabel=label)
        panel.set_xticks([places[0], 1e-5, 1e-3, 1e-1], ["0", "$10^{-5}$", "$10^{-3}$", "$10^{-1}$"])
        panel.set_xticks([], minor=True)
        panel.grid(alpha=0.25, linewidth=0.5)
    axes[0, 0].set_yscale("log")
    axes[0, 1].axhline(1, color="black", linewidth=0.8, linestyle=":")
    axes[0, 1].set_ylim(bottom=0)
    add_legend(canvas, axes)
    bare, chosen = (
        np.array([[table.select(column, digit=digit, **at)[0] for column in drawn] for digit in digits])
        for at in ({"choice": "given", "alpha": 0.0}, {"choice": "auto"})
    )
    gain = bare[:, 0] / chosen[:, 0]
    sentence = (
        "Without a ridge 128 pure powers fit 120 images of a handwritten digit almost freely: on held-out images "
        f"the objective is {gain.min():.1f} to {gain.max():.1f} times what the chosen ridge leaves, and unseen "
        f"ones spread up to {bare[:, 1].max():.1f} times as far as those learned from, with it "
        f"{chosen[:, 1].max():.1f} times."
    )
    return Drawing("beyond_ridge", sentence, canvas)


def _read_objective(model: Any) -> float:
    """Return the held-out objective of the ridge that was used."""
    curve = np.asarray(model.diagnostics_.alpha_curve)
    return float(curve[np.argmin(np.abs(curve[:, 0] - model.alpha_)), 1])


def change_graph(plan: Plan) -> Outcome:
    """Make other learners explicit: the same polynomials, another graph."""
    rows: list[Row] = []
    for seed in plan.track(plan.list_seeds(full=10, quick=2), "beyond: other graphs"):
        X, Z = make_swiss_roll(1000, random_state=seed)
        n_short_cuts = count_short_cuts(X, Z, N_NEIGHBORS)
        unseen, truth = make_swiss_roll(1000, random_state=10_000 + seed)
        for graph, k in GRAPHS.items():
            estimator = PolynomialEmbedding(graph=graph, n_neighbors=k, degree=2)
            model = plan.listen(f"graph {graph}", estimator, X)
            row = {"seed": seed, "surface": "SwissRoll", "short_cuts": n_short_cuts, "graph": graph}
            rows.append(row | {"residual_variance": residual_variance(model.transform(unseen), truth)})
    caption = "Residual variance of unseen samples, each graph made explicit, p = 2: median (least to most)."
    table = Table("beyond_graphs", caption, rows, shown=False)
    canvas, axes = make_axes(1, 1, 6.0, 3.0)
    values = np.array([table.select("residual_variance", graph=graph) for graph in GRAPHS])
    draw_bars(axes[0, 0], list(GRAPHS), {"any graph": values}, label="residual variance, unseen")
    axes[0, 0].set(yscale="log", xlabel="graph")
    sentence = (
        "The same polynomials make any graph explicit: unseen samples of the Swiss roll, each placed by a "
        "quadratic map of another learner."
    )
    summary = tabulate(table, "graph", "surface", "residual_variance", caption)
    return Outcome("", "", [table, summary], [Drawing("beyond_graphs", sentence, canvas)])
