"""The documented memory formula, against the peak of a process that does nothing else."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from image_sets import needs

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "memory.py"


def measure(shape):
    shown = subprocess.run([sys.executable, BENCHMARK, "--one", shape], capture_output=True, text=True, check=True)
    print(shown.stdout)  # noqa: T201
    found = re.search(r"peak +([\d.]+) GB .* ratio ([\d.]+)", shown.stdout)
    return float(found[1]), float(found[2])


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["20000,400", "100000,12", "3000,3000", "40000,64"])
def test_formula_holds_within_30_percent(shape):
    _, ratio = measure(shape)
    assert 0.7 <= ratio <= 1.3


@pytest.mark.slow
@needs("mnist")
def test_mnist_fits_in_four_gigabytes():
    peak, ratio = measure("mnist")
    assert peak < 4
    assert 0.7 <= ratio <= 1.3
