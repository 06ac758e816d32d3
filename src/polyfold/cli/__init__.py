"""The command line: ``polyfold fit | transform | inspect | export | explore | reproduce | bench``."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Any

import typer

from polyfold.cli.bench import bench
from polyfold.cli.explore import explore
from polyfold.cli.export import export
from polyfold.cli.fit import fit
from polyfold.cli.inspect import inspect
from polyfold.cli.reproduce import reproduce
from polyfold.cli.terminal import EXIT_CODES, Commands
from polyfold.cli.transform import transform

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (fit, transform, inspect, export, explore, reproduce, bench):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        import polyfold

        typer.echo(polyfold.__version__)
        raise typer.Exit


@app.callback()
def describe(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from; goes anywhere.")] = False,
) -> None:
    """Learn the map of a curved data set as a polynomial, and place new samples with it.

    Example:

        polyfold fit roll.csv -o roll.safetensors --n-neighbors 10

        polyfold transform roll.safetensors new.csv -o placed.csv
    """


def _stop(number: int, frame: Any) -> None:
    sys.exit(128 + number)  # on the way out, half-written files are removed


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _stop)
    app()
