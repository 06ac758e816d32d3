"""``polyfold export``: a map in another language."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from polyfold.cli.options import Force, Model, load_model
from polyfold.cli.terminal import MISUSED, CommandError, check_output, open_output, say

if TYPE_CHECKING:
    from polyfold import PolynomialMap

Target = Literal["onnx", "sql", "c", "json", "latex"]

ENDINGS = {".onnx": "onnx", ".sql": "sql", ".c": "c", ".json": "json", ".tex": "latex"}


def export(
    model: Model,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The file; '-' prints it.", show_default=False)
    ] = "-",
    to: Annotated[
        Target | None, typer.Option(help="The language; what the ending of the file says by default.")
    ] = None,
    dialect: Annotated[
        Literal["duckdb", "sqlite", "postgres", "spark"], typer.Option(help="Of SQL.", rich_help_panel="SQL")
    ] = "duckdb",
    table: Annotated[
        str, typer.Option(help="The table that is selected from.", rich_help_panel="SQL")
    ] = "samples",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Another column to select, such as a key; repeat for more.", rich_help_panel="SQL"
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Of the function; that of the file by default.", rich_help_panel="C", show_default=False
        ),
    ] = None,
    dtype: Annotated[
        Literal["float64", "float32"],
        typer.Option(help="Of samples and coordinates.", rich_help_panel="ONNX and C"),
    ] = "float64",
    largest: Annotated[
        int, typer.Option(min=1, help="Terms of each coordinate at most.", rich_help_panel="LaTeX")
    ] = 6,
    force: Force = False,
) -> None:
    """Write a map as ONNX, SQL, C, JSON or LaTeX, to run it where Python is not.

    Example: polyfold export roll.safetensors --to sql --table measurements --keep id
    """
    language = to or ENDINGS.get(Path(output).suffix.lower())
    if language is None:
        raise CommandError("Name the language: --to onnx, sql, c, json or latex.", MISUSED)
    target = check_output(output, force=force, inputs=[model])
    learned = load_model(model)
    contents: dict[Path | None, bytes]
    if language == "c":
        contents = write_c_files(learned, target, name, dtype, force)
    else:
        contents = {target: write_text(learned, language, dialect, table, keep or (), dtype, largest)}
    with ExitStack() as files:  # of two, neither is replaced before both are on the disk
        for path, content in contents.items():
            file = files.enter_context(open_output(path))
            file.write(content)
            file.flush()
    if target is not None:
        say(f"Wrote {' and '.join(map(str, contents))}.")


def write_text(
    learned: PolynomialMap, language: str, dialect: str, table: str, keep: Any, dtype: str, largest: int
) -> bytes:
    """Return what a file of a language holds."""
    if language == "onnx":
        content: bytes = learned.to_onnx(dtype=dtype).SerializeToString()
        return content
    texts: dict[str, Callable[[], str]] = {
        "sql": lambda: learned.to_sql(dialect, table, keep=keep),
        "json": learned.to_json,
        "latex": lambda: learned.to_latex(largest=largest),
    }
    return (texts[language]() + "\n").encode()


def write_c_files(
    learned: PolynomialMap, target: Path | None, name: str | None, dtype: str, force: bool
) -> dict[Path | None, bytes]:
    """Return the header and the source of a function, which lie beside each other."""
    if target is None:
        raise CommandError("A function in C is two files, .h and .c. Name the second: -o roll.c", MISUSED)
    if target.suffix != ".c":
        raise CommandError(f"A function in C goes to a file that ends in .c, not to {target.name}.", MISUSED)
    code = learned.to_c(name or target.stem, dtype=dtype)
    if code.name != target.stem:
        raise CommandError(f"The source of {code.name} includes {code.name}.h: name it {code.name}.c", MISUSED)
    header = check_output(str(target.with_suffix(".h")), force=force)
    return {header: code.header.encode(), target: code.source.encode()}
