"""Claims of Sections 4.2 and 4.3: what it costs, and why it should work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.experiments.claims.judgement import (
    QUADRATIC,
    Claim,
    Tables,
    Verdict,
    compare_draws,
    is_best,
    is_exponent_near,
    tell_figures,
)
from polyfold.experiments.methods import CROSS_TERMS, OURS, PAPER
from polyfold.experiments.parameters import BEST
from polyfold.experiments.surfaces import SURFACES

COUNTED = (
    "As upper bounds the orders are true but not tight, and as a lower bound the kernel's is false. Counting "
    "operations gives O(mnp) for pure powers, O(md) for d monomials, O(mn) for a linear map and O(N(n + m)) for "
    "a kernel."
)

#: A residual variance below this is rounding.
EXACT = 1e-12


def judge_gram_cost(tables: Tables) -> Verdict:
    """Find the exponent of N in the time of the Gram matrices."""
    table, slopes = tables["parameters_stages_times"], {}
    for name in table.list_values("method"):
        where = {"method": name, "grows": "N", "stage": "weights and Gram matrices"}
        slopes[name] = find_slope(table.select("size", **where)[1:], table.select("seconds", **where)[1:])
    told = ", ".join(f"{name} N^{slope:.2f}" for name, slope in slopes.items())
    return Verdict(
        min(slopes.values()) > QUADRATIC,
        f"Measured time of weights and Gram matrices together: {told}.",
        "W need not be formed: R has k entries in a row, so that for d features (I − R) applied to them takes "
        "O(kNd), and each of the two products O(Nd²), linear in N.",
        is_exponent_near(min(slopes.values()), QUADRATIC),
    )


def find_slope(sizes: NDArray[Any], seconds: NDArray[Any]) -> float:
    """Return the exponent of a size in a time."""
    return float(np.polyfit(np.log(sizes.astype(float)), np.log(seconds.astype(float)), 1)[0])


def judge_eigenproblem(tables: Tables) -> Verdict:
    """Which stage takes longest in the largest fits with cross terms, of those that the paper has."""
    table, parts, others = tables["parameters_shares_times"], [], []
    for row in table.rows:
        if row["method"] != CROSS_TERMS:
            continue
        ours = ("folds", "domain", "the rest")
        shares = {
            key.removesuffix(", %"): v for key, v in row.items() if key.endswith("%") and not key.startswith(ours)
        }
        longest = max(shares, key=lambda stage: shares[stage])
        share = 100 * shares["eigenproblem"] / sum(shares.values())
        parts.append(
            f"{row['grows']} = {row['size']:,}: {longest} (eigenproblem {share:.0f} % of the paper's stages)"
        )
        others += [f"{longest} at {row['grows']} = {row['size']:,}"] if longest != "eigenproblem" else []
    stages = tables["parameters_stages_times"]
    where = {"method": CROSS_TERMS, "grows": "p", "stage": "eigenproblem"}
    slope = find_slope(stages.select("features", **where)[1:], stages.select("seconds", **where)[1:])
    return Verdict(
        not others,
        f"The longest stage of the largest fits with cross terms, {'; '.join(parts)}. The eigenproblem takes "
        f"d^{slope:.1f} for d features (p grows).",
        f"What takes longer: {', '.join(others)}. The eigenproblem leads where features are many, not where "
        "samples are.",
    )


def judge_exponential(tables: Tables) -> Verdict:
    """Whether the time of a fit with cross terms grows by a constant factor with each degree."""
    table = tables["parameters_stages_times"]
    where = {"method": CROSS_TERMS, "grows": "p", "stage": "all"}
    degrees, features, seconds = (table.select(column, **where) for column in ("size", "features", "seconds"))
    exponential, power = (abs(np.corrcoef(p, np.log(seconds))[0, 1]) for p in (degrees, np.log(degrees)))
    repeated = [sum(6**i for i in range(1, p + 1)) for p in degrees.tolist()]
    return Verdict(
        bool(exponential >= power),
        f"6 columns, p = {', '.join(map(str, degrees))}: fits of {', '.join(f'{1e3 * s:.0f}' for s in seconds)} "
        f"ms; the logarithm of time correlates {exponential:.3f} with p and {power:.3f} with its logarithm. "
        f"Kronecker powers have {', '.join(f'{number:,}' for number in repeated)} entries, exponential in p; "
        f"counted once there are {', '.join(f'{number:,}' for number in features)} monomials.",
        "Monomials counted once are C(n + p, p) − 1, a polynomial in p of degree n: the time follows those.",
    )


def judge_many_columns(tables: Tables) -> Verdict:
    """Cross terms in 560 columns."""
    features, stages = tables["parameters_features"], tables["parameters_stages_times"]
    row = next(row for row in features.rows if row["columns n"] == 560)
    largest = stages.select("size", grows="n").max()
    cross, pure = (
        stages.select("seconds", method=name, grows="n", size=largest, stage="all")[0]
        for name in (CROSS_TERMS, PAPER)
    )
    return Verdict(
        bool(row["two Gram matrices, GB"] > 100 and cross > pure),
        f"The faces' 560 columns have {row['monomials']:,} monomials of degree 2 beside {row['pure powers']:,} "
        f"pure powers: {row['two Gram matrices, GB']:,.0f} GB for the two matrices. At n = {largest} the fit "
        f"takes {cross / pure:.1f} times as long as with pure powers.",
        "Cross terms are affordable here.",
    )


def judge_exponents(tables: Tables, method: str, sizes: tuple[str, ...]) -> Verdict:
    """Exponents that the paper has as 2."""
    table = tables["complexity_exponents_times"]
    rows = [row for row in table.rows if row["method"] == method and row["grows"] in sizes]
    told = ", ".join(f"{row['grows']}^{row['measured']:.2f} (± {row['standard_error']:.2f})" for row in rows)
    late = ", ".join(f"{row['grows']}^{row['upper_half']:.2f}" for row in rows)
    least = min(row["measured"] for row in rows)
    return Verdict(
        least > QUADRATIC,
        f"Measured time for a sample: {told}; over the upper half of the sizes {late}.",
        COUNTED,
        is_exponent_near(least, QUADRATIC),
    )


def judge_approximation(tables: Tables) -> Verdict:
    """Compare the best polynomial of degree 2 with the best of degree 1."""
    table, parts, beaten = tables["parameters_degree"], [], []
    for surface in SURFACES:
        first, second = (
            table.select("residual_variance", surface=surface, method=BEST, degree=degree) for degree in (1, 2)
        )
        exact = bool(first.max() < EXACT)
        beaten += [] if exact or (second < first).all() else [surface]
        parts.append(
            f"{surface} exact by both, since its coordinates are columns"
            if exact
            else f"{surface} {np.median(first):.3g} → {np.median(second):.3g}"
        )
    return Verdict(
        not beaten,
        "Polynomials fitted to the true coordinates by least squares, residual variance of unseen samples from p "
        f"= 1 to p = 2: {', '.join(parts)}.",
        f"A higher degree does not approximate better on {' and '.join(beaten)}.",
    )


def judge_counterparts(tables: Tables) -> Verdict:
    """Compare the published form with the linear ones, on the rolls and on faces."""
    table, faces = tables["surfaces"], tables["images"]
    rolled = {s: compare_draws(table, ("NPP", "ONPP"), surface=s) for s in ("SwissRoll", "SwissHole")}
    best = all(is_best(table, ("NPP", "ONPP"), surface=s) for s in rolled)
    trust, turning = (
        {m: float(np.median(faces.select(c, set="lleface", method=m))) for m in (PAPER, OURS, "NPP")}
        for c in ("trustworthiness", "r2_neighbours")
    )
    told = ", ".join(f"{s} on {draws} draws" for s, draws in rolled.items())
    losing = min(trust[PAPER] - trust["NPP"], turning[PAPER] - turning["NPP"]) <= 0
    why = "" if best else "Not on every draw of the rolls. "
    why += "On the unseen faces NPP, which is linear, is better than the published form." if losing else ""
    return Verdict(
        not why,
        f"NPPE (paper) is better than NPP and ONPP: {told}. Unseen faces, trustworthiness: "
        f"{tell_figures(trust, '.2f')}; R² of left-right balance: {tell_figures(turning, '.2f')}.",
        why.strip(),
    )


CLAIMS = [
    Claim(
        "4.2",
        "Computing X_pWX_p^T and X_pDX_p^T takes O(kN² Σ n^i) and O(N² Σ n^i) operations, respectively.",
        ("parameters_stages_times",),
        "parameters_stages",
        judge_gram_cost,
    ),
    Claim(
        "4.2",
        "The computational complexity of the final eigen-decomposition is O(m(Σ n^i)³), which is the most "
        "time-consuming step.",
        ("parameters_shares_times", "parameters_stages_times"),
        "parameters_stages",
        judge_eigenproblem,
    ),
    Claim(
        "4.2",
        "As the polynomial order p increases, the overall computational complexity increases exponentially with "
        "p …",
        ("parameters_stages_times",),
        "parameters_stages",
        judge_exponential,
    ),
    Claim(
        "4.2",
        "… which would be extremely time-consuming when the data dimension is very high.",
        ("parameters_features", "parameters_stages_times"),
        "parameters_stages",
        judge_many_columns,
    ),
    Claim(
        "4.2",
        "Computing y_new [with cross terms] takes O(m(Σ n^i)²) operations.",
        ("complexity_exponents_times",),
        "complexity",
        lambda tables: judge_exponents(tables, CROSS_TERMS, ("d",)),
    ),
    Claim(
        "4.2",
        "The computational complexity computing y_new is reduced to O(mn²p²). (Table 2, SNPPE)",
        ("complexity_exponents_times",),
        "complexity",
        lambda tables: judge_exponents(tables, PAPER, ("n", "p")),
    ),
    Claim(
        "4.2",
        "Table 2, linear methods: O(mn²).",
        ("complexity_exponents_times",),
        "complexity",
        lambda tables: judge_exponents(tables, "NPP", ("n",)),
    ),
    Claim(
        "4.2",
        "It is obvious that the total complexity in computing y_new [by kernel methods] is not less than this "
        "value [Table 2: O(n²N²)].",
        ("complexity_exponents_times",),
        "complexity",
        lambda tables: judge_exponents(tables, "KE", ("n", "N")),
    ),
    Claim(
        "4.3",
        "NPPE or SNPPE has a better performance than its linear counterparts for nonlinearly distributed data "
        "sets.",
        ("surfaces", "images:lleface"),
        "images_recovered",
        judge_counterparts,
    ),
    Claim(
        "4.3",
        "The explicit nonlinear mapping based on the polynomial assumption gives a better approximation to the "
        "true nonlinear mapping f than the explicit linear one.",
        ("parameters_degree",),
        "parameters_degree",
        judge_approximation,
    ),
]
