"""The command line, and the benchmark that it runs."""

import csv
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import polyfold
from polyfold import bench
from polyfold.bench import timing
from polyfold.bench.report import Curve, Figure, show_amount, show_ratio
from polyfold.bench.timing import measure_peak, time_side_by_side
from polyfold.cli import app

FIGURES = [
    Figure("transform", "SNPPE", "X @ U", 0.001, 0.002, 1.0),
    Figure("transform", "NPPE", "X @ U", 0.004, 0.002, 1.5),
    Figure("memory", "transform", "input", 2e8, 4e8, unit="B"),
    Curve("fit against samples", "polyfold NPPE", (10, 100), (0.1, 1.0)),
]


@pytest.fixture
def run(monkeypatch):
    def suite(settings):
        settings.say("a peer is missing")
        yield from FIGURES

    monkeypatch.setitem(bench.SUITES, "transform", suite)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_bench_writes_a_table_a_file_and_a_plot(run, tmp_path):
    shown = run("bench", "--only", "transform", "--out", str(tmp_path / "new"))
    assert shown.exit_code == 0
    assert "a peer is missing" in shown.output
    assert "SNPPE over X @ U: 0.50" in shown.output
    with (tmp_path / "new" / "bench.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["ratio"]) for row in rows] == [0.5, 2.0, 0.5]
    assert [row["met"] for row in rows] == ["True", "False", ""]
    page = (tmp_path / "new" / "bench.md").read_text()
    assert "| transform | NPPE | X @ U | 4 ms | 2 ms | 2.00 | ≤ 1.50 | no |" in page
    assert "cores; Python" in page
    assert (tmp_path / "new" / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_an_earlier_table_is_not_overwritten_without_force(run, tmp_path):
    (tmp_path / "bench.csv").write_text("mine")
    shown = run("bench", "--only", "transform", "--out", str(tmp_path))
    assert shown.exit_code == 4
    assert "bench.csv exists. Pass --force to replace it." in shown.output
    assert (tmp_path / "bench.csv").read_text() == "mine"
    assert run("bench", "--only", "transform", "--out", str(tmp_path), "--force").exit_code == 0


def test_an_unknown_suite_is_told(run):
    shown = run("bench", "--only", "tranform")
    assert shown.exit_code == 2
    assert "There is no suite 'tranform'. The suites are transform, estimator" in shown.output


def test_what_was_measured_before_ctrl_c_is_shown(monkeypatch):
    def suite(settings):
        yield FIGURES[0]
        raise KeyboardInterrupt

    monkeypatch.setitem(bench.SUITES, "transform", suite)
    shown = CliRunner().invoke(app, ["bench", "--only", "transform"])
    assert shown.exit_code == 0
    assert "Stopped" in shown.output
    assert "0.50" in shown.output


def test_the_command_is_installed_and_names_its_version():
    command = [sys.executable, "-m", "polyfold.cli", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == polyfold.__version__


def test_amounts_are_readable():
    amounts = [show_amount(each, "s") for each in (2.5, 0.0123, 4.5e-6, 5e-9)]
    assert amounts == ["2.5 s", "12.3 ms", "4.5 µs", "5 ns"]
    assert show_amount(64e6, "B") == "64 MB"
    assert [show_ratio(each) for each in (1.234, 0.02, 1 / 2000)] == ["1.23", "0.02", "1/2,000"]


def test_functions_take_turns_and_the_best_counts():
    calls = []
    seconds = time_side_by_side({"a": lambda: calls.append("a"), "b": lambda: sum(range(200_000))}, 3)
    assert 0 < seconds["a"] < seconds["b"]
    assert len(calls) > 3


def test_a_slow_first_call_does_not_spoil_the_measurement(monkeypatch):
    """The clock stands still but for calls: the first two take 500 µs, all others 10 µs."""
    now, calls = [0.0], []

    def work():
        calls.append(now[0])
        now[0] += 5e-4 if len(calls) <= 2 else 1e-5

    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(timing.time, "sleep", lambda seconds: None)
    assert time_side_by_side({"work": work}, 1)["work"] == pytest.approx(1e-5)
    before = len(calls)
    time_side_by_side({"work": work}, 2)
    assert len(calls) - before > 6 * timing.LEAST_SECONDS / 1e-5


def test_the_peak_is_that_of_the_process_alone():
    held = np.ones(30_000_000)  # what this process holds does not count
    small, large = measure_peak("pass"), measure_peak("held = bytearray(100_000_000)")
    assert 90e6 < large - small < 120e6
    assert small < held.nbytes


@pytest.mark.slow
def test_every_suite_runs():
    said = []
    settings = bench.Bench(repeats=1, quick=True, say=said.append)
    results = list(bench.run_suites(list(bench.SUITES), settings))
    figures = [each for each in results if isinstance(each, Figure)]
    suites = {each.suite for each in figures}
    assert suites >= {"transform", "estimator", "reduction", "new samples", "fit", "import", "memory"}
    assert all(np.isfinite(each.ratio) and each.ratio > 0 for each in figures)
    assert all(each.is_met for each in figures if each.suite == "memory")
    assert {each.panel for each in results if isinstance(each, Curve)}
