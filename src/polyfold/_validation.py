"""Checks of parameters. Each error names the parameter, the rule and the value given."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

#: The largest double, which whole numbers of Python can exceed.
MOST = float(np.finfo(np.float64).max)

#: With a ridge of this size, in units of the mean eigenvalue, nothing is left of the objective.
MOST_ALPHA = 1e100

#: What rounding to another type may take off the weights of a coordinate, of the largest.
ROUNDED = 1e-6

#: The largest seed of NumPy's RandomState, which scikit-learn draws with.
MOST_SEED = 2**32 - 1


def check_integer(name: str, value: Any, minimum: int) -> int:
    """Return `value` as an int, or say why it is not an integer of at least `minimum`."""
    is_integer = isinstance(value, Integral) and not is_bool(value)
    if not is_integer or value < minimum:
        raise ValueError(f"`{name}` must be an integer >= {minimum}, got {value!r}.")
    return int(value)


def check_nonnegative(name: str, value: Any, *, alternative: str = "") -> float:
    """Return `value` as a float, or say why it is not a finite number of at least 0 (nor the `alternative`)."""
    is_number = isinstance(value, Real) and not is_bool(value)
    number = float(value) if isinstance(value, np.floating) else value  # float32 is not compared with a double
    if not is_number or not 0 <= number < np.inf or number > MOST:
        raise ValueError(f"`{name}` must be {alternative}a finite number >= 0, got {value!r}.")
    return float(value)


def is_bool(value: Any) -> bool:
    """Say whether `value` is a truth value, which Python also counts as an integer."""
    return isinstance(value, (bool, np.bool_))


def check_boolean(name: str, value: Any) -> bool:
    """Return `value` as a bool, or say that it is none."""
    if not is_bool(value):
        raise ValueError(f"`{name}` must be True or False, got {value!r}.")
    return bool(value)


def check_choice(name: str, value: Any, choices: Collection[str], *, others: str = "") -> str:
    """Return `value`, or list the choices that it is not among, and what `others` there are."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in sorted(choices)) + (others and f", {others}")
        raise ValueError(f"`{name}` must be one of {listed}, got {value!r}.")
    return value


def is_auto(value: Any) -> bool:
    """Say whether `value` is the word "auto"."""
    return isinstance(value, str) and value == "auto"


def check_workers(n_jobs: Any) -> int | None:
    """Return `n_jobs`, or say what it must be."""
    is_integer = isinstance(n_jobs, Integral) and not is_bool(n_jobs)
    if n_jobs is not None and (not is_integer or n_jobs == 0):
        raise ValueError(f"`n_jobs` must be None or an integer other than 0, got {n_jobs!r}.")
    return None if n_jobs is None else int(n_jobs)


def check_verbose(verbose: Any) -> int:
    """Return `verbose` as an int; True and False are 1 and 0, as in scikit-learn."""
    return int(verbose) if is_bool(verbose) else check_integer("verbose", verbose, 0)


def check_seed(random_state: Any) -> Any:
    """Return `random_state`, or say what it must be."""
    is_integer = isinstance(random_state, Integral) and not is_bool(random_state)
    is_seed = is_integer and 0 <= random_state <= MOST_SEED
    if random_state is not None and not is_seed and not isinstance(random_state, np.random.RandomState):
        raise ValueError(
            f"`random_state` must be None, an integer from 0 to {MOST_SEED}, or a numpy.random.RandomState, got "
            f"{random_state!r}."
        )
    return random_state


def check_alpha(alpha: Any) -> float | None:
    """Return the ridge, None where it is to be chosen."""
    if is_auto(alpha):
        return None
    ridge = check_nonnegative("alpha", alpha, alternative='"auto" or ')
    if ridge > MOST_ALPHA:
        raise ValueError(f'`alpha` must be "auto" or a number from 0 to {MOST_ALPHA:g}, got {alpha!r}.')
    return ridge


def check_numbers(learned: Any, kind: np.dtype[Any]) -> None:
    """Check that the numbers of a map are neither too large nor too small to be computed with in a type."""
    largest = max(float(np.abs(array).max()) for array in (learned.shift, learned.weights, learned.offset))
    of_each, limits = np.abs(learned.weights).max(axis=0), np.finfo(kind)
    fits = limits.tiny < learned.scale < 1 / limits.tiny and largest < limits.max
    with np.errstate(over="ignore", under="ignore"):
        kept = np.abs(of_each.astype(kind) - of_each) <= ROUNDED * of_each
    if not (fits and kept.all()):
        raise ValueError(
            f"The map's numbers are beyond {kind.name}: scale {learned.scale:.1e}, largest {largest:.1e}, largest "
            f"weight of a coordinate from {of_each.min():.1e}."
        )


def list_automatic(estimator: Any, names: Collection[str]) -> frozenset[str]:
    """Name the parameters of an estimator that are "auto"."""
    return frozenset(name for name in names if is_auto(getattr(estimator, name)))
