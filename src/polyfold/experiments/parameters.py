"""Parameters and costs: the preamble of Section 5, the cost of a fit in Section 4.2, and KE's bandwidth."""

from __future__ import annotations

from math import comb
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.manifold import LocallyLinearEmbedding

from polyfold import NPPE, SNPPE, ExplicitEmbedding, KernelExtrapolation
from polyfold.bench.timing import time_stages
from polyfold.datasets import make_swiss_roll
from polyfold.experiments.methods import CHOSEN_COLOUR, CROSS_TERMS, METHODS, OURS, PAPER, TO_THE_LETTER
from polyfold.experiments.outcome import Drawing, Outcome, Row, Table, tabulate
from polyfold.experiments.plan import Plan
from polyfold.experiments.style import add_legend, draw_curves, make_axes
from polyfold.experiments.surfaces import N_NEIGHBORS, N_SAMPLES, SURFACES
from polyfold.metrics import residual_variance

#: Neighbours in per cent of the samples, and degrees.
PERCENTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
DEGREES = (1, 2, 3, 4, 5, 6)

#: The polynomial that is fitted to the true coordinates: as good as one of that degree can be.
BEST = "best polynomial"

#: The same with pure powers only.
BEST_POWERS = "best pure powers"

#: KE's bandwidths, in units of the median distance between samples.
BANDWIDTHS = tuple(2.0 ** np.arange(-5, 3))

#: Stages of a fit, as they are drawn, and what polyfold calls them.
STAGES = {
    "neighbours": ("dimension", "index", "trial", "neighbours"),
    "features": ("columns", "features"),
    "weights and Gram matrices": ("Gram pair",),
    "eigenproblem": ("whitening", "eigenvectors"),
    "folds (held-out objective)": ("ridge",),
    "domain": ("domain and way back",),
}
STAGE_COLOURS = ("#00224E", "#35456C", "#666970", "#948E77", "#C8B866", "#FEE838", "0.85")


def run(plan: Plan) -> Outcome:
    """Vary k and p, time the stages of a fit, and vary the bandwidth of KE."""
    text = (
        f"Residual variance of {N_SAMPLES:,} unseen samples as k and p vary, learned from {N_SAMPLES:,}. "
        f"“{BEST.capitalize()}” and “{BEST_POWERS}” are fitted to the true coordinates by least squares: what a "
        "map of that degree could do. The stages of a fit are timed for the paper's form on the Swiss roll (N), "
        "with random columns added (n), and at higher degree (p); “cross terms” is the form that the paper "
        "simplifies. KE extends the LLE embedding of the Swiss roll through a kernel of growing bandwidth."
    )
    neighbors = vary(plan, "neighbors", PERCENTS)
    degrees = vary(plan, "degree", DEGREES[:3] if plan.quick else DEGREES)
    stages = time_fits(plan)
    bandwidths = vary_bandwidth(plan)
    caption = "Residual variance of unseen samples of the {} against {}: median of the draws (least to most)."
    tables = [neighbors, degrees]
    for table, what, told in ((neighbors, "percent", "k, % of N"), (degrees, "degree", "p")):
        for surface in SURFACES:
            part = Table(table.name, "", [row for row in table.rows if row["surface"] == surface])
            name = f"{table.name}_{surface.lower()}"
            tables.append(tabulate(part, "method", what, "residual_variance", caption.format(surface, told), name))
    tables += [stages, list_shares(stages), count_monomials(), bandwidths]
    drawings = [
        draw_variation(neighbors, "percent", "neighbours k, % of N"),
        draw_variation(degrees, "degree", "degree p"),
        draw_stages(stages),
        draw_bandwidths(bandwidths),
    ]
    return Outcome("Parameters and costs (Sections 4.2 and 5)", text, tables, drawings)


def vary(plan: Plan, what: str, values: tuple[float, ...]) -> Table:
    """Return the residual variance of unseen samples for each value of k or p."""
    rows: list[Row] = []
    steps = [(surface, seed) for surface in SURFACES for seed in plan.list_seeds(full=10, quick=1)]
    for surface, seed in plan.track(steps, f"parameters: {what}"):
        make = SURFACES[surface]
        X, Z = make(N_SAMPLES, random_state=seed)
        unseen, truth = make(N_SAMPLES, random_state=10_000 + seed)
        for value in values:
            k = round(value / 100 * N_SAMPLES) if what == "neighbors" else N_NEIGHBORS
            degree = 2 if what == "neighbors" else int(value)
            models = {
                PAPER: plan.listen(PAPER, SNPPE(n_neighbors=k, degree=degree, **TO_THE_LETTER), X),
                OURS: plan.listen(OURS, NPPE(n_neighbors=k, degree=degree), X),
            }
            if what == "degree":
                for name, basis in ((BEST, "kronecker"), (BEST_POWERS, "hadamard")):
                    best = ExplicitEmbedding("precomputed", degree=degree, basis=basis, alpha=0)
                    models[name] = plan.listen(name, best, X, Z)
            for name, model in models.items():
                Y = model.transform(unseen)
                row = {"surface": surface, "seed": seed, "percent" if what == "neighbors" else "degree": value}
                spread = float(np.max(Y.std(axis=0) / model.embedding_.std(axis=0)))
                rho = residual_variance(Y, truth)
                rows.append(row | {"method": name, "residual_variance": rho, "unseen_spread": spread})
    return Table(f"parameters_{what}", f"Residual variance against {what}.", rows, shown=False)


