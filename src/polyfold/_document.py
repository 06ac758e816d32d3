"""A map taken apart into facts, that JSON holds, and named arrays; and put together again, if it is one.

The facts are ``basis``, ``degree``, ``columns`` (names or null), ``training`` (or null) and ``decoder`` (the same
of the way back, or null). The arrays are ``shift``, ``scale``, ``coefficients``, ``offset``, and where the map has
them ``axes``, those of its domain (``domain.center``, …) and of its decoder (``decoder.shift``, …).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._basis import BASES
from polyfold._domain import Domain
from polyfold._errors import ModelFormatError

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap

Shape = tuple[int, ...]

#: The version of what is written; what is read is this one and those before it.
FORMAT_VERSION = 1

#: Dimensions of the arrays, required and optional.
REQUIRED = {"shift": 1, "scale": 0, "coefficients": 2, "offset": 1}
DOMAIN = {"center": 1, "directions": 2, "spreads": 1, "reach": 0, "thickness": 0}


def list_facts(learned: PolynomialMap) -> dict[str, Any]:
    """Return all of a map that is not an array."""
    return {
        "basis": learned.basis,
        "degree": learned.degree,
        "columns": learned.columns,
        "training": learned.training,
        "decoder": None if learned.decoder is None else list_facts(learned.decoder),
    }


def list_arrays(learned: PolynomialMap, prefix: str = "") -> dict[str, NDArray[np.float64]]:
    """Return the arrays of a map by name."""
    arrays: dict[str, Any] = {name: getattr(learned, name) for name in REQUIRED}
    if learned.axes is not None:
        arrays["axes"] = learned.axes
    if learned.domain is not None:
        arrays |= {f"domain.{name}": getattr(learned.domain, name) for name in DOMAIN}
        if learned.domain.ranges is not None:
            arrays["domain.ranges"] = learned.domain.ranges
    named = {prefix + name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}
    if learned.decoder is not None:
        named |= list_arrays(learned.decoder, prefix + "decoder.")
    return named


def name_versions() -> dict[str, Any]:
    """Return the version of the format, and of the library that writes it."""
    return {"format_version": FORMAT_VERSION, "library_version": version("polyfold")}


def parse_json(text: str | bytes) -> dict[str, Any]:
    """Read a JSON object, of finite numbers only."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no number")

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):  # of which one reader would take the first, and another the last
            raise ValueError("a key stands twice in one object")
        return found

    try:
        parsed = json.loads(text, parse_constant=refuse, object_pairs_hook=collect)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"It holds no JSON: {str(error)[:200]}") from error
    if not isinstance(parsed, dict):
        raise ModelFormatError("Its JSON is not an object.")
    return parsed


def check_version(header: Mapping[str, Any]) -> None:
    """Check that a document is of a format that this release reads, or say which release does."""
    found = header.get("format_version")
    if type(found) is not int or found < 1:
        raise ModelFormatError("It does not state a format version.")
    if found > FORMAT_VERSION:
        wrote = header.get("library_version")
        known = isinstance(wrote, str) and re.fullmatch(r"\d+(\.\d+){1,3}([a-z]+\d+)?", wrote)
        release = f"'polyfold>={wrote}'" if known else "--upgrade polyfold"
        raise ModelFormatError(
            f"It is of format version {str(found)[:20]}; polyfold {version('polyfold')} reads up to version "
            f"{FORMAT_VERSION}. Install the release that wrote it, or a newer one: pip install {release}"
        )


def check_document(facts: Any, shapes: Mapping[str, Shape]) -> None:
    """Check that facts and the shapes of arrays are those of one map, before any array is made."""
    expected: dict[str, Shape] = {}
    _expect_shapes(facts, shapes, "", expected)
    for name in sorted(set(shapes) | set(expected)):
        if name not in expected:
            raise ModelFormatError(f"It holds an array {name[:50]!r} that a map does not have.")
        if shapes[name] != expected[name]:
            raise ModelFormatError(f"Its array {name!r} has shape {shapes[name]} instead of {expected[name]}.")


