"""Hypothesis strategies: the one place where generated data are described."""

import numpy as np
from hypothesis import strategies as st

from polyfold import PolynomialMap
from polyfold._basis import count_features
from polyfold._domain import Domain


@st.composite
def sample_clouds(draw, min_samples=12, max_samples=60, max_columns=4):
    """Noisy curved clouds: well spread, no ties, of many shapes, offsets and scales."""
    n_samples = draw(st.integers(min_samples, max_samples))
    n_columns = draw(st.integers(1, max_columns))
    n_latent = draw(st.integers(1, n_columns))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    latent = random.uniform(-1, 1, size=(n_samples, n_latent))
    X = np.sin(latent @ random.normal(size=(n_latent, n_columns)) * 1.5)
    X += draw(st.sampled_from([0.01, 0.1, 1.0])) * random.normal(size=X.shape)
    return X * 10.0 ** draw(st.integers(-6, 6)) + draw(st.sampled_from([0.0, 1.0, -30.0]))


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
