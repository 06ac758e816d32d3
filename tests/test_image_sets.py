"""Finding image sets: a path, a variable, the cache, the network, and what is said when there is none."""

import builtins
import hashlib
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from image_sets import FOLDER, needs
from polyfold import datasets
from polyfold.datasets import images

FACES = np.arange(3 * 560, dtype=np.uint8).reshape(3, 560)


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No data set is found unless a test puts it there."""
    monkeypatch.delenv(images.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(images, "_cache_folder", lambda: tmp_path / "cache")
    return tmp_path


def test_a_file_or_a_folder(tmp_path):
    file = tmp_path / images.FREY_FACES.file_name
    np.savez_compressed(file, X=FACES)
    np.testing.assert_array_equal(datasets.load_frey_faces(file), FACES)
    np.testing.assert_array_equal(datasets.load_frey_faces(str(tmp_path)), FACES)


def test_the_variable_then_the_cache(tmp_path, monkeypatch):
    for folder, values in (("cache", FACES), ("elsewhere", FACES + 1)):
        (tmp_path / folder).mkdir()
        np.savez(tmp_path / folder / images.FREY_FACES.file_name, X=values)
    np.testing.assert_array_equal(datasets.load_frey_faces(), FACES)
    monkeypatch.setenv(images.FOLDER_VARIABLE, str(tmp_path / "elsewhere"))
    np.testing.assert_array_equal(datasets.load_frey_faces(), FACES + 1)


@pytest.mark.parametrize(
    "load", [datasets.load_frey_faces, datasets.load_usps, datasets.load_isomap_faces, datasets.load_coil20]
)
def test_what_is_not_there(load, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"not found; looked for .*\.npz.*published at .*\$POLYFOLD_DATA"):
        load()
    with pytest.raises(FileNotFoundError, match="missing"):
        load(tmp_path / "missing")
    monkeypatch.setattr(images, "_cache_folder", lambda: None)
    with pytest.raises(FileNotFoundError, match="Save it as"):
        load()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a readable .npz file"),
        (b"PK\x03\x04 truncated", "is not a readable .npz file"),
        ({"X": np.zeros((3, 10))}, r"must hold an array X of shape any x 560, found \(3, 10\)"),
        ({"Z": FACES}, "must hold an array X of shape any x 560, found None"),
        ({"X": np.array([{}])}, "is not a readable .npz file: Object arrays cannot be loaded"),
    ],
)
def test_a_wrong_file(tmp_path, content, message):
    file = tmp_path / images.FREY_FACES.file_name
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        np.savez(file, **content)
    with pytest.raises(ValueError, match=message):
        datasets.load_frey_faces(file)


@pytest.fixture
def published(tmp_path, monkeypatch):
    """MNIST in the layout it is published in, on a server of our own."""
    folder = tmp_path / "server"
    folder.mkdir()
    file = folder / "mnist.npz"
    random = np.random.default_rng(0)
    np.savez(
        file,
        x_train=random.integers(0, 255, size=(6, 28, 28), dtype=np.uint8),
        y_train=np.arange(6),
        x_test=random.integers(0, 255, size=(4, 28, 28), dtype=np.uint8),
        y_test=np.arange(4),
    )
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    source = replace(images.MNIST, url=f"http://127.0.0.1:{server.server_port}/mnist.npz", sha256=digest)
    monkeypatch.setattr(images, "MNIST", source)
    yield file
    server.shutdown()
    server.server_close()
    thread.join()


def test_fetching(published):
    expected = np.load(published)
    X, y = datasets.load_mnist()
    assert X.shape == (10, 784)
    np.testing.assert_array_equal(X[:6].reshape(6, 28, 28), expected["x_train"])
    published.unlink()  # from now on it comes from the cache
    np.testing.assert_array_equal(datasets.load_mnist()[0], X)
    np.testing.assert_array_equal(datasets.load_mnist(subset="test")[1], np.arange(4))
    np.testing.assert_array_equal(datasets.load_mnist(subset="train")[1], y[:6])
    with pytest.raises(ValueError, match="`subset` must be one of"):
        datasets.load_mnist(subset="validation")


def test_fetching_something_else(published, tmp_path):
    published.write_bytes(published.read_bytes() + b"!")
    with pytest.raises(
        OSError, match=r"MNIST could not be fetched from http://127.*hash.*pass its folder as `path`"
    ):
        datasets.load_mnist()
    assert not list((tmp_path / "cache").glob("*.npz"))


def test_fetching_without_a_network(published, monkeypatch):
    monkeypatch.setattr(images, "MNIST", replace(images.MNIST, url="http://127.0.0.1:9/mnist.npz"))
    with pytest.raises(OSError, match="MNIST could not be fetched"):
        datasets.load_mnist()


def test_fetching_without_pooch(monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "pooch":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.undo()
    monkeypatch.delenv(images.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r'needs pooch: pip install "polyfold\[data\]"'):
        datasets.load_mnist()
    with pytest.raises(FileNotFoundError):
        datasets.load_usps()


@needs("frey", "usps", "isomap", "coil20", "mnist")
def test_shapes_of_the_real_ones():
    assert datasets.load_frey_faces(FOLDER).shape == (1965, 560)
    X, y = datasets.load_usps(FOLDER)
    assert X.shape == (11000, 256)
    np.testing.assert_array_equal(np.bincount(y), np.full(10, 1100))
    X, t = datasets.load_isomap_faces(FOLDER)
    assert X.shape == (698, 1024)
    assert t.shape == (698, 3)
    X, y = datasets.load_coil20(FOLDER)
    assert X.shape == (1440, 1024)
    assert len(np.unique(y)) == 20
    assert datasets.load_mnist(FOLDER, subset="test")[0].shape == (10_000, 784)
