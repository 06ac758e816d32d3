"""Faults: killed, starved, interrupted, forked, nowhere to write to. Files stay whole, and errors are clear."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import polyfold
from commands import fail
from maps import random_map
from polyfold import ModelFormatError, PolynomialMap
from polyfold._factors import MANY_ROWS, decompose, decompose_symmetric
from polyfold._index import build_index
from polyfold._threads import call_aside

TESTS = Path(__file__).parent
CHILD = [sys.executable, str(TESTS / "fault_children.py")]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TESTS)}

#: Seconds from Ctrl-C until a fit has ended.
PROMPT = 2.0


def run_child(*arguments, env=ENVIRONMENT, timeout=300):
    """What a child tells, as a list of facts."""
    command = [*CHILD, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def check_kills(folder, n_kills, seed):
    told, _ = run_child("kill", folder, n_kills, seed)
    assert len(told) == 6
    for found in told:
        assert found["other"] == 0
        assert found["old"] + found["new"] == n_kills
    return told


@pytest.mark.slow
def test_kills_leave_the_old_or_the_new_file(tmp_path):
    told = check_kills(tmp_path, 4, seed=0)
    assert sum(found["old"] for found in told) > 0


@pytest.mark.slow
def test_four_hundred_kills_on_both_sides_of_the_replacement(tmp_path, record_property):
    told = check_kills(tmp_path, 70, seed=1)
    for key in ("old", "new", "other", "unfinished"):
        record_property(f"kills_{key}", sum(found[key] for found in told))
    assert sum(found["old"] + found["new"] for found in told) == 420
    for found in told:
        assert found["unfinished"] > 0
        assert found["old"] > 0
        assert found["new"] > 0


def mount(place, *options):
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(place)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")


@pytest.fixture
def full_disk(tmp_path):
    """A disk of 32 kB."""
    place = tmp_path / "small"
    mount(place, "-o", "size=32k")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def read_only_disk(tmp_path):
    """A disk with an old file of each kind, that nothing more can be written to, not even by root."""
    place = tmp_path / "frozen"
    mount(place)
    for name in OUTPUTS:
        (place / name).write_text("old")
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


OUTPUTS = {
    "o.csv": "transform",
    "o.csv.gz": "transform",
    "o.parquet": "transform",
    "o.npy": "transform",
    "o.html": "explore",
    "o.json": "export",
    "o.onnx": "export",
    "o.c": "export",
}

#: Two of them in every run, and all of them in `make check`.
SOME_OUTPUTS = [
    name if name in ("o.npy", "o.c") else pytest.param(name, marks=pytest.mark.slow) for name in OUTPUTS
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    random_map("kronecker", 2, 300, 2, 20).save(folder / "m.safetensors")
    np.save(folder / "d.npy", np.random.default_rng(0).normal(size=(6000, 300)))
    return folder


def list_command(inputs, target):
    command = OUTPUTS[target.name]
    data = [] if command == "export" else [inputs / "d.npy"]
    return [command, inputs / "m.safetensors", *data, "-o", target, "--force"]


@pytest.mark.parametrize("name", SOME_OUTPUTS)
def test_outputs_on_a_full_disk(name, inputs, full_disk):
    target = full_disk / name
    target.write_text("old")
    said = fail(4, *list_command(inputs, target))
    assert "could not be written: No space left on device" in said
    assert target.read_text() == "old"
    assert [path.name for path in full_disk.iterdir()] == [name]  # of C, no header alone


def test_a_map_on_a_full_disk(full_disk):
    path = full_disk / "m.safetensors"
    old = random_map("kronecker", 2)
    old.save(path)
    with pytest.raises(OSError, match="No space left on device") as told:
        random_map("kronecker", 2, 300, 2, 20).save(path)
    assert "\n" not in str(told.value)
    np.testing.assert_array_equal(PolynomialMap.load(path).coefficients, old.coefficients)
    assert list(full_disk.iterdir()) == [path]


@pytest.mark.parametrize("name", SOME_OUTPUTS)
def test_outputs_on_a_disk_that_cannot_be_written(name, inputs, read_only_disk):
    said = fail(4, *list_command(inputs, read_only_disk / name))
    assert "could not be written: Read-only file system" in said
    assert (read_only_disk / name).read_text() == "old"


def test_a_map_on_a_disk_that_cannot_be_written(inputs, read_only_disk):
    with pytest.raises(OSError, match="Read-only file system") as told:
        random_map("kronecker", 2).save(read_only_disk / "m.safetensors")
    assert str(read_only_disk) in str(told.value)
    target = read_only_disk / "fit.safetensors"
    np.save(inputs / "small.npy", np.random.default_rng(0).normal(size=(100, 3)))
    said = fail(4, "fit", inputs / "small.npy", "-o", target)
    assert "could not be written: Read-only file system" in said


EXPLICIT_CURE = "Give fewer samples, lower `degree`, or set `reduce`"
IMPLICIT_CURE = "Give fewer samples, or learn an explicit map by PolynomialEmbedding or ExplicitEmbedding"


def starve(settings, n_samples, n_columns, megabytes):
    environment = {**ENVIRONMENT, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    arguments = (json.dumps(settings), n_samples, n_columns, megabytes)
    told, _ = run_child("starve", *arguments, env=environment)
    message = told[0]["message"]
    assert f"Fitting {n_samples:,} samples of {n_columns} columns" in message
    assert "beside the libraries" in message
    assert (IMPLICIT_CURE if "implicit" in settings else EXPLICIT_CURE) in message
    assert told[0]["learned"] == []
    return message, told


@pytest.mark.slow
def test_too_little_memory_is_told_with_what_would_fit():
    message, told = starve({"n_neighbors": 10}, 100_000, 60, 420)
    assert "`reference_size`" in message
    assert told[1]["finite"]
    assert 1000 < told[1]["fitted"] < 100_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "n_samples", "n_columns", "megabytes", "fits"),
    [
        ({"n_neighbors": 10}, 1_000_000, 3, 200, "About"),
        ({"n_neighbors": 10}, 400_000, 30, 500, "About"),
        ({"n_neighbors": 10, "graph": "ltsa"}, 1_000_000, 3, 200, "About"),
        ({"n_neighbors": 10, "graph": "isomap"}, 200_000, 3, 300, "About"),
        ({"n_neighbors": 10, "explicit": True}, 1_000_000, 3, 300, "what the learner takes"),
        ({"implicit": "KE"}, 30_000, 3, 900, "About"),  # of which LLE's factors are not given back at once
        ({"implicit": "Nyström", "graph": "isomap", "n_neighbors": 10}, 30_000, 3, 400, "About"),
        ({"n_neighbors": 10}, 1_000_000, 3, 60, "Hardly any samples would fit"),
    ],
    ids=str,
)
def test_too_little_memory_wherever_it_ends(settings, n_samples, n_columns, megabytes, fits):
    message, told = starve(settings, n_samples, n_columns, megabytes)
    assert fits in message
    if fits == "About":
        assert told[1]["finite"]
        assert told[1]["fitted"] >= 100


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError("Unable to allocate")])
def test_other_words_for_too_little_memory(error, monkeypatch):
    def run_out(*_, **__):
        raise error

    monkeypatch.setattr("polyfold.embedding.build_features", run_out)
    X = np.random.default_rng(0).normal(size=(500, 4))
    with pytest.raises(MemoryError, match=rf"Fitting 500 samples of 4 columns .*\({error}\.\)"):
        polyfold.NPPE().fit(X)
    with pytest.raises(MemoryError, match=r"Fitting 500 samples of 4 columns"):
        polyfold.NPPE().fit(X.tolist())
    monkeypatch.setattr("polyfold._memory.read_free_memory", lambda: None)
    with pytest.raises(MemoryError, match="which is more than there is"):
        polyfold.NPPE().fit(X)
    error.args = ("something else",)
    with pytest.raises(type(error), match="something else"):
        polyfold.NPPE().fit(X)


def interrupt(settings, n_samples, n_columns, n_stages):
    """Interrupt stages of a fit; return seconds until each ended, and the longest silences of a whole fit."""
    command = [*CHILD, "interrupt", json.dumps(settings), str(n_samples), str(n_columns), str(n_stages)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    latencies = {}
    with subprocess.Popen(command, text=True, env=ENVIRONMENT, **pipes) as process:

        def hear():
            line = process.stdout.readline()
            assert line, process.stderr.read()[-2000:]
            return json.loads(line)

        first = hear()
        for name in first["stages"][:n_stages]:
            told = hear()
            assert told == {"begins": name}
            time.sleep(0.02)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            ended = hear()["ended"]
            latencies[name] = round(time.monotonic() - start, 2)
            assert ended in ("interrupted", "fitted"), ended  # the last stages may be over by then
            if ended == "fitted":
                latencies[name] = 0.0
            assert hear() == {"same": True}
        process.stdin.close()
        assert process.wait(60) in (0, -signal.SIGINT)
    return latencies, first["gaps"]


def test_ctrl_c_ends_a_fit():
    latencies, _ = interrupt({"n_neighbors": 10}, 40_000, 3, 3)
    assert len(latencies) == 3
    assert max(latencies.values()) < PROMPT


@pytest.mark.timed
@pytest.mark.parametrize(
    ("settings", "n_samples", "n_columns"),
    [
        ({"fit_inverse_transform": True}, 300_000, 3),
        ({"fit_inverse_transform": True, "n_jobs": 2}, 300_000, 3),
        ({"graph": "ltsa"}, 60_000, 3),
        ({"graph": "mlle"}, 60_000, 3),
        ({"graph": "laplacian"}, 150_000, 3),
        ({"graph": "isomap"}, 10_000, 3),
        ({"graph": "isomap_mutual"}, 10_000, 3),
        ({"neighbors": "approx", "reduce": 8}, 60_000, 20),
        ({"neighbors": "exact", "n_neighbors": 12, "reduce": 20}, 30_000, 60),
        ({"coordinates": "smallest", "alpha": 0.01}, 100_000, 12),
        ({"reference_size": 20_000}, 150_000, 6),
        ({"reduce": 45, "n_neighbors": 12}, 8_000, 60),
    ],
    ids=str,
)
def test_ctrl_c_is_heard_in_every_stage(settings, n_samples, n_columns, record_property):
    latencies, gaps = interrupt(settings, n_samples, n_columns, 99)
    record_property("interrupted_stages", len(latencies))
    record_property("interrupt_seconds", max(latencies.values()))
    record_property("silent_seconds", max(gaps.values()))
    assert len(latencies) >= 5
    assert max(latencies.values()) < PROMPT
    assert max(gaps.values()) < PROMPT


def test_long_work_aside_is_the_same_and_raises_the_same():
    A = np.random.default_rng(0).normal(size=(MANY_ROWS + 1, 40))
    A = A @ A.T
    eigenvalues, vectors = decompose_symmetric(A)
    np.testing.assert_allclose((vectors * eigenvalues) @ vectors.T, A, atol=1e-9 * eigenvalues[-1])
    U, singular, Vt = decompose(A)
    assert (np.diff(singular) <= 0).all()
    np.testing.assert_allclose((U * singular) @ Vt, A, atol=1e-9 * singular[0])
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        call_aside(lambda: np.ones(1) / np.zeros(1))  # errors come back, and settings go along


def test_searches_in_parts_find_what_one_search_finds(monkeypatch):
    random = np.random.default_rng(0)
    for n_columns in (3, 20):
        X = random.normal(size=(3000, n_columns)).round(2)
        index = build_index(X, n_jobs=1)
        with monkeypatch.context() as patch:
            patch.setattr("polyfold._index.TREE_QUERIES", len(X))
            whole = index.find(X, 7)
        with monkeypatch.context() as patch:
            patch.setattr("polyfold._index.TABLE_WORK", 50 * X.size)
            found = index.find(X, 7)
        np.testing.assert_allclose(found[0], whole[0], atol=1e-6)
        np.testing.assert_allclose(found[0], np.sort(cdist(X, X), axis=1)[:, :7], atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(X[found[1]] - X[:, np.newaxis], axis=2), found[0], atol=1e-6)


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_children_of_a_process_with_threads_get_the_same_bits(method):
    environment = {**ENVIRONMENT, "OMP_NUM_THREADS": "2"}
    told, _ = run_child("multiply", method, env=environment)
    assert told[-1]["code"] == 0
    assert told[-1]["same"]
    assert told[-1]["threads"] > 1 or os.cpu_count() == 1


def save_at_once(tmp_path, seconds):
    path = tmp_path / "m.safetensors"
    random_map("kronecker", 2).save(path)
    command = [*CHILD, "save", str(path)]
    children = [
        subprocess.Popen([*command, str(seed), str(seconds)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        for seed in (0, 1)
    ]
    contents, n_read = {}, 0
    while any(child.poll() is None for child in children):
        learned = PolynomialMap.load(path)  # checks its SHA-256
        contents[path.read_bytes()] = learned
        n_read += 1
    rounds = [json.loads(child.communicate()[0])["rounds"] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert len(contents) <= 3  # what was there first, and what each of the two writes
    assert not list(tmp_path.glob(".polyfold*"))
    return contents, sum(rounds), n_read


def test_two_processes_that_save_to_one_path(tmp_path):
    assert len(save_at_once(tmp_path, 1)[0]) == 3


@pytest.mark.slow
def test_two_processes_that_save_to_one_path_for_long(tmp_path, record_property):
    contents, n_saves, n_reads = save_at_once(tmp_path, 20)
    record_property("rival_saves", n_saves)
    record_property("rival_reads", n_reads)
    assert len(contents) == 3


@pytest.mark.parametrize("kind", ["a file", pytest.param("read-only", marks=pytest.mark.slow)])
def test_a_cache_of_compiled_loops_that_cannot_be_written(kind, tmp_path):
    place = tmp_path / "cache"
    if kind == "a file":
        place.write_text("no folder")
    else:
        mount(place, "-o", "ro")
    try:
        told, said = run_child("compile", env={**ENVIRONMENT, "NUMBA_CACHE_DIR": str(place)})
    finally:
        if kind == "read-only":
            subprocess.run(["umount", str(place)], check=True)
    assert told == [{"json": True}]
    assert "Traceback" not in said


@pytest.mark.slow
def test_a_package_folder_that_cannot_be_written(tmp_path):
    """Nor is there a home folder for numba to fall back to."""
    place = tmp_path / "frozen"
    mount(place)
    try:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(polyfold.__file__).parent, place / "polyfold", ignore=ignored)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        environment = {name: value for name, value in ENVIRONMENT.items() if not name.startswith(("NUMBA", "XDG"))}
        environment |= {"PYTHONPATH": f"{place}:{TESTS}", "HOME": "/proc/none", "PYTHONDONTWRITEBYTECODE": "1"}
        told, said = run_child("compile", env=environment)
        where = subprocess.run(
            [sys.executable, "-c", "import polyfold; print(polyfold.__file__)"],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert where.stdout.startswith(str(place))
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert told == [{"json": True}]
    assert "Traceback" not in said


def test_a_mixture_would_be_seen(tmp_path):
    """What the tests above rely on: a file half of one map and half of another is refused."""
    for seed in (0, 1):
        random_map("kronecker", 2, 300, 2, 20, seed=seed).save(tmp_path / str(seed))
    one, other = ((tmp_path / name).read_bytes() for name in "01")
    (tmp_path / "both").write_bytes(one[: len(one) // 2] + other[len(other) // 2 :])
    with pytest.raises(ModelFormatError):
        PolynomialMap.load(tmp_path / "both")