def time_fits(plan: Plan) -> Table:
    """Return the seconds of each stage of a fit against N, n and p, for both forms."""
    small = plan.quick
    grid = {
        "N": (2000, 8000, 32_000) if small else (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000),
        "n": (3, 6, 12) if small else (3, 6, 12, 18, 24),
        "p": (1, 2, 3) if small else (1, 2, 3, 4, 5),
    }
    rows: list[Row] = []
    for grows, value in plan.track([(g, v) for g, values in grid.items() for v in values], "parameters: stages"):
        N = value if grows == "N" else 2000
        n = value if grows == "n" else 3 if grows == "N" else 6
        p = value if grows == "p" else 2
        X = widen(make_swiss_roll(N, random_state=plan.seed)[0], n)
        for name, make in ((PAPER, SNPPE), (CROSS_TERMS, NPPE)):
            estimator = make(n_neighbors=N_NEIGHBORS, degree=p, **TO_THE_LETTER)
            runs = [_time_fit(plan, name, estimator, X) for _ in range(3 if small else 5)]
            best = {stage: min(run[stage] for run in runs) for stage in runs[0]}
            best["all"] = sum(best.values())
            features = estimator.diagnostics_.n_features
            row = {"method": name, "grows": grows, "size": value, "features": features}
            rows += [row | {"stage": stage, "seconds": seconds} for stage, seconds in best.items()]
    return Table("parameters_stages_times", "Seconds of each stage of a fit.", rows, shown=False, timed=True)


def widen(X: NDArray[Any], n_columns: int) -> NDArray[np.float64]:
    """Add columns of noise, a tenth as wide as the samples."""
    noise = np.random.default_rng(0).normal(size=(len(X), n_columns - X.shape[1])) * X.std() / 10
    return np.hstack([X, noise])


def _time_fit(plan: Plan, name: str, estimator: Any, X: NDArray[Any]) -> dict[str, float]:
    start = perf_counter()
    with time_stages() as seconds:
        plan.listen(name, estimator, X)
    whole = perf_counter() - start
    stages = {stage: sum(seconds.get(part, 0.0) for part in parts) for stage, parts in STAGES.items()}
    return stages | {"the rest": max(whole - sum(stages.values()), 0.0)}


def list_shares(stages: Table) -> Table:
    """Return the share of each stage in the largest fits."""
    rows = []
    for (name, grows), members in stages.group("method", "grows").items():
        largest = max(row["size"] for row in members)
        spent = {row["stage"]: row["seconds"] for row in members if row["size"] == largest}
        whole = spent.pop("all")
        row = {"method": name, "grows": grows, "size": largest, "milliseconds": 1e3 * whole}
        rows.append(row | {f"{stage}, %": 100 * seconds / whole for stage, seconds in spent.items()})
    return Table("parameters_shares_times", "Where the time of the largest fits goes.", rows, timed=True)


def count_monomials() -> Table:
    """Return how many features cross terms make: monomials counted once, and the entries of Kronecker powers."""
    rows = []
    for n, p in [(3, 2), (3, 6), (10, 2), (10, 4), (10, 6), (560, 2), (784, 2)]:
        once = comb(n + p, p) - 1
        repeated = sum(n**i for i in range(1, p + 1))
        row = {
            "columns n": n,
            "degree p": p,
            "pure powers": n * p,
            "monomials": once,
            "Kronecker powers": repeated,
        }
        rows.append(row | {"two Gram matrices, GB": 2 * 8 * once**2 / 1e9})
    return Table("parameters_features", "Features of each form: what cross terms cost in many columns.", rows)


def vary_bandwidth(plan: Plan) -> Table:
    """Return the residual variance of what KE locates, for each bandwidth, and for the one that it chooses."""
    rows: list[Row] = []
    for seed in plan.track(plan.list_seeds(full=10, quick=1), "parameters: KE's bandwidth"):
        X, _ = make_swiss_roll(N_SAMPLES, random_state=seed)
        unseen, truth = make_swiss_roll(N_SAMPLES, random_state=10_000 + seed)
        learned = LocallyLinearEmbedding(n_neighbors=N_NEIGHBORS, random_state=0).fit_transform(X)
        typical = float(np.median(pdist(X)))
        for ratio in (*(BANDWIDTHS[::2] if plan.quick else BANDWIDTHS), "auto"):
            bandwidth = "auto" if isinstance(ratio, str) else ratio * typical
            model = plan.listen("KE", KernelExtrapolation("precomputed", bandwidth=bandwidth), X, learned)
            row = {"seed": seed, "choice": "auto" if ratio == "auto" else "given"}
            row |= {"bandwidth": model.bandwidth_ / typical, "epsilon": model.epsilon_}
            rows.append(row | {"residual_variance": residual_variance(model.transform(unseen), truth)})
    return Table("parameters_bandwidth", "Residual variance of KE against its bandwidth.", rows, shown=False)


