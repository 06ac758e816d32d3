"""A map in one safetensors file: its arrays, and one metadata entry of sorted JSON, so equal maps are equal bytes.

The entry ``polyfold`` holds ``format_version``, ``library_version``, ``map`` (the facts of `polyfold._document`)
and ``sha256``, over all of these and the arrays. Nothing in a file is executed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._document import (
    build_map,
    check_document,
    check_version,
    explain_refusal,
    list_arrays,
    list_facts,
    name_versions,
    parse_json,
)
from polyfold._errors import ModelFormatError
from polyfold._files import write_whole
from polyfold._record import write_json

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap

#: The one metadata entry.
ENTRY = "polyfold"

#: Bytes that one more value of a header takes once it is read, at most.
VALUE_BYTES = 100

#: What values of a header may take: so many times the file, and so many bytes.
TIMES_FILE, SPARE_BYTES = 6, 30_000_000


def save_map(learned: PolynomialMap, path: str | os.PathLike[str]) -> None:
    """Write a map to a file, whole or not at all."""
    from safetensors.numpy import save

    arrays = list_arrays(learned)
    header: dict[str, Any] = {**name_versions(), "map": list_facts(learned)}
    header["sha256"] = _sign(header, arrays)
    write_whole(path, save(arrays, metadata={ENTRY: write_json(header)}))


def load_map(path: str | os.PathLike[str]) -> PolynomialMap:
    """Read a map from a file, or say why it is none."""
    with explain_refusal(repr(os.fspath(path))):
        return _read(Path(path))


def _read(path: Path) -> PolynomialMap:
    from safetensors import SafetensorError, safe_open

    _check_header_size(path)
    try:
        with safe_open(str(path), framework="np") as file:
            header = _read_header(file.metadata())
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
            for name, part in slices.items():
                if part.get_dtype() != "F64":
                    raise ModelFormatError(
                        f"Its array {name[:50]!r} is of type {part.get_dtype()} instead of F64."
                    )
            check_document(header["map"], {name: tuple(part.get_shape()) for name, part in slices.items()})
            arrays: dict[str, Any] = {name: file.get_tensor(name) for name in slices}
    except SafetensorError as error:
        raise ModelFormatError(f"It is no whole safetensors file: {str(error)[:200]}") from error
    if header["sha256"] != _sign({key: header[key] for key in header if key != "sha256"}, arrays):
        raise ModelFormatError("Its contents do not match its SHA-256: it was damaged, or changed by hand.")
    return build_map(header["map"], arrays)


def _check_header_size(path: Path) -> None:
    """Refuse a header that would take far more memory than the file, before it is read."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if size < 8 or length > size - 8:
            cure = " JSON is read by PolynomialMap.from_json." if start.startswith(b"{") else ""
            raise ModelFormatError(f"It is no whole safetensors file: it is of another kind, or cut short.{cure}")
        text = file.read(length)
    n_values = sum(text.count(mark) for mark in (b",", b"[", b"{", b":"))
    if n_values * VALUE_BYTES > TIMES_FILE * size + SPARE_BYTES:
        raise ModelFormatError(f"Its header has {n_values:,} entries, too many for a file of {size:,} bytes.")


def _read_header(metadata: Mapping[str, str] | None) -> dict[str, Any]:
    if metadata is None or set(metadata) != {ENTRY}:
        raise ModelFormatError(f"It has no metadata entry {ENTRY!r}, and no other: it holds something else.")
    header = parse_json(metadata[ENTRY])
    check_version(header)
    if metadata[ENTRY] != _write_header(header):
        raise ModelFormatError("Its metadata are not written as polyfold writes them: they were changed.")
    missing = {"library_version", "map", "sha256"} - set(header)
    if missing:
        raise ModelFormatError(f"Its metadata lack {', '.join(sorted(missing))}.")
    return header


def _write_header(header: dict[str, Any]) -> str:
    """Write metadata again, the only way there is, in which the least change shows."""
    try:
        return write_json(header)
    except (ValueError, RecursionError) as error:  # numbers beyond float64
        raise ModelFormatError(f"Its metadata cannot be written again: {error}") from error


def _sign(header: dict[str, Any], arrays: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the SHA-256 of a header, less the signature, and of the arrays with their names and shapes."""
    digest = hashlib.sha256(write_json(header).encode())
    for name in sorted(arrays):
        digest.update(f"\n{name} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name], dtype="<f8").tobytes())
    return digest.hexdigest()
