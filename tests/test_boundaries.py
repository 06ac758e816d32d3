"""Who may import whom, and what is said where an extra is missing."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import polyfold
from polyfold.export import EXTRAS

SOURCE = Path(polyfold.__file__).parent
EXPORTERS = sorted(path.stem for path in (SOURCE / "export").glob("*.py") if path.stem != "__init__")
PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]

#: What an exporter may import beside the standard library, the map and NumPy: what its extra installs. That of C
#: writes its two files itself.
OWN = {
    "c": {"polyfold._files"},
    "html": set(),
    "latex": set(),
    "onnx": {"onnx"},
    "sklearn_onnx": {"onnx", "skl2onnx", "polyfold.export.onnx"},
    "sql": {"sqlglot"},
    "sympy": {"sympy"},
}


def list_imports(path):
    """All modules that a file imports, wherever in it, with their full names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module


def shorten(module):
    return module if module.startswith("polyfold") else module.split(".")[0]


def test_every_exporter_is_listed():
    assert set(EXPORTERS) == set(OWN)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_exporters_import_the_map_and_their_extra_only(exporter):
    imported = {shorten(module) for module in list_imports(SOURCE / "export" / f"{exporter}.py")}
    allowed = OWN[exporter] | {"numpy", "polyfold.polymap", "polyfold._validation"} | set(sys.stdlib_module_names)
    assert imported <= allowed, imported - allowed


def test_nobody_else_imports_an_extra_or_an_exporter():
    own = {"onnx", "skl2onnx", "sqlglot", "sympy", "onnxruntime", "duckdb", "pyspark"}
    for path in SOURCE.rglob("*.py"):
        if path.parent.name == "export":
            continue
        imported = set(list_imports(path))
        assert not {shorten(module) for module in imported} & own, path
        assert not {module for module in imported if module.startswith("polyfold.export.")}, path


def test_the_package_of_exporters_imports_none_of_them():
    script = (
        "import sys, polyfold.polymap\n"
        "loaded = [name for name in sys.modules if name.startswith('polyfold.export.')]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("call", "package", "extra"),
    [
        ("learned.to_onnx()", "onnx", "onnx"),
        ("learned.to_sql()", "sqlglot", "sql"),
        ("learned.to_sympy()", "sympy", "sympy"),
        ("from polyfold import NPPE; NPPE().onnx_converter()", "skl2onnx", "onnx"),
    ],
)
def test_a_missing_extra_names_its_command(call, package, extra):
    script = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from polyfold import PolynomialMap
learned = PolynomialMap([0.0], 1.0, "hadamard", 1, [[1.0]], [0.0])
learned.to_c(), learned.to_latex(), learned.to_json()
try:
    {call}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == f'This needs the package {package}: pip install "polyfold[{extra}]"'
    listed = " ".join(PROJECT["optional-dependencies"][extra])
    assert package in listed


def test_extras_are_those_of_the_project():
    assert set(EXTRAS) <= set(EXPORTERS)
    assert set(EXTRAS.values()) <= set(PROJECT["optional-dependencies"])
    core = " ".join(PROJECT["dependencies"])
    assert not [package for package in ("onnx", "sqlglot", "sympy", "pandas") if package in core]
