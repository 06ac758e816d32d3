"""What polyfold stands on: bounds, licences and extras, as pyproject.toml has them. No network is asked."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import polyfold
import polyfold.export
import polyfold.io

ROOT = Path(__file__).parent.parent

import audit  # noqa: E402
from licences import find_refused  # noqa: E402
from oldest import OF_THEIR_TIME, find_lower_bound, find_oldest, format_constraints  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ASKED = [
    (asker, requirement)
    for asker, lines in {"core": PROJECT["dependencies"], **EXTRAS}.items()
    for requirement in map(Requirement, lines)
    if requirement.name != "polyfold"
]


def list_extras(name):
    """Return an extra and those that it pulls in."""
    inner = [Requirement(line) for line in EXTRAS[name] if Requirement(line).name == "polyfold"]
    return {name}.union(*(list_extras(extra) for requirement in inner for extra in requirement.extras))


@pytest.mark.parametrize("asker", ["core", *EXTRAS])
def test_every_dependency_has_a_lower_bound(asker):
    for requirement in (requirement for name, requirement in ASKED if name == asker):
        assert find_lower_bound(requirement) > Version("0")


def test_a_package_has_one_bound():
    bounds = {}
    for _, requirement in ASKED:
        bounds.setdefault(canonicalize_name(requirement.name), set()).add(find_lower_bound(requirement))
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}


def test_constraints_are_the_bounds():
    extras = list_extras("test")
    lines = [Requirement(line) for line in format_constraints(find_oldest(PROJECT)).splitlines()]
    pinned = {line.name: str(line.specifier) for line in lines if line.name not in OF_THEIR_TIME}
    expected = {
        canonicalize_name(requirement.name): f"=={find_lower_bound(requirement)}"
        for asker, requirement in ASKED
        if asker in extras | {"core"}
    }
    assert pinned == expected
    assert {line.name for line in lines} - set(pinned) == set(OF_THEIR_TIME)
    for _, requirement in ASKED:  # the bound is itself allowed
        assert requirement.specifier.contains(find_lower_bound(requirement))


@pytest.mark.parametrize("line", ["numpy", "numpy<3", "numpy==2.0", "numpy>1,>=2,>=2.1"])
def test_no_bound_is_refused(line):
    with pytest.raises(ValueError, match="must have one lower bound"):
        find_lower_bound(Requirement(line))


def test_licences_list_every_direct_dependency():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (.+) \| (.+) \|$", page, flags=re.MULTILINE)[1:]
    listed = {name: askers.split(", ") for name, _, askers in rows}
    assert list(listed) == sorted(listed)
    extras = list_extras("test")
    for asker, requirement in ASKED:
        name = canonicalize_name(requirement.name)
        if asker == "core":
            assert listed[name] == ["core"]
        elif asker in extras:
            assert asker in listed[name] or listed[name] == ["core"]
    assert [(name, licence) for name, licence, _ in rows if find_refused(licence)] == []


@pytest.mark.parametrize("licence", ["GPL-3.0-or-later", "MIT AND AGPL-3.0-only", "unknown", "Proprietary"])
def test_other_licences_are_refused(licence):
    assert find_refused(licence)


def test_extras_of_messages_exist():
    named = {*polyfold.export.EXTRAS.values(), *polyfold.io.EXTRAS.values()}
    for path in Path(polyfold.__file__).parent.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        named |= set(",".join(re.findall(r"polyfold\[([a-z,]+)\]", source)).split(",")) - {""}
        named |= set(re.findall(r"import_needing\([^,]+, \"([a-z]+)\"\)", source))
    assert {"dask", "neighbors", "onnx", "plot"} <= named
    assert named <= set(EXTRAS)


FINDING = {"id": "PYSEC-1", "aliases": ["CVE-1"]}


@pytest.mark.parametrize(
    ("packages", "newest", "explained", "code"),
    [
        ([{"name": "numpy", "vulns": []}], None, {}, 0),
        ([{"name": "numpy", "vulns": [FINDING]}], None, {}, 1),
        ([{"name": "numpy", "vulns": [FINDING]}], None, {"CVE-1": "not called"}, 0),
        ([{"name": "numpy", "skip_reason": "not found"}], [], {}, 0),
        ([{"name": "numpy", "skip_reason": "not found"}], [FINDING], {}, 1),
        ([{"name": "numpy", "skip_reason": "not found"}], None, {}, 3),
        ([{"name": "numpy", "vulns": []}, {"name": "scipy", "skip_reason": "not found"}], None, {}, 3),
        ([], None, {}, 3),  # no service answered
    ],
)
def test_an_audit_is_clean_only_where_all_was_looked_up(packages, newest, explained, code, tmp_path, monkeypatch):
    lines = [f'{name} = "{reason}"\n' for name, reason in explained.items()]
    (tmp_path / "explained.toml").write_text("[explained]\n" + "".join(lines))
    monkeypatch.setattr(audit, "EXPLAINED", tmp_path / "explained.toml")
    monkeypatch.setattr(audit, "ask_pip_audit", lambda service: packages if service == "pypi" else [])
    monkeypatch.setattr(audit, "ask_newest", lambda name, version: newest)
    monkeypatch.setattr(sys, "argv", ["audit.py", "--measured", str(tmp_path / "audit.json")])
    assert audit.main() == code
    measured = json.loads((tmp_path / "audit.json").read_text())
    assert (code == 1) == (measured["unexplained"] > 0)
    assert (code == 3) == bool(measured["missing"] or not measured["looked_up"])
