"""The package as a whole: its names, its laziness, its documents."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import polyfold

ROOT = Path(__file__).parent.parent


def test_public_names():
    def constants_then_classes_then_modules(name):
        return not name.isupper(), name.islower(), name

    assert sorted(polyfold.__all__, key=constants_then_classes_then_modules) == polyfold.__all__
    for name in polyfold.__all__:
        assert getattr(polyfold, name) is not None
    assert set(polyfold.__all__) < set(dir(polyfold))
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", polyfold.__version__)
    with pytest.raises(AttributeError, match="no attribute 'umap'"):
        _ = polyfold.umap


def test_import_is_lazy():
    script = (
        "import sys, polyfold\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'pandas', 'tqdm', 'joblib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_estimators_are_imported_without_the_compiler_and_extras():
    script = (
        "import sys\n"
        "from polyfold import NPPE, ExplicitEmbedding, PolynomialMap\n"
        "heavy = {'numba', 'faiss', 'matplotlib', 'umap', 'typer', 'tqdm', 'dask', 'onnx', 'plotly'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_core_works_without_any_extra():
    script = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        extras = "dask distributed faiss matplotlib pandas polars pooch sympy onnx skl2onnx sqlglot".split()
        if name.split(".")[0] in [*extras, "hypothesis", "pytest"]:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import polyfold.metrics
X, Z = polyfold.datasets.make_swiss_roll(300, random_state=0)
embedding = polyfold.NPPE(n_neighbors=10).fit(X)
assert polyfold.metrics.residual_variance(embedding.transform(X), Z) < 0.5
learned = polyfold.PolynomialMap.from_json(embedding.map_.to_json())
print(learned.terms(), learned.terms().formula(), learned.to_latex(), learned.to_c(), learned.sensitivity(X))
assert learned.align_to(learned, X).alignment.n_samples == 300
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    "module", [module.name for module in pkgutil.walk_packages(polyfold.__path__, "polyfold.")]
)
def test_examples_in_docstrings(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0
