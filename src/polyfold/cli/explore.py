"""``polyfold explore``: a page that shows samples and carries the map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    load_model,
    open_data,
    parse_size,
    read_image_shape,
)
from polyfold.cli.terminal import check_output, say, show_size, write_output

if TYPE_CHECKING:
    from polyfold import PolynomialMap
    from polyfold.io import Table

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

    target = check_output(output, force=force)
    learned = load_model(model)
    table = open_data(data, delimiter, no_header, array, size, grey, learned)
    labels = list(dict.fromkeys(keep)) if keep else None
    positions, others = match_columns(table, learned.columns, learned.n_inputs, labels or ())
    if labels is None:
        labels = [*table.labels, *others][:MOST_LABELS]
    complete = CompleteRows(table, positions, labels, drop_missing=drop_missing)
    batches = list(complete)
    if complete.n_incomplete:
        say(complete.tell_dropped())
    if not sum(map(len, batches)):
        raise DataError(f"{table.source} has no rows to show.")
    shape = image_shape or table.image_shape or read_image_shape(learned)
    page = make_page(learned, table, batches, labels, shape, title or Path(data).name, max_points)
    write_output(target, page)
    if target is not None:
        say(f"Wrote {target} ({show_size(len(page))}). Open it in a browser; it needs no network.")


def make_page(
    learned: PolynomialMap,
    table: Table,
    batches: Sequence[Any],
    labels: Sequence[str],
    shape: Sequence[int] | None,
    title: str,
    max_points: int,
) -> bytes:
    """Return the page of rows that have been read."""
    import numpy as np

    samples = np.concatenate([batch.values for batch in batches])
    columns = {name: join_column([batch.kept[name] for batch in batches]) for name in labels}
    page = learned.to_html(samples, labels=columns, image_shape=shape, title=title, max_points=max_points)
    n_shown = min(max_points, len(samples))
    if n_shown < len(samples):
        say(f"Shows {n_shown:,} of {len(samples):,} rows: --max-points sets how many.")
    return page.encode()


def join_column(parts: Sequence[Any]) -> Any:
    """Return a column that was carried along, as numbers where all of it reads as such."""
    import numpy as np

    from polyfold.io.writing import make_texts

    values = [value for part in parts for value in make_texts(part)]
    if any(isinstance(value, str) and re.match(r"\s*[+-]?0\d", value) for value in values):
        return values  # an id such as 0042 is no number
    try:
        return np.array([np.nan if value in (None, "") else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        return values
