"""A map and samples as one page that opens without a network: points to look at, and the map itself to try."""

from __future__ import annotations

import json
import warnings
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.metadata import version
from importlib.resources import files
from math import prod
from numbers import Integral
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._validation import MOST, check_integer
from polyfold.polymap import PolynomialMap

#: The parts of the page's script, in the order in which they need each other.
SCRIPTS = ("map", "delimited", "colours", "pictures", "data", "scatter", "sample", "placing", "main")

#: Bytes of samples that a page holds at most, before they are packed; fewer points are shown if they are more.
MOST_BYTES = 64_000_000

#: Up to so many numbers are kept in all their digits.
EXACT_NUMBERS = 2_000_000

#: The largest number that float32 holds.
MOST_SINGLE = float(np.finfo(np.float32).max)

#: A column of whole numbers with so few different ones tells kinds apart.
MOST_KINDS = 12

#: Whole numbers beyond this are not told apart by float64: they are ids, not amounts.
MOST_EXACT = 2**53

NUMBERS = (int, float, np.integer, np.floating)

#: What a page may do: run its own script, and nothing else; in particular ask nobody for anything.
POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src blob: data:; "
    "connect-src 'none'; base-uri 'none'; form-action 'none'"
)


def write_html(
    learned: PolynomialMap,
    X: Any,
    labels: Mapping[str, Any] | None,
    image_shape: Sequence[int] | None,
    row_numbers: Any,
    title: str | None,
    max_points: int,
) -> str:
    """Return the page of a map."""
    max_points = check_integer("max_points", max_points, 1)
    if isinstance(image_shape, Integral):
        raise ValueError(f"`image_shape` must be (height, width) or (height, width, 3), got {image_shape!r}.")
    lengths = None if image_shape is None else [check_integer("image_shape", each, 1) for each in image_shape]
    if lengths is not None and (len(lengths) not in (2, 3) or prod(lengths) != learned.n_inputs):
        raise ValueError(
            f"`image_shape` must be (height, width) or (height, width, 3), {learned.n_inputs} values in all, got "
            f"{tuple(lengths)}."
        )
    if len(image_shape or ()) == 3 and image_shape[2] != 3:  # type: ignore[index]
        raise ValueError(f"`image_shape` of colours must end in 3, got {tuple(image_shape or ())}.")
    if not isinstance(labels or {}, Mapping):
        raise ValueError(f"`labels` must be a mapping from names to columns, got {type(labels).__name__}.")
    if not isinstance(title or "", str):
        raise ValueError(f"`title` must be a text, got {title!r}.")
    payload = {
        "map": json.loads(learned.to_json()),
        "order": rank_columns(learned, X),
        "image": None if image_shape is None else _describe_images(learned, image_shape, X),
        "n_points": 0,
        "n_samples": 0 if X is None else X.shape[0],
        "labels": [],
    }
    if X is not None and X.shape[0]:
        payload |= pack_points(learned, X, labels or {}, row_numbers, max_points)
    page = files("polyfold.export") / "page"
    style = (page / "style.css").read_text(encoding="utf-8")
    parts = [(page / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    script = '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
    # Escaped so that no text from data can end the element that holds it.
    data = json.dumps(payload, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return Template((page / "page.html").read_text(encoding="utf-8")).substitute(
        # Half of a pair of surrogates, which UTF-8 has not, becomes a reference.
        title=escape(title or "A map of polyfold").encode("utf-8", "xmlcharrefreplace").decode(),
        version=escape(version("polyfold")),
        policy=POLICY.format(script=_digest(script), style=_digest(style)),
        style=style,
        payload=data,
        script=script,
    )


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def rank_columns(learned: PolynomialMap, X: Any) -> list[int]:
    """Return the columns, those that move the coordinates most first."""
    if X is not None and X.shape[0] > 1:
        some = X[:: max(1, X.shape[0] // 1000)]
        effects = learned.sensitivity(some if some.shape[0] > 1 else X).values
    else:
        domain = learned.domain
        center = learned.shift if domain is None else domain.center
        lengths: Any = 1.0 if domain is None or domain.ranges is None else np.ptp(domain.ranges, axis=0)
        effects = (learned.jacobian(center[np.newaxis])[0] * lengths).T
    spans = np.abs(effects).max(axis=0)
    shares = np.abs(effects / np.where(spans > 0, spans, 1)).max(axis=1)
    order: list[int] = np.argsort(-shares, kind="stable").tolist()
    return order


def _describe_images(learned: PolynomialMap, shape: Sequence[int], X: Any) -> dict[str, Any]:
    """Return the shape of images, and the value of white: 1, 255, or the largest there is."""
    ranges = None if learned.domain is None else learned.domain.ranges
    largest = float(ranges[1].max() if ranges is not None else X.max() if X is not None and X.size else 255)
    white = 1.0 if largest <= 1 else 255.0 if 32 < largest <= 255 else largest
    return {"shape": [int(length) for length in shape], "white": white}


def pack_points(
    learned: PolynomialMap, X: Any, labels: Mapping[str, Any], row_numbers: Any, max_points: int
) -> dict[str, Any]:
    """Return what a page holds of samples: coordinates, scores, values and labels."""
    n_samples = X.shape[0]
    numbers = np.arange(1, n_samples + 1) if row_numbers is None else np.asarray(row_numbers)
    if numbers.shape != (n_samples,) or numbers.dtype.kind not in "ui" or numbers.min() < 0:
        raise ValueError(
            f"`row_numbers` must be {n_samples} whole numbers, got an array of shape {numbers.shape}."
        )
    for name, column in labels.items():
        if not hasattr(column, "__len__"):
            raise ValueError(f"`labels` must be columns of {n_samples} values, but {name!r} is {column!r}.")
        if len(column) != n_samples:
            raise ValueError(f"`labels` must have {n_samples} values each, but {name!r} has {len(column)}.")
    rows = choose_rows(X, max_points)
    if len(rows) < min(n_samples, max_points):
        warnings.warn(
            f"The page shows {len(rows):,} of {n_samples:,} samples: more would be larger than "
            f"{MOST_BYTES / 1e6:.0f} MB. Use `max_points` to choose fewer, or samples of fewer columns.",
            stacklevel=4,
        )
    values = X[rows]
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    placed = np.asarray(learned.transform(values), dtype=np.float64)
    return {
        "n_points": len(rows),
        "rows": _pack(numbers[rows], "float64"),
        "coordinates": _pack(placed, _choose_float(placed)),
        "scores": None if learned.domain is None else _pack(learned.extrapolation(values), "float32"),
        "values": _pack(values, _choose_type(values)),
        "labels": [_pack_label(name, column, rows) for name, column in labels.items()],
    }


def choose_rows(X: Any, max_points: int) -> NDArray[np.intp]:
    """Return which samples a page shows: all, or as many as it may hold, drawn the same way each time."""
    n_samples, n_columns = X.shape
    row_bytes = n_columns * (1 if X.dtype == np.uint8 else 4)
    most = min(max_points, max(1, MOST_BYTES // max(row_bytes, 1)))
    if n_samples <= most:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, most, replace=False))


def _choose_type(values: NDArray[Any]) -> str:
    if values.dtype.kind in "bui" or (values.size and values.max() <= 255):
        is_byte = values.size and values.min() >= 0 and values.max() <= 255 and np.array_equal(values, values // 1)
        if is_byte:
            return "uint8"
    return _choose_float(values)


def _choose_float(values: NDArray[Any]) -> str:
    """Return float32 for many numbers that it can hold."""
    is_large = values.size and max(abs(float(values.max())), abs(float(values.min()))) > MOST_SINGLE
    return "float64" if is_large or values.size <= EXACT_NUMBERS else "float32"


@np.errstate(over="ignore")  # of scores: what is so far out is infinitely far in a page
def _pack(values: Any, kind: str) -> dict[str, str]:
    content = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<")).tobytes()
    return {"type": kind, "packed": b64encode(zlib.compress(content)).decode()}


def _is_number(value: Any) -> bool:
    """Say whether a label is a number that a double can hold."""
    if not isinstance(value, NUMBERS) or isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, (float, np.generic)) or abs(value) <= MOST


def _pack_label(name: str, column: Any, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Return a column as numbers or, where it tells kinds apart, as texts and which of them each sample has."""
    if np.ma.isMaskedArray(column):
        column = column.tolist()  # None for what is masked
    values = column if isinstance(column, (list, tuple)) else np.asarray(column)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"`labels` must be of one dimension, but {name!r} has shape {values.shape}.")
    chosen = [values[row] for row in rows.tolist()]
    if all(_is_number(value) for value in chosen):
        numbers = np.array(chosen, dtype=np.float64)
        is_exact = not np.any(np.abs(numbers) > MOST_EXACT) or isinstance(chosen[0], (float, np.floating))
        kinds = np.unique(numbers)
        is_scale = len(kinds) > MOST_KINDS or not np.isfinite(kinds).all() or (kinds != np.round(kinds)).any()
        if is_exact and is_scale:
            return {"name": str(name), "numbers": _pack(numbers, "float64")}
        if is_exact:
            codes = _pack(np.searchsorted(kinds, numbers), "uint32")
            return {"name": str(name), "texts": [f"{kind:.0f}" for kind in kinds], "codes": codes}
    words = ["" if value is None else str(value) for value in chosen]
    found = sorted(set(words))
    places = {word: code for code, word in enumerate(found)}
    return {"name": str(name), "texts": found, "codes": _pack([places[word] for word in words], "uint32")}
