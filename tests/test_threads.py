"""One map in many threads: the same bits whoever asks, no memory that grows, and nothing changed by asking."""

import re
import threading
import time

import joblib
import numpy as np
import pytest

from maps import random_map
from polyfold import NPPE, ExplicitEmbedding
from polyfold.bench.timing import run_script
from polyfold.datasets import make_swiss_roll

N_THREADS = 8


def place_in_threads(learned, n_batches, seconds=0):
    """Place batches of all sizes and types in threads: each so many and for so long, whichever takes longer.

    Return how many were placed, and the shapes of those that were wrong.
    """
    X = learned.shift + learned.scale * np.random.default_rng(0).normal(size=(40_000, learned.n_inputs))
    batches, expected = [], []
    for dtype in (np.float64, np.float32, np.int16):
        samples = X.astype(dtype)
        alone = np.concatenate([learned.transform(row[np.newaxis]) for row in samples])  # nothing there to share
        for size in (1, 2, 7, 33, 257, 4000, 40_000):
            batches += [samples[:size], np.asfortranarray(samples[:size])]
            expected += [alone[:size]] * 2
    end, n_placed, wrong = time.monotonic() + seconds, [0] * N_THREADS, []

    def place(number):
        random = np.random.default_rng(number)
        while (n_placed[number] < n_batches or time.monotonic() < end) and not wrong:
            k = int(random.integers(len(batches)))
            placed = learned.transform(batches[k])
            if placed.dtype != expected[k].dtype or not np.array_equal(placed, expected[k]):
                wrong.append(batches[k].shape)
            n_placed[number] += 1

    threads = [threading.Thread(target=place, args=(number,)) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 300)
    assert not any(thread.is_alive() for thread in threads)
    return sum(n_placed), wrong


@pytest.fixture(params=["powers", "cross terms", "axes"])
def learned(request):
    shapes = {
        "powers": ("hadamard", 3, 40),
        "cross terms": ("kronecker", 3, 4),
        "axes": ("kronecker", 2, 50, 2, 7),
    }
    return random_map(*shapes[request.param])


def share_always(monkeypatch):
    """Every batch that can be is shared among the threads of the pool too."""
    monkeypatch.setattr("polyfold._evaluation.MANY_MULTIPLICATIONS", 0)
    monkeypatch.setattr("polyfold._evaluation.count_threads", lambda: 3)
    monkeypatch.setattr("polyfold._threads.count_threads", lambda: 3)


def test_eight_threads_get_the_same_bits(learned, monkeypatch):
    share_always(monkeypatch)
    n_placed, wrong = place_in_threads(learned, 40)
    assert wrong == []
    assert n_placed == 40 * N_THREADS


@pytest.mark.slow
def test_eight_threads_for_a_minute(monkeypatch, record_property):
    share_always(monkeypatch)
    n_placed, wrong = place_in_threads(random_map("kronecker", 2, 50, 2, 7), 100, seconds=60)
    record_property("thread_results", n_placed)
    assert wrong == []
    assert n_placed >= 100 * N_THREADS


GROWTH = """
import gc, re
import numpy as np
from pathlib import Path
from polyfold import NPPE
from polyfold.datasets import make_swiss_roll

def read():
    gc.collect()
    return int(re.search(r"VmRSS:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

X, _ = make_swiss_roll(500, random_state=0)
estimator = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X)
rows = [X[i:i + 1].copy() for i in range(100)]
for place in (estimator.transform, estimator.map_.transform):
    for i in range(5000):
        place(rows[i % 100])
    before = read()
    for i in range(100_000):
        place(rows[i % 100])
    print("grown by", read() - before, "kB")
"""


def test_a_hundred_thousand_small_batches_take_no_memory(record_property):
    grown = [int(number) for number in re.findall(r"grown by (-?\d+) kB", run_script(GROWTH))]
    record_property("grown_kilobytes", max(grown))
    assert len(grown) == 2
    assert max(grown) < 1000  # ten bytes a call


def list_uses(estimator, X, Y):
    learned = estimator.map_
    return {
        "transform": lambda: estimator.transform(X),
        "transform in single precision": lambda: estimator.transform(X.astype(np.float32)),
        "score": lambda: estimator.score(X),
        "inverse_transform": lambda: estimator.inverse_transform(Y),
        "jacobian": lambda: learned.jacobian(X),
        "sensitivity": lambda: learned.sensitivity(X),
        "extrapolation": lambda: learned.extrapolation(X),
        "terms": lambda: learned.terms(),
        "to_json": lambda: learned.to_json(),
        "to_html": lambda: learned.to_html(X),
    }


@pytest.mark.parametrize(
    "estimator",
    [
        NPPE(n_neighbors=10, fit_inverse_transform=True),
        NPPE(n_neighbors=10, reduce=2, fit_inverse_transform=True),
        ExplicitEmbedding(NPPE(n_neighbors=10), fit_inverse_transform=True),
    ],
    ids=["columns", "axes", "explicit"],
)
def test_asking_changes_nothing(estimator):
    X, _ = make_swiss_roll(300, random_state=0)
    samples = joblib.hash(X)
    estimator.fit(X)
    before, Y = joblib.hash(estimator), estimator.transform(X)
    names, placed = set(vars(estimator)), Y.copy()
    for name, use in list_uses(estimator, X, Y).items():
        use()
        assert joblib.hash(estimator) == before, name
        assert joblib.hash(X) == samples, name
        np.testing.assert_array_equal(Y, placed, err_msg=name)
        # What is prepared at the first use is not in the hash.
        np.testing.assert_array_equal(estimator.transform(X), placed, err_msg=name)
    assert set(vars(estimator)) == names
    estimator.embedding_[0, 0] += 1e-12  # what would be seen
    assert joblib.hash(estimator) != before
