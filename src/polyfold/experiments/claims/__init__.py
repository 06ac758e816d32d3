"""The claims of the paper, judged by the figures of a run."""

from __future__ import annotations

from dataclasses import dataclass

from polyfold.experiments.claims import image_results, introduction, results, theory
from polyfold.experiments.claims.judgement import (
    CLOSE,
    CLOSE_EXPONENT,
    FASTER,
    GROWS,
    MUCH,
    QUADRATIC,
    RECOVERED,
    SAME,
    SIMILAR,
    TIMES,
    UNFOLDED,
    Claim,
    Tables,
)

#: In the order of the paper.
CLAIMS: list[Claim] = [*introduction.CLAIMS, *theory.CLAIMS, *results.CLAIMS, *image_results.CLAIMS]

RULES = (
    "Judged by the simplified form to the letter, which is what the paper ran: “NPPE (paper)”. An embedding is "
    f"unfolded at a residual variance of at most {UNFOLDED:g}; a quantity is recovered at an R² of at least "
    f"{RECOVERED:g} on unseen images, predicted from the 15 nearest training images in the embedding. “Best” and "
    f"“outperforms” ask for every draw. “Much” is a factor of {MUCH:g} in cost and of {TIMES:g} in quality, “more "
    f"accurate” a tenth. Costs are similar within a factor of {SIMILAR:g}, almost the same within {SAME:g}; what "
    f"takes {FASTER:g} of another's time or more is not clearly faster. An exponent is taken for 2 above "
    f"{QUADRATIC:g}, and for growth above {GROWS:g}. A verdict is called close where the time that decides it is "
    f"within a factor of {CLOSE:g} of its limit, or the exponent within {CLOSE_EXPONENT:g}."
)

#: Said of verdicts that a little more or less time would turn.
CLOSE_CALL = "A close call: on another machine, or in another run, the times may decide otherwise."

#: Sentences that no measurement can judge.
BEYOND_MEASURE = [
    (
        "Abstract",
        "As far as we know, this is the first time that an explicit nonlinear mapping for manifold learning is "
        "given.",
        "a matter of the literature",
    ),
    (
        "1",
        "Compared with kernel-based mappings, the proposed mapping does not depend on the specific kernels.",
        "it has none; what it depends on instead is in the claims on p and in the turned roll",
    ),
    (
        "5.3",
        "The two intrinsic degrees of freedom underlying the face images are rotation of the head and facial "
        "emotion.",
        "the emotion of these faces is not recorded; left-right balance stands for the rotation",
    ),
]


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
        return Judged(claim, "not judged", f"This run has no {' and no '.join(map(_name_need, missing))}.")
    verdict = claim.judge(tables)
    evidence = f"{verdict.evidence} {CLOSE_CALL}" if verdict.is_close else verdict.evidence
    if verdict.holds:
        return Judged(claim, "holds", evidence)
    return Judged(claim, "does not hold", evidence, verdict.why)


def _name_need(need: str) -> str:
    """Say what is missing: "images:usps-0" is an image set, all else the table of an experiment."""
    name, _, member = need.partition(":")
    if name == "images":
        return f"images of {member} (--data)" if member else "images (--data)"
    return f"table {name}"


def count_verdicts(judged: list[Judged]) -> str:
    """Say how many claims hold, do not hold, and were not judged."""
    counts = {v: sum(each.verdict == v for each in judged) for v in ("holds", "does not hold", "not judged")}
    told = ", ".join(f"{verdict}: {number}" for verdict, number in counts.items() if number)
    return f"{len(judged)} claims of the paper. {told[0].upper()}{told[1:]}."


def _has(tables: Tables, need: str) -> bool:
    """Say whether a table is there; "images:usps-0" asks for a set in it."""
    name, _, member = need.partition(":")
    return name in tables and (not member or any(row["set"] == member for row in tables[name].rows))


def write_claims(judged: list[Judged], about: str) -> str:
    """Return all verdicts as Markdown."""
    lines = [
        "# What the paper claims, and what this run found",
        "",
        about,
        "",
        RULES,
        "",
        count_verdicts(judged),
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
    lines += ["", "## Not a matter of measurement", ""]
    lines += [
        f"- {_name_section(section)}: “{sentence}” ({reason})" for section, sentence, reason in BEYOND_MEASURE
    ]
    return "\n".join(lines) + "\n"


def _name_section(section: str) -> str:
    return section if section.startswith("Abstract") else f"Section {section}"
