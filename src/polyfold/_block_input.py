"""What a fit in blocks is given: batches, samples held or mapped from a file, or a Dask collection; checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import _get_feature_names, check_array, validate_data

from polyfold._extras import import_needing
from polyfold._refusal import refuse_disguised, refuse_equal_names
from polyfold._rows import (
    HeldRows,
    Rows,
    check_reference_size,
    check_table,
    count_rows,
    is_dask,
    is_large_map,
    read_columns,
)
from polyfold._transformer import FLOATS

if TYPE_CHECKING:
    from polyfold.embedding import PolynomialEmbedding


def check_blocks(
    embedding: PolynomialEmbedding, what: str, X: Any, sample_weight: ArrayLike | None = None
) -> None:
    """Say what cannot be done in blocks; `what` is done."""
    refuse_disguised(read_columns(X))
    refuse_equal_names(read_columns(X))
    if not isinstance(embedding.graph, str):
        raise ValueError(f"{what} takes `graph` by its name: a given one relates all samples at once.")
    if not isinstance(embedding.neighbors, str):
        raise ValueError(
            f'{what} finds neighbours by itself: `neighbors` must be "auto", "exact" or "approx", got '
            f"{embedding.neighbors!r}."
        )
    if sample_weight is not None:
        raise ValueError(f"{what} has no `sample_weight`: hold the samples in memory, or repeat rows.")
    if issparse(X):
        raise TypeError(f'{what} takes no sparse X. Use X.toarray(), or `reference_size`="auto" with fit.')


@np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
def check_batch(embedding: PolynomialEmbedding, X: ArrayLike, *, first: bool) -> NDArray[Any]:
    """Return a batch of a stream as an array; the columns of the first are not taken for learned yet."""
    if first:
        checked = check_array(X, dtype=FLOATS, ensure_min_samples=2, estimator=embedding, input_name="X")
    else:
        checked = validate_data(embedding, X, reset=False, dtype=FLOATS)
    return np.asarray(checked)


@np.errstate(over="ignore", invalid="ignore")  # of the sum by which scikit-learn looks for NaN
def open_rows(embedding: PolynomialEmbedding, X: Any, sample_weight: ArrayLike | None) -> Rows | None:
    """Return samples that are visited in blocks; None where they are to be held in memory."""
    size = check_reference_size(embedding.reference_size)
    is_part = size is not None and not is_dask(X) and 0 < size < count_rows(X)
    if not (is_dask(X) or is_large_map(X) or is_part):
        return None
    check_blocks(embedding, "A fit in blocks (Dask, a large memory map, or `reference_size`)", X, sample_weight)
    if is_dask(X):
        _get_feature_names(read_columns(X))  # which may be of several types: an error, before any work
        rows: Rows = import_needing("polyfold.dask", "dask").open_collection(X, embedding.verbose)
    else:
        samples = X if is_large_map(X) else check_array(X, dtype=FLOATS, estimator=embedding, input_name="X")
        rows = HeldRows(check_table(samples), embedding.n_jobs, embedding.verbose)
    if rows.shape[0] < 2:
        raise ValueError(f"X has {rows.shape[0]} sample(s), and a minimum of 2 is required to learn a map.")
    return rows
