"""Options that several commands share, and the data that they describe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyfold.cli.terminal import MISUSED, CommandError

if TYPE_CHECKING:
    from polyfold import PolynomialMap
    from polyfold.io import Table

DATA_HELP = (
    "A .csv or .tsv file (also .gz), .parquet, .npy or .npz, a folder of .png or .jpg images, a quoted pattern "
    "such as 'data/*.parquet' for several files, or '-' for text from standard input."
)

Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A map that 'polyfold fit' wrote.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace the output where it exists.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Carry a column along untouched, such as an id (of images: file, folder); repeat for more.",
    ),
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows that miss a value.")]

_OF_DATA: dict[str, Any] = {"rich_help_panel": "How DATA is read", "show_default": False}


def parse_size(text: str) -> tuple[int, int]:
    """Read the height and width of images."""
    found = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text)
    if not found or "0" in found.groups():
        raise typer.BadParameter(f"{text!r} is not HEIGHTxWIDTH, such as 32x32.")
    return int(found[1]), int(found[2])


Delimiter = Annotated[
    str | None, typer.Option(help="The character between cells; what the ending says by default.", **_OF_DATA)
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line holds data, not names.", **_OF_DATA)]
Array = Annotated[str | None, typer.Option(help="Which array of an .npz file; X by default.", **_OF_DATA)]
Size = Annotated[
    Any, typer.Option(parser=parse_size, metavar="HxW", help="Bring images to this size, as 32x32.", **_OF_DATA)
]
Grey = Annotated[
    bool | None, typer.Option("--grey/--colour", help="Whether to drop the colours of images.", **_OF_DATA)
]


def open_data(
    data: str,
    delimiter: str | None,
    no_header: bool,
    array: str | None,
    size: tuple[int, int] | None,
    grey: bool | None,
    learned: PolynomialMap | None = None,
) -> Table:
    """Open a table; images are brought to the form that a map has learned from."""
    from polyfold.io import open_table

    shape = None if learned is None else read_image_shape(learned)
    if shape is not None:
        size = size or (shape[0], shape[1])
        grey = len(shape) == 2 if grey is None else grey
    return open_table(data, delimiter=delimiter, has_header=not no_header, array=array, size=size, grey=grey)


def list_inputs(data: str) -> list[str]:
    """Return the files that DATA stands for."""
    from polyfold.io import list_files

    files = list_files(data)
    return [data] if files is None else [str(file) for file in files]


def is_many(data: str) -> bool:
    """Say whether DATA stands for several files that workers can read in pieces: .parquet or .npy."""
    from polyfold.io import list_files, read_ending
    from polyfold.io.many import IN_PIECES

    files = list_files(data)
    return files is not None and all(read_ending(file) in IN_PIECES for file in files)


def load_model(path: str) -> PolynomialMap:
    """Load a map."""
    from polyfold import PolynomialMap

    if path == "-":
        raise CommandError("A map is read from a file, not from standard input.", MISUSED)
    return PolynomialMap.load(path)


def read_image_shape(learned: PolynomialMap) -> tuple[int, ...] | None:
    """Return the shape of the images that a map has learned from, where it says so."""
    from math import prod

    shape: Any = (learned.training or {}).get("image_shape")
    if not isinstance(shape, (list, tuple)) or not all(type(length) is int and length > 0 for length in shape):
        return None
    return tuple(shape) if len(shape) in (2, 3) and prod(shape) == learned.n_inputs else None
