"""``polyfold fit``: learn a map from a table and keep it."""

from __future__ import annotations

import json as json_module
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from polyfold._graph_names import list_graphs
from polyfold.cli.cluster import open_cluster
from polyfold.cli.options import (
    Array,
    Data,
    Delimiter,
    DropMissing,
    Force,
    Grey,
    Json,
    Keep,
    NoHeader,
    Size,
    is_many,
    list_inputs,
    open_data,
)
from polyfold.cli.terminal import (
    MISUSED,
    CommandError,
    check_output,
    count,
    explain_writing,
    name_options,
    say,
    show_size,
    warn,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyfold import PolynomialMap
    from polyfold.io import Table

Method = Literal["polynomial", "nppe", "snppe", "npe", "npp", "onpp", "lpp", "olpp", "lltsa"]

GRAPHS = list_graphs()

#: Parameters of the estimator, all of them reachable as options of the same name.
_PARAMETER: dict[str, Any] = {"rich_help_panel": "Parameters of the estimator", "show_default": False}


def read_amount(option: str, text: str) -> int | float | str | None:
    """Read a number, "auto" or "none"."""
    if text.lower() in ("auto", "none"):
        return "auto" if text.lower() == "auto" else None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise typer.BadParameter(f"{text!r} is neither a number nor 'auto'.", param_hint=option)


def fit(
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", help="The file for the map.", show_default=False)],
    method: Annotated[
        Method,
        typer.Option(
            metavar="NAME",
            help="The general form with every parameter (polynomial), or a published method: nppe, snppe, npe, "
            "onpp, lpp, olpp, lltsa.",
            case_sensitive=False,
        ),
    ] = "polynomial",
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Learn from this column; repeat for more. All by default."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Do not learn from this column; repeat for more.")
    ] = None,
    keep: Keep = None,
    drop_missing: DropMissing = False,
    force: Force = False,
    json: Json = False,
    n_components: Annotated[
        int | None, typer.Option("--n-components", "-m", help="Coordinates: 2 by default.", **_PARAMETER)
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            help=f"What is kept of the samples: {', '.join(GRAPHS)}, or a sparse affinity matrix in an .npz file.",
            autocompletion=lambda: list(GRAPHS),
            **_PARAMETER,
        ),
    ] = None,
    n_neighbors: Annotated[
        str | None,
        typer.Option("--n-neighbors", "-k", metavar="N|auto", help="Of each sample.", **_PARAMETER),
    ] = None,
    degree: Annotated[
        int | None, typer.Option("--degree", "-p", help="Of the polynomial: 2 by default.", **_PARAMETER)
    ] = None,
    basis: Annotated[
        Literal["auto", "kronecker", "hadamard"] | None,
        typer.Option(
            metavar="NAME", help="All monomials (kronecker), pure powers (hadamard), or auto.", **_PARAMETER
        ),
    ] = None,
    constraint: Annotated[
        Literal["embedding", "orthogonal"] | None,
        typer.Option(
            metavar="NAME",
            help="What keeps coordinates from shrinking to a point: embedding or orthogonal.",
            **_PARAMETER,
        ),
    ] = None,
    alpha: Annotated[
        str | None, typer.Option(metavar="X|auto", help="The ridge; 0 is the paper.", **_PARAMETER)
    ] = None,
    reduce: Annotated[
        str | None,
        typer.Option(
            metavar="N|X|auto",
            help="Principal axes that the polynomial is written in: how many, what share of variance, or none.",
            **_PARAMETER,
        ),
    ] = None,
    center: Annotated[bool | None, typer.Option(help="Whether the map has a constant term.", **_PARAMETER)] = None,
    coordinates: Annotated[
        Literal["independent", "smallest"] | None,
        typer.Option(
            metavar="NAME", help="Skip those that repeat others (independent), or not (smallest).", **_PARAMETER
        ),
    ] = None,
    neighbors: Annotated[
        Literal["auto", "exact", "approx"] | None,
        typer.Option(metavar="NAME", help="How neighbours are found: auto, exact or approx.", **_PARAMETER),
    ] = None,
    reference_size: Annotated[
        str | None,
        typer.Option(
            metavar="N|auto",
            help="Samples among which neighbours are looked for: all by default, of several files a million.",
            **_PARAMETER,
        ),
    ] = None,
    fit_inverse_transform: Annotated[
        bool | None,
        typer.Option("--fit-inverse-transform", help="Learn the way back to samples too.", **_PARAMETER),
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(help="Threads; -1 is one for each core.", **_PARAMETER)] = None,
    random_state: Annotated[int | None, typer.Option(help="The seed, where one is used.", **_PARAMETER)] = None,
    verbose: Annotated[
        int | None, typer.Option(help="1 shows progress; by default in a terminal.", **_PARAMETER)
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Compute on this Dask cluster, as tcp://host:8786; by default several .parquet or .npy files are "
            "learned from by workers of this machine.",
        ),
    ] = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    array: Array = None,
    size: Size = None,
    grey: Grey = None,
) -> None:
    """Learn a map from the rows of DATA, and write it to a file of a few kilobytes.

    Example: polyfold fit roll.csv -o roll.safetensors --n-neighbors 10 --exclude id

    Files larger than memory: polyfold fit 'data/*.parquet' -o map.safetensors
    """
    parameters: dict[str, Any] = {
        "n_components": n_components,
        "graph": graph,
        "n_neighbors": n_neighbors,
        "degree": degree,
        "basis": basis,
        "constraint": constraint,
        "alpha": alpha,
        "reduce": reduce,
        "center": center,
        "coordinates": coordinates,
        "neighbors": neighbors,
        "reference_size": reference_size,
        "fit_inverse_transform": fit_inverse_transform,
        "n_jobs": n_jobs,
        "random_state": random_state,
        "verbose": int(sys.stderr.isatty() and not json) if verbose is None else verbose,
    }
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in ("n_neighbors", "alpha", "reduce", "reference_size"):
        if name in given:
            given[name] = read_amount(f"--{name.replace('_', '-')}", given[name])
    from polyfold.io import open_many

    if output == "-":
        raise CommandError("A map is not written to standard output. Name a file: -o model.safetensors", MISUSED)
    target = check_output(output, force=force, inputs=list_inputs(data))
    assert target is not None
    chosen = columns or (), exclude or (), keep or ()
    on_cluster = scheduler is not None or is_many(data)
    table = open_many(data) if on_cluster else open_data(data, delimiter, no_header, array, size, grey)
    samples, names = (cut_samples if on_cluster else read_samples)(table, *chosen, drop_missing)
    estimator = make_estimator(method, given)  # imports scikit-learn, which takes longer than most tables
    with open_cluster(scheduler, n_jobs) if on_cluster else nullcontext():
        start = time.perf_counter()
        learned, trouble = learn_map(estimator, samples, names, table.image_shape)
        seconds = time.perf_counter() - start
    if on_cluster and table.n_rows is not None:
        say_dropped(table.n_rows - count_learned(learned))
    with explain_writing(target):
        learned.save(target)
    report_fit(learned, trouble, target, table.source, seconds, as_json=json)


