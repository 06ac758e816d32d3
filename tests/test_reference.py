"""The reference: what the docstring of every public name holds. That examples pass, `test_package` tries."""

import inspect
import re

import pytest

import polyfold

#: The package and its public modules.
MODULES = [polyfold, *filter(inspect.ismodule, (getattr(polyfold, name) for name in polyfold.__all__))]

#: Every public class and function, under the name that it is imported by.
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if not inspect.ismodule(getattr(module, name))
}

#: The methods of a map.
MAP_METHODS = {
    f"PolynomialMap.{name}": method
    for name, method in inspect.getmembers(polyfold.PolynomialMap, inspect.isroutine)
    if not name.startswith("_")
}

#: Those that estimators share with scikit-learn's, wherever they are defined here.
SHARED = ("fit", "fit_transform", "inverse_transform", "partial_fit", "score", "transform")
ESTIMATOR_METHODS = {
    f"{each.__name__}.{name}": getattr(each, name)
    for each in PUBLIC.values()
    for name in SHARED
    if hasattr(each, "fit") and hasattr(each, name)
}

METHODS = MAP_METHODS | ESTIMATOR_METHODS


def of_each(objects):
    return pytest.mark.parametrize("described", objects.values(), ids=objects)


def read_sections(described):
    """Return the text of each section by its title; that before the first has none."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.cleandoc(described.__doc__ or ""), flags=re.MULTILINE)
    return {"": parts[0].strip()} | {
        title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def list_described(described):
    """Return the names in the Parameters section, several of which may share an entry."""
    entries = re.findall(r"^\S.*$", read_sections(described).get("Parameters", ""), flags=re.MULTILINE)
    return [name.strip() for entry in entries for name in entry.split(" : ")[0].split(",")]


def list_parameters(described):
    """Return the names in the signature; an exception that takes anything has none."""
    if inspect.isclass(described) and issubclass(described, Exception):
        return []
    anything = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(described).parameters.values()
    return [each.name for each in parameters if each.name != "self" and each.kind not in anything]


def test_names_are_found():
    assert polyfold.metrics in MODULES
    assert {"polyfold.NPP", "polyfold.suggest", "polyfold.datasets.load_usps"} <= set(PUBLIC)
    assert {"PolynomialMap.load", "PolynomialMap.to_c", "PolynomialMap.terms"} <= set(MAP_METHODS)
    assert {"NPPE.partial_fit", "ExplicitEmbedding.inverse_transform"} <= set(ESTIMATOR_METHODS)


@of_each({module.__name__: module for module in MODULES} | PUBLIC | METHODS)
def test_has_a_summary(described):
    summary, _, rest = read_sections(described)[""].partition("\n")
    assert summary.endswith(".")
    assert rest == "" or rest.startswith("\n")


@of_each(PUBLIC | METHODS)
def test_has_an_example(described):
    assert ">>> " in read_sections(described).get("Examples", "")


@of_each(PUBLIC | MAP_METHODS)
def test_says_what_it_costs(described):
    assert "O(" in read_sections(described).get("Notes", "")


@pytest.mark.parametrize("name", PUBLIC)
def test_says_where_it_is_from(name):
    sections = read_sections(PUBLIC[name])
    kinds = {"References", "See Also"} if name.startswith("polyfold.plotting.") else {"References"}
    assert any(sections.get(kind) for kind in kinds)


@of_each(PUBLIC | METHODS)
def test_describes_its_parameters(described):
    assert sorted(list_described(described)) == sorted(list_parameters(described))
