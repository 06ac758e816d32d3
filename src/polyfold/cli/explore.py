"""``polyfold explore``: a page that shows samples and carries the map."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyfold._table import make_printable
from polyfold.cli.options import (
    Array,
    Data,
    Delimiter,
    DropMissing,
    Force,
    Grey,
    Model,
    NoHeader,
    Size,
    list_inputs,
    load_model,
    open_data,
    parse_size,
    read_image_shape,
)
from polyfold.cli.terminal import check_output, name_options, say, show_size, warn, write_output

if TYPE_CHECKING:
    from polyfold import PolynomialMap
    from polyfold.io import Batch

#: What reads as a number in text: no zero before other digits, no more of them than a number keeps.
NUMBER = re.compile(r"[+-]?(?=\.?\d)(0|[1-9]\d{0,14})?(\.\d*)?([eE][+-]?\d{1,3})?")

#: Columns beside the map's that a page shows, unless some are named.
MOST_LABELS = 20


def explore(
    model: Model,
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", help="The page; '-' prints it.")] = "explore.html",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Show this column too, such as a label; repeat for more. All others by default."
        ),
    ] = None,
    image_shape: Annotated[
        Any,
        typer.Option(
            parser=parse_size, metavar="HxW", help="Rows are images of this shape, as 28x20.", show_default=False
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Of the page.", show_default=False)] = None,
    max_points: Annotated[int, typer.Option(min=1, help="Points at most; of more rows some are drawn.")] = 100_000,
    drop_missing: DropMissing = False,
    force: Force = False,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    array: Array = None,
    size: Size = None,
    grey: Grey = None,
) -> None:
    """Write one HTML page that opens offline: the rows of DATA at their places, and the map itself to try.

    The page holds the rows that it shows. Example: polyfold explore roll.safetensors roll.csv -o roll.html
    """
    from polyfold.io import CompleteRows, DataError, match_columns

    target = check_output(output, force=force, inputs=[model, *list_inputs(data)])
    learned = load_model(model)
    table = open_data(data, delimiter, no_header, array, size, grey, learned)
    labels = list(dict.fromkeys(keep)) if keep else None
    positions, others = match_columns(table, learned.columns, learned.n_inputs, labels or ())
    if labels is None:
        further = [*table.labels, *filter(None, others)]
        labels = further[:MOST_LABELS]
        if len(further) > MOST_LABELS:
            say(f"Shows {MOST_LABELS} of {len(further):,} further columns: --keep chooses which.")
    complete = CompleteRows(table, positions, labels, drop_missing=drop_missing)
    n_rows, batches = draw_rows(complete, max_points)
    if complete.n_incomplete:
        say(complete.tell_dropped())
    if not n_rows:
        raise DataError(f"{table.source} has no rows to show.")
    if n_rows > max_points:
        say(f"Shows {max_points:,} of {n_rows:,} rows: --max-points sets how many.")
    shape = image_shape or table.image_shape or read_image_shape(learned)
    page = make_page(learned, batches, labels, shape, title or make_printable(Path(data).name))
    write_output(target, page)
    if target is not None:
        say(f"Wrote {target} ({show_size(len(page))}). Open it in a browser; it needs no network.")


def draw_rows(batches: Iterable[Batch], most: int) -> tuple[int, list[Batch]]:
    """Return how many rows there are, and all or as many as wanted, drawn by chance but the same each time.

    Each row draws a number, and those with the smallest are kept: no more than twice as many as wanted at a time.
    """
    import numpy as np

    random = np.random.default_rng(0)
    kept: list[Batch] = []
    draws: list[Any] = []
    n_rows = n_kept = 0

    def cut() -> None:
        limit = np.partition(np.concatenate(draws), most - 1)[most - 1]
        for k, draw in enumerate(draws):
            chosen = np.flatnonzero(draw <= limit)
            kept[k], draws[k] = kept[k].take(chosen), draw[chosen]

    for batch in batches:
        kept.append(batch)
        draws.append(random.random(len(batch)))
        n_rows, n_kept = n_rows + len(batch), n_kept + len(batch)
        if n_kept > 2 * most:
            cut()
            n_kept = most
    if n_kept > most:
        cut()
    return n_rows, kept


def make_page(
    learned: PolynomialMap,
    batches: Sequence[Batch],
    labels: Sequence[str],
    shape: Sequence[int] | None,
    title: str,
) -> bytes:
    """Return the page of rows that have been read."""
    import numpy as np

    samples = np.concatenate([batch.values for batch in batches])
    columns = {name: join_column([batch.kept[name] for batch in batches]) for name in labels}
    numbers = np.concatenate([batch.list_positions() for batch in batches]) + 1
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        page = learned.to_html(
            samples, labels=columns, image_shape=shape, row_numbers=numbers, title=title, max_points=len(samples)
        )
    for each in heard:
        warn(name_options(str(each.message)))
    return page.encode()


def join_column(parts: Sequence[Any]) -> Any:
    """Return a column that was carried along: as numbers where all that is not missing reads so, else as texts.

    An id such as 0042 is no number, nor is one with more digits than a number keeps.
    """
    from polyfold.io.delimited import MISSING
    from polyfold.io.writing import make_texts

    values = [value for part in parts for value in make_texts(part)]
    texts = [value.strip() for value in values if isinstance(value, str)]
    if len(texts) + values.count(None) < len(values):  # not of text: what the file says they are
        if all(
            value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values
        ):
            return [float("nan") if value is None else value for value in values]
        return values
    if not all(text in MISSING or NUMBER.fullmatch(text) for text in texts):
        return values
    return [float("nan") if value is None or value.strip() in MISSING else float(value) for value in values]
