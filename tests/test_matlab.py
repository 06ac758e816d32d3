"""The lines of MATLAB that a how-to page shows, run by GNU Octave where it is installed."""

import re
import shutil
import subprocess
from textwrap import dedent

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from pages import ROOT
from polyfold import PolynomialEmbedding
from polyfold.datasets import make_swiss_roll

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
PAGE = ROOT / "examples" / "how_to" / "plot_coming_from.py"


@pytest.mark.slow
@pytest.mark.skipif(OCTAVE is None, reason="GNU Octave is not installed: apt-get install octave")
def test_the_lines_of_the_page_place_samples(tmp_path):
    X = np.hstack([make_swiss_roll(300, random_state=0)[0]] * 2) + np.linspace(0, 1, 6)
    learned = PolynomialEmbedding(2, n_neighbors=10, reduce=2, alpha=1e-3).fit(X).map_
    monomials = np.zeros((learned.n_features, learned.degree))
    for row, factors in zip(monomials, learned.monomials, strict=True):
        row[: len(factors)] = np.array(factors) + 1
    names = ("shift", "scale", "axes", "weights", "offset")
    arrays = {name: np.atleast_2d(getattr(learned, name)) for name in names} | {"monomials": monomials}
    savemat(tmp_path / "map.mat", arrays)
    savemat(tmp_path / "samples.mat", {"X": X})
    lines = re.search(r"code-block:: matlab\n#\n((?:#    .*\n)+)", PAGE.read_text(encoding="utf-8"))[1]
    script = dedent(lines.replace("#", " ", lines.count("\n")))
    around = f"load('samples.mat');\n{script}\nsave('-v7', 'placed.mat', 'Y');\n"
    (tmp_path / "place.m").write_text(around, encoding="utf-8")
    subprocess.run([OCTAVE, "--no-gui", "--quiet", "place.m"], cwd=tmp_path, check=True, capture_output=True)
    expected = learned.transform(X)
    placed = loadmat(tmp_path / "placed.mat")["Y"]
    np.testing.assert_allclose(placed, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
