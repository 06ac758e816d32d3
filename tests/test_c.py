"""C functions: plain, small, and safe whatever the names."""

import ctypes
import os
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from maps import random_map
from polyfold import NPPE
from polyfold.datasets import make_swiss_roll
from runners import COMPILER, FLAGS, run_c

pytestmark = pytest.mark.skipif(COMPILER is None, reason="gcc is not installed")


def test_it_includes_and_calls_nothing(tmp_path):
    code = random_map("kronecker", 3, 6, 2, 3).to_c("place")
    assert re.findall(r"#include.*", code.source + code.header) == ['#include "place.h"']
    _, source = code.write(tmp_path)
    freestanding = ["-ffreestanding", "-nostdlib", "-c", "-o", str(tmp_path / "place.o")]
    flags = [flag for flag in FLAGS if flag != "-shared"]
    subprocess.run([COMPILER, *flags, *freestanding, str(source)], check=True)
    symbols = subprocess.run(["nm", "-u", str(tmp_path / "place.o")], check=True, capture_output=True, text=True)
    assert symbols.stdout.strip() in ("", "U _GLOBAL_OFFSET_TABLE_")


def test_it_holds_no_numbers_in_memory_that_is_written(tmp_path):
    """A microcontroller keeps constants in flash: nothing is in .data or .bss."""
    _, source = random_map("kronecker", 2, 60, 2, 20).to_c("place").write(tmp_path)
    object_file = str(tmp_path / "place.o")
    subprocess.run([COMPILER, "-std=c99", "-Os", "-c", str(source), "-o", object_file], check=True)
    sizes = subprocess.run(["size", object_file], check=True, capture_output=True, text=True).stdout.split()
    assert sizes[7:9] == ["0", "0"]  # after six titles and the size of .text


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_all_kinds_compile(dtype):
    for basis, degree, n_inputs, n_axes in [
        ("hadamard", 1, 1, None),
        ("kronecker", 4, 3, None),
        ("hadamard", 2, 90, 7),
    ]:
        learned = random_map(basis, degree, n_inputs, 2, n_axes)
        X = np.random.default_rng(0).normal(size=(20, n_inputs))
        expected = learned.transform(X)
        limit = 1e-12 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(run_c(learned, X, dtype), expected, rtol=0, atol=limit * np.abs(expected).max())


def test_a_header_of_another_map_does_not_compile(tmp_path):
    """As after a crash between the two: the caller would take too little room for the coordinates."""
    _, source = random_map("kronecker", 2).to_c("place").write(tmp_path)
    other = random_map("kronecker", 2, n_outputs=5).to_c("place")
    compile_ = [COMPILER, *FLAGS, str(source), "-o", str(tmp_path / "place.so")]
    assert subprocess.run(compile_).returncode == 0
    (tmp_path / "place.h").write_text(other.header)
    failed = subprocess.run(compile_, capture_output=True, text=True)
    assert failed.returncode != 0
    assert "place.h is of another map than place.c" in failed.stderr


def test_a_full_disk_leaves_both_files_as_they_were(tmp_path, monkeypatch):
    for old in (path := tmp_path / "place.h", tmp_path / "place.c"):
        old.write_text("old")
    code = random_map("kronecker", 2).to_c("place")
    sync, calls = os.fsync, []

    def fill(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr("os.fsync", fill)
    with pytest.raises(OSError, match="No space left"):
        code.write(tmp_path)
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {path.name: "old", "place.c": "old"}


def test_as_cpp(tmp_path):
    code = random_map("kronecker", 2).to_c("place")
    code.write(tmp_path)
    main = "int main() { double x[PLACE_INPUTS] = {1, 2, 3}, y[PLACE_OUTPUTS]; place(x, y); return 0; }"
    (tmp_path / "main.cpp").write_text(f'#include "place.h"\n{main}\n')
    compiler = COMPILER.replace("gcc", "g++")
    subprocess.run([COMPILER, "-std=c99", "-c", "place.c", "-o", "place.o"], check=True, cwd=tmp_path)
    subprocess.run([compiler, "-Wall", "-Werror", "main.cpp", "place.o", "-o", "main"], check=True, cwd=tmp_path)
    subprocess.run([str(tmp_path / "main")], check=True)


def test_names_cannot_end_the_comment(tmp_path):
    names = ["*/ int evil; /*", "a\nb", "\\", "雪", "??/"]
    code = random_map("kronecker", 1, 5, columns=names).to_c("place")
    assert (code.header + code.source).isascii()
    assert "evil;" not in code.header
    _, source = code.write(tmp_path)
    subprocess.run([COMPILER, *FLAGS, str(source), "-o", str(tmp_path / "place.so")], check=True)
    library = ctypes.CDLL(str(tmp_path / "place.so"))
    assert not hasattr(library, "evil")


@pytest.mark.parametrize("name", ["shift", "scale", "weights", "axes", "x", "y", "z", "product", "i", "k"])
def test_names_that_the_function_uses(name, tmp_path):
    _, source = random_map("kronecker", 2, 4, n_axes=2).to_c(name).write(tmp_path)
    subprocess.run([COMPILER, *FLAGS, str(source), "-o", str(tmp_path / "place.so")], check=True)


BAD_NAMES = ["exp", "printf", "new", "y0", "", "1a", "a-b", "while", "main", "a b", "a;", "é", 3]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_of_functions(name):
    with pytest.raises(ValueError, match="`name` must be a name in C"):
        random_map("kronecker", 1).to_c(name)


def test_bad_parameters():
    with pytest.raises(ValueError, match="`dtype` must be 'float32' or 'float64', got 'int'"):
        random_map("kronecker", 1).to_c(dtype="int")
    X, _ = make_swiss_roll(200, random_state=0)
    tiny = NPPE(n_neighbors=10).fit(X * 1e-60).map_
    with pytest.raises(ValueError, match="beyond float32: scale"):
        tiny.to_c(dtype="float32")
    np.testing.assert_allclose(run_c(tiny, X * 1e-60), tiny.transform(X * 1e-60), rtol=1e-9, atol=1e-12)


def test_weights_that_float32_cannot_hold_are_refused():
    learned = random_map("kronecker", 2)
    faint = replace(learned, coefficients=learned.coefficients * [1, 1e-42])
    with pytest.raises(ValueError, match=r"numbers are beyond float32: .* largest weight of a coordinate from"):
        faint.to_c(dtype="float32")
    with pytest.raises(ValueError, match=r"numbers are beyond float32: .* largest weight of a coordinate from"):
        faint.to_onnx(dtype="float32", arithmetic="float32")
    faint.to_c()
    faint.to_onnx()
    some = learned.coefficients.copy()
    some[0] *= 1e-60  # of no weight beside the others
    assert replace(learned, coefficients=some).to_c(dtype="float32").name == "polyfold_map"


@pytest.mark.parametrize("dtype", [np.array([1, 2]), None, "int8", 5])
def test_other_types_are_refused(dtype):
    with pytest.raises(ValueError, match="`dtype` must be 'float32' or 'float64'"):
        random_map("kronecker", 2).to_c(dtype=dtype)
    with pytest.raises(ValueError, match="`dtype` must be 'float32' or 'float64'"):
        random_map("kronecker", 2).to_onnx(dtype=dtype)
