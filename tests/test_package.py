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


def run_examples(page):
    """Run the Python blocks of a page in one namespace, and return it."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert blocks
    namespace = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), namespace)
    return namespace


def test_readme_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_examples(ROOT / "README.md")["rho"] < 0.02


def test_examples_of_the_family_run():
    namespace = run_examples(ROOT / "docs" / "family.md")
    assert namespace["embedding"].diagnostics_.skipped == (1,)
    assert namespace["J"].shape == (5, 2, 3)


def test_examples_of_learners_run():
    namespace = run_examples(ROOT / "docs" / "any-learner.md")
    assert namespace["rho"] < 0.02
    assert namespace["placed"].shape == (2000, 2)


def test_examples_of_the_choice_run():
    assert run_examples(ROOT / "docs" / "which-one.md")["Y"].shape == (5, 2)


def test_examples_of_speed_run():
    assert run_examples(ROOT / "docs" / "speed.md")["Y"].shape == (100_000, 2)


def test_examples_of_scale_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "scale.md"
    namespace = run_examples(page)
    assert namespace["Y"].shape == (20_000, 2)
    assert namespace["stream"].diagnostics_.n_samples == 6000
    [shown] = re.findall(r"```text\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert shown in (ROOT / "examples" / "spark.py").read_text()  # which `make spark` runs


def test_examples_of_the_explorer_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples(ROOT / "docs" / "explorer.md")
    assert (tmp_path / "digits.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_examples_of_the_artefact_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = run_examples(ROOT / "docs" / "artefact.md")
    shown = (ROOT / "docs" / "artefact.md").read_text()
    assert namespace["learned"].terms().formula() in shown
    assert repr(namespace["learned"].sensitivity(namespace["X"])) in shown
    assert min(namespace["aligned"].alignment.r2) > 0.99


def test_changelog_has_this_version():
    assert f"## [{polyfold.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
