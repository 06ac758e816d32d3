"""Maps in files: exact, equal bytes for equal maps, written whole or not at all, refused where damaged."""

import contextlib
import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from safetensors import safe_open
from safetensors.numpy import save as pack
from sklearn.manifold import Isomap

import polyfold
from maps import random_map
from polyfold import NPPE, SNPPE, ExplicitEmbedding, ModelFormatError, PolynomialEmbedding, PolynomialMap
from polyfold._document import FORMAT_VERSION
from polyfold.datasets import make_swiss_roll
from strategies import count_examples, polynomial_maps


@pytest.fixture(scope="module")
def roll():
    X, _ = make_swiss_roll(500, random_state=0)
    return pandas.DataFrame(X, columns=["width", "depth", "height"])


@pytest.fixture(scope="module")
def fitted(roll):
    return NPPE(n_neighbors=10, fit_inverse_transform=True).fit(roll)


def read_parts(path):
    """The arrays and the metadata of a file."""
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["polyfold"])
        return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118


def write_parts(path, arrays, header, sign=True):
    """A file as a hostile or a future writer would make it, with a signature that fits."""
    if sign:
        header = {key: value for key, value in header.items() if key != "sha256"}
        digest = hashlib.sha256(json.dumps(header, sort_keys=True, separators=(",", ":")).encode())
        for name in sorted(arrays):
            digest.update(f"\n{name} {arrays[name].shape}\n".encode() + arrays[name].tobytes())
        header["sha256"] = digest.hexdigest()
    path.write_bytes(
        pack(arrays, metadata={"polyfold": json.dumps(header, sort_keys=True, separators=(",", ":"))})
    )