def draw_variation(table: Table, what: str, label: str) -> Drawing:
    """Draw residual variance and spread against a parameter, for each surface."""
    canvas, axes = make_axes(2, len(SURFACES), 3.5, 2.9, sharex=True, sharey="row")
    rows = {"residual_variance": "residual variance, unseen", "unseen_spread": "spread, unseen over training"}
    for line, (column, name) in zip(axes, rows.items(), strict=True):
        for panel, surface in zip(line, SURFACES, strict=True):
            draw_panel(panel, table, surface, what, column)
        line[0].set_ylabel(name)
    for above, below, surface in zip(*axes, SURFACES, strict=True):
        above.set(yscale="log", ylim=(1e-5, 1), title=surface)
        below.set(xlabel=label, ylim=(min(0.8, below.get_ylim()[0]), max(1.25, below.get_ylim()[1])))
        below.axhline(1, color="black", linewidth=0.8, linestyle=":")
    add_legend(canvas, axes[0, 0])
    caption = (
        f"Unseen samples against {label.split(',')[0]}: above the residual variance (what is below 0.00001 is not "
        "drawn), below the spread of their coordinates over that of the training samples, 1 being right; median "
        "and range of the draws."
    )
    return Drawing(table.name, caption, canvas)


def draw_panel(panel: Any, table: Table, surface: str, what: str, column: str) -> None:
    """Draw one figure of one surface against a parameter."""
    values, seeds = table.list_values(what, surface=surface), table.list_values("seed")
    found = {
        name: np.array([table.select(column, surface=surface, method=name, seed=seed) for seed in seeds])
        for name in table.list_values("method")
    }
    draw_curves(panel, [name for name in found if name in METHODS], values, found, band=True)
    if column == "residual_variance":
        for name, line in ((BEST, ":"), (BEST_POWERS, "-.")):
            if name in found:
                panel.plot(values, np.median(found[name], axis=0), line, color="0.3", linewidth=1.4, label=name)
    panel.set_xticks(values, [f"{value:g}" for value in values])


def draw_stages(table: Table) -> Drawing:
    """Draw the time of each stage of a fit, one above the other."""
    names, grows = table.list_values("method"), table.list_values("grows")
    canvas, axes = make_axes(len(names), len(grows), 3.5, 2.8)
    stages = [stage for stage in table.list_values("stage") if stage != "all"]
    for line, name in zip(axes, names, strict=True):
        for panel, size in zip(line, grows, strict=True):
            sizes = table.list_values("size", method=name, grows=size)
            foot = np.zeros(len(sizes))
            for stage, colour in zip(stages, STAGE_COLOURS, strict=True):
                spent = 1e3 * table.select("seconds", method=name, grows=size, stage=stage)
                panel.bar(
                    range(len(sizes)),
                    spent,
                    0.8,
                    foot,
                    color=colour,
                    label=stage,
                    edgecolor="white",
                    linewidth=0.4,
                )
                foot = foot + spent
            panel.set_xticks(range(len(sizes)), [f"{s:,}" if s < 10_000 else f"{s // 1000}k" for s in sizes])
            panel.set(xlabel={"N": "samples N", "n": "columns n", "p": "degree p"}[size], title=name)
            panel.grid(axis="y", alpha=0.25, linewidth=0.5)
            panel.set_axisbelow(True)
        line[0].set_ylabel("milliseconds")
    add_legend(canvas, axes[0, 0], 4)
    caption = (
        "Stages of a fit against N (3 columns, p = 2), n (2,000 samples, p = 2) and p (2,000 samples of 6 "
        "columns), for pure powers and for cross terms."
    )
    return Drawing("parameters_stages", caption, canvas)


def draw_bandwidths(table: Table) -> Drawing:
    """Draw residual variance against KE's bandwidth, and what it chooses."""
    canvas, axes = make_axes(1, 1, 5.6, 3.4)
    panel = axes[0, 0]
    ratios = table.select("bandwidth", choice="given", seed=table.list_values("seed")[0])
    seeds = table.list_values("seed")
    found = np.array([table.select("residual_variance", choice="given", seed=seed) for seed in seeds])
    draw_curves(panel, ["KE"], ratios, {"KE": found}, band=True)
    chosen = [table.select(column, choice="auto") for column in ("bandwidth", "residual_variance")]
    panel.scatter(*chosen, marker="*", s=60, color=CHOSEN_COLOUR, zorder=3, label="chosen by leave-one-out")
    panel.set(
        xscale="log", yscale="log", xlabel="bandwidth, in median distances", ylabel="residual variance, unseen"
    )
    panel.legend()
    caption = "Residual variance of what KE locates on the Swiss roll, against its bandwidth: median and range."
    return Drawing("parameters_bandwidth", caption, canvas)
