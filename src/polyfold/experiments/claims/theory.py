"""Claims of Sections 4.2 and 4.3: what it costs, and why it should work."""

from __future__ import annotations

import numpy as np

from polyfold.experiments.claims.judgement import QUADRATIC, Claim, Tables, Verdict
from polyfold.experiments.methods import PAPER
from polyfold.experiments.parameters import BEST

COUNTED = (
    "Counting gives O(mnp) for pure powers, O(mn) for a linear map and O(N(n + m)) for a kernel; the squares of "
    "Table 2 "
    "have no ground in the algorithms."
)


def judge_gram_cost(tables: Tables) -> Verdict:
    """Find the exponent of N in the time of the Gram matrices."""
    table, slopes = tables["parameters_stages_times"], {}
    for name in table.list_values("method"):
        where = {"method": name, "grows": "N", "stage": "weights and Gram matrices"}
        N, seconds = table.select("size", **where).astype(float), table.select("seconds", **where)
        slopes[name] = float(np.polyfit(np.log(N[1:]), np.log(seconds[1:]), 1)[0])
    told = ", ".join(f"{name} N^{slope:.2f}" for name, slope in slopes.items())
    return Verdict(
        min(slopes.values()) > QUADRATIC,
        f"Measured time of weights and Gram matrices together: {told}.",
        "Both matrices are sums over samples, O(kN) and O(N) terms: W has k entries in a row, not k + N.",
    )


def judge_eigenproblem(tables: Tables) -> Verdict:
    """Which stage takes longest in the largest fits."""
    rows = tables["parameters_shares_times"].rows
    parts, leads = [], []
    for row in rows:
        shares = {
            key.removesuffix(", %"): value
            for key, value in row.items()
            if key.endswith("%") and not key.startswith(("folds", "domain", "the rest"))
        }
        longest = max(shares, key=lambda stage: shares[stage])
        leads.append(longest == "eigenproblem")
        size = f"{row['grows']} = {row['size']:,}"
        parts.append(f"{row['method']}, {size}: {longest} {shares[longest]:.0f} % (eigenproblem "
                     f"{shares['eigenproblem']:.0f} %)")  # fmt: skip
    return Verdict(
        all(leads),
        f"The longest of the paper's stages in the largest fits: {'; '.join(parts)}.",
        "Where samples are many and columns few, which is when the map pays most, the search for neighbours takes "
        "longest; the eigenproblem leads only with many features.",
    )


def judge_exponential(tables: Tables) -> Verdict:
    """How the number of features grows with the degree."""
    table = tables["parameters_stages_times"]
    where = {"method": "cross terms", "grows": "p", "stage": "all"}
    features, seconds = table.select("features", **where), table.select("seconds", **where)
    factors = features[1:] / features[:-1]
    return Verdict(
        bool(factors[-1] >= 0.99 * factors[0]),
        f"6 columns, p = 1 to {len(features)}: {', '.join(map(str, features))} monomials, so factors of "
        f"{', '.join(f'{factor:.1f}' for factor in factors)}; fits of "
        f"{', '.join(f'{1e3 * s:.0f}' for s in seconds)} ms.",
        "Steep, but not exponential in p: there are C(n + p, p) − 1 monomials, a polynomial in p of degree n. The "
        "paper's Kronecker powers do grow as n^p, since they hold each monomial many times over.",
    )


def judge_many_columns(tables: Tables) -> Verdict:
    """Cross terms in 560 columns."""
    features, stages = tables["parameters_features"], tables["parameters_stages_times"]
    row = next(row for row in features.rows if row["columns n"] == 560)
    largest = stages.select("size", grows="n").max()
    cross, pure = (
        stages.select("seconds", method=name, grows="n", size=largest, stage="all")[0]
        for name in ("cross terms", PAPER)
    )
    return Verdict(
        bool(row["two Gram matrices, GB"] > 100 and cross > pure),
        f"The faces' 560 columns have {row['monomials']:,} monomials of degree 2 beside {row['pure powers']:,} "
        "pure "
        f"powers: {row['two Gram matrices, GB']:,.0f} GB for the two matrices. At n = {largest} the fit takes "
        f"{cross / pure:.1f} times as long as with pure powers.",
        "Cross terms are affordable here.",
    )


def judge_exponents(tables: Tables, method: str, sizes: tuple[str, ...]) -> Verdict:
    """Exponents that Table 2 has as 2."""
    table = tables["complexity_exponents_times"]
    found = {size: table.select("measured", method=method, grows=size)[0] for size in sizes}
    told = ", ".join(f"{size}^{slope:.2f}" for size, slope in found.items())
    return Verdict(min(found.values()) > QUADRATIC, f"Measured time for a sample: {told}.", COUNTED)


def judge_approximation(tables: Tables) -> Verdict:
    """Compare the best polynomial of degree 2 with the best of degree 1."""
    table, parts, better = tables["parameters_degree"], [], []
    for surface in ("SwissRoll", "SwissHole"):
        first, second = (
            table.select("residual_variance", surface=surface, method=BEST, degree=degree) for degree in (1, 2)
        )
        better.append(bool((second < first).all()))
        parts.append(f"{surface} {np.median(first):.3g} → {np.median(second):.3g}")
    return Verdict(
        all(better),
        "Polynomials fitted to the true coordinates by least squares, residual variance of unseen samples from p "
        "= 1 to "
        f"p = 2: {', '.join(parts)}.",
        "A higher degree does not approximate better here.",
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
        ("parameters_shares_times",),
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
        "The explicit nonlinear mapping based on the polynomial assumption gives a better approximation to the "
        "true nonlinear mapping f than the explicit linear one.",
        ("parameters_degree",),
        "parameters_degree",
        judge_approximation,
    ),
]