def assert_same(one, other):
    assert one.basis == other.basis
    assert one.degree == other.degree
    assert one.columns == other.columns
    assert one.training == other.training
    for name in ("shift", "scale", "coefficients", "offset", "axes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.domain is None) == (other.domain is None)
    if one.domain is not None:
        for name in ("center", "directions", "spreads", "reach", "thickness", "ranges"):
            np.testing.assert_array_equal(getattr(one.domain, name), getattr(other.domain, name))
    assert (one.decoder is None) == (other.decoder is None)
    if one.decoder is not None:
        assert_same(one.decoder, other.decoder)


def test_what_is_loaded_is_what_was_saved(fitted, roll, tmp_path):
    path = tmp_path / "map.safetensors"
    fitted.map_.save(path)
    loaded = PolynomialMap.load(path)
    assert_same(loaded, fitted.map_)
    X = roll.to_numpy()
    for samples in (X, X.astype(np.float32)):
        np.testing.assert_array_equal(loaded.transform(samples), fitted.map_.transform(samples))
    np.testing.assert_array_equal(loaded.jacobian(X), fitted.map_.jacobian(X))
    np.testing.assert_array_equal(loaded.extrapolation(X), fitted.map_.extrapolation(X))
    Y = fitted.transform(roll)
    np.testing.assert_array_equal(loaded.inverse(Y), fitted.inverse_transform(Y))
    np.testing.assert_array_equal(loaded.domain.ranges, [X.min(axis=0), X.max(axis=0)])


@given(learned=polynomial_maps())
@count_examples(100)
def test_any_map_comes_back_and_equal_maps_are_equal_bytes(tmp_path, learned):
    one, other = tmp_path / "one", tmp_path / "other"
    learned.save(one)
    loaded = PolynomialMap.load(one)
    assert_same(loaded, learned)
    assert_same(PolynomialMap.from_json(learned.to_json()), learned)
    loaded.save(other)
    assert one.read_bytes() == other.read_bytes()
    assert loaded.to_json() == learned.to_json()


def test_equal_fits_are_equal_bytes_in_every_process(tmp_path):
    script = (
        "import sys; from polyfold import NPPE; from polyfold.datasets import make_swiss_roll\n"
        "NPPE(n_neighbors=10).fit(make_swiss_roll(300, random_state=0)[0]).map_.save(sys.argv[1])\n"
    )
    written = []
    for seed in ("1", "2"):
        path = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", script, str(path)], check=True, env=environment)
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_a_file_says_where_it_comes_from(fitted, tmp_path):
    path = tmp_path / "map.safetensors"
    fitted.map_.save(path)
    _, header = read_parts(path)
    assert header["format_version"] == FORMAT_VERSION
    assert header["library_version"] == polyfold.__version__
    facts = header["map"]
    assert facts["columns"] == ["width", "depth", "height"]
    training = facts["training"]
    assert training["estimator"] == "NPPE"
    assert training["parameters"]["n_neighbors"] == 10
    assert training["diagnostics"]["n_samples"] == 500
    assert training["diagnostics"]["rank"] == fitted.diagnostics_.rank
    assert PolynomialMap.load(path).training["parameters"]["degree"] == 2
    with pytest.raises(TypeError):
        PolynomialMap.load(path).training["parameters"]["degree"] = 3


def test_parameters_that_json_does_not_have(tmp_path):
    X, _ = make_swiss_roll(200, random_state=0)
    explicit = ExplicitEmbedding(Isomap(n_neighbors=8), random_state=np.random.RandomState(0)).fit(X)
    explicit.map_.save(tmp_path / "map")
    parameters = PolynomialMap.load(tmp_path / "map").training["parameters"]
    assert parameters["estimator"]["class"] == "Isomap"
    assert parameters["estimator"]["parameters"]["n_neighbors"] == 8
    assert parameters["random_state"] == "RandomState"
    affinity = np.ones((200, 200)) / 200
    given_graph = PolynomialEmbedding(graph=affinity, alpha=1e-3).fit(X)
    assert given_graph.map_.training["parameters"]["graph"] == "array of shape (200, 200)"


@pytest.mark.parametrize("graph", ["lle", "mlle", "ltsa", "hessian", "laplacian", "diffusion", "isomap"])
@pytest.mark.parametrize(("back", "limit"), [(False, 4000), (True, 6000)])
def test_size_of_a_map_of_three_columns(graph, back, limit, roll, tmp_path):
    learned = PolynomialEmbedding(graph=graph, n_neighbors=12, fit_inverse_transform=back).fit(roll).map_
    learned.save(tmp_path / "map")
    assert (tmp_path / "map").stat().st_size < limit


@pytest.mark.parametrize("n_components", [2, 10])
def test_size_of_a_map_of_many_columns(n_components, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(700, 40)) @ random.normal(size=(40, 784))
    frame = pandas.DataFrame(X, columns=[f"pixel {j // 28} {j % 28}" for j in range(784)])
    learned = NPPE(n_components, reduce=30, n_neighbors=15, alpha=1e-2).fit(frame).map_
    learned.save(tmp_path / "map")
    assert (tmp_path / "map").stat().st_size < 300_000


def test_a_map_is_loaded_and_used_without_scikit_learn(fitted, roll, tmp_path):
    fitted.map_.save(tmp_path / "map")
    script = (
        "import sys, scipy.linalg\n"
        "before = set(sys.modules)\n"  # older ones of SciPy import sparse matrices with it
        "from polyfold import PolynomialMap\n"
        "learned = PolynomialMap.load(sys.argv[1])\n"
        "print(learned.transform([[1.0, 2.0, 3.0]]).tolist())\n"
        "PolynomialMap.from_json(learned.to_json()).jacobian([[1.0, 2.0, 3.0]])\n"
        "heavy = {'sklearn', 'scipy.sparse', 'joblib', 'pandas', 'onnx', 'sqlglot', 'sympy'}\n"
        "loaded = heavy & (set(sys.modules) - before)\n"
        "assert not loaded, loaded\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "map")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == fitted.map_.transform([[1.0, 2.0, 3.0]]).tolist()


class Interrupted(BaseException):
    """As KeyboardInterrupt, that pytest would take for the user's."""


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), Interrupted()])
@pytest.mark.parametrize("step", ["os.fdopen", "os.fsync", "pathlib.Path.replace", "pathlib.Path.chmod"])
def test_a_write_that_fails_leaves_the_old_file(step, error, fitted, tmp_path, monkeypatch):
    path = tmp_path / "map.safetensors"
    random_map("kronecker", 2).save(path)
    before = path.read_bytes()

    def fail(*_):
        raise error

    monkeypatch.setattr(step, fail)
    with pytest.raises(type(error)):
        fitted.map_.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk(tmp_path):
    """For real: the process may not write files of more than 8 kB."""
    path = tmp_path / "map.safetensors"
    random_map("kronecker", 2).save(path)
    before = path.read_bytes()
    script = (
        "import resource, sys, signal\n"
        "from maps import random_map\n"
        "learned = random_map('kronecker', 2, 784, 2, 30)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
        "try:\n    learned.save(sys.argv[1])\nexcept OSError as error:\n    print(error.strerror)\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert "too large" in done.stdout
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_killed_while_it_writes(tmp_path):
    path = tmp_path / "map.safetensors"
    script = (
        "import sys\nfrom maps import random_map\n"
        "maps = [random_map('kronecker', 2, 300, 2, 20, seed=seed) for seed in (0, 1)]\n"
        "maps[0].save(sys.argv[1])\nprint('ready', flush=True)\n"
        "while True:\n    maps[1].save(sys.argv[1])\n    maps[0].save(sys.argv[1])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    for wait in (0.0, 0.003, 0.011, 0.017):
        command = [sys.executable, "-c", script, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            process.stdout.readline()
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        assert PolynomialMap.load(path).n_inputs == 300


def test_permissions_and_links(fitted, tmp_path):
    path, link = tmp_path / "map", tmp_path / "link"
    fitted.map_.save(path)
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to(path)
    fitted.map_.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileNotFoundError, match=r"No such folder: .*such'"):
        fitted.map_.save(tmp_path / "no" / "such" / "folder")
    fitted.map_.save(tmp_path / ("字" * 80 + ".safetensors"))


def test_a_device_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="Not a file"):
        random_map("hadamard", 2).save(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        random_map("hadamard", 2).save(tmp_path / "folder")
    assert (tmp_path / "pipe").is_fifo()
    assert len(list(tmp_path.iterdir())) == 2


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        PolynomialMap.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        PolynomialMap.load(tmp_path)


def test_every_flipped_bit_is_found(fitted, tmp_path):
    """Of a whole file: each byte changed in one bit, and in all."""
    path = tmp_path / "map.safetensors"
    SNPPE(n_neighbors=10).fit(make_swiss_roll(100, random_state=0)[0]).map_.save(path)
    content = path.read_bytes()
    damaged = tmp_path / "damaged"
    for position in range(len(content)):
        for flip in (1 << (position % 8), 0xFF):
            changed = bytearray(content)
            changed[position] ^= flip
            damaged.write_bytes(changed)
            with pytest.raises(ModelFormatError):
                PolynomialMap.load(damaged)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, 1000, -100, -8, -1])
