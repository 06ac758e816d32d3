"""A map as LaTeX that a person can read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from polyfold.polymap import PolynomialMap

#: Of a polynomial with more terms, those with the largest coefficients are looked at.
LOOKED_AT = 5_000

SPECIAL = {
    "\\": r"\backslash ",
    "~": r"\sim ",
    "^": r"\wedge ",
    " ": r"\ ",
    **{character: f"\\{character}" for character in "#$%&_{}"},
}


def write_latex(learned: PolynomialMap, largest: int, digits: int) -> str:
    """Return an ``aligned`` environment with a line for each coordinate."""
    terms = learned.terms(largest=LOOKED_AT)
    names = [_write_name(name) for name in learned.column_names]
    lines = []
    for c in range(learned.n_outputs):
        ranked, is_all = terms.rank(c, largest, digits)
        line = ""
        for term in ranked:
            number = term.digits + (rf" \cdot 10^{{{term.exponent}}}" if term.exponent else "")
            product = _write_product(term.powers, names)
            sign = f" {term.sign} " if line else term.sign.replace("+", "")
            line += sign + number + (rf"\,{product}" if product else "")
        line = line or "0"
        lines.append(rf"y_{{{c}}} &= {line}" + ("" if is_all else r" + \cdots"))
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _write_product(powers: Mapping[int, int], names: list[str]) -> str:
    return r"\,".join(
        (f"{{{names[column]}}}^{{{power}}}" if "_" in names[column] else f"{names[column]}^{{{power}}}")
        if power > 1
        else names[column]
        for column, power in powers.items()
    )


def _write_name(name: str) -> str:
    """Write a letter as it is, a letter and a number as an index, and anything else upright."""
    if re.fullmatch(r"[A-Za-z]", name):
        return name
    indexed = re.fullmatch(r"([A-Za-z])_?(\d+)", name)
    if indexed:
        return f"{indexed[1]}_{{{indexed[2]}}}"
    letters = (character if character.isprintable() else " " for character in name)
    return r"\mathrm{" + "".join(SPECIAL.get(letter, letter) for letter in letters) + "}"
