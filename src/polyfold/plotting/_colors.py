"""What gives points their colours: one colour, classes, or a scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._table import make_printable
from polyfold._validation import check_choice, is_bool
from polyfold.plotting._axes import GREY, PALE_GREY, PALETTE, PLAIN
from polyfold.plotting._coordinates import check_length

#: Classes that have a colour each; of more, the most frequent and one grey for the others.
MAX_CLASSES = len(PALETTE)


@dataclass(frozen=True, eq=False)
class Classes:
    """Points in classes.

    Attributes
    ----------
    colors : ndarray of shape (n_points,)
        Of each point.
    legend : list of (str, str)
        Name and colour of each class.
    """

    colors: NDArray[np.str_]
    legend: list[tuple[str, str]]

    @property
    def is_grey(self) -> NDArray[np.bool_]:
        """Which points are of no class that has a colour."""
        return np.isin(self.colors, (GREY, PALE_GREY))


def read_color(
    color: Any, n_points: int, kind: str, labels: Mapping[Any, str] | Sequence[str] | None
) -> str | Classes | NDArray[np.float64]:
    """Return one colour, classes, or numbers that are not finite where they are not known."""
    check_choice("kind", kind, ("auto", "categorical", "continuous"))
    if color is None or isinstance(color, str):
        if labels is not None:
            raise ValueError("`labels` name the classes of `color`: give these as `color`, one for each sample.")
        return PLAIN if color is None else color
    values = np.asarray(color)
    if values.ndim != 1:
        raise ValueError(f"`color` must be a colour or of shape (n_samples,), got the shape {values.shape}.")
    check_length("color", values, n_points, "samples")
    numbers = _read_numbers(values)
    if kind == "continuous":
        if numbers is None or labels is not None:
            raise ValueError('`color` must hold numbers, and `labels` be None, with kind="continuous".')
        return numbers
    is_category = str(getattr(color, "dtype", "")) == "category"
    if numbers is None or kind == "categorical" or labels is not None or is_category or _are_few(numbers):
        return _group([None if _is_missing(value) else value for value in values.tolist()], labels)
    return numbers


def _read_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return values as numbers, NaN where they are missing; None of text and truth values."""
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind in "cMmV":
        raise ValueError(f"`color` must hold numbers, truth values or text, got {values.dtype}. Convert it.")
    known = [value for value in values.tolist() if not _is_missing(value)]
    if not known or not all(isinstance(value, Real) and not is_bool(value) for value in known):
        return None
    return np.array([np.nan if _is_missing(value) else float(value) for value in values.tolist()])


def _is_missing(value: Any) -> bool:
    if isinstance(value, Real):
        return not isfinite(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # pandas' own


def _are_few(numbers: NDArray[np.float64]) -> bool:
    """Say whether numbers look like classes: whole, and few of them different."""
    different = np.unique(numbers[np.isfinite(numbers)])
    return 0 < len(different) <= MAX_CLASSES and bool((different == np.round(different)).all())


def _group(values: list[Any], labels: Mapping[Any, str] | Sequence[str] | None) -> Classes:
    """Give a colour to each class, in order, or to the most frequent of many; None is of no class."""
    counts = Counter(value for value in values if value is not None)
    try:
        classes = sorted(counts)
    except TypeError:  # numbers among text
        classes = sorted(counts, key=str)
    if len(classes) > MAX_CLASSES:
        frequent = set(sorted(classes, key=lambda each: -counts[each])[: MAX_CLASSES - 1])
        shown = [each for each in classes if each in frequent]
    else:
        shown = classes
    colors = dict(zip(shown, PALETTE, strict=False))
    legend = [(_name_class(each, labels), color) for each, color in colors.items()]
    if len(classes) > len(shown):
        legend.append((f"{len(classes) - len(shown):,} others", GREY))
    if counts.total() < len(values):
        legend.append(("not known", PALE_GREY))
    painted = [PALE_GREY if value is None else colors.get(value, GREY) for value in values]
    return Classes(np.array(painted), legend)


def _name_class(value: Any, labels: Mapping[Any, str] | Sequence[str] | None) -> str:
    if labels is None:
        return make_printable(f"{value:g}" if isinstance(value, float) else str(value))
    try:
        if not isinstance(labels, Mapping) and not (value == int(value) and value >= 0):
            raise LookupError
        return make_printable(str(labels[value if isinstance(labels, Mapping) else int(value)]))
    except (LookupError, TypeError, ValueError):
        cure = (
            "A sequence is for classes 0, 1, …; of others give a dict." if not isinstance(labels, Mapping) else ""
        )
        raise ValueError(f"`labels` must name every class of `color`, got no name of {value!r}. {cure}") from None
