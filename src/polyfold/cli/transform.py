"""``polyfold transform``: place the rows of a table, however many they are."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyfold.cli.options import (
    Array,
    Data,
    Delimiter,
    DropMissing,
    Force,
    Grey,
    Keep,
    Model,
    NoHeader,
    Size,
    list_inputs,
    load_model,
    open_data,
)
from polyfold.cli.terminal import UNUSABLE, CommandError, check_output, count, open_output, say

if TYPE_CHECKING:
    from polyfold import PolynomialMap
    from polyfold.io import Batch, Table

#: What the column of extrapolation scores is called.
SCORE = "extrapolation"


def transform(
    model: Model,
    data: Data,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="The file for the coordinates: .csv, .tsv (also .gz), .parquet or .npy; '-' prints them.",
        ),
    ] = "-",
    keep: Keep = None,
    extrapolation: Annotated[
        bool, typer.Option("--extrapolation", help="Also say how far outside each row lies; above 1 is outside.")
    ] = False,
    drop_missing: DropMissing = False,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    array: Array = None,
    size: Size = None,
    grey: Grey = None,
) -> None:
    """Place the rows of DATA, a few at a time, in bounded memory.

    Columns are found by name. Example: polyfold transform roll.safetensors new.csv -o placed.parquet --keep id
    """
    from polyfold.io import CompleteRows, list_names, match_columns
    from polyfold.io.writing import make_writer

    target = check_output(output, force=force, inputs=[model, *list_inputs(data)])
    learned = load_model(model)
    if extrapolation and learned.domain is None:
        raise CommandError(f"{model} does not hold what its samples covered: leave --extrapolation out.", UNUSABLE)
    table = open_data(data, delimiter, no_header, array, size, grey, learned)
    kept = list(dict.fromkeys(keep or ()))
    positions, ignored = match_columns(table, learned.columns, learned.n_inputs, kept)
    if ignored and not quiet:
        say(f"Ignored {list_names(ignored)}: the map does not take {'it' if len(ignored) == 1 else 'them'}.")
    names = [*learned.coordinate_names, *([SCORE] if extrapolation else [])]
    batches = CompleteRows(table, positions, kept, drop_missing=drop_missing)
    n_placed = n_outside = 0
    start = time.perf_counter()
    with open_output(target) as file, make_writer(target, file, kept, names) as writer:
        for batch in show_progress(batches, table, shown=not quiet):
            values = place_batch(learned, table, batch, extrapolation)
            writer.write(batch.kept, values)
            n_placed += len(values)
            n_outside += int((values[:, -1] > 1).sum()) if extrapolation else 0
    seconds = max(time.perf_counter() - start, 1e-9)
    if batches.n_incomplete and not quiet:
        say(batches.tell_dropped())
    if not quiet:
        outside = f", {n_outside:,} of them outside of what was learned" if extrapolation else ""
        where = "" if target is None else f" Wrote {target}."
        speed = f"{n_placed / seconds:,.0f} rows/s"
        say(f"Placed {count(n_placed, 'row')} in {seconds:.1f} s, {speed}{outside}.{where}")


def place_batch(learned: PolynomialMap, table: Table, batch: Batch, extrapolation: bool) -> Any:
    """Return the coordinates of a batch and, where asked for, its extrapolation scores."""
    import numpy as np

    from polyfold.io import DataError

    try:
        placed = learned.transform(batch.values)
    except ValueError as error:
        row = re.match(r"Row (\d+) of X", str(error))
        if row is None:
            raise
        source, number = table.locate_row(int(batch.list_positions()[int(row[1])]))
        raise DataError(f"{source}: data row {number + 1:,}{str(error)[row.end() :]}") from error
    if not extrapolation:
        return placed
    return np.column_stack([placed, learned.extrapolation(batch.values)])


def show_progress(batches: Iterable[Batch], table: Table, *, shown: bool) -> Iterator[Batch]:
    """Hand batches on, and show how far the table has been read, in a terminal."""
    if not shown or not sys.stderr.isatty():
        yield from batches
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns: Sequence[Any] = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]}"),
        TimeRemainingColumn(),
    )
    n_rows, start = 0, time.perf_counter()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"Placing {table.source}", total=None, rows="")
        for batch in batches:
            yield batch
            n_rows += len(batch)
            rate = n_rows / max(time.perf_counter() - start, 1e-9)
            share = table.read_share()
            total: dict[str, Any] = {} if share is None else {"total": 1.0, "completed": share}
            progress.update(task, rows=f"{n_rows:,} rows, {rate:,.0f} rows/s", **total)
