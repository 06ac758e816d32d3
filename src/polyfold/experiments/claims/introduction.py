"""Claims of the abstract and of Section 1."""

from __future__ import annotations

import numpy as np

from polyfold.experiments.claims.judgement import (
    GROWS,
    MUCH,
    SIMILAR,
    TIMES,
    UNFOLDED,
    Claim,
    Tables,
    Verdict,
    is_near,
    read_time,
    tell_figures,
    tell_medians,
)
from polyfold.experiments.locating import CASES
from polyfold.experiments.methods import OURS, PAPER
from polyfold.experiments.surfaces import SURFACES


def judge_linearity(tables: Tables) -> Verdict:
    """Linear maps fail where the published one succeeds."""
    table, rolled = tables["surfaces"], ("SwissRoll", "SwissHole")
    least = min(
        table.select("residual_variance", surface=s, method=name).min() for s in rolled for name in ("NPP", "ONPP")
    )
    most = max(table.select("residual_variance", surface=s, method=PAPER).max() for s in rolled)
    return Verdict(
        bool(least > UNFOLDED >= most),
        "On SwissRoll and SwissHole the best of all draws of NPP and ONPP leaves a residual variance of "
        f"{least:.2f}; the worst of NPPE (paper) leaves {most:.3f}.",
        "A linear map comes as near, or the published one does not come near enough, on some draw.",
    )


def judge_effectiveness(tables: Tables) -> Verdict:
    """Local neighbourhoods by trustworthiness, geometry by residual variance, of located samples and images."""
    table, real = tables["locating"], tables["images"]
    rivals, cases = ("NPP", "ONPP", "KE"), table.list_values("case")

    def find_median(name: str, case: str, column: str) -> float:
        located = table.select("located", case=case).max()
        return float(np.median(table.select(column, method=name, case=case, located=located).astype(float)))

    names = (PAPER, OURS, *rivals)
    lost = {name: max(1 - find_median(name, case, "trustworthiness") for case in cases) for name in names}
    rho = {name: max(find_median(name, case, "residual_variance") for case in cases) for name in names}
    kept = {"the geometry": rho, "neighbourhoods": lost}
    equal = [
        f"{what} much better than {each}"
        for what, found in kept.items()
        for each in rivals
        if TIMES * found[PAPER] >= found[each]
    ]
    told, beaten = "", []
    for name in real.list_values("set"):
        others = [each for each in rivals if each in real.list_values("method", set=name)]
        told += f" Trustworthiness of unseen images, {name}: "
        told += tell_medians(real, (PAPER, OURS, *others), "trustworthiness", set=name) + "."
        own, *best = (
            np.median(real.select("trustworthiness", set=name, method=each)) for each in (PAPER, *others)
        )
        beaten += [name] if own <= max(best) else []
    why = f"On the roll it does not keep {', or '.join(equal)}. " if equal else ""
    why += f"On unseen images another method keeps neighbourhoods better: {', '.join(beaten)}." if beaten else ""
    return Verdict(
        not why,
        f"Located samples of the Swiss roll, the worst of three cases. Residual variance: {tell_figures(rho)}. "
        f"Trustworthiness lost: {tell_figures(lost)}.{told}",
        why.strip(),
    )


def judge_repetition(tables: Tables) -> Verdict:
    """Learning again against placing one sample."""
    table = tables["locating_times"]
    again, placed = (table.select("seconds", case="one more", method=name)[0] for name in ("LLE", PAPER))
    return Verdict(
        bool(again > MUCH * placed),
        f"One more sample after 1,000: LLE fitted again takes {1e3 * again:.0f} ms, the map {1e6 * placed:.0f} "
        f"µs, {again / placed:,.0f} times less.",
        "Learning again is not that much slower than the map here.",
    )


def judge_kernel_choice(tables: Tables) -> Verdict:
    """KE across bandwidths."""
    table = tables["parameters_bandwidth"]
    widths = table.select("bandwidth", choice="given", seed=table.list_values("seed")[0])
    found = np.median(table.select("residual_variance", choice="given").reshape(-1, len(widths)), axis=0)
    chosen = np.median(table.select("residual_variance", choice="auto"))
    return Verdict(
        bool(found.max() > TIMES * found.min()),
        f"KE on the Swiss roll: residual variance {found.min():.3f} to {found.max():.3f} over bandwidths of "
        f"{widths.min():.3g} to {widths.max():.3g} median distances; {chosen:.3f} where leave-one-out chooses.",
        "All bandwidths give about the same.",
    )


def judge_kernel_cost(tables: Tables) -> Verdict:
    """KE's time for a sample grows with the training set, the map's does not."""
    exponents, times = tables["complexity_exponents_times"], tables["locating_times"]
    growth = {n: exponents.select("measured", method=n, grows="N")[0] for n in ("KE", PAPER)}
    ratio = read_time(times, "KE", case="random, many") / read_time(times, PAPER, case="random, many")
    return Verdict(
        bool(growth["KE"] > GROWS and ratio > MUCH),
        f"The time for a sample grows with the number N of training samples as N^{growth['KE']:.2f} for KE and "
        f"N^{growth[PAPER]:.2f} for NPPE (paper); at N = 1,000 KE takes {ratio:,.0f} times as long. KE also "
        "solves for N coefficients in a dense N × N matrix.",
        "The kernel is not much slower here.",
    )


