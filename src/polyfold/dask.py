"""Samples in Dask collections: visited by Dask's workers, on this machine or on many; needs the extra `dask`.

A pass over the samples is one task for each chunk and a tree that merges what they return: a few matrices as large
as the polynomials are many. What all tasks need (frame, basis, reference set) is a value of its own, that Dask
brings to each worker once and computes anew where a worker was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from polyfold._dask_files import name_damaged_file
from polyfold._draw import draw_rows
from polyfold._rows import Merge, OfBlock, check_collection, choose_chunk_rows, is_dask_frame
from polyfold._threads import use_one_blas_thread
from polyfold.io.many import Piece

#: Results that are merged at a time: the fewer, the fewer wait for others in memory.
FAN_IN = 2

#: Chunks of so many times the rows of a block, or more, are split, and chunks of so small a share are merged.
LARGEST_CHUNK, SMALLEST_CHUNK = 8, 1 / 16


def open_collection(X: Any, verbose: int = 0) -> DaskRows:
    """Prepare a Dask array or data frame to be visited; lengths of chunks that are not known are counted first."""
    with name_damaged_file(X):
        array = _drop_empty_chunks(_count_rows(to_array(X)))
    wanted, lengths = choose_chunk_rows(array.shape[1]), np.array(array.chunks[0])
    if lengths.max() > LARGEST_CHUNK * wanted or (
        len(lengths) > 1 and np.median(lengths) < SMALLEST_CHUNK * wanted
    ):
        array = array.rechunk({0: wanted})
    return DaskRows(array, verbose, X)


def _count_rows(array: Any) -> Any:
    """Return the array with the lengths of its chunks, which are computed where they are not known."""
    return array.copy().compute_chunk_sizes() if np.isnan(array.shape[0]) else array  # that works in place


def _drop_empty_chunks(array: Any) -> Any:
    lengths = array.chunks[0]
    if all(lengths) or not any(lengths):
        return array
    return da.concatenate([array.blocks[k] for k, length in enumerate(lengths) if length])


def to_array(X: Any) -> Any:
    """Return a Dask array of numbers whose rows are whole in each chunk."""
    check_collection(X)
    if is_dask_frame(X):
        return _frame_to_array(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers in 2 dimensions, got {X.ndim} dimension(s) of {X.dtype}.")
    if type(X._meta) is not np.ndarray:
        is_masked = isinstance(X._meta, np.ma.MaskedArray)
        cure = "dask.array.ma.filled(X, value)" if is_masked else "X.map_blocks(lambda block: block.toarray())"
        raise TypeError(
            f"Chunks of a Dask array must be NumPy arrays, got {type(X._meta).__name__}. Turn them into such, for "
            f"example with {cure}."
        )
    if X.shape[1] == 0 or X.shape[0] == 0:
        raise ValueError(f"X must have samples and columns, got shape {X.shape}.")
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def from_pieces(pieces: Sequence[Piece]) -> Any:
    """Return a Dask array of pieces of files, each a chunk that whoever needs it reads.

    Lengths are not known where rows that miss a value are to be left out.
    """
    if not pieces:
        raise ValueError("X must have samples, and the files have no rows.")
    load = delayed(_load_piece, pure=False, traverse=False)
    dtype = np.result_type(*{piece.dtype for piece in pieces})
    chunks = [
        da.from_delayed(
            load(piece, dtype),
            shape=(np.nan if piece.drop_missing else piece.n_rows, len(piece.columns)),
            dtype=dtype,
        )
        for piece in pieces
    ]
    return da.concatenate(chunks, allow_unknown_chunksizes=True)


def _load_piece(piece: Piece, dtype: Any) -> NDArray[Any]:
    return piece.load().astype(dtype, copy=False)


def _frame_to_array(frame: Any) -> Any:
    """Return the columns of a data frame, float32 where all are."""
    kinds = dict(frame.dtypes.items())
    others = [str(name) for name, kind in kinds.items() if getattr(kind, "kind", "O") not in "biuf"]
    if others:
        raise ValueError(
            f"A map is learned from numbers, and these columns hold others: {', '.join(others[:8])}. Drop them, "
            "or turn them into numbers."
        )
    if not kinds:
        raise ValueError("X must have columns, and this data frame has none.")
    single = all(kind == np.float32 for kind in kinds.values())
    dtype = np.dtype(np.float32 if single else np.float64)
    convert = delayed(_to_numbers, pure=True)
    parts = [
        da.from_delayed(convert(part, dtype), shape=(np.nan, len(kinds)), dtype=dtype)
        for part in frame.to_delayed()
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _to_numbers(frame: Any, dtype: Any) -> NDArray[Any]:
    return np.asarray(frame.to_numpy(dtype=dtype, na_value=np.nan))


class DaskRows:
    """The rows of a Dask array; see `polyfold._rows.Rows`."""

    first = 0
    n_jobs = None  # a worker's tasks have a thread each

    def __init__(self, array: Any, verbose: int = 0, source: Any = None) -> None:
        self._source = array if source is None else source
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        self._blocks: list[Delayed] = array.to_delayed().ravel().tolist()
        lengths = array.chunks[0]
        self._starts: list[int] = np.cumsum([0, *lengths[:-1]]).tolist()
        self._verbose = verbose
        self._shared: dict[int, tuple[Any, Delayed]] = {}

    def total(self, of_block: OfBlock, merge: Merge, *shared: Any, description: str) -> Any:
        """Merge what a function makes of each chunk, along a tree."""
        name, unique = _name_task(description), uuid4().hex
        common = [self._share_once(each) for each in shared]
        visit, join = delayed(of_block, pure=False, traverse=False), delayed(merge, pure=False, traverse=False)
        level = [
            visit(block, start, *common, dask_key_name=f"{name}-block-{unique}-{k}")
            for k, (block, start) in enumerate(zip(self._blocks, self._starts, strict=True))
        ]
        while len(level) > 1:
            level = [
                join(level[k : k + FAN_IN], dask_key_name=f"{name}-merge-{len(level)}-{unique}-{k}")
                for k in range(0, len(level), FAN_IN)
            ]
        return self._start(level[0], description)

    def share(self, function: Callable[..., Any], *arguments: Any, description: str = "") -> Any:
        """Have a value computed once by a worker, and kept there."""
        call = delayed(function, pure=False, traverse=False)
        common = [self._share_once(each) for each in arguments]
        name = f"{_name_task(description or function.__name__)}-{uuid4().hex}"
        return self._start(call(*common, dask_key_name=name), description)

    def fetch(self, value: Any) -> Any:
        """Bring a value here."""
        if not isinstance(value, Delayed):
            return value
        with name_damaged_file(self._source), _limit_threads():
            [fetched] = dask.compute(value)
        return fetched

    def _share_once(self, value: Any) -> Any:
        """Wrap a value, so that the graph holds it once however many tasks use it."""
        if isinstance(value, Delayed) or value is None or isinstance(value, (bool, int, float, str)):
            return value
        if id(value) not in self._shared:
            self._shared[id(value)] = value, delayed(value, pure=False, traverse=False)
        return self._shared[id(value)][1]

    def _start(self, value: Delayed, description: str) -> Delayed:
        """Compute a value and leave it where it is."""
        verbose = self._verbose if description else 0
        with name_damaged_file(self._source):
            with _limit_threads(), show_local_progress(verbose, description):
                [started] = dask.persist(value)
            show_cluster_progress(started, verbose, description)
        return started


def _name_task(description: str) -> str:
    """Return what Dask's dashboard calls the tasks of a stage."""
    return f"polyfold-{description.replace(' ', '-').strip('_').lower()}"


