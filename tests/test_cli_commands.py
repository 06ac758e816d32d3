"""The commands: help, parameters, what they tell, exit codes, files that are never half-written."""

import errno
import json
import os
import pty
import re
import resource
import select
import signal
import sqlite3
import subprocess
import sys
import time
from inspect import signature
from pathlib import Path

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

import polyfold as library
from commands import PLAIN, POLYFOLD, UNCOVERED, fail, polyfold, read_json, succeed
from polyfold import NPPE, PolynomialEmbedding, PolynomialMap
from polyfold.cli import app
from polyfold.cli.fit import GRAPHS, fit, make_estimator
from polyfold.cli.terminal import CommandError
from polyfold.datasets import make_swiss_roll
from polyfold.objectives import GEODESIC, OBJECTIVES

COMMANDS = ["fit", "transform", "inspect", "export", "explore", "reproduce", "bench"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of a roll, and its data."""
    place = tmp_path_factory.mktemp("roll")
    X, Z = make_swiss_roll(400, random_state=0)
    frame = pandas.DataFrame(X, columns=["x", "y", "z"])
    frame["t"] = Z[:, 0]
    frame.to_csv(place / "roll.csv", index=False)
    NPPE(n_neighbors=10, fit_inverse_transform=True).fit(frame[["x", "y", "z"]]).map_.save(
        place / "roll.safetensors"
    )
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    shown = succeed(command, "--help").stdout
    assert re.search(rf"Example: polyfold {command} ", " ".join(shown.split()))


def test_help_names_commands_and_exit_codes():
    shown = succeed("--help").stdout
    assert all(command in shown for command in COMMANDS)
    assert "Exit codes: 0 done; 1 failed; 2 wrong use" in " ".join(shown.split())
    assert succeed("--version").stdout.strip() == library.__version__


def test_starting_is_quick_to_import():
    heavy = "'sklearn', 'numba', 'scipy', 'pyarrow', 'pandas'"
    script = f"import sys, polyfold.cli; print([name for name in ({heavy}) if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "[]"


def test_shell_completion():
    done = succeed("--show-completion", "bash", env=PLAIN | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
    assert "complete" in done.stdout
    for words, wanted in (
        ("polyfold tr", "transform"),
        ("polyfold fit a.csv --gra", "--graph"),
        ("polyfold fit a.csv --graph lt", "ltsa"),
    ):
        env = PLAIN | {
            "_PYTHON _M POLYFOLD.CLI_COMPLETE": "complete_bash",
            "_POLYFOLD_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        }
        script = Path(sys.executable).with_name("polyfold")
        shown = subprocess.run([str(script)], env=env, capture_output=True, text=True)
        assert wanted in shown.stdout.split()


def test_every_parameter_of_the_estimator_is_an_option():
    assert set(signature(PolynomialEmbedding).parameters) <= set(signature(fit).parameters)
    assert set(GRAPHS) == {*OBJECTIVES, *GEODESIC}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--graph", "ltsa", "--n-neighbors", "12"], {"graph": "ltsa", "n_neighbors": 12}),
        (["--degree", "3", "--alpha", "0.01", "--reduce", "none"], {"degree": 3, "alpha": 0.01, "reduce": None}),
        (["-m", "1", "--no-center", "--coordinates", "smallest"], {"n_components": 1, "center": False}),
        (["--basis", "hadamard", "--constraint", "orthogonal"], {"basis": "hadamard", "constraint": "orthogonal"}),
        (["--reduce", "2", "--fit-inverse-transform"], {"reduce": 2, "fit_inverse_transform": True}),
        (["--reduce", "0.99", "--neighbors", "exact"], {"reduce": 0.99, "neighbors": "exact"}),
        (["--n-jobs", "2", "--random-state", "3", "--verbose", "0"], {"n_jobs": 2, "random_state": 3}),
    ],
)
def test_parameters_reach_the_estimator(folder, tmp_path, options, expected):
    arguments = [
        "fit",
        folder / "roll.csv",
        "-o",
        tmp_path / "m.safetensors",
        "--exclude",
        "t",
        "--json",
        *options,
    ]
    told = json.loads(CliRunner().invoke(app, list(map(str, arguments))).stdout)
    assert {name: told["parameters"][name] for name in expected} == expected
    assert told["estimator"] == "PolynomialEmbedding"
    learned = PolynomialMap.load(tmp_path / "m.safetensors")
    X = np.ascontiguousarray(pandas.read_csv(folder / "roll.csv")[["x", "y", "z"]])
    parameters = {name: value for name, value in told["parameters"].items() if name != "verbose"}
    np.testing.assert_allclose(learned.transform(X), PolynomialEmbedding(**parameters).fit_transform(X), rtol=1e-9)


def test_published_methods(folder, tmp_path):
    told = read_json("fit", folder / "roll.csv", "-o", tmp_path / "m.safetensors", "--method", "lpp", "-k", 10)
    assert told["estimator"] == "LPP"
    assert told["degree"] == 1
    for method in ("nppe", "snppe", "npe", "npp", "onpp", "lpp", "olpp", "lltsa", "polynomial"):
        assert type(make_estimator(method, {})).__name__.lower().startswith(method[:2])
    said = fail(2, "fit", folder / "roll.csv", "-o", tmp_path / "n", "--method", "nppe", "--graph", "ltsa")
    assert said == "error: --method nppe fixes --graph. Leave one of the two out."
    with pytest.raises(CommandError, match="fixes --degree"):
        make_estimator("lpp", {"degree": 2})


def test_an_affinity_from_a_file(folder, tmp_path):
    from scipy.sparse import save_npz
    from sklearn.neighbors import kneighbors_graph

    X = np.ascontiguousarray(pandas.read_csv(folder / "roll.csv")[["x", "y", "z"]])
    W = kneighbors_graph(X, 8)
    W = W.maximum(W.T)
    save_npz(tmp_path / "W.npz", W)
    told = read_json(
        "fit", folder / "roll.csv", "-o", tmp_path / "m", "--exclude", "t", "--graph", tmp_path / "W.npz"
    )
    assert told["diagnostics"]["graph"] == "affinity"
    np.savez(tmp_path / "no.npz", a=np.ones(3))
    assert "holds no sparse matrix" in fail(
        3, "fit", folder / "roll.csv", "-o", tmp_path / "n", "--graph", tmp_path / "no.npz"
    )


def test_wrong_use_is_told_with_the_cure(folder, tmp_path):
    data, target = folder / "roll.csv", tmp_path / "m.safetensors"
    for options, said in [
        (["--alpha", "much"], "'much' is neither a number nor 'auto'"),
        (["--basis", "monomial"], "hadamard"),
        (["--degre", "2"], "No such option"),
    ]:
        done = polyfold("fit", data, "-o", target, *options)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.replace("│", " ").split())
    assert polyfold("fit", data).returncode == 2  # where to?
    assert "Name a file: -o model.safetensors" in fail(2, "fit", data, "-o", "-")
    assert "--graph must be" in fail(2, "fit", data, "-o", target, "--graph", "lla")
    assert "--n-neighbors" in fail(2, "fit", data, "-o", target, "-k", "400")
    assert "--degree must be" in fail(2, "fit", data, "-o", target, "--degree", "0")
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    assert "has 1 row, and a map is learned from 2 or more" in fail(3, "fit", tmp_path / "one.csv", "-o", target)
    assert "not from standard input" in fail(2, "inspect", "-")
    assert "There is no file or folder" in fail(3, "fit", tmp_path / "none.csv", "-o", target)
    assert "No such file" in fail(3, "inspect", tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"junk" * 100)
    for command in (["inspect"], ["export", "--to", "json"]):
        assert "cannot be read as a map" in fail(3, *command, tmp_path / "bad.safetensors")
    assert not target.exists()


def test_a_traceback_only_for_debug(tmp_path):
    assert "Traceback" not in polyfold("inspect", tmp_path / "none").stderr
    for arguments in (["--debug", "inspect", tmp_path / "none"], ["inspect", tmp_path / "none", "--debug"]):
        done = polyfold(*arguments)
        assert "Traceback" in done.stderr
        assert done.returncode == 3


def test_nothing_is_overwritten_without_force(folder, tmp_path):
    model, data = folder / "roll.safetensors", folder / "roll.csv"
    for name, command in {
        "m.safetensors": ["fit", data],
        "o.csv": ["transform", model, data],
        "m.onnx": ["export", model],
        "p.html": ["explore", model, data],
    }.items():
        target = tmp_path / name
        target.write_text("old")
        said = fail(4, *command, "-o", target)
        assert said.endswith(f"{name} exists. Pass --force to replace it.")
        assert target.read_text() == "old"
        succeed(*command, "-o", target, "--force")
        assert target.read_bytes() != b"old"
    (tmp_path / "roll.h").write_text("old")
    assert "roll.h exists" in fail(4, "export", model, "-o", tmp_path / "roll.c")
    assert not (tmp_path / "roll.c").exists()
    assert "is a folder" in fail(4, "transform", model, data, "-o", tmp_path)
    assert "There is no folder" in fail(4, "transform", model, data, "-o", tmp_path / "no" / "o.csv")
    assert "The name of the output is empty" in fail(4, "transform", model, data, "-o", "")
    assert "cannot be told from its name" in fail(2, "transform", model, data, "-o", tmp_path / "o.xlsx", "-q")
    assert not (tmp_path / "o.xlsx").exists()


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="such a link is replaced like any other file")
def test_a_link_to_itself_is_told(folder, tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    model, data = folder / "roll.safetensors", folder / "roll.csv"
    assert "Too many levels of symbolic links" in fail(4, "transform", model, data, "-o", loop, "-f")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        PolynomialMap.load(model).save(loop)


def test_a_row_that_is_too_far_out_is_named_by_its_place_in_the_file(folder, tmp_path):
    lines = (folder / "roll.csv").read_text().splitlines()
    far = ",".join(["1e300"] * len(lines[1].split(",")))
    path = tmp_path / "far.csv"
    path.write_text(
        "\n".join([*lines[:5], lines[5].replace(lines[5].split(",")[0], "", 1), *lines[6:9], far, lines[9]])
    )
    said = fail(3, "transform", folder / "roll.safetensors", path, "--drop-missing")
    assert "far.csv: data row 9 is finite but so far from the training data that the polynomial overflows" in said


def test_what_is_read_is_not_written(folder, tmp_path):
    model, data = tmp_path / "m.safetensors", tmp_path / "roll.csv"
    model.write_bytes((folder / "roll.safetensors").read_bytes())
    data.write_bytes((folder / "roll.csv").read_bytes())
    for command in (
        ["fit", data, "-o", data],
        ["transform", model, data, "-o", data],
        ["explore", model, data, "-o", model],
        ["export", model, "--to", "json", "-o", model],
    ):
        assert "is what is read. Write to another file." in fail(2, *command, "--force")
    assert data.read_bytes() == (folder / "roll.csv").read_bytes()
    assert model.read_bytes() == (folder / "roll.safetensors").read_bytes()


def test_standard_output_that_is_full(folder):
    with Path("/dev/full").open("wb") as full:
        command = [*POLYFOLD, "transform", str(folder / "roll.safetensors"), str(folder / "roll.csv"), "-q"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=PLAIN, text=True)
    assert done.returncode == 4
    assert "Standard output could not be written: No space left" in done.stderr


def test_a_model_without_a_domain(folder, tmp_path):
    bare = PolynomialMap(np.zeros(3), 1.0, "hadamard", 1, np.ones((3, 1)), [0.0], columns=["x", "y", "z"])
    bare.save(tmp_path / "bare.safetensors")
    done = polyfold("transform", tmp_path / "bare.safetensors", folder / "roll.csv", "--extrapolation")
    assert done.returncode == 3
    assert "does not hold what its samples covered: leave --extrapolation out" in done.stderr
    assert done.stdout == ""


def test_a_device_is_not_replaced_by_a_file(folder, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    said = fail(
        4, "transform", folder / "roll.safetensors", folder / "roll.csv", "-o", tmp_path / "pipe", "--force"
    )
    assert "is not a file" in said


def test_a_full_disk_leaves_what_was_there(folder, tmp_path):
    """Files cannot grow past 4 kB; nothing else is written: compiled loops are there from the first run."""
    target = tmp_path / "o.csv"
    command = ["transform", folder / "roll.safetensors", folder / "roll.csv", "-o", target, "-f", "-q"]
    succeed(*command)
    target.write_text("old")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    said = fail(4, *command, preexec_fn=limit, env=UNCOVERED | {"PYTHONDONTWRITEBYTECODE": "1"})
    assert f"could not be written: {os.strerror(errno.EFBIG)}" in said
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_no_half_written_file(folder, tmp_path, number):
    """Rows come from a pipe that stays open: the command waits in the middle of its work."""
    command = [*POLYFOLD, "transform", str(folder / "roll.safetensors"), "-", "-o", str(tmp_path / "o.csv")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=UNCOVERED)
    process.stdin.write("x,y,z\n" + "1,2,3\n" * 400_000)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not [path for path in tmp_path.iterdir() if path.stat().st_size > 1000]:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else 143)
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_enough(folder, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("x,y,z\n" + "1,2,3\n" * 200_000)
    command = [*POLYFOLD, "transform", str(folder / "roll.safetensors"), str(rows)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN) as process:
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 1
    assert said == b""


def read_terminal(command, folder):
    """What a command writes to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(sys.executable, command, {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"})
    written = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            written += os.read(terminal, 65536)
        except OSError:
            break
    os.close(terminal)
    return written.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_inspect_tells_what_a_person_asks(folder):
    shown = succeed("inspect", folder / "roll.safetensors").stdout
    learned = PolynomialMap.load(folder / "roll.safetensors")
    for line in learned.terms().formula().splitlines():
        assert line.split(" = ")[1] in shown
    low, high = learned.domain.ranges
    assert re.search(rf"x +{low[0]:.4g} +\S+ +{high[0]:.4g}", shown)
    for words in (
        "3 columns",
        "2 coordinates: y0, y1",
        "degree 2",
        "NPPE",
        "n_neighbors=10",
        "neighbours",
        "ridge",
    ):
        assert words in shown
    told = read_json("inspect", folder / "roll.safetensors")
    assert [column["name"] for column in told["columns"]] == ["x", "y", "z"]
    assert told["columns"][1]["largest"] == high[1]
    assert told["has_inverse"] is True
    assert told["diagnostics"]["n_samples"] == 400


def test_inspect_shows_the_report_of_the_fit(folder, tmp_path):
    X = pandas.read_csv(folder / "roll.csv")[["x", "y", "z"]]
    for estimator in (NPPE(n_neighbors=10), library.ExplicitEmbedding(NPPE(n_neighbors=10))):
        fitted = estimator.fit(X)
        fitted.map_.save(tmp_path / "m.safetensors")
        shown = " ".join(succeed("inspect", tmp_path / "m.safetensors").stdout.split())
        assert " ".join(repr(fitted.diagnostics_).split()) in shown


def test_inspect_of_a_map_made_by_hand(tmp_path):
    names = [f"a [bold]b[/] \x1b[31m{j}" for j in range(30)]
    learned = PolynomialMap(np.zeros(30), 1.0, "hadamard", 1, np.ones((30, 1)), [0.0], columns=names)
    learned.save(tmp_path / "m.safetensors")
    shown = succeed("inspect", tmp_path / "m.safetensors").stdout
    assert "\x1b" not in shown
    assert "a [bold]b[/]" in shown
    assert "… and 18 more: --all-columns lists them" in shown
    assert "does not say" in shown
    assert "[31m29" in succeed("inspect", tmp_path / "m.safetensors", "--all-columns").stdout
    # In a terminal too, where the colours of our own are shown, names change nothing.
    (tmp_path / "\x1b[2Jm.safetensors").write_bytes((tmp_path / "m.safetensors").read_bytes())
    shown, code = read_terminal([*POLYFOLD, "inspect", "\x1b[2Jm.safetensors"], tmp_path)
    assert code == 0
    assert "a [bold]b[/]" in shown
    assert "\x1b[31m" not in shown
    assert "\x1b[2J" not in shown
    odd = {"estimator": "X", "diagnostics": {"rank": "many\x1b[2J", "k\x1b[2J": 1}, "parameters": {"a": 1}}
    learned = PolynomialMap([0.0], 1.0, "hadamard", 1, [[1.0]], [0.0], training=odd)
    learned.save(tmp_path / "odd.safetensors")
    shown, code = read_terminal([*POLYFOLD, "inspect", "odd.safetensors"], tmp_path)
    assert "many" in shown
    assert "\x1b[2J" not in shown
    sly = {"n_columns": 7, "image_shape": [-1, -1], "columns": "mine"}
    PolynomialMap([0.0], 1.0, "hadamard", 1, [[1.0]], [0.0], training=sly).save(tmp_path / "sly.safetensors")
    told = read_json("inspect", tmp_path / "sly.safetensors")
    assert told["n_columns"] == 1
    assert told["image_shape"] is None
    assert told["columns"][0]["name"] == "x0"


def test_exports(folder, tmp_path):
    model = folder / "roll.safetensors"
    learned = PolynomialMap.load(model)
    assert succeed("export", model, "--to", "json").stdout == learned.to_json() + "\n"
    assert succeed("export", model, "--to", "latex", "--largest", "3").stdout == learned.to_latex(largest=3) + "\n"
    statement = succeed(
        "export", model, "--to", "sql", "--dialect", "sqlite", "--table", "my table", "--keep", "t"
    ).stdout
    assert statement == learned.to_sql("sqlite", "my table", keep=["t"]) + "\n"
    frame = pandas.read_csv(folder / "roll.csv")
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("my table", connection, index=False)
        placed = np.array(connection.execute(statement).fetchall())
    np.testing.assert_allclose(placed[:, 1:], learned.transform(frame[["x", "y", "z"]]), atol=1e-12)
    connection.close()
    succeed("export", model, "-o", tmp_path / "roll.onnx", "--dtype", "float32")
    assert (tmp_path / "roll.onnx").read_bytes() == learned.to_onnx(dtype="float32").SerializeToString()
    done = succeed("export", model, "-o", tmp_path / "roll.c")
    assert "roll.h and" in done.stderr
    assert (tmp_path / "roll.c").read_text() == learned.to_c("roll").source
    assert (tmp_path / "roll.h").read_text() == learned.to_c("roll").header
    assert "Name the language" in fail(2, "export", model)
    assert "is two files" in fail(2, "export", model, "--to", "c")
    assert "must be a name in C" in fail(2, "export", model, "-o", tmp_path / "2 b.c")


def test_bench_as_json(monkeypatch):
    from polyfold import bench
    from polyfold.bench.report import Figure

    monkeypatch.setitem(bench.SUITES, "transform", lambda settings: [Figure("transform", "a", "b", 1.0, 2.0, 0.4)])
    shown = CliRunner().invoke(app, ["bench", "--only", "transform", "--json"])
    told = json.loads(shown.stdout)
    assert told["figures"][0]["ratio"] == 0.5
    assert told["figures"][0]["met"] is False
    assert "cores" in told["machine"]


def test_warnings_name_columns_and_options(folder, tmp_path):
    frame = pandas.read_csv(folder / "roll.csv")
    frame["nanometres"] = frame["x"] * 1e9
    frame.to_csv(tmp_path / "units.csv", index=False)
    done = succeed("fit", tmp_path / "units.csv", "-o", tmp_path / "m.safetensors")
    assert "warning: Column 'nanometres' carries" in done.stderr
    assert "Lower --degree" in done.stderr
    assert "`" not in done.stderr
    told = read_json("inspect", tmp_path / "m.safetensors")
    assert told["diagnostics"]["dominant_column"] == "'nanometres'"


def test_names_of_files_do_nothing_to_a_terminal(folder, tmp_path):
    names = "\x1b[2Jrows.csv", "\x1b[2Jo.csv"
    (tmp_path / names[0]).write_bytes((folder / "roll.csv").read_bytes())
    model = str(folder / "roll.safetensors")
    for command in (["transform", model, *names[:1], "-o", names[1]], ["transform", model, names[1]]):
        shown, _ = read_terminal([*POLYFOLD, *command], tmp_path)
        assert "[2J" in shown
        assert "\x1b[2J" not in shown
    assert (tmp_path / names[1]).exists()


def test_a_terminal_shows_progress(folder, tmp_path):
    X, _ = make_swiss_roll(300_000, random_state=0)
    np.savetxt(tmp_path / "many.csv", X, delimiter=",", header="x,y,z", comments="", fmt="%.6f")
    command = [*POLYFOLD, "transform", str(folder / "roll.safetensors"), "many.csv", "-o", "o.csv"]
    shown, code = read_terminal(command, tmp_path)
    assert code == 0
    assert "Placing many.csv" in shown
    assert "rows/s" in shown
    assert "%" in shown
    assert (tmp_path / "o.csv").read_bytes().count(b"\n") == 300_001
