"""`polyfold reproduce` as a command: what it refuses, what it leaves, and what it is made of."""

import ast

from typer.testing import CliRunner

from polyfold import experiments
from polyfold.cli import app
from polyfold.experiments.outcome import Outcome, Table
from test_reproduce import SOURCE, run


def test_without_image_sets_the_rest_is_run(tmp_path, monkeypatch):
    monkeypatch.delenv("POLYFOLD_DATA", raising=False)
    empty = tmp_path / "empty"
    empty.mkdir()
    shown = run("--quick", "--only", "images", "--data", empty, "--out", tmp_path / "out")
    assert shown.exit_code == 0
    for name in (
        "lleface: Frey faces not found",
        "usps-0: USPS digits not found",
        "Isomap faces: Isomap faces not",
    ):
        assert f"left out: {name}" in shown.output
        assert name in (tmp_path / "out" / "report.html").read_text()
    assert (
        "**Not judged.** This run has no images of lleface (--data)"
        in (tmp_path / "out" / "claims.md").read_text()
    )


def test_an_earlier_report_is_not_overwritten_without_force(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    shown = CliRunner().invoke(app, ["reproduce", "--quick", "--out", str(tmp_path)])
    assert shown.exit_code == 4
    assert "report.html exists. Pass --force to replace it." in shown.output
    assert (tmp_path / "report.html").read_text() == "mine"


def test_bad_arguments_are_told_before_the_work(tmp_path, monkeypatch):
    shown = run("--only", "surface", "--out", tmp_path / "out")
    assert shown.exit_code == 2
    assert "There is no experiment 'surface'. They are surfaces, locating, images" in shown.output
    assert run("--data", tmp_path / "none").exit_code == 2
    (tmp_path / "file").write_text("")
    assert run("--out", tmp_path / "file").exit_code == 2
    shown = run("--out", tmp_path / "file" / "below")
    assert shown.exit_code == 4
    assert "cannot be written" in shown.output
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    shown = run("--out", tmp_path / "out")
    assert shown.exit_code == 1
    assert 'pip install "polyfold[plot]"' in shown.output
    assert not (tmp_path / "out").exists()


def test_what_was_done_before_ctrl_c_is_reported(tmp_path, monkeypatch):
    from polyfold.experiments import locating, surfaces

    table = Table("surfaces_part", "a table", [{"method": "NPPE", "figure": 0.25}])
    monkeypatch.setattr(surfaces, "run", lambda plan: Outcome("The first", "Done.", [table], []))

    def stop(plan):
        raise KeyboardInterrupt

    monkeypatch.setattr(locating, "run", stop)
    shown = run("--quick", "--out", tmp_path)
    assert shown.exit_code == 130
    assert "The report tells of the experiments that were finished" in shown.output
    page = (tmp_path / "report.html").read_text()
    assert "The first" in page
    assert "It was stopped: locating, images, complexity, parameters, beyond did not come to an end." in page
    assert "0.25" in page
    assert (tmp_path / "tables" / "surfaces_part.csv").read_text().splitlines() == ["method,figure", "NPPE,0.25"]


def test_a_run_that_finishes_nothing_leaves_the_earlier_report(tmp_path, monkeypatch):
    from polyfold.experiments import surfaces

    def stop(plan):
        raise KeyboardInterrupt

    monkeypatch.setattr(surfaces, "run", stop)
    (tmp_path / "report.html").write_text("the earlier one")
    assert run("--quick", "--out", tmp_path).exit_code == 130
    assert (tmp_path / "report.html").read_text() == "the earlier one"


def test_a_run_clears_away_what_an_earlier_one_wrote_and_nothing_else(tmp_path, monkeypatch):
    from polyfold.experiments import surfaces

    for name in ("first", "second"):
        table = Table(name, "a table", [{"figure": 1}])
        monkeypatch.setattr(surfaces, "run", lambda plan, table=table: Outcome("Title", "Text.", [table], []))
        assert run("--quick", "--only", "surfaces", "--out", tmp_path).exit_code == 0
        (tmp_path / "tables" / "mine.csv").write_text("mine")
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == ["mine.csv", "second.csv"]
    outside = tmp_path / "outside.csv"
    outside.write_text("kept")
    (tmp_path / "contents.txt").write_text("tables/../outside.csv\ntables/mine.txt\n/etc/hostname\n")
    assert run("--quick", "--only", "surfaces", "--out", tmp_path).exit_code == 0
    assert outside.exists()


def test_an_error_of_an_experiment_is_not_blamed_on_the_folder(tmp_path, monkeypatch):
    from polyfold.experiments import surfaces

    def fail(plan):
        raise PermissionError("a data file")

    monkeypatch.setattr(surfaces, "run", fail)
    shown = run("--quick", "--out", tmp_path)
    assert shown.exit_code == 1
    assert "error: a data file" in shown.output
    assert "cannot be written" not in shown.output


def test_experiments_use_public_names_only():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module.startswith("polyfold"):
                modules += [f"{node.module}.{each.name}" for each in node.names if each.name != "__version__"]
            for module in modules:
                assert "._" not in f".{module}" or module == "__future__", (path.name, module)


def test_every_experiment_is_a_file_of_its_own():
    assert all((SOURCE / f"{name}.py").is_file() for name in experiments.EXPERIMENTS)
