"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that at any moment, also after a crash, it holds either what it held before or `content`.

    The content goes to a temporary file beside it, is on the disk before that is renamed, and the temporary file
    is removed whatever goes wrong. Permissions stay as they were, or are those of any new file.
    """
    target = Path(path).resolve()  # a link stays a link, and its target is replaced
    temporary = target.with_name(f".polyfold-{secrets.token_hex(8)}.tmp")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
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


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk too, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
