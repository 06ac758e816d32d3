"""Table 2: what locating a sample costs, as exponents of the sizes, by measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import comb
from typing import Any

import numpy as np

from polyfold import NPP, SNPPE, KernelExtrapolation, PolynomialMap
from polyfold.bench.timing import time_side_by_side
from polyfold.experiments.methods import CROSS_TERMS, METHODS, OURS, PAPER, TO_THE_LETTER
from polyfold.experiments.outcome import Drawing, Outcome, Row, Table
from polyfold.experiments.plan import Plan
from polyfold.experiments.style import make_axes

LINEAR, KERNEL = "NPP", "KE"


@dataclass(frozen=True)
class Sizes:
    """What a cost may depend on.

    Attributes
    ----------
    N, n, p, m : int
        Training samples, columns, degree, coordinates.
    """

    N: int = 500
    n: int = 512
    p: int = 2
    m: int = 4


def make_snppe(sizes: Sizes) -> Any:
    """Return the simplified form: pure powers, as a map with coefficients drawn at random."""
    return _draw_map(sizes, sizes.p)


def make_linear(sizes: Sizes) -> Any:
    """Return a linear map with coefficients drawn at random."""
    return _draw_map(sizes, 1)


def _draw_map(sizes: Sizes, degree: int) -> PolynomialMap:
    coefficients = np.random.default_rng(0).normal(size=(sizes.n * degree, sizes.m))
    return PolynomialMap(np.zeros(sizes.n), 1.0, "hadamard", degree, coefficients, np.zeros(sizes.m))


@lru_cache(maxsize=1)
def make_kernel(sizes: Sizes) -> Any:
    """Return kernel extrapolation of random coordinates; only its cost is asked for."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(sizes.N, sizes.n)), random.normal(size=(sizes.N, sizes.m))
    return KernelExtrapolation("precomputed", bandwidth=float(np.sqrt(sizes.n)), epsilon=1e-2).fit(X, Y)


def make_cross_terms(sizes: Sizes) -> Any:
    """Return the form that the paper simplifies, with coefficients drawn at random."""
    coefficients = np.random.default_rng(0).normal(size=(comb(sizes.n + sizes.p, sizes.p) - 1, sizes.m))
    return PolynomialMap(np.zeros(sizes.n), 1.0, "kronecker", sizes.p, coefficients, np.zeros(sizes.m))


#: Many coordinates, and the degree while they are so many.
M_MANY = 32
P_OF_MANY = f"p, m = {M_MANY}"

#: Method -> (how it is made, exponents by the paper, exponents that follow from counting operations).
Cost = tuple[Callable[[Sizes], Any], dict[str, int], dict[str, int]]
COSTS: dict[str, Cost] = {
    PAPER: (
        make_snppe,
        {"N": 0, "n": 2, "p": 2, P_OF_MANY: 2, "m": 1},
        {"N": 0, "n": 1, "p": 1, P_OF_MANY: 1, "m": 1},
    ),
    LINEAR: (make_linear, {"N": 0, "n": 2, "p": 0, "m": 1}, {"N": 0, "n": 1, "p": 0, "m": 1}),
    KERNEL: (make_kernel, {"N": 2, "n": 2, "p": 0, "m": 0}, {"N": 1, "n": 1, "p": 0, "m": 0}),
    CROSS_TERMS: (make_cross_terms, {"d": 2}, {"d": 1}),
}

#: Columns of the samples that are learned from while N grows.
N_FITTED = 16


@dataclass(frozen=True)
class Growth:
    """A size that grows while others stay.

    Attributes
    ----------
    size : str
        Which of `Sizes`.
    values : tuple of int
    others : Sizes
    label : str
        Of the axis.
    """

    size: str
    values: tuple[int, ...]
    label: str
    others: Sizes = Sizes()


#: d, the number of monomials, grows with the number of columns.
GROWTHS = {
    "N": Growth("N", (125, 250, 500, 1000, 2000), "training samples N", Sizes(n=N_FITTED)),
    "n": Growth("n", (128, 256, 512, 1024, 2048), "columns n"),
    "p": Growth("p", (1, 2, 4, 6, 8), "degree p"),
    P_OF_MANY: Growth("p", (1, 2, 4, 6, 8), f"degree p, m = {M_MANY}", Sizes(m=M_MANY)),
    "m": Growth("m", (2, 4, 8, 16, 32), "coordinates m"),
    "d": Growth("n", (4, 8, 16, 24, 32), "monomials d"),
}

#: Samples that maps locate at a time, and kernels, which take a thousand times as long.
N_BY_MAP, N_BY_KERNEL = 4000, 400


