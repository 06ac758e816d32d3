"""The claims of the paper, judged by the figures of a run."""

from __future__ import annotations

from dataclasses import dataclass

from polyfold.experiments.claims import image_results, introduction, results, theory
from polyfold.experiments.claims.judgement import (
    FASTER,
    MUCH,
    QUADRATIC,
    RECOVERED,
    SAME,
    SIMILAR,
    UNFOLDED,
    Claim,
    Tables,
)

#: In the order of the paper.
CLAIMS: list[Claim] = [*introduction.CLAIMS, *theory.CLAIMS, *results.CLAIMS, *image_results.CLAIMS]

RULES = (
    "Judged by the simplified form to the letter, which is what the paper ran: “NPPE (paper)”. "
    f"An embedding is unfolded at a residual variance of at most {UNFOLDED:g}, a quantity recovered at an R² of "
    "at least "
    f"{RECOVERED:g} on unseen images. “Best” and “outperforms” ask for every draw. Costs are similar within a "
    "factor of "
    f"{SIMILAR:g}, almost the same within {SAME:g}, much lower beyond {MUCH:g}; what takes {FASTER:g} of "
    "another's time or more is not clearly faster; an exponent is taken for 2 above "
    f"{QUADRATIC:g}."
)


@dataclass(frozen=True)
class Judged:
    """A claim and what became of it.

    Attributes
    ----------
    claim : Claim
    verdict : {"holds", "does not hold", "not judged"}
    evidence : str
        The figures, or what is missing.
    why : str
        Where it does not hold.
    """

    claim: Claim
    verdict: str
    evidence: str
    why: str = ""


def judge_claims(tables: Tables) -> list[Judged]:
    """Judge each claim by the tables of a run."""
    return [_judge(claim, tables) for claim in CLAIMS]


def _judge(claim: Claim, tables: Tables) -> Judged:
    missing = [need for need in claim.needs if not _has(tables, need)]
    if missing:
        return Judged(claim, "not judged", f"This run has no {' and no '.join(missing)}.")
    verdict = claim.judge(tables)
    if verdict.holds:
        return Judged(claim, "holds", verdict.evidence)
    return Judged(claim, "does not hold", verdict.evidence, verdict.why)


def _has(tables: Tables, need: str) -> bool:
    """Say whether a table is there; "images:usps-0" asks for a set in it."""
    name, _, member = need.partition(":")
    return name in tables and (not member or any(row["set"] == member for row in tables[name].rows))


def write_claims(judged: list[Judged], about: str) -> str:
    """Return all verdicts as Markdown."""
    counts = {v: sum(each.verdict == v for each in judged) for v in ("holds", "does not hold", "not judged")}
    tally = ", ".join(f"{verdict}: {number}" for verdict, number in counts.items() if number)
    lines = [
        "# What the paper claims, and what this run found",
        "",
        about,
        "",
        RULES,
        "",
        f"{len(judged)} claims. {tally[0].upper()}{tally[1:]}.",
        "",
    ]
    lines += ["| | section | claim | verdict |", "|---|---|---|---|"]
    lines += [
        f"| {k} | {each.claim.section} | {each.claim.sentence} | **{each.verdict}** |"
        for k, each in enumerate(judged, 1)
    ]
    for number, each in enumerate(judged, 1):
        lines += ["", f"## {number}. {_name_section(each.claim.section)}", "", f"> {each.claim.sentence}", ""]
        lines += [f"**{each.verdict.capitalize()}.** {each.evidence}"]
        if each.why:
            lines += ["", f"Why: {each.why}"]
        if each.verdict != "not judged":
            lines += ["", f"Figure: [{each.claim.drawing}](figures/{each.claim.drawing}.png)"]
    return "\n".join(lines) + "\n"


def _name_section(section: str) -> str:
    return section if section == "Abstract" else f"Section {section}"