def _expect_shapes(facts: Any, shapes: Mapping[str, Shape], prefix: str, expected: dict[str, Shape]) -> None:
    """Add the shapes that the arrays of a map must have, given its first dimensions."""
    _check_facts(facts)

    def look_up(name: str, n_dimensions: int) -> Shape:
        shape = shapes.get(prefix + name)
        if shape is None or len(shape) != n_dimensions:
            found = "none" if shape is None else f"one of shape {shape}"
            raise ModelFormatError(
                f"It needs an array {prefix + name!r} of {n_dimensions} dimensions, not {found}."
            )
        return shape

    (n_columns,), (n_outputs,) = look_up("shift", 1), look_up("offset", 1)
    n_features = look_up("coefficients", 2)[0]
    n_axes = look_up("axes", 2)[1] if prefix + "axes" in shapes else n_columns
    if not _has_features(facts["basis"], n_axes, facts["degree"], n_features):
        raise ModelFormatError(
            f"Its array {prefix + 'coefficients'!r} has {n_features} rows, not the number of monomials of degree "
            f"{str(facts['degree'])[:20]} in {n_axes} variables ({facts['basis']} basis)."
        )
    needed: dict[str, Shape] = {
        "shift": (n_columns,),
        "scale": (),
        "coefficients": (n_features, n_outputs),
        "offset": (n_outputs,),
    }
    if prefix + "axes" in shapes:
        needed["axes"] = (n_columns, n_axes)
    if any(name.startswith(prefix + "domain.") for name in shapes):
        n_directions = look_up("domain.directions", 2)[1]
        sizes = ((n_columns,), (n_axes, n_directions), (n_directions,), (), ())
        needed |= dict(zip((f"domain.{name}" for name in DOMAIN), sizes, strict=True))
        if prefix + "domain.ranges" in shapes:
            needed["domain.ranges"] = (2, n_columns)
    for name, shape in needed.items():
        look_up(name, len(shape))
        expected[prefix + name] = shape
    columns = facts["columns"]
    if columns is not None and len(columns) != n_columns:
        raise ModelFormatError(f"It names {len(columns)} columns and has {n_columns}.")
    if facts["decoder"] is not None:
        _expect_shapes(facts["decoder"], shapes, prefix + "decoder.", expected)


def _check_facts(facts: Any) -> None:
    if not isinstance(facts, dict):
        raise ModelFormatError("What it says of itself is not a table of facts.")
    missing = {"basis", "degree", "columns", "training", "decoder"} - set(facts)
    if missing:
        raise ModelFormatError(f"It does not say {', '.join(sorted(missing))}.")
    if facts["basis"] not in BASES:
        raise ModelFormatError(f"Its basis is none of {', '.join(BASES)}.")
    if type(facts["degree"]) is not int or facts["degree"] < 1:
        raise ModelFormatError("Its degree is not an integer >= 1.")
    columns, training = facts["columns"], facts["training"]
    if columns is not None and not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise ModelFormatError("Its columns are not a list of names.")
    if training is not None and not isinstance(training, dict):
        raise ModelFormatError("What it says of its training is not a table.")


def _has_features(basis: str, n_axes: int, degree: int, n_features: int) -> bool:
    """Say whether a basis has so many monomials, without computing how many a hostile degree has."""
    if basis == "hadamard" or n_axes == 0:
        return n_axes * degree == n_features
    count = 1
    for k in range(1, min(n_axes, degree) + 1):
        count = count * (n_axes + degree - k + 1) // k
        if count > n_features + 1:
            return False
    return count == n_features + 1


def build_map(facts: dict[str, Any], arrays: Mapping[str, NDArray[np.float64]], prefix: str = "") -> PolynomialMap:
    """Put a map together, once `check_document` has passed."""
    from polyfold.polymap import PolynomialMap

    def get(name: str) -> Any:
        return arrays[prefix + name]

    try:
        domain = None
        if prefix + "domain.center" in arrays:
            center, directions, spreads, reach, thickness = (get(f"domain.{name}") for name in DOMAIN)
            ranges = arrays.get(prefix + "domain.ranges")
            domain = Domain(center, directions, spreads, float(reach), float(thickness), ranges)
        return PolynomialMap(
            shift=get("shift"),
            scale=float(get("scale")),
            basis=facts["basis"],
            degree=facts["degree"],
            coefficients=get("coefficients"),
            offset=get("offset"),
            axes=arrays.get(prefix + "axes"),
            domain=domain,
            decoder=None if facts["decoder"] is None else build_map(facts["decoder"], arrays, prefix + "decoder."),
            columns=facts["columns"],
            training=facts["training"],
        )
    except ModelFormatError:
        raise
    except ValueError as error:
        raise ModelFormatError(f"Its numbers make no map: {error}") from error


@contextmanager
def explain_refusal(what: str) -> Iterator[None]:
    """Say in one error, of one kind, what could not be read and why."""
    try:
        yield
    except RecursionError:
        raise ModelFormatError(f"{what} cannot be read as a map. It is nested too deeply.") from None
    except ModelFormatError as error:
        raise ModelFormatError(f"{what} cannot be read as a map. {error}") from error.__cause__