def run(plan: Plan) -> Outcome:
    """Time the locating of samples while one size grows."""
    rows: list[Row] = []
    steps = [(grows, value) for grows, g in GROWTHS.items() for value in g.values[: 3 if plan.quick else None]]
    for grows, value in plan.track(steps, "complexity: Table 2"):
        number = comb(value + Sizes().p, Sizes().p) - 1 if grows == "d" else value
        calls = {name: prepare_call(name, grows, value) for name, (_, known, _) in COSTS.items() if grows in known}
        for name, spent in time_side_by_side(calls, 2 if plan.quick else 5).items():
            each = spent / (N_BY_KERNEL if name == KERNEL else N_BY_MAP)
            rows.append({"method": name, "grows": grows, "size": number, "seconds": each})
    times = Table("complexity_times", "Seconds for each sample while one size grows.", rows, False, True)
    fits = fit_exponents(times)
    base, columns = Sizes(), GROWTHS["d"].values
    text = (
        f"Samples are located while one size grows and the others stay at N = {base.N:,}, n = {base.n}, p = "
        f"{base.p}, m = {base.m} (n = {N_FITTED} while N grows; n from {columns[0]} to {columns[-1]} while d "
        f"grows; p once more at m = {M_MANY}). The exponent is the slope of the line through the logarithms of "
        "time and size. “Counted” is what follows from the operations: O(mnp) for SNPPE, O(md) for d monomials "
        "with cross terms, O(mn) for linear maps, O(N(n + m)) for kernels. Slopes fall short of those where a "
        "part of the cost does not depend on the size, and exceed them where polyfold's loops do not fit the "
        "processor as well, as at high p."
    )
    return Outcome("Complexity (Table 2)", text, [times, fits], [draw_costs(times, fits)])


def prepare_call(name: str, grows: str, value: int) -> Callable[[], Any]:
    """Return the call that is timed: locate samples while one size has this value."""
    growth = GROWTHS[grows]
    sizes = replace(growth.others, **{growth.size: value})
    if name == KERNEL:
        model = make_kernel(replace(sizes, p=1))
    else:
        model = _fit_small(name, value) if grows == "N" else COSTS[name][0](sizes)
    X = np.random.default_rng(1).normal(size=(N_BY_KERNEL if name == KERNEL else N_BY_MAP, sizes.n))
    return partial(model.transform, X)


def _fit_small(name: str, n_samples: int) -> Any:
    """Return a map that is really learned from so many samples."""
    X = np.random.default_rng(0).normal(size=(n_samples, N_FITTED))
    make = NPP if name == LINEAR else SNPPE
    settings = {} if name == LINEAR else TO_THE_LETTER
    return make(Sizes().m, n_neighbors=10, **settings).fit(X)


def fit_exponents(times: Table) -> Table:
    """Return the exponent of each size, with its standard error, beside the paper's and the counted one."""
    rows = []
    for name, (_, by_paper, counted) in COSTS.items():
        for size in by_paper:
            values = np.log(times.select("size", method=name, grows=size).astype(float))
            spent = np.log(times.select("seconds", method=name, grows=size))
            (slope, start), residual = np.polyfit(values, spent, 1, full=True)[:2]
            freedom = max(len(values) - 2, 1)
            error = float(np.sqrt(residual.sum() / freedom / np.square(values - values.mean()).sum()))
            half = (len(values) - 1) // 2
            late = float(np.polyfit(values[half:], spent[half:], 1)[0])
            row = {"method": name, "grows": size, "paper": by_paper[size], "counted": counted[size]}
            row |= {"measured": float(slope), "standard_error": error, "upper_half": late}
            rows.append(row | {"constant": float(np.exp(start))})
    return Table("complexity_exponents_times", "Exponents of the time of locating a sample.", rows, timed=True)


def draw_costs(times: Table, fits: Table) -> Drawing:
    """Draw time against each size, and the fitted lines."""
    canvas, axes = make_axes(2, 3, 3.6, 3.0)
    for panel, size in zip(axes.flat, GROWTHS, strict=True):
        for name in times.list_values("method", grows=size):
            values = times.select("size", method=name, grows=size).astype(float)
            slope, constant = (fits.select(c, method=name, grows=size)[0] for c in ("measured", "constant"))
            method = METHODS[OURS if name == CROSS_TERMS else name]
            label = f"{'SNPPE' if name == PAPER else name}: {slope:.2f}"
            spent = 1e6 * times.select("seconds", method=name, grows=size)
            panel.plot(values, spent, method.marker, color=method.colour, markerfacecolor="none", label=label)
            panel.plot(values, 1e6 * constant * values**slope, color=method.colour, linewidth=1.2)
        panel.set(xscale="log", yscale="log", xlabel=GROWTHS[size].label)
        panel.set_xticks(values, [f"{value:.0f}" for value in values])
        panel.set_xticks([], minor=True)
        panel.grid(alpha=0.25, linewidth=0.5)
        panel.legend(title="exponent", title_fontsize=8)
    for panel in axes[:, 0]:
        panel.set_ylabel("microseconds per sample")
    caption = (
        "Time of locating samples against each size, both on logarithmic scales; lines are the fits, and the "
        "legend gives their slopes, the exponents."
    )
    return Drawing("complexity", caption, canvas)
