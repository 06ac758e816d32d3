"""What a map is given: rows with its columns, checked; of Dask collections chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._extras import import_needing
from polyfold._refusal import refuse_disguised
from polyfold._rows import is_dask
from polyfold._sparse import is_sparse, read_sparse

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap

#: Names that a message lists at most.
SHOWN_NAMES = 5


def check_samples(learned: PolynomialMap, X: Any) -> Any:
    """Return samples as an array, or sparse where a map takes that."""
    if is_dask(X):
        raise TypeError(
            "A Dask collection is placed by transform, extrapolation and inverse; all else takes samples in "
            "memory, such as X.compute()."
        )
    refuse_disguised(X)
    check_names(learned, X)
    if is_sparse(X):
        if learned.axes is None:
            raise TypeError("X is sparse, but dense data is required. Use X.toarray().")
        samples: Any = read_sparse(X)
    else:
        samples = np.asarray(X)
    _check_columns(learned, samples)
    _check_real("X", samples)
    return samples


def read_array(name: str, values: Any) -> NDArray[Any]:
    """Return values as an array of real numbers, of the type that they have, or say what they are."""
    refuse_disguised(values, name)
    array = np.asarray(values)
    _check_real(name, array)
    return array


def _check_real(name: str, array: Any) -> None:
    """Check that an array holds real numbers."""
    if array.dtype.kind not in "biuf":
        cure = f" Turn it into such, for example with {name}.astype(float)." if array.dtype.kind == "O" else ""
        raise ValueError(f"{name} must hold real numbers, got an array of type {array.dtype}.{cure}")


def place_collection(
    learned: PolynomialMap, place: Callable[[Any], Any], X: Any, n_outputs: int | None, kind: Any = None
) -> Any:
    """Return a lazy Dask array of what a function makes of a Dask collection that has the columns of a map.

    `place`, `n_outputs` and `kind` are those of `polyfold.dask.place_lazily`.
    """
    check_names(learned, X)
    dask = import_needing("polyfold.dask", "dask")
    samples = dask.to_array(X)
    _check_columns(learned, samples)
    return dask.place_lazily(place, samples, n_outputs, kind)


def read_coordinates(Y: Any, n_outputs: int) -> NDArray[np.float64]:
    """Return coordinates that a map is to go back from."""
    array = read_array("Y", Y)
    _check_shape("Y", array, n_outputs)
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def _check_columns(learned: PolynomialMap, samples: Any) -> None:
    _check_shape("X", samples, learned.n_inputs)


def _check_shape(name: str, array: Any, n_columns: int) -> None:
    if array.ndim != 2 or array.shape[1] != n_columns:
        raise ValueError(
            f"{name} must have shape (n_samples, {n_columns}), got {array.shape}. "
            f"A single sample is passed as {name}.reshape(1, -1)."
        )


def check_names(learned: PolynomialMap, X: Any) -> None:
    """Check that the columns of a data frame are those of a map, in their order."""
    given = getattr(X, "columns", None)
    if given is None or learned.columns is None:
        return
    names = tuple(given)
    if names != learned.columns and all(isinstance(name, str) for name in names):
        raise ValueError(f"X {compare_names(names, learned.columns)}. Pass X[list(map.columns)].")


def compare_names(given: Sequence[str], expected: Sequence[str]) -> str:
    """Say how names differ from those expected."""
    missing = [name for name in expected if name not in given][:SHOWN_NAMES]
    further = [name for name in given if name not in expected][:SHOWN_NAMES]
    problems = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
    problems += [f"has {', '.join(map(repr, further))} besides"] if further else []
    if not problems and len(set(given)) < len(given):
        return "has some of them more than once"
    return " and ".join(problems) or "has the same columns in another order"


def explain_nonfinite(X: Any, values: NDArray[np.floating[Any]], name: str = "X") -> str:
    """Find the first sample that has no finite value, and say why.

    A polynomial carries NaN and infinity through, so the input is looked at only when the output shows one.
    """
    row = int(np.argmin(np.isfinite(values).all(axis=1)))
    sample = X[[row]].toarray()[0] if is_sparse(X) else X[row]
    bad_columns = np.flatnonzero(~np.isfinite(sample))
    if len(bad_columns):
        value = sample[bad_columns[0]]
        return f"{name} contains {'NaN' if np.isnan(value) else value} (row {row}, column {bad_columns[0]})."
    cure = " Pass X.astype(float), for more than float32 can hold." if values.dtype == np.float32 else ""
    return f"Row {row} of {name} is finite but so far from the training data that the polynomial overflows.{cure}"
