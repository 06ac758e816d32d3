"""What the command line says, where it says it, and how it ends."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import typer
from typer.core import TyperGroup

from polyfold._table import make_printable

#: How commands end, for scripts.
FAILED, MISUSED, UNUSABLE, UNWRITABLE, STOPPED = 1, 2, 3, 4, 130

EXIT_CODES = (
    "Exit codes: 0 done; 1 failed; 2 wrong use of the command; 3 data or model cannot be used; 4 output exists or "
    "cannot be written; 130 stopped."
)


#: Parameters of the library that are options of the same name.
PARAMETERS = (
    "n_components|graph|n_neighbors|degree|basis|constraint|alpha|reduce|center|coordinates|neighbors|reference_size|"
    "fit_inverse_transform|n_jobs|random_state|verbose|image_shape|max_points|largest|name|table|dtype"
)


class CommandError(Exception):
    """A command that cannot go on, and the code that it ends with."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def say(message: str) -> None:
    """Tell something on standard error, so that standard output is data only.

    Names of files and columns are part of it: what would move the cursor or change colours becomes spaces.
    """
    typer.echo("\n".join(map(make_printable, message.splitlines())), err=True)


def warn(message: str) -> None:
    """Tell of something that may spoil the result."""
    typer.secho("warning: ", err=True, fg="yellow", bold=True, nl=False)
    say(message)


def name_options(message: str) -> str:
    """Write parameters in a message of the library as the options that set them."""
    return re.sub(rf"`({PARAMETERS})`", lambda found: "--" + found[1].replace("_", "-"), message)


class Commands(TyperGroup):
    """Commands that end in a line or two, and not in a traceback, unless --debug asks for one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take --debug wherever it stands."""
        if "--debug" in args:
            args = ["--debug", *(each for each in args if each != "--debug")]
        return list(super().parse_args(ctx, args))

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with explain_errors(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


@contextmanager
def explain_errors(*, debug: bool) -> Iterator[None]:
    """Turn errors into a message and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped. Nothing was written.")
        raise typer.Exit(STOPPED) from None
    except BrokenPipeError:
        # Who reads standard output wants no more of it; what Python still holds for it goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None
    except Exception as error:
        if _is_for_typer(error):
            if "unexpected extra argument" in str(getattr(error, "message", "")):
                error.message += " Put a pattern that stands for several files in quotes."  # type: ignore[attr-defined]
            raise
        if debug:
            traceback.print_exc()
        message, code = _explain(error)
        typer.secho("error: ", err=True, fg="red", bold=True, nl=False)
        say(message)
        raise typer.Exit(code) from None


def _is_for_typer(error: Exception) -> bool:
    """Say whether it is typer's own way to end, or to tell of wrong use."""
    return isinstance(error, (typer.Exit, typer.Abort)) or hasattr(error, "format_message")


def _explain(error: Exception) -> tuple[str, int]:
    from polyfold._errors import ModelFormatError
    from polyfold.io import DataError, OutputKindError

    text = " ".join(str(error).split())  # one error is one line, however long
    if isinstance(error, CommandError):
        return text, error.code
    if isinstance(error, (DataError, ModelFormatError)):
        return text, UNUSABLE
    if isinstance(error, OutputKindError):
        return text, MISUSED
    if isinstance(error, OSError):
        if error.filename is None:
            return text, UNUSABLE if isinstance(error, FileNotFoundError) else FAILED
        return f"{os.fspath(error.filename)}: {error.strerror}", UNUSABLE if isinstance(
            error, FileNotFoundError
        ) else FAILED
    if isinstance(error, MemoryError):
        return f"There is not enough memory. {name_options(text)}", FAILED
    if isinstance(error, (ValueError, TypeError, ImportError)):
        # A message that begins with a parameter is about what was given for it.
        return name_options(text), MISUSED if re.match(rf"`({PARAMETERS})`", text) else FAILED
    return f"{type(error).__name__}: {text} (run again with --debug, and report what it shows)", FAILED


def check_output(path: str, *, force: bool, inputs: Sequence[str] = ()) -> Path | None:
    """Check before any work that an output can be written, and is none of the inputs; None is standard output."""
    from polyfold._files import resolve

    if path == "-":
        return None
    if not path:
        raise CommandError("The name of the output is empty. Name a file.", UNWRITABLE)
    target = Path(path)
    with explain_writing(target):
        folder = resolve(target).parent
    if target.exists() and any(Path(each).exists() and target.samefile(each) for each in inputs):
        raise CommandError(f"{path} is what is read. Write to another file.", MISUSED)
    if target.is_dir():
        raise CommandError(f"{path} is a folder. Name a file in it.", UNWRITABLE)
    if target.exists() and not target.is_file():
        raise CommandError(f"{path} is not a file. Write to '-' for standard output.", UNWRITABLE)
    if target.exists() and not force:
        raise CommandError(f"{path} exists. Pass --force to replace it.", UNWRITABLE)
    if not folder.is_dir():
        raise CommandError(f"There is no folder {str(target.parent)!r} to write {target.name} to.", UNWRITABLE)
    return target


def check_folder(folder: Path, names: Sequence[str], *, force: bool) -> None:
    """Check before any work that a folder does not hold what will be written to it."""
    for name in names:
        if (folder / name).exists() and not force:
            raise CommandError(f"{folder / name} exists. Pass --force to replace it.", UNWRITABLE)


@contextmanager
def open_output(target: Path | None) -> Iterator[BinaryIO]:
    """Open a file that is written whole or not at all, or standard output."""
    from polyfold._files import open_whole

    if target is None:
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            if error.filename is not None:
                raise  # of another file
            raise CommandError(f"Standard output could not be written: {error.strerror}", UNWRITABLE) from error
        return
    with explain_writing(target), open_whole(target) as file:
        yield file


@contextmanager
def explain_writing(target: Path) -> Iterator[None]:
    """Say of errors of the system that it is the output that could not be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None and Path(error.filename).parent != Path(os.path.realpath(target)).parent:
            raise  # of another file
        raise CommandError(f"{target} could not be written: {error.strerror or error}", UNWRITABLE) from error


def write_output(target: Path | None, content: bytes) -> None:
    """Write a whole file, or to standard output."""
    with open_output(target) as file:
        file.write(content)


def count(number: int, noun: str) -> str:
    """Write a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def show_size(n_bytes: float) -> str:
    """Write a number of bytes for people."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
