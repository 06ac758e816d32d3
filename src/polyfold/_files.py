"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written so that at any moment, also after a crash, it holds all of the old or of the new.

    What is written goes to a temporary file beside it, which is on the disk before it is renamed, and is removed
    whatever goes wrong. Permissions stay as they were, or are those of any new file.
    """
    target = resolve(path)  # a link stays a link, and its target is replaced
    temporary = target.with_name(f".polyfold-{secrets.token_hex(8)}.tmp")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    if target.exists() and not target.is_file():  # a folder, or a device, which must not be replaced by a file
        raise OSError(errno.EISDIR if target.is_dir() else errno.EINVAL, "Not a file", str(target))
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def resolve(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path means in the end; links that go round in a circle are an error of the system."""
    try:
        return Path(path).resolve()
    except RuntimeError as error:  # of Python before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path)) from error


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all."""
    with open_whole(path) as file:
        file.write(content)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk too, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