def test_truncated(length, fitted, tmp_path):
    path = tmp_path / "map"
    fitted.map_.save(path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ModelFormatError, match=r"map' cannot be read as a map\. It is no whole safetensors file"):
        PolynomialMap.load(path)


@pytest.mark.parametrize(
    "content", [b"hello, world" * 10, b"\x80\x04K*.", b"PK\x03\x04" * 20, b"{}", b"\xff" * 4096]
)
def test_other_files(content, tmp_path):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ModelFormatError, match="no whole safetensors file"):
        PolynomialMap.load(tmp_path / "other")


def test_other_safetensors_files(tmp_path):
    (tmp_path / "weights").write_bytes(pack({"layer": np.ones(3)}))
    with pytest.raises(ModelFormatError, match="no metadata entry 'polyfold'"):
        PolynomialMap.load(tmp_path / "weights")


@pytest.mark.parametrize(
    ("library", "cure"),
    [
        ("3.2.0", "pip install 'polyfold>=3.2.0'"),
        ("4.0.0rc1", "pip install 'polyfold>=4.0.0rc1'"),
        ("\x1b[2J; rm -rf", "pip install --upgrade polyfold"),
        (None, "pip install --upgrade polyfold"),
    ],
)
def test_a_newer_format_says_what_to_install(library, cure, fitted, tmp_path):
    path = tmp_path / "map"
    fitted.map_.save(path)
    arrays, _ = read_parts(path)
    arrays["something new"] = np.ones(3)
    newer = {"format_version": 7, "library_version": library, "other": "things"}
    write_parts(path, arrays, newer)
    with pytest.raises(ModelFormatError) as caught:
        PolynomialMap.load(path)
    assert f"format version 7; polyfold {polyfold.__version__} reads up to version 1" in str(caught.value)
    assert str(caught.value).endswith(cure)
    document = json.loads(fitted.map_.to_json()) | newer
    with pytest.raises(ModelFormatError, match="format version 7"):
        PolynomialMap.from_json(json.dumps(document))


def change_array(name, value):
    return lambda arrays, header: ({**arrays, name: np.asarray(value)}, header)


def change_fact(name, value):
    return lambda arrays, header: (arrays, {**header, "map": {**header["map"], name: value}})