def find_client() -> Any:
    """Return the client of a cluster that computations go to; None where they stay in this process."""
    return getattr(dask.base.get_scheduler(), "__self__", None)


@contextmanager
def _limit_threads() -> Iterator[None]:
    """Give BLAS one thread for each task while Dask's own threads share this process."""
    if find_client() is not None:
        yield
        return
    with use_one_blas_thread():
        yield


@contextmanager
def show_local_progress(verbose: int, description: str) -> Iterator[None]:
    """Show on standard error how far Dask's threads are."""
    if not verbose or find_client() is not None:
        yield
        return
    from dask.callbacks import Callback
    from tqdm import tqdm

    with tqdm(desc=description) as bar:

        def begin(graph: Any, state: Any) -> None:
            bar.total = len(state["waiting"]) + len(state["ready"])

        def advance(key: Any, result: Any, graph: Any, state: Any, worker: Any) -> None:
            bar.update()

        with Callback(start_state=begin, posttask=advance):
            yield


def show_cluster_progress(value: Any, verbose: int, description: str) -> None:
    """Wait for a cluster, and show on standard error how far it is."""
    if not verbose or find_client() is None:
        return
    from distributed import futures_of
    from distributed.diagnostics.progressbar import TextProgressBar
    from tqdm import tqdm

    with tqdm(desc=description) as bar:

        class Bar(TextProgressBar):  # type: ignore[misc, unused-ignore]
            def _draw_bar(self, remaining: int, all: int, **rest: Any) -> None:  # noqa: A002
                bar.total = all
                bar.update(all - remaining - bar.n)

            def _draw_stop(self, **rest: Any) -> None:
                return

        Bar(futures_of(value))


def place_lazily(place: Callable[[Any], Any], X: Any, n_outputs: int | None, kind: Any = None) -> Any:
    """Return a lazy Dask array of what a function of rows makes of each chunk.

    Parameters
    ----------
    place : callable
        From rows to as many rows of `n_outputs` numbers.
    X : Dask array or data frame
    n_outputs : int or None
        None is one number for each row, in one dimension.
    kind : dtype, default=None
        Of these; None is float32 where the rows are, and float64 elsewhere.
    """
    array = to_array(X)
    dtype = np.dtype(kind or (np.float32 if array.dtype == np.float32 else np.float64))
    lengths = array.chunks[0]
    ends = None if np.isnan(array.shape[0]) else np.cumsum([0, *lengths]).tolist()
    is_flat = n_outputs is None
    meta = np.empty((0,) if n_outputs is None else (0, n_outputs), dtype=dtype)
    return array.map_blocks(
        _place_block,
        place,
        meta,
        ends,
        dtype=dtype,
        chunks=(lengths,) if is_flat else (lengths, (n_outputs,)),
        drop_axis=1 if is_flat else None,
        meta=meta,
    )


def _place_block(
    block: NDArray[Any],
    place: Callable[[Any], Any],
    empty: NDArray[Any],
    ends: list[int] | None,
    block_id: tuple[int, ...] = (0,),
) -> NDArray[Any]:
    if not len(block):
        return empty
    try:
        return np.asarray(place(block), dtype=empty.dtype)
    except ValueError as error:
        k = block_id[0]
        which = f"chunk {k:,}" if ends is None else f"rows {ends[k]:,} to {ends[k + 1] - 1:,}"
        raise ValueError(f"In {which}, where rows are counted from 0: {error}") from error


def draw_lazily(X: Any, size: int) -> NDArray[Any]:
    """Return at most `size` rows of a collection, drawn uniformly and always the same ones."""
    array = _count_rows(to_array(X))
    return np.asarray(array[draw_rows(int(array.shape[0]), size)].compute())