def make_estimator(method: str, parameters: dict[str, Any]) -> Any:
    """Return the estimator of a method with the parameters that were given."""
    from inspect import signature

    from polyfold import presets
    from polyfold.embedding import PolynomialEmbedding

    kind = PolynomialEmbedding if method == "polynomial" else getattr(presets, method.upper())
    known = signature(kind).parameters
    for name in parameters:
        if name not in known:
            raise CommandError(
                f"--method {method} fixes --{name.replace('_', '-')}. Leave one of the two out.", MISUSED
            )
    graph = parameters.get("graph")
    if graph is not None and graph.endswith(".npz"):
        parameters = parameters | {"graph": _load_affinity(Path(graph))}
    return kind(**parameters)


def _load_affinity(path: Path) -> Any:
    from zipfile import BadZipFile

    from scipy.sparse import load_npz

    from polyfold.io import DataError

    try:
        return load_npz(path)
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise DataError(f"{path} holds no sparse matrix, as scipy.sparse.save_npz writes it: {error}") from error


def read_samples(
    table: Table, columns: Sequence[str], exclude: Sequence[str], keep: Sequence[str], drop_missing: bool
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Read the columns to learn from, all rows, and their names."""
    import numpy as np

    from polyfold.io import CompleteRows, DataError, choose_columns

    chosen = choose_columns(table, columns, exclude, keep)
    names = None if table.names is None else tuple(table.names[position] for position in chosen)
    complete = CompleteRows(table, chosen, drop_missing=drop_missing)
    with explain_text():
        batches = [batch.values for batch in complete]
    say_dropped(complete.n_incomplete)
    n_rows = sum(map(len, batches))
    if n_rows < 2:
        which = " that miss no value" if drop_missing else ""
        raise DataError(f"{table.source} has {count(n_rows, 'row')}{which}, and a map is learned from 2 or more.")
    whole = getattr(table, "take_whole", None)
    if whole is not None and n_rows == table.n_rows:
        return whole(), names  # mapped into memory, not copied
    return np.concatenate(batches), names


def say_dropped(n_rows: int) -> None:
    """Say how many rows were left out, if any were."""
    from polyfold.io.table import tell_dropped

    if n_rows:
        say(tell_dropped(n_rows))


@contextmanager
def explain_text() -> Iterator[None]:
    """Say how to leave out a column that holds no numbers."""
    from polyfold.io import DataError, TextError

    try:
        yield
    except TextError as error:
        if error.column is None:
            raise DataError(f"{error} Give the columns names, and leave it out with --exclude.") from error
        raise DataError(f"{error} Leave the column out with --exclude {error.column}.") from error


def cut_samples(
    table: Any, columns: Sequence[str], exclude: Sequence[str], keep: Sequence[str], drop_missing: bool
) -> tuple[Any, tuple[str, ...] | None]:
    """Return a Dask array of the columns to learn from, which workers read from the files, and their names."""
    from polyfold._extras import import_needing
    from polyfold.io import choose_columns

    chosen = choose_columns(table, columns, exclude, keep)
    with explain_text():
        table.check_numbers(chosen)
    names = None if table.names is None else tuple(table.names[position] for position in chosen)
    pieces = table.cut(chosen, drop_missing=drop_missing)
    return import_needing("polyfold.dask", "dask").from_pieces(pieces), names


def learn_map(
    estimator: Any, samples: Any, names: tuple[str, ...] | None, image_shape: tuple[int, ...] | None
) -> tuple[PolynomialMap, list[str]]:
    """Fit, and return the map with the names of its columns, and what may spoil it."""
    from polyfold._record import describe_training

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        estimator.fit(samples)
    diagnostics = estimator.diagnostics_
    told = {str(each.message) for each in heard} - set(diagnostics.find_trouble())
    if names is not None:
        position = int(diagnostics.dominant_column)
        diagnostics = replace(diagnostics, dominant_column=repr(names[position]))
    training = describe_training(estimator, diagnostics)
    if image_shape is not None:
        training["image_shape"] = list(image_shape)
    learned = replace(estimator.map_, columns=names, training=training)
    return learned, [name_options(text) for text in (*sorted(told), *diagnostics.find_trouble())]


def count_learned(learned: PolynomialMap) -> int:
    """Return how many rows a map was learned from."""
    return int(learned.training["diagnostics"]["n_samples"]) if learned.training else 0


def report_fit(
    learned: PolynomialMap, trouble: list[str], target: Path, source: str, seconds: float, *, as_json: bool
) -> None:
    """Tell what was learned."""
    from polyfold.cli.inspect import describe_map, show_map

    n_bytes = target.stat().st_size
    if as_json:
        facts = {"model": str(target), "data": source, "seconds": seconds, "warnings": trouble, "bytes": n_bytes}
        typer.echo(json_module.dumps(facts | describe_map(learned), indent=2, ensure_ascii=False))
        return
    title = f"Learned from {count(count_learned(learned), 'row')} of {source} in {seconds:.1f} s"
    show_map(learned, title, sections=("map", "coordinates"))
    for message in trouble:
        warn(message)
    say(f"Wrote {target} ({show_size(n_bytes)}). 'polyfold inspect {target}' tells how it was learned.")
