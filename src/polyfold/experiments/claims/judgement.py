"""A sentence of the paper, how it is judged by the tables of a run, and the words of the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.experiments.methods import OURS, PAPER
from polyfold.experiments.outcome import Table

Tables = dict[str, Table]

#: An embedding with at most this residual variance is unfolded.
UNFOLDED = 0.1

#: A quantity is recovered where its R² on unseen images is at least this.
RECOVERED = 0.5

#: Costs within this factor are similar; within this, almost the same; a cost is much lower beyond the last.
SIMILAR, SAME, MUCH = 3.0, 1.5, 10.0

#: What takes at least this share of another's time is not clearly faster.
FASTER = 0.8

#: A loss or a spread is much more where it is this many times another, and an error clearly less by this share.
TIMES, CLEARLY = 2.0, 0.1

#: Exponents above this are nearer to 2 than to 1; above this, nearer to 1 than to 0.
QUADRATIC, GROWS = 1.5, 0.5

#: A time within this factor of its limit is a close call, and so is an exponent within this distance.
CLOSE, CLOSE_EXPONENT = 1.25, 0.2


@dataclass(frozen=True)
class Verdict:
    """Whether a sentence holds, the figures that say so, and why where it does not.

    Attributes
    ----------
    holds : bool
    evidence, why : str
    is_close : bool
        Whether a time is so near its limit that another machine, or another run, may decide otherwise.
    """

    holds: bool
    evidence: str
    why: str = ""
    is_close: bool = False


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that a run can judge.

    Attributes
    ----------
    section, sentence : str
    needs : tuple of str
        Tables that it is judged by.
    drawing : str
        The figure to look at.
    judge : callable
    """

    section: str
    sentence: str
    needs: tuple[str, ...]
    drawing: str
    judge: Callable[[Tables], Verdict]


def compare_draws(table: Table, rivals: Iterable[str], column: str = "residual_variance", **where: Any) -> str:
    """Say on how many draws the published form is below all rivals."""
    ours, best = _pair_draws(table, rivals, column, **where)
    return f"{np.count_nonzero(ours < best)} of {len(ours)}"


def is_best(table: Table, rivals: Iterable[str], column: str = "residual_variance", **where: Any) -> bool:
    """Say whether the published form is below all rivals on every draw."""
    ours, best = _pair_draws(table, rivals, column, **where)
    return bool((ours < best).all())


def _pair_draws(
    table: Table, rivals: Iterable[str], column: str, **where: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    ours = table.select(column, method=PAPER, **where)
    return ours, np.min([table.select(column, method=each, **where) for each in rivals], axis=0)


def is_near(ratio: float, limit: float) -> bool:
    """Say whether a ratio of times is so near a limit that it may fall on either side."""
    return limit / CLOSE < ratio < limit * CLOSE


def is_exponent_near(exponent: float, limit: float) -> bool:
    """Say whether an exponent is so near a limit that it may fall on either side."""
    return abs(exponent - limit) < CLOSE_EXPONENT


def tell_medians(table: Table, names: Iterable[str], column: str = "residual_variance", **where: Any) -> str:
    """Write the median of each method."""
    return tell_figures({name: float(np.median(table.select(column, method=name, **where))) for name in names})


def tell_figures(found: Mapping[str, float], form: str = ".3g") -> str:
    """Write a figure for each name."""
    return ", ".join(f"{name} {value:{form}}" for name, value in found.items())


def read_time(table: Table, method: str, **where: Any) -> float:
    """Return the seconds for the largest number of located samples."""
    largest = table.select("located", method=method, **where).max()
    return float(table.select("seconds", method=method, located=largest, **where)[0])


def list_names(*names: str) -> list[str]:
    """Return the published form, polyfold's, and others."""
    return [PAPER, OURS, *names]
