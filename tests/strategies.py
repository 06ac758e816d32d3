"""Hypothesis strategies: the one place where generated data are described."""

import os
import re
from collections import Counter
from functools import wraps

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polyfold import PolynomialEmbedding, PolynomialMap
from polyfold._basis import count_features
from polyfold._domain import Domain
from polyfold.objectives import OBJECTIVES


@st.composite
def sample_clouds(draw, min_samples=12, max_samples=60, max_columns=4):
    """Noisy curved clouds: well spread, no ties, of many shapes, scales and offsets.

    Offsets are in units of the spread: by larger ones samples are rounded.
    """
    n_samples = draw(st.integers(min_samples, max_samples))
    n_columns = draw(st.integers(1, max_columns))
    n_latent = draw(st.integers(1, n_columns))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    latent = random.uniform(-1, 1, size=(n_samples, n_latent))
    X = np.sin(latent @ random.normal(size=(n_latent, n_columns)) * 1.5)
    X += draw(st.sampled_from([0.01, 0.1, 1.0])) * random.normal(size=X.shape)
    return (X + draw(st.sampled_from([0.0, 1.0, -30.0]))) * 10.0 ** draw(st.integers(-6, 6))


@st.composite
def polynomial_maps(draw, max_columns=4, max_degree=4, max_outputs=5):
    """Maps of any basis, degree and units, with and without axes, names, domain, way back and record."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_columns, n_outputs = draw(st.integers(1, max_columns)), draw(st.integers(1, max_outputs))
    n_axes = draw(st.none() | st.integers(1, n_columns))
    basis, degree = draw(st.sampled_from(["hadamard", "kronecker"])), draw(st.integers(1, max_degree))
    scale = 10.0 ** draw(st.integers(-8, 8))
    shift = random.normal(size=n_columns) * scale * draw(st.sampled_from([0.0, 1.0, 100.0]))
    variables = n_axes or n_columns
    coefficients = random.normal(size=(count_features(basis, variables, degree), n_outputs))
    coefficients *= 10.0 ** draw(st.integers(-6, 6))
    coefficients[random.random(coefficients.shape) < draw(st.sampled_from([0.0, 0.5]))] = 0.0
    offset = random.normal(size=n_outputs) * draw(st.sampled_from([0.0, 1.0]))
    axes = None if n_axes is None else np.linalg.qr(random.normal(size=(n_columns, n_axes)))[0]
    rest = {}
    if draw(st.booleans()):
        names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
        rest["columns"] = draw(st.lists(names, min_size=n_columns, max_size=n_columns, unique_by=str.casefold))
        rest["training"] = {"estimator": "NPPE", "parameters": {"alpha": 0.1, "reduce": None}}
    if draw(st.booleans()):
        directions = np.linalg.qr(random.normal(size=(variables, variables)))[0]
        ranges = np.stack([shift - scale, shift + scale])
        rest["domain"] = Domain(shift, directions, random.uniform(0.1, 1, variables), 2.0, 0.5, ranges)
    if draw(st.booleans()):
        back = random.normal(size=(count_features("kronecker", n_outputs, 2), variables))
        rest["decoder"] = PolynomialMap(offset, 2.0, "kronecker", 2, back, np.zeros(variables))
    return PolynomialMap(shift, scale, basis, degree, coefficients, offset, axes, **rest)


#: Examples that each property has held for, those that it assumes away not among them ...
HELD_FOR = Counter()

#: ... and of these those that were answered, where an example may also be refused.
ANSWERED = Counter()


def count_examples(usual):
    """Let a property try so many examples, or as many as POLYFOLD_EXAMPLES says, and count those it holds for."""
    wanted = settings(
        max_examples=int(os.environ.get("POLYFOLD_EXAMPLES", usual)),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )

    def decorate(test):
        @wraps(test)
        def count(*given, **named):
            test(*given, **named)
            HELD_FOR[test.__name__] += 1

        return pytest.mark.property(wanted(count))

    return decorate


#: Floats whose powers, squares or inverses are at the edge of what a double holds, and ordinary ones.
EXTREMES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    2.2e-308,
    1e-300,
    -1e-300,
    1e-160,
    1e150,
    -1e155,
    1e300,
    1.7e308,
    -1.7e308,
]


@st.composite
def finite_arrays(draw):
    """Any finite floats in any shape: no rows, no columns, too many dimensions, ties, constants, extremes.

    Also samples on axes of their own, and values at both ends of what their type holds.
    """
    shape = draw(
        st.tuples(st.integers(2, 24), st.integers(1, 5))
        | st.lists(st.integers(0, 6), max_size=3).map(tuple)
        | st.sampled_from([(2, 1), (3, 40), (60, 2), (300, 1), (30, 30)])
    )
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    size = int(np.prod(shape))
    source = draw(st.sampled_from(["drawn", "normal", "grid", "wild", "axes", "ends"]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if source == "drawn":
        width = 8 * np.dtype(dtype).itemsize
        elements = st.floats(allow_nan=False, allow_infinity=False, width=width) | st.sampled_from([0.0, 1.0, 2.0])
        return draw(arrays(dtype, shape, elements=elements, fill=elements))
    if source == "normal":
        X = random.normal(size=shape) * 10.0 ** draw(st.integers(-30, 30))
        X += draw(st.sampled_from([0.0, 1.0, -1e6]))
    elif source == "grid":  # ties among neighbours, equal rows, equal columns
        X = random.integers(0, draw(st.integers(1, 4)), size=shape).astype(np.float64)
    elif source == "axes":
        X = np.zeros(shape)
        if X.ndim == 2:
            np.fill_diagonal(X, draw(st.sampled_from([1.0, -1e-30, 1e30])))
    elif source == "ends":
        X = random.choice([-0.9, 0.9], size=shape) * draw(st.sampled_from([np.finfo(dtype).max, 1e303, 1e300]))
    else:
        X = random.normal(size=shape) * random.choice([0.0, 1.0], size=shape)
        for place in random.integers(0, max(size, 1), size=draw(st.integers(1, 4))):
            if size:
                X.flat[place] = draw(st.sampled_from(EXTREMES))
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    return np.where(np.isfinite(X), X, 0).astype(dtype)


@st.composite
def embeddings(draw, graphs=(*OBJECTIVES, "isomap", "isomap_mutual")):
    """Estimators with any parameters that a person may give."""
    basis = draw(st.sampled_from(["auto", "kronecker", "hadamard"]))
    return PolynomialEmbedding(
        draw(st.integers(1, 3)),
        graph=draw(st.sampled_from(graphs)),
        n_neighbors=draw(st.just("auto") | st.integers(1, 8)),
        degree=draw(st.integers(1, 4)),
        basis=basis,
        constraint=draw(st.sampled_from(["embedding", "orthogonal"])),
        alpha=draw(st.sampled_from(["auto", 0.0, 1e-6, 1e-3, 1.0, 1e6])),
        reduce=draw(st.sampled_from(["auto", None, 1, 2, 0.9])),
        center=draw(st.booleans()),
        coordinates=draw(st.sampled_from(["independent", "smallest"])),
        fit_inverse_transform=draw(st.booleans()),
    )


#: Pieces of names that end a quotation, a comment or an element, or begin a command, somewhere.
FRAGMENTS = [
    '"', "'", "`", "\\", "*/", "/*", "//", "--", ";", "??/", "</script>", "<!--", "-->", "<img src=x onerror=f()>",
    "&amp;", "&", "$(f)", "${f}", "$title", "{{f}}", "%s", "%", "#", "^^41", "\\input{f}", "\\end{aligned}",
    "}", "{", "_", "^", "~", "\n", "\r", "\t", "\x1b[2J", "\u2028", "\u202e", "\ud800", "\udfff",
    "'); DROP TABLE samples; --", "=f()", "__import__('os').mkdir('f')", "lambda", "1", "x", "select", "雪", " ",
]  # fmt: skip


def hostile_names(n_names, *, surrogates=True):
    """So many different names of anything but NUL, which are made to be taken for something else.

    Halves of characters among them, but no two that JSON would take for a whole one.
    """
    categories = [] if surrogates else ["Cs"]
    characters = st.text(
        st.characters(exclude_characters="\0", exclude_categories=categories), min_size=1, max_size=6
    )
    fragments = [each for each in FRAGMENTS if surrogates or each.isprintable() or each.isascii()]
    name = st.lists(st.sampled_from(fragments) | characters, min_size=1, max_size=4).map("".join)
    name = name.filter(lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text))
    return st.lists(name, min_size=n_names, max_size=n_names, unique_by=str.casefold)


#: Bytes that damage is often made of.
CHUNKS = [b"\0" * 8, b"\xff" * 8, b"{", b"}", b"[", b'"', b"\\", b"1e999", b"NaN", b"-1", b"null"]
CHUNKS += [b"9" * 400, b"[" * 2000]


@st.composite
def damages(draw):
    """What to do to a file: a list of (action, position, chunk), positions as fractions of the length."""
    position = st.floats(0, 1, exclude_max=True) | st.floats(0, 0.01)
    action = st.sampled_from(["flip", "overwrite", "insert", "delete", "truncate", "repeat", "number"])
    chunk = st.sampled_from(CHUNKS) | st.binary(min_size=1, max_size=12)
    return draw(st.lists(st.tuples(action, position, chunk), min_size=1, max_size=4))


@st.composite
def facts_and_shapes(draw):
    """Metadata and arrays that are well-formed and signed, but of anything."""
    value = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5)
    tree = st.recursive(
        value,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
    facts = {
        "basis": draw(st.sampled_from(["hadamard", "kronecker"]) | tree),
        "degree": draw(st.integers(-1, 2**65) | st.integers(1, 4) | tree),
        "columns": draw(st.none() | tree),
        "training": draw(st.none() | tree),
        "decoder": draw(st.none() | tree),
    }
    for name in draw(st.sets(st.sampled_from(sorted(facts)), max_size=2)):
        del facts[name]
    shape = st.lists(st.integers(0, 4), max_size=3).map(tuple)
    names = [
        "shift",
        "scale",
        "coefficients",
        "offset",
        "axes",
        "domain.center",
        "domain.ranges",
        "domain.directions",
    ]
    number = st.sampled_from([0.0, 1.0, -1.0, np.nan, np.inf, 1e308, 5e-324])
    chosen = draw(
        st.dictionaries(st.sampled_from(names) | st.text(max_size=5), st.tuples(shape, number), max_size=8)
    )
    return facts, {name: np.full(shape, fill) for name, (shape, fill) in chosen.items()}
