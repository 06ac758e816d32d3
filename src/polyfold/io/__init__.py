"""Tables of samples in files and folders, read a few rows at a time, and coordinates written likewise."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from polyfold._extras import import_needing
from polyfold.io.columns import check_kept, choose_columns, match_columns
from polyfold.io.many import IN_PIECES, ManyTable, explain_remote, list_files, open_part
from polyfold.io.table import Batch, CompleteRows, DataError, OutputKindError, Table, TextError, list_names

__all__ = [
    "Batch",
    "CompleteRows",
    "DataError",
    "ManyTable",
    "OutputKindError",
    "Table",
    "TextError",
    "check_kept",
    "choose_columns",
    "list_files",
    "list_names",
    "load_format",
    "match_columns",
    "open_many",
    "open_table",
    "read_ending",
]

#: Modules that need an extra, and what it installs.
EXTRAS = {"parquet": "parquet", "parquet_writing": "parquet", "images": "images"}

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def load_format(name: str) -> Any:
    """Import the module for a kind of files, or say what to install."""
    return import_needing(f"polyfold.io.{name}", EXTRAS.get(name))


def read_ending(path: Path) -> str:
    """Return the ending of a file's name that tells its kind, .gz left aside."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] == ".gz":
        endings.pop()
    return endings[-1] if endings else ""


def open_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    has_header: bool = True,
    array: str | None = None,
    size: tuple[int, int] | None = None,
    grey: bool | None = None,
) -> Table:
    r"""Open a table.

    Parameters
    ----------
    path : str or Path
        A .csv or .tsv file (also .gz), .parquet, .npy or .npz, a folder of images, a pattern such as
        "data/*.parquet" for files that are read one after the other, or "-": text from standard input.
    delimiter : str, default=None
        Between cells of text; None is what the ending says.
    has_header : bool, default=True
        Whether the first line of text names the columns.
    array : str, default=None
        Which array of an .npz file to take.
    size : tuple of int, default=None
        Height and width to bring images to.
    grey : bool, default=None
        Whether to drop the colours of images; None drops them where there are none.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from polyfold.io import CompleteRows, open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.csv"
    ...     _ = path.write_text("a,b\n1,2\n3,4\n")
    ...     table = open_table(path)
    ...     print(table.names, [batch.values.tolist() for batch in CompleteRows(table, [1, 0])])
    ('a', 'b') [[[2.0, 1.0], [4.0, 3.0]]]
    """
    files = list_files(path)
    if files is None:
        return cast("Table", _open(path, delimiter, has_header, array, size, grey))

    def open_one(file: Path) -> Table:
        if read_ending(file) in IN_PIECES:
            return cast("Table", open_part(file))
        return cast("Table", _open(file, delimiter, has_header, array, size, grey))

    return ManyTable(str(path), files, open_one)


def open_many(path: str | Path) -> ManyTable:
    """Open one file or several that can be read in pieces, of parquet or .npy."""
    files = list_files(path) or [_check_place(path)]
    others = [file.name for file in files if read_ending(file) not in IN_PIECES or file.is_dir()]
    if others:
        raise DataError(
            f"Workers read .parquet and .npy files, and not {list_names(others)}. Leave --scheduler out, or "
            "convert them."
        )
    return ManyTable(str(path), files, open_part)


def _check_place(path: str | Path) -> Path:
    """Check that there is something to open."""
    place = Path(path)
    if not place.exists() and "://" in str(path):
        raise DataError(explain_remote(path))
    if not place.exists():
        raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
    return place


def _open(
    path: str | Path,
    delimiter: str | None,
    has_header: bool,
    array: str | None,
    size: tuple[int, int] | None,
    grey: bool | None,
) -> Any:
    if str(path) == "-":
        return load_format("delimited").DelimitedTable(None, delimiter or ",", has_header=has_header)
    place = _check_place(path)
    if place.is_dir():
        return load_format("images").ImageTable(place, size, grey)
    ending = read_ending(place)
    if ending in DELIMITERS or (delimiter and ending in (".txt", "")):
        mark = delimiter or DELIMITERS[ending]
        return load_format("delimited").DelimitedTable(place, mark, has_header=has_header)
    if ending in (".parquet", ".pq"):
        return load_format("parquet").ParquetTable(place)
    if ending == ".npy":
        return load_format("arrays").open_npy(place)
    if ending == ".npz":
        return load_format("arrays").open_npz(place, array)
    raise DataError(
        f"What {place.name} holds cannot be told from its name. Data is in .csv, .tsv (also .gz), .parquet, .npy "
        "or .npz, in a folder of .png or .jpg, or is '-': text from standard input."
    )