HOSTILE = {
    "no map": (lambda arrays, header: (arrays, {**header, "map": None}), "not a table of facts"),
    "no arrays": (lambda arrays, header: ({}, header), "needs an array 'shift'"),
    "NaN": (change_array("shift", [0.0, np.nan, 0.0]), "must be a finite array"),
    "infinite coefficients": (change_array("coefficients", np.full((9, 2), np.inf)), "must be a finite array"),
    "infinite scale": (change_array("scale", np.inf), "`scale` must be a finite number"),
    "scale 0": (change_array("scale", 0.0), "`scale` must be above 0"),
    "scale below 0": (change_array("scale", -1.0), "`scale` must be a finite number >= 0"),
    "type": (change_array("shift", np.zeros(3, dtype=np.float32)), "type F32 instead of F64"),
    "integers": (change_array("shift", np.zeros(3, dtype=np.int64)), "type I64 instead of F64"),
    "shape": (change_array("offset", np.zeros(5)), r"'coefficients' has shape \(9, 2\) instead of \(9, 5\)"),
    "dimensions": (change_array("shift", np.zeros((3, 1))), r"'shift' of 1 dimensions, not one of shape \(3, 1\)"),
    "empty": (change_array("shift", np.zeros(0)), "not the number of monomials"),
    "further array": (change_array("zzz", np.zeros(2)), "an array 'zzz' that a map does not have"),
    "axes": (change_array("axes", np.zeros((3, 2))), "not the number of monomials"),
    "basis": (change_fact("basis", "fourier"), "basis is none of hadamard, kronecker"),
    "list as basis": (change_fact("basis", ["hadamard"]), "basis is none of"),
    "degree 0": (change_fact("degree", 0), "degree is not an integer"),
    "degree true": (change_fact("degree", True), "degree is not an integer"),
    "degree 3": (change_fact("degree", 3), "not the number of monomials of degree 3"),
    "huge degree": (change_fact("degree", 10**15), "not the number of monomials"),
    "names": (change_fact("columns", ["a"]), "names 1 columns and has 3"),
    "equal names": (change_fact("columns", ["a", "a", "b"]), "must be 3 different names"),
    "numbers as names": (change_fact("columns", [1, 2, 3]), "not a list of names"),
    "training": (change_fact("training", [1]), "training is not a table"),
    "decoder": (change_fact("decoder", {"basis": "kronecker"}), "does not say columns, decoder, degree, training"),
    "no decoder": (change_fact("decoder", None), "an array 'decoder.* that a map does not have"),
    "thin domain": (change_array("domain.spreads", np.zeros(3)), "must be above 0"),
    "domain": (change_array("domain.center", np.zeros(4)), r"'domain.center' has shape \(4,\) instead of \(3,\)"),
    "no version": (
        lambda arrays, header: (arrays, {**header, "format_version": "1"}),
        "not state a format version",
    ),
}


@pytest.mark.parametrize("case", sorted(HOSTILE))
def test_hostile_files(case, fitted, tmp_path):
    """Well-formed and signed, but no map."""
    change, message = HOSTILE[case]
    path = tmp_path / "map"
    fitted.map_.save(path)
    arrays, header = change(*read_parts(path))
    write_parts(path, arrays, header)
    with pytest.raises(ModelFormatError, match=message):
        PolynomialMap.load(path)


def test_a_changed_file_that_is_not_signed_anew(fitted, tmp_path):
    path = tmp_path / "map"
    fitted.map_.save(path)
    arrays, header = read_parts(path)
    write_parts(path, arrays | {"scale": np.asarray(2.0)}, header, sign=False)
    with pytest.raises(ModelFormatError, match="do not match its SHA-256: it was damaged, or changed by hand"):
        PolynomialMap.load(path)
    write_parts(path, arrays, {**header, "map": {**header["map"], "columns": ["a", "b", "c"]}}, sign=False)
    with pytest.raises(ModelFormatError, match="SHA-256"):
        PolynomialMap.load(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "nonsense",
        b"\xff\xfe\xff",
        "[" * 100_000,
        '{"format_version": NaN}',
        '{"format_version": 1}',
        '{"format_version": 1, "arrays": {"shift": [[1], [2, 3]]}, "map": {}}',
        '{"format_version": 1, "arrays": {"shift": ["a"]}, "map": {}}',
        '{"format_version": 1, "arrays": {"shift": [1e999]}, "map": {}}',
        '{"format_version": 1, "arrays": [], "map": {}}',
        '{"format_version": ' + "9" * 5000 + "}",
        '{"format_version": 1, "arrays": {"shift": [' + "9" * 400 + ']}, "map": {}}',
        '{"format_version": 1, "arrays": {"shift": [true]}, "map": {}}',
    ],
)
def test_texts_that_are_no_map(text):
    with pytest.raises(ModelFormatError, match="The text cannot be read as a map"):
        PolynomialMap.from_json(text)


