"""Every combination of graph, basis, degree and constraint."""

import numpy as np
import pytest

from polyfold import PolynomialEmbedding
from polyfold.datasets import make_swiss_roll
from polyfold.objectives import GRAPHS

ROLL, _ = make_swiss_roll(300, random_state=0)


@pytest.mark.parametrize("constraint", ["embedding", "orthogonal"])
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_every_combination_fits_without_a_warning(graph, basis, degree, constraint):
    """Warnings are errors here, so none is given that should not be."""
    model = PolynomialEmbedding(graph=graph, basis=basis, degree=degree, constraint=constraint)
    fitted = model.fit(ROLL)
    assert fitted.embedding_.shape == (300, 2)
    assert np.isfinite(fitted.embedding_).all()
    np.testing.assert_array_equal(fitted.transform(ROLL), fitted.embedding_)
    if constraint == "orthogonal":
        V = fitted.map_.coefficients
        np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-12)
