"""Claims of the abstract and of Section 1."""

from __future__ import annotations

import numpy as np

from polyfold.experiments.claims.judgement import (
    MUCH,
    SIMILAR,
    UNFOLDED,
    Claim,
    Tables,
    Verdict,
    read_time,
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
        f"{least:.2f}; "
        f"the worst of NPPE (paper) leaves {most:.3f}.",
        "A linear map comes as near, or the published one does not come near enough, on some draw.",
    )


def judge_effectiveness(tables: Tables) -> Verdict:
    """Local neighbourhoods by trustworthiness, geometry by residual variance, of located samples."""
    table = tables["locating"]
    rivals, cases = ("NPP", "ONPP", "KE"), table.list_values("case")

    def find_median(name: str, case: str, column: str) -> float:
        located = table.select("located", case=case).max()
        return float(np.median(table.select(column, method=name, case=case, located=located).astype(float)))

    lost = {n: max(1 - find_median(n, case, "trustworthiness") for case in cases) for n in (PAPER, OURS, *rivals)}
    rho = {n: max(find_median(n, case, "residual_variance") for case in cases) for n in (PAPER, OURS, *rivals)}
    holds = all(2 * lost[PAPER] < lost[each] and 2 * rho[PAPER] < rho[each] for each in rivals)
    real = ""
    for name in tables["images"].list_values("set") if "images" in tables else ():
        found = tables["images"]
        others = [each for each in rivals if each in found.list_values("method", set=name)]
        real += f" Trustworthiness of unseen images, {name}: "
        real += tell_medians(found, (PAPER, OURS, *others), "trustworthiness", set=name) + "."
        own = np.median(found.select("trustworthiness", set=name, method=PAPER))
        best = max(np.median(found.select("trustworthiness", set=name, method=each)) for each in others)
        holds = holds and bool(own > best)
    return Verdict(
        holds,
        "Located samples of the Swiss roll, the worst of three cases. Residual variance: "
        + ", ".join(f"{name} {value:.3g}" for name, value in rho.items())
        + ". Trustworthiness lost: "
        + ", ".join(f"{name} {value:.3g}" for name, value in lost.items())
        + f".{real}",
        "The roll's geometry is kept much better than by all three. Local neighbourhoods are kept much better "
        "than by the "
        "linear maps, but no better than by KE, which extends LLE's embedding smoothly: what KE gets wrong is "
        "LLE's "
        "geometry, not who is whose neighbour. On images the published form, without a ridge, does not "
        "generalise.",
    )


def judge_repetition(tables: Tables) -> Verdict:
    """Learning again against placing one sample."""
    table = tables["locating_times"]
    again, placed = (table.select("seconds", case="one more", method=name)[0] for name in ("LLE", OURS))
    return Verdict(
        bool(again > MUCH * placed),
        f"One more sample after 1,000: LLE fitted again takes {1e3 * again:.0f} ms, the map {1e6 * placed:.0f} "
        "µs, "
        f"{again / placed:,.0f} times less.",
        "Learning again is not that much slower than the map here.",
    )


def judge_kernel_choice(tables: Tables) -> Verdict:
    """KE across bandwidths."""
    table = tables["parameters_bandwidth"]
    widths = table.select("bandwidth", choice="given", seed=table.list_values("seed")[0])
    found = np.median(table.select("residual_variance", choice="given").reshape(-1, len(widths)), axis=0)
    chosen = np.median(table.select("residual_variance", choice="auto"))
    return Verdict(
        bool(found.max() > 2 * found.min()),
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
        bool(growth["KE"] > 0.5 and ratio > MUCH),
        f"The time for a sample grows with the number N of training samples as N^{growth['KE']:.2f} for KE and "
        f"N^{growth[PAPER]:.2f} for NPPE (paper); at N = 1,000 KE takes {ratio:,.0f} times as long. KE also "
        "solves for N "
        "coefficients in a dense N × N matrix.",
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
        "the "
        f"same in a batch by {apart:.1g} of the largest coordinate.",
        "The map keeps too much, or places samples by the company they come in.",
    )


def judge_nonlinearity(tables: Tables) -> Verdict:
    """Degree 2 against degree 1 on each surface."""
    table, parts, better = tables["parameters_degree"], [], []
    for surface in SURFACES:
        first, second = (
            table.select("residual_variance", surface=surface, method=PAPER, degree=degree) for degree in (1, 2)
        )
        better.append(bool((second < first).all()))
        parts.append(f"{surface} {np.median(first):.3g} → {np.median(second):.3g}")
    return Verdict(
        all(better),
        f"Residual variance of unseen samples from p = 1 to p = 2, NPPE (paper): {', '.join(parts)}; better on "
        "every "
        f"draw of {sum(better)} of {len(better)} surfaces.",
        "The Gaussian's true coordinates are two of its columns: there a linear map is enough, and a quadratic "
        "one does "
        "not improve every draw.",
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
    )


def judge_combination(tables: Tables) -> Verdict:
    """LLE, Laplacian eigenmaps and Isomap made explicit."""
    table = tables["beyond_graphs"]
    found = {graph: table.select("residual_variance", graph=graph) for graph in ("lle", "laplacian", "isomap")}
    told = ", ".join(f"{graph} {np.median(rho):.3f}, at worst {rho.max():.3f}" for graph, rho in found.items())
    return Verdict(
        bool(max(np.median(rho) for rho in found.values()) <= UNFOLDED),
        f"Quadratic maps of other graphs, median residual variance of unseen samples of the Swiss roll: {told} "
        "(draws on "
        "which an edge short-cuts between turns).",
        "Not every graph gives a map that unfolds the roll.",
    )


CLAIMS = [
    Claim(
        "Abstract",
        "However, this linearity assumption may be too restrictive.",
        ("surfaces",),
        "surfaces_residual_variance",
        judge_linearity,
    ),
    Claim(
        "Abstract",
        "Experimental results on both synthetic and real-world data show that the proposed mapping is much "
        "more effective in preserving the local neighborhood information and the nonlinear geometry of the "
        "high-dimensional data samples than previous work.",
        ("locating",),
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
        "nonlinear "
        "manifolds.",
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
        "Combining this explicit nonlinear mapping with existing manifold learning methods (e.g. LLE, LE, Isomap) "
        "can give explicit manifold learning algorithms.",
        ("beyond_graphs",),
        "beyond_graphs",
        judge_combination,
    ),
]