@pytest.mark.parametrize("depth", [100, 500, 700, 950, 3000])
def test_deep_records(depth, fitted, tmp_path):
    """Nested further than Python goes: refused as anything else that is no map."""
    text = fitted.map_.to_json().replace('"estimator":"NPPE"', '"estimator":' + "[" * depth + "]" * depth)
    path = tmp_path / "map"
    fitted.map_.save(path)
    arrays, header = read_parts(path)
    nested = {}
    for _ in range(min(depth, 900)):
        nested = {"a": nested}
    header["map"]["training"] = nested
    write_parts(path, arrays, header)
    for read, source in ((PolynomialMap.from_json, text), (PolynomialMap.load, path)):
        if depth == 100:
            assert read(source).n_inputs == 3
            continue
        with contextlib.suppress(ModelFormatError):
            read(source)


@pytest.mark.parametrize("change", [lambda old: old[::-1], lambda old: old[1:], lambda _: None, lambda _: "x"])
def test_monomials_changed_by_hand(fitted, change):
    """Evaluators in other languages read them."""
    document = json.loads(fitted.map_.to_json())
    document["monomials"] = change(document["monomials"])
    with pytest.raises(ModelFormatError, match="monomials are not those of its basis and degree"):
        PolynomialMap.from_json(json.dumps(document))


def test_weights_changed_by_hand(fitted):
    for change in (lambda d: d["weights"][0].reverse(), lambda d: d["arrays"]["coefficients"][0].reverse()):
        document = json.loads(fitted.map_.to_json())
        change(document)
        with pytest.raises(ModelFormatError, match="weights are not those of its coefficients"):
            PolynomialMap.from_json(json.dumps(document))
    for weights in ("a", [1], [["a"]], None):
        with pytest.raises(ModelFormatError, match="weights are not those of its coefficients"):
            PolynomialMap.from_json(json.dumps(json.loads(fitted.map_.to_json()) | {"weights": weights}))


def test_texts_that_javascript_writes(fitted):
    """Whole numbers without a point, however large."""
    document = json.loads(fitted.map_.to_json())
    document["arrays"]["domain.ranges"][1][0] = 10**19
    assert PolynomialMap.from_json(json.dumps(document)).domain.ranges[1, 0] == 1e19


def test_json_given_as_a_file(fitted, tmp_path):
    (tmp_path / "map.json").write_text(fitted.map_.to_json())
    with pytest.raises(ModelFormatError, match=r"JSON is read by PolynomialMap\.from_json"):
        PolynomialMap.load(tmp_path / "map.json")


def test_numbers_of_numpy(tmp_path):
    learned = random_map("kronecker", np.int64(2))
    learned.save(tmp_path / "map")
    assert PolynomialMap.from_json(learned.to_json()).degree == 2


def test_no_pickle_in_the_sources():
    for path in (Path(polyfold.__file__).parent).rglob("*.py"):
        text = path.read_text()
        assert "import pickle" not in text
        assert "allow_pickle=True" not in text


def test_frames_must_have_the_columns_of_the_map(fitted, roll):
    learned = fitted.map_
    np.testing.assert_array_equal(learned.transform(roll), fitted.transform(roll))
    with pytest.raises(ValueError, match=r"in another order\. Pass X\[list\(map.columns\)\]"):
        learned.transform(roll[["depth", "width", "height"]])
    with pytest.raises(ValueError, match="X lacks 'width' and has 'w' besides"):
        learned.transform(roll.rename(columns={"width": "w"}))
    with pytest.raises(ValueError, match="X has 'more' besides"):
        learned.transform(roll.assign(more=1.0))
    nameless = replace(learned, columns=None)
    np.testing.assert_array_equal(nameless.transform(roll.rename(columns={"width": "w"})), fitted.transform(roll))


def test_names_must_be_names():
    for names in (["a", "b"], ["a", "a", "b"], [1, 2, 3]):
        with pytest.raises(ValueError, match="`columns` must be 3 different names"):
            random_map("kronecker", 2, columns=names)