def judge_explicitness(tables: Tables) -> Verdict:
    """Ask what is kept, and whether a sample alone is placed as in a batch."""
    table = tables["locating_kept"]
    kept = {name: table.select("kilobytes", method=name)[0] for name in (PAPER, "KE")}
    apart = table.select("alone_against_batch", method=PAPER)[0]
    return Verdict(
        bool(apart < 1e-12 and kept[PAPER] * MUCH < kept["KE"]),
        f"NPPE (paper) keeps {kept[PAPER]:.1f} kB and KE {kept['KE']:.0f} kB; a sample located alone differs from "
        f"the same in a batch by {apart:.1g} of the largest coordinate.",
        "The map keeps too much, or places samples by the company they come in.",
    )


def judge_nonlinearity(tables: Tables) -> Verdict:
    """Degree 2 against degree 1 on each surface."""
    table, parts, beaten = tables["parameters_degree"], [], []
    for surface in SURFACES:
        first, second = (
            table.select("residual_variance", surface=surface, method=PAPER, degree=degree) for degree in (1, 2)
        )
        beaten += [] if (second < first).all() else [surface]
        parts.append(f"{surface} {np.median(first):.3g} → {np.median(second):.3g}")
    why = f"Not better on every draw of {' and '.join(beaten)}."
    if beaten == ["Gaussian"]:
        why = "It holds on both rolls. The Gaussian's true coordinates are columns of it: a linear map is enough."
    return Verdict(
        not beaten,
        f"Median residual variance of unseen samples from p = 1 to p = 2, NPPE (paper): {', '.join(parts)}.",
        why,
    )


def judge_similar_cost(tables: Tables) -> Verdict:
    """Time of locating all samples, over that of NPP."""
    table = tables["locating_times"]
    ratios = {c: read_time(table, PAPER, case=c) / read_time(table, "NPP", case=c) for c in CASES}
    told = ", ".join(f"{case} {ratio:.2f}" for case, ratio in ratios.items())
    return Verdict(
        max(ratios.values()) <= SIMILAR,
        f"Time of NPPE (paper) over that of NPP for all located samples: {told}.",
        f"It takes more than {SIMILAR:.0f} times as long.",
        is_near(max(ratios.values()), SIMILAR),
    )


def judge_combination(tables: Tables) -> Verdict:
    """LLE, Laplacian eigenmaps and Isomap made explicit."""
    table = tables["beyond_graphs"]
    found = {graph: table.select("residual_variance", graph=graph) for graph in ("lle", "laplacian", "isomap")}
    told = ", ".join(f"{graph} {np.median(rho):.3f}, at worst {rho.max():.3f}" for graph, rho in found.items())
    cut = table.select("short_cuts", graph="lle")
    failed = [graph for graph, rho in found.items() if np.median(rho) > UNFOLDED]
    return Verdict(
        not failed,
        f"Quadratic maps of other graphs, median residual variance of unseen samples of the Swiss roll: {told}. "
        f"On {np.count_nonzero(cut)} of {len(cut)} draws an edge short-cuts between turns of the roll.",
        f"The map of {' and '.join(failed)} does not unfold the roll.",
    )


CLAIMS = [
    Claim(
        "Abstract and 1",
        "However, this linearity assumption may be too restrictive.",
        ("surfaces",),
        "surfaces_residual_variance",
        judge_linearity,
    ),
    Claim(
        "Abstract",
        "Experimental results on both synthetic and real-world data show that the proposed mapping is much more "
        "effective in preserving the local neighborhood information and the nonlinear geometry of the "
        "high-dimensional data samples than previous work.",
        ("locating", "images"),
        "locating_curves",
        judge_effectiveness,
    ),
    Claim(
        "1",
        "It is obvious that such a strategy is extremely time-consuming for sequentially arrived data.",
        ("locating_times",),
        "locating_random",
        judge_repetition,
    ),
    Claim(
        "1",
        "The performance of these [kernel-based] methods depends on the choice of the kernel functions.",
        ("parameters_bandwidth",),
        "parameters_bandwidth",
        judge_kernel_choice,
    ),
    Claim(
        "1",
        "Their computational complexity is extremely high for very large data sets.",
        ("complexity_exponents_times", "locating_times"),
        "complexity",
        judge_kernel_cost,
    ),
    Claim(
        "1",
        "The mapping is explicit, so it is straightforward to locate any new data samples in the low-dimensional "
        "space.",
        ("locating_kept",),
        "locating_random",
        judge_explicitness,
    ),
    Claim(
        "1",
        "Clearly, it is more reasonable to use a polynomial mapping to handle with data samples lying on "
        "nonlinear manifolds.",
        ("parameters_degree",),
        "parameters_degree",
        judge_nonlinearity,
    ),
    Claim(
        "1",
        "Our analysis and experiments show that the proposed mapping is of similar computational complexity with "
        "the linear projection-based methods.",
        ("locating_times",),
        "locating_curves",
        judge_similar_cost,
    ),
    Claim(
        "1",
        "Combining this explicit nonlinear mapping with existing manifold learning methods (e.g. LLE, LE, "
        "Isomap) can give explicit manifold learning algorithms.",
        ("beyond_graphs",),
        "beyond_graphs",
        judge_combination,
    ),
]
