"""Claims of Sections 5 to 5.2: parameters, surfaces, and locating new samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold.experiments.claims.judgement import (
    CLEARLY,
    FASTER,
    GROWS,
    MUCH,
    SAME,
    SIMILAR,
    UNFOLDED,
    Claim,
    Tables,
    Verdict,
    compare_draws,
    is_best,
    is_exponent_near,
    is_near,
    list_names,
    read_time,
    tell_medians,
)
from polyfold.experiments.complexity import M_MANY, P_OF_MANY, Sizes
from polyfold.experiments.locating import CASES
from polyfold.experiments.methods import PAPER
from polyfold.experiments.parameters import BEST_POWERS
from polyfold.experiments.surfaces import SURFACES

LOCATING_RIVALS = ("NPP", "ONPP", "KE")


def judge_neighbors(tables: Tables) -> Verdict:
    """Residual variance for k from half to twice 1 % of N."""
    table, parts, failed = tables["parameters_neighbors"], [], []
    for surface in SURFACES:
        found = {
            percent: float(
                np.median(table.select("residual_variance", surface=surface, method=PAPER, percent=percent))
            )
            for percent in table.list_values("percent")
            if 0.5 <= percent <= 2
        }
        failed += [f"{surface} at {percent:g} %" for percent, value in found.items() if value > UNFOLDED]
        parts.append(
            f"{surface} " + ", ".join(f"{value:.2g} at {percent:g} %" for percent, value in found.items())
        )
    return Verdict(
        not failed,
        "NPPE (paper), median residual variance of unseen samples for k from half to twice 1 % of N = 1,000: "
        f"{'; '.join(parts)}.",
        f"Not unfolded: {', '.join(failed)}. On a roll many neighbours reach across to the next turn; few do not "
        "hold a surface together where samples are scarce.",
    )


def judge_high_degree(tables: Tables) -> Verdict:
    """Whether a degree above 2 lowers the residual variance."""
    table, parts, worse = tables["parameters_degree"], [], []

    def find_medians(surface: str, method: str) -> dict[int, float]:
        return {
            degree: float(
                np.median(table.select("residual_variance", surface=surface, method=method, degree=degree))
            )
            for degree in table.list_values("degree")
            if degree >= 2
        }

    for surface in SURFACES:
        found = find_medians(surface, PAPER)
        best = min(found, key=lambda degree: found[degree])
        parts.append(f"{surface} {found[2]:.3g} at p = 2, at best {found[best]:.3g} at p = {best}")
        if found[best] > (1 - CLEARLY) * found[2]:
            ideal = find_medians(surface, BEST_POWERS)
            worse.append(
                f"{surface} (pure powers fitted to the truth: {ideal[2]:.2g} at p = 2, {min(ideal.values()):.2g} "
                "at best)"
            )
    return Verdict(
        not worse,
        f"NPPE (paper), median residual variance of unseen samples: {'; '.join(parts)}.",
        f"A higher degree brings nothing on {' and '.join(worse)}. The objective asks for the coordinates that "
        "LLE's weights prefer, not for the true ones.",
    )


def judge_many_coordinates(tables: Tables) -> Verdict:
    """Whether the time of a sample grows with p where m is large."""
    table = tables["complexity_exponents_times"]
    few, many = (float(table.select("measured", method=PAPER, grows=size)[0]) for size in ("p", P_OF_MANY))
    return Verdict(
        many > GROWS,
        f"Measured time of SNPPE for a sample: p^{few:.2f} at m = {Sizes().m}, p^{many:.2f} at m = {M_MANY}.",
        "The time hardly grows with p.",
        is_exponent_near(many, GROWS),
    )


def judge_degree_two(tables: Tables) -> Verdict:
    """Whether p = 2 unfolds the three surfaces."""
    table = tables["parameters_degree"]
    worst = {
        surface: table.select("residual_variance", surface=surface, method=PAPER, degree=2).max()
        for surface in SURFACES
    }
    turned = tables["beyond_turned"].select("residual_variance", method=PAPER).max()
    told = ", ".join(f"{surface} {value:.3g}" for surface, value in worst.items())
    return Verdict(
        max(worst.values()) <= UNFOLDED,
        f"NPPE (paper) at p = 2, unseen samples, the worst draw: {told}. In these axes: the same roll turned in "
        f"space leaves up to {turned:.2f}.",
        "Some draw is not unfolded.",
    )


def judge_surfaces(tables: Tables) -> Verdict:
    """NPPE against LLE, NPP and ONPP on each draw."""
    table, rivals = tables["surfaces"], ("LLE", "NPP", "ONPP")
    parts = [
        f"{s}: best on {compare_draws(table, rivals, surface=s)} draws "
        f"({tell_medians(table, list_names(*rivals), surface=s)})"
        for s in SURFACES
    ]
    beaten = [surface for surface in SURFACES if not is_best(table, rivals, surface=surface)]
    why = f"Not the best on every draw of {' and '.join(beaten)}."
    if beaten == ["Gaussian"]:
        why = (
            "It holds on both rolls. The Gaussian's true coordinates are two of its columns, which a linear map "
            "finds too: the draw decides who is best."
        )
    return Verdict(not beaten, f"Median residual variance. {'; '.join(parts)}.", why)


def judge_linear_failure(tables: Tables) -> Verdict:
    """Who unfolds what, of NPP and ONPP."""
    table, parts, agree = tables["surfaces"], [], []
    for surface in SURFACES:
        for name in ("NPP", "ONPP"):
            found = table.select("residual_variance", surface=surface, method=name)
            median, unfolded = float(np.median(found)), np.count_nonzero(found <= UNFOLDED)
            agree.append((median <= UNFOLDED) == ((surface, name) == ("Gaussian", "ONPP")))
            parts.append(f"{name} on {surface} {median:.3g} (unfolded on {unfolded} of {len(found)} draws)")
    return Verdict(
        all(agree),
        f"Median residual variance: {', '.join(parts)}.",
        "They fail on the rolls. On the Gaussian NPP finds x and y, which are columns of X, and needs no "
        "exception. ONPP fixes the length of the coefficients instead of the variance of the coordinates, so "
        "that a column which varies little, the height, is cheap: whether it is taken depends on the draw.",
    )


def judge_similarity(tables: Tables) -> Verdict:
    """Compare medians by both kinds of residual variance, as the bar plot does."""
    table, rivals = tables["surfaces"], ("LLE", "NPP", "ONPP")
    kinds = {"residual_variance": "after an affine fit", "residual_variance_of_distances": "between distances"}
    beaten, parts = [], []
    for column, kind in kinds.items():
        for surface in SURFACES:
            own, *others = (np.median(table.select(column, surface=surface, method=n)) for n in (PAPER, *rivals))
            beaten += [f"{surface} ({kind})"] if own >= min(others) else []
        told = "; ".join(f"{s}: {tell_medians(table, list_names(*rivals), column, surface=s)}" for s in SURFACES)
        parts.append(f"{kind}, {told}")
    return Verdict(
        not beaten,
        f"Median residual variance {'. And '.join(parts)}.",
        f"It is not the most similar on {', '.join(beaten)}. Where several methods are good the draw decides.",
    )


def judge_even(tables: Tables) -> Verdict:
    """Quality and time on the even grid."""
    table, times = tables["locating"], tables["locating_times"]
    ratio = read_time(times, "KE", case="even") / read_time(times, PAPER, case="even")
    where: dict[str, Any] = {"case": "even", "located": 1000}
    return Verdict(
        is_best(table, LOCATING_RIVALS, **where) and ratio > MUCH,
        f"Best on {compare_draws(table, LOCATING_RIVALS, **where)} draws (residual variance: "
        f"{tell_medians(table, list_names(*LOCATING_RIVALS), **where)}); KE takes {ratio:,.0f} times as long.",
        "It is not the best of all draws, or not much faster than KE.",
    )


def judge_linear_speed(tables: Tables) -> Verdict:
    """Whether linear maps are faster, and fail."""
    table, times = tables["locating"], tables["locating_times"]
    ratios = {n: read_time(times, n, case="even") / read_time(times, PAPER, case="even") for n in ("NPP", "ONPP")}
    least = min(table.select("residual_variance", case="even", located=1000, method=n).min() for n in ratios)
    told = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    slow = [name for name, ratio in ratios.items() if ratio >= FASTER]
    why = f"Not clearly faster: {' and '.join(slow)}. " if slow else ""
    why += "Some draw is unfolded by a linear map." if least <= UNFOLDED else ""
    return Verdict(
        not why,
        f"Time over that of NPPE (paper) for 1,000 samples: {told}. Their least residual variance is {least:.2f}.",
        why.strip(),
        bool(least > UNFOLDED) and is_near(max(ratios.values()), FASTER),
    )


def judge_random(tables: Tables) -> Verdict:
    """Quality on random samples."""
    table = tables["locating"]
    where: dict[str, Any] = {"case": "random", "located": 1000}
    return Verdict(
        is_best(table, LOCATING_RIVALS, **where),
        f"Best on {compare_draws(table, LOCATING_RIVALS, **where)} draws (residual variance: "
        f"{tell_medians(table, list_names(*LOCATING_RIVALS), **where)}).",
        "On some draw another method is better.",
    )


def judge_many(tables: Tables) -> Verdict:
    """Quality and time on 10,000 samples."""
    table, times, case = tables["locating"], tables["locating_times"], "random, many"
    where: dict[str, Any] = {"case": case, "located": 10_000}
    ratios = {n: read_time(times, PAPER, case=case) / read_time(times, n, case=case) for n in ("NPP", "ONPP")}
    told = ", ".join(f"{ratio:.2f} times {name}'s" for name, ratio in ratios.items())
    best = is_best(table, LOCATING_RIVALS, **where)
    return Verdict(
        best and max(ratios.values()) <= SIMILAR,
        f"Best on {compare_draws(table, LOCATING_RIVALS, **where)} draws (residual variance: "
        f"{tell_medians(table, list_names(*LOCATING_RIVALS), **where)}); its time is {told}.",
        "It is not the most accurate on every draw, or not as fast.",
        best and is_near(max(ratios.values()), SIMILAR),
    )


def judge_growth(tables: Tables) -> Verdict:
    """How times grow with the number of located samples, in all three cases."""
    times, parts, steepest, linear = tables["locating_times"], [], 0.0, []
    for case in CASES:
        sizes = times.select("located", method="KE", case=case).astype(float)
        growth = {}
        for name in (PAPER, "NPP", "ONPP", "KE"):
            seconds = times.select("seconds", method=name, case=case)
            growth[name] = float(seconds[-1] / seconds[0])
            if name == "KE":
                linear.append(growth[name] > SAME and np.corrcoef(sizes, seconds)[0, 1] > 0.9)
        steepest = max(steepest, *(growth[name] for name in (PAPER, "NPP", "ONPP")))
        told = ", ".join(f"{name} × {value:.1f}" for name, value in growth.items())
        parts.append(f"{sizes[0]:,.0f} to {sizes[-1]:,.0f} samples ({case}): {told}")
    ratio = read_time(times, "KE", case="random, many") / read_time(times, PAPER, case="random, many")
    return Verdict(
        all(linear) and steepest <= SAME,
        f"Times grow from {'; '.join(parts)}. For 10,000 samples KE takes {ratio:,.0f} times as long as NPPE "
        "(paper).",
        "Samples are placed one by one, by every method: the time of each grows with their number once it "
        "exceeds that of the call itself. The explicit maps look flat on KE's scale because their slope is so "
        "much smaller.",
        all(linear) and is_near(steepest, SAME),
    )


CLAIMS = [
    Claim(
        "5",
        "k is usually set to be 1% of the number of training samples, and the experimental tests show that NPPE "
        "is stable around this number.",
        ("parameters_neighbors",),
        "parameters_neighbors",
        judge_neighbors,
    ),
    Claim(
        "5",
        "When m is small, p can be large to make NPPE more accurate.",
        ("parameters_degree",),
        "parameters_degree",
        judge_high_degree,
    ),
    Claim(
        "5",
        "When m is large, p should be small to make NPPE computationally efficient.",
        ("complexity_exponents_times",),
        "complexity",
        judge_many_coordinates,
    ),
    Claim(
        "5",
        "Experiments show that NPPE with p=2 is already accurate enough.",
        ("parameters_degree", "beyond_turned"),
        "parameters_degree",
        judge_degree_two,
    ),
    Claim(
        "5.1",
        "NPPE outperforms all the other three methods, even the LLE method itself.",
        ("surfaces",),
        "surfaces_residual_variance",
        judge_surfaces,
    ),
    Claim(
        "5.1",
        "NPP and ONPP fail to unfold these nonlinear manifolds (except for ONPP on Gaussian).",
        ("surfaces",),
        "surface_gaussian",
        judge_linear_failure,
    ),
    Claim(
        "5.1",
        "It can be seen that the embedding given by NPPE is the most similar one.",
        ("surfaces",),
        "surfaces_residual_variance",
        judge_similarity,
    ),
    Claim(
        "5.2",
        "NPPE not only gives the best locating result but also has much lower time cost than KE. (evenly "
        "distributed samples)",
        ("locating", "locating_times"),
        "locating_even",
        judge_even,
    ),
    Claim(
        "5.2",
        "NPP and ONPP are faster for computation but fail to give the correct embedding result.",
        ("locating", "locating_times"),
        "locating_even",
        judge_linear_speed,
    ),
    Claim(
        "5.2",
        "NPPE also outperforms the other three methods. (random samples)",
        ("locating",),
        "locating_random",
        judge_random,
    ),
    Claim(
        "5.2",
        "NPPE is more accurate than all the other three methods with a similar computational cost with NPP and "
        "ONPP. (10,000 samples)",
        ("locating", "locating_times"),
        "locating_curves",
        judge_many,
    ),
    Claim(
        "5.2",
        "The time cost of KE is increasing linearly with the number of testing samples increasing, whilst that "
        "of NPP, ONPP and NPPE is almost the same.",
        ("locating_times",),
        "locating_curves",
        judge_growth,
    ),
]
