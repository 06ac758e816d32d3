"""Damaged and hostile model files: one kind of error, and no more memory than ten times the file plus 50 MB."""

import contextlib
import gc
import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from high_water import measure_growth, needs_high_water
from maps import random_map
from polyfold import NPPE, ModelFormatError, PolynomialMap
from polyfold.datasets import make_swiss_roll
from strategies import damages, facts_and_shapes
from test_model_file import assert_same, read_parts, write_parts


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Maps of several kinds, and their files."""
    folder = tmp_path_factory.mktemp("originals")
    X, _ = make_swiss_roll(200, random_state=0)
    maps = [
        NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X).map_,
        random_map("hadamard", 3, 5, 1, columns=list("abcde")),
        random_map("kronecker", 2, 6, 3, n_axes=2),
    ]
    contents = []
    for number, learned in enumerate(maps):
        learned.save(folder / str(number))
        contents.append((folder / str(number)).read_bytes())
    return list(zip(maps, contents, strict=True)), folder


def damage(content, changes):
    for action, fraction, chunk in changes:
        at = int(fraction * len(content))
        match action:
            case "flip" if content:
                content = content[:at] + bytes([content[at] ^ (chunk[0] or 1)]) + content[at + 1 :]
            case "overwrite":
                content = content[:at] + chunk + content[at + len(chunk) :]
            case "insert":
                content = content[:at] + chunk + content[at:]
            case "delete":
                content = content[:at] + content[at + len(chunk) :]
            case "truncate":
                content = content[:at]
            case "repeat":
                content = content[:at] + content[at : at + 100] * 20 + content[at + 100 :]
            case "number":  # another length of the header
                content = struct.pack("<Q", int.from_bytes(chunk[:8], "little")) + content[8:]
    return content


def load_within_limits(path, measure=True):
    """Load a file; None where it is refused. It may not take more memory than ten times itself plus 50 MB."""
    messages = []

    def load():
        try:
            return PolynomialMap.load(path)
        except ModelFormatError as error:
            messages.append(str(error))
            return None

    if measure:
        loaded, grown = measure_growth(load)
        assert grown < 10 * path.stat().st_size + 50_000_000
    else:
        loaded = load()
    assert all(len(message) < 2000 for message in messages)
    return loaded


def check_damaged_files(originals, n_examples, measure):
    """Load so many damaged files; return how many."""
    pairs, folder = originals
    n_loaded = 0

    @given(which=st.integers(0, len(pairs) - 1), changes=damages())
    @settings(max_examples=n_examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(which, changes):
        nonlocal n_loaded
        original, content = pairs[which]
        path = folder / "damaged"
        path.write_bytes(damage(content, changes))
        loaded = load_within_limits(path, measure)
        if loaded is not None:  # what was done has undone itself
            assert_same(loaded, original)
        n_loaded += 1

    check()
    return n_loaded


def check_hostile_files(originals, n_examples, measure):
    """Load so many signed files of anything; return how many."""
    folder = originals[1]
    header = read_parts(folder / "0")[1]
    n_loaded = 0

    @given(document=facts_and_shapes())
    @settings(max_examples=n_examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(document):
        nonlocal n_loaded
        facts, arrays = document
        path = folder / "hostile"
        write_parts(path, arrays, {**header, "map": facts})
        loaded = load_within_limits(path, measure)
        if loaded is not None:  # it happens to be a map
            assert loaded.transform(np.tile(loaded.shift, (2, 1))).shape == (2, loaded.n_outputs)
        text = {
            "format_version": 1,
            "map": facts,
            "arrays": {name: array.tolist() for name, array in arrays.items()},
        }
        with contextlib.suppress(ModelFormatError):
            PolynomialMap.from_json(json.dumps(text))
        n_loaded += 1

    check()
    return n_loaded


def test_damaged_files(originals):
    assert check_damaged_files(originals, 500, measure=False) >= 500
    assert check_hostile_files(originals, 200, measure=False) >= 200


@needs_high_water
@pytest.mark.slow
def test_many_damaged_files(originals, record_property):
    n_damaged = check_damaged_files(originals, 20_000, measure=True)
    n_hostile = check_hostile_files(originals, 5_000, measure=True)
    record_property("damaged_files", n_damaged + n_hostile)
    assert n_damaged >= 20_000
    assert n_hostile >= 5_000


def make_bomb(kind, size):
    """A file of about this size whose header wants to become much more."""

    def repeat(piece, joint=b","):
        return joint.join([piece] * (size // (len(piece) + len(joint))))

    def number(pattern):
        return b",".join(pattern % i for i in range(size // (len(pattern) + 8)))

    def entry(text):
        return b'{"__metadata__":{"polyfold":' + json.dumps(text.decode()).encode() + b"}}"

    headers = {
        "lists": lambda: entry(b"[" + repeat(b"[]") + b"]"),
        "tables": lambda: entry(b"[" + repeat(b"{}") + b"]"),
        "numbers": lambda: entry(b"[" + repeat(b"1.5") + b"]"),
        "keys": lambda: entry(b"{" + number(b'"%d":0') + b"}"),
        "depth": lambda: entry(b"[" * size),
        "depth of the header": lambda: b'{"a":' + b"[" * size,
        "one long name": lambda: entry(b'{"' + b"a" * size + b'":1}'),
        "one long number": lambda: entry(b"9" * size),
        "tensors": lambda: b"{" + number(b'"%d":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}') + b"}",
        "dimensions": lambda: b'{"a":{"dtype":"F64","shape":[' + repeat(b"1") + b'],"data_offsets":[0,0]}}',
        "metadata": lambda: b'{"__metadata__":{' + number(b'"%d":""') + b"}}",
        "spaces": lambda: b"{" + b" " * size + b"}",
        "zeros": lambda: b"\0" * size,
        "huge tensor": lambda: b'{"a":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}}',
    }
    header = headers[kind]()
    return struct.pack("<Q", len(header)) + header


BOMBS = ["lists", "tables", "numbers", "keys", "depth", "depth of the header", "one long name", "one long number"]
BOMBS += ["tensors", "dimensions", "metadata", "spaces", "zeros", "huge tensor"]


@needs_high_water
@pytest.mark.parametrize("size", [300_000, 3_000_000, 20_000_000])
@pytest.mark.parametrize("kind", BOMBS)
def test_headers_that_want_to_grow(kind, size, tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(make_bomb(kind, size))
    gc.collect()
    assert load_within_limits(path) is None


@needs_high_water
def test_a_wide_map_is_no_bomb(tmp_path):
    """Of 100,000 columns with names: its header is large, and it is read."""
    n = 100_000
    learned = random_map("hadamard", 1, n, 1, columns=[f"gene {j}" for j in range(n)])
    learned.save(tmp_path / "map")
    assert_same(load_within_limits(tmp_path / "map"), learned)
