"""docs/guarantees.md names tests and commands that are there, and lists what the tests say of themselves."""

import ast
import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

import covered  # noqa: E402
import guarantees  # noqa: E402
import mutants  # noqa: E402

PAGE = guarantees.PAGE.read_text(encoding="utf-8")


def list_functions(path):
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if hasattr(node, "name")}


def test_every_test_that_is_named_is_there():
    named = re.findall(r"`(tests/\w+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 30
    for path, name in named:
        assert (ROOT / path).exists(), path
        assert not name or name in list_functions(ROOT / path), f"{path}::{name}"


def test_every_command_that_is_named_is_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`", PAGE))
    assert {"guarantees", "oldest", "package", "audit"} <= named
    assert named <= targets


def test_lists_are_what_the_tests_say():
    assert guarantees.write_lists(PAGE) == PAGE, "run: python tools/guarantees.py --lists"


def test_a_page_without_marks_is_told():
    with pytest.raises(SystemExit, match="must have the marks of 'figures' once"):
        guarantees.replace_between_marks("no marks", "figures", "1")
    page = "a\n<!-- figures -->\nold\n<!-- end of figures -->\nb"
    assert guarantees.replace_between_marks(page, "figures", r"\1") == page.replace("old", r"\1")


def test_a_trial_that_is_missing_or_failed_gives_no_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(guarantees, "MEASURED", tmp_path)
    monkeypatch.setattr(guarantees, "tell_when", lambda path: "today, abc")  # without a history too
    assert guarantees.write_figures("").count(guarantees.NOT_MEASURED) == 5
    (tmp_path / "trials.xml").write_text(write_run(one="<failure/>", two=""))
    with pytest.raises(SystemExit, match="make trials did not pass: one"):
        guarantees.write_figures("")


def test_figures_that_are_not_measured_anew_stay_with_their_day(tmp_path, monkeypatch):
    monkeypatch.setattr(guarantees, "MEASURED", tmp_path)
    monkeypatch.setattr(guarantees, "tell_when", lambda path: "today, abc")
    (tmp_path / "mutants.json").write_text('{"killed": 9, "mutants": 10}')
    first = guarantees.write_figures("")
    row = "| mutants killed | 9 of 10 (90.0%); [the others](mutants.md) | `make mutants` | today, abc |"
    assert row in first.splitlines()
    (tmp_path / "mutants.json").unlink()
    assert guarantees.write_figures(first) == first


def test_figures_tell_the_commit_before_them(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("no history here")
    (tmp_path / "new.json").touch()
    commit = subprocess.run(["git", "log", "-1", "--format=%h"], cwd=ROOT, capture_output=True, text=True).stdout
    assert guarantees.tell_when(tmp_path / "new.json") == f"{date.today()}, {commit.strip()}"


def write_run(**cases):
    tests = "".join(f'<testcase classname="t" name="{name}">{inside}</testcase>' for name, inside in cases.items())
    return f"<testsuites><testsuite>{tests}</testsuite></testsuites>"


def test_a_test_that_is_tried_again_counts_as_it_ended_then(tmp_path, monkeypatch):
    monkeypatch.setattr(guarantees, "MEASURED", tmp_path)
    counted = '<properties><property name="examples" value="{}"/></properties>'
    (tmp_path / "deep.xml").write_text(
        write_run(one=f"{counted.format(3)}<failure/>", two=counted.format(7), other="<skipped/>")
    )
    with pytest.raises(SystemExit, match="make test-deep did not pass: one"):
        guarantees.read_trials("deep.xml")
    (tmp_path / "deep-again.xml").write_text(write_run(one=counted.format(9)))
    assert guarantees.read_trials("deep.xml") == (2, 1, {"examples": [9, 7]})
    (tmp_path / "deep-once-more.xml").write_text(write_run(two=f"{counted.format(1)}<error/>"))
    with pytest.raises(SystemExit, match="make test-deep did not pass: two"):
        guarantees.read_trials("deep.xml")


def test_properties_tell_how_much_was_answered(tmp_path, monkeypatch):
    monkeypatch.setattr(guarantees, "MEASURED", tmp_path)
    figures = '<properties><property name="examples" value="{}"/>{}</properties>'
    answered = '<property name="refusable" value="10100"/><property name="answered" value="{}"/>'
    (tmp_path / "deep.xml").write_text(
        write_run(
            one=figures.format(10000, ""),
            two=figures.format(10100, answered.format(7000)),
            three=figures.format(10100, answered.format(1000)),
        )
    )
    assert list(guarantees.list_properties()) == [
        ("properties", "3 passed, each on 10,000 examples at least"),
        ("any data", "8,000 of 20,200 examples were answered, the others refused as listed below"),
    ]


def test_mutants_that_lived_without_a_reason_are_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "read_change", lambda mutant, folder: ("x", f"{mutant} = 1"))
    path = tmp_path / "mutants" / "src" / "polyfold" / "a.py.meta"
    path.parent.mkdir(parents=True)
    codes = {"a.x_f__mutmut_1": 1, "a.x_f__mutmut_2": 0, "a.x_g__mutmut_1": 33, "a.x_f__mutmut_3": 36}
    path.write_text(json.dumps({"exit_code_by_key": codes, "other": 5}))
    assert mutants.forget_unexplained(tmp_path, [{"function": "^a.py: g$", "why": "a tie"}]) == 1
    expected = codes | {"a.x_f__mutmut_2": None}
    assert json.loads(path.read_text()) == {"exit_code_by_key": expected, "other": 5}


def test_a_mutant_is_explained_by_the_first_rule_that_fits():
    rules = [{"function": "^a: f$", "line": "x", "why": "one"}, {"function": "^a: ", "why": "other"}]
    assert mutants.explain("a: f", "x = 1", rules) == "one"
    assert mutants.explain("a: f", "y = 1", rules) == "other"
    assert mutants.explain("b: f", "x = 1", rules) == ""


@pytest.mark.parametrize(("lines", "branches", "code"), [(96, 19, 0), (94, 20, 1), (100, 18, 1), (95, 19, 0)])
def test_lines_and_branches_must_both_be_covered(lines, branches, code, tmp_path, monkeypatch, capsys):
    totals = {"covered_lines": lines, "num_statements": 100, "covered_branches": branches, "num_branches": 20}
    (tmp_path / "coverage.json").write_text(json.dumps({"totals": totals}))
    monkeypatch.setattr(sys, "argv", ["covered.py", str(tmp_path / "coverage.json")])
    assert covered.main() == code
    assert f"{lines:.1f} % of lines" in capsys.readouterr().out
    monkeypatch.setattr(guarantees, "MEASURED", tmp_path)
    assert list(guarantees.list_coverage()) == [
        ("coverage", f"{lines:.1f} % of lines, {5 * branches:.1f} % of branches")
    ]
