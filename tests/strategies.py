"""Hypothesis strategies: the one place where generated data are described."""

import numpy as np
from hypothesis import strategies as st


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
