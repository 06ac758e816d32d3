"""Two descriptions of the same samples, as every metric wants them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from polyfold._refusal import refuse_disguised, refuse_equal_names


@np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
def check_pair(
    first: ArrayLike, second: ArrayLike, *, names: tuple[str, str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check two descriptions of the same samples, and bring each near the origin and to size 1.

    No metric depends on origin or unit; squares and cancellation do.
    """
    checked = []
    for values, name in zip((first, second), names, strict=True):
        refuse_disguised(values, name)
        refuse_equal_names(values, name)
        try:
            array = np.reshape(values, (-1, 1)) if np.ndim(values) == 1 else values
            array = check_array(array, dtype=np.float64, ensure_min_samples=2, input_name=name)
        except OverflowError as error:
            raise ValueError(f"{name} holds a number beyond float64.") from error
        array = np.ldexp(array, -np.frexp(np.abs(array).max())[1])  # at most 1: the differences are doubles too
        array = array - np.median(array, axis=0)
        checked.append(array / (np.abs(array).max() or 1.0))
    check_consistent_length(*checked)
    return checked[0], checked[1]
