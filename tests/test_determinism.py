"""Same data, parameters, seed and versions: the same bits, whatever the threads, the process or the run."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from polyfold import ExplicitEmbedding, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll

GRAPHS = ["lle", "mlle", "ltsa", "hessian", "laplacian", "diffusion", "isomap"]

#: Fits that a process of its own makes; large enough that a BLAS library would share them among threads.
SCRIPT = """
import sys
from test_determinism import digest, fit_some
print(*(digest(map_) for map_ in fit_some(n_jobs=eval(sys.argv[1]))))
"""


#: Of a map, and of its domain.
NUMBERS = (
    "shift",
    "coefficients",
    "offset",
    "axes",
    "scale",
    "center",
    "directions",
    "spreads",
    "reach",
    "thickness",
)
NUMBERS += ("ranges",)


def make_wide():
    """Samples of 40 columns near a curved sheet of 5 dimensions."""
    random = np.random.default_rng(0)
    return np.sin(random.normal(size=(1200, 5)) @ random.normal(size=(5, 40))) + 0.05 * random.normal(
        size=(1200, 40)
    )


def fit_some(n_jobs=None):
    """Maps of several graphs, with axes, ridge and way back chosen and learned."""
    X, roll = make_wide(), make_swiss_roll(1000, random_state=0)[0]
    for graph in ("lle", "ltsa", "isomap"):
        yield (
            PolynomialEmbedding(graph=graph, n_jobs=n_jobs, fit_inverse_transform=True, random_state=0).fit(X).map_
        )
    yield PolynomialEmbedding(graph="laplacian", n_neighbors=10, degree=4, n_jobs=n_jobs).fit(roll).map_


def digest(learned):
    """A hash of every number of a map."""
    found = hashlib.sha256()
    parts = [learned, learned.decoder] if learned.decoder is not None else [learned]
    if learned.domain is not None:
        parts.append(learned.domain)
    for part in parts:
        for name in NUMBERS:
            value = getattr(part, name, None)
            if value is not None:
                found.update(np.ascontiguousarray(value).tobytes())
    return found.hexdigest()


def digest_in_process(n_jobs, blas_threads):
    threads = (
        {}
        if blas_threads is None
        else {f"{name}_NUM_THREADS": str(blas_threads) for name in ("OPENBLAS", "OMP", "MKL")}
    )
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")} | threads
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, repr(n_jobs)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("graph", GRAPHS)
def test_runs_and_threads_give_the_same_bits(graph):
    X = make_wide()[:400, :12]
    fits = [
        PolynomialEmbedding(graph=graph, n_neighbors=10, n_jobs=n_jobs, random_state=3).fit(X)
        for n_jobs in (None, None, 2, -1)
    ]
    assert len({digest(fitted.map_) for fitted in fits}) == 1
    for fitted in fits:
        np.testing.assert_array_equal(fitted.embedding_, fits[0].embedding_)
        np.testing.assert_array_equal(fitted.eigenvalues_, fits[0].eigenvalues_)
        assert fitted.alpha_ == fits[0].alpha_


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_followed_learner_gives_the_same_bits():
    X, Z = make_swiss_roll(500, random_state=0)
    fits = [ExplicitEmbedding("precomputed", degree=3).fit(X, Z).map_ for _ in range(2)]
    assert digest(fits[0]) == digest(fits[1])


@pytest.mark.slow
def test_processes_and_threads_of_blas_give_the_same_bits(record_property):
    """New processes, with one and two threads of ours, and one, two or as many of BLAS as there are."""
    expected = digest_in_process(None, 1)
    assert len(set(expected)) == 4
    others = [(None, 1), (2, 1), (None, 2), (2, 2), (-1, None)]
    record_property("equal_processes", 1 + len(others))
    for n_jobs, blas_threads in others:
        assert digest_in_process(n_jobs, blas_threads) == expected, (n_jobs, blas_threads)


HELD = """
import os, threading
import numpy as np
from threadpoolctl import threadpool_info
from polyfold import PolynomialEmbedding

X = np.random.default_rng(0).normal(size=(40, 3))

def tell(when):
    threads = sorted({each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"})
    print(when, *threads, flush=True)

def fit(name, inside=None, end=None):
    def graph(samples):
        if inside is not None:
            inside.set()
            end.wait(60)
        tell(name)
        return np.eye(len(samples)) - np.roll(np.eye(len(samples)), 1, 1), np.ones(len(samples))
    PolynomialEmbedding(graph=graph).fit(X)

def begin(name):
    events = threading.Event(), threading.Event()
    thread = threading.Thread(target=fit, args=(name, *events))
    thread.start()
    events[0].wait(60)
    return thread, events[1]

def finish(thread, end):
    end.set()
    thread.join(60)

tell("before")
fit("main")
finish(*begin("thread"))
first = begin("first")
last = begin("last")
finish(*first)
finish(*last)
tell("between")
other = begin("parent")
child = os.fork()
if child == 0:
    fit("child")
    tell("ended")
    os._exit(0)
os.waitpid(child, 0)
finish(*other)
tell("after")
"""


def test_blas_has_one_thread_in_every_thread_and_child():
    """Whoever begins first, ends last or was forked meanwhile; and as many as before afterwards."""
    environment = {**os.environ, **{f"{name}_NUM_THREADS": "2" for name in ("OPENBLAS", "OMP", "MKL")}}
    command = [sys.executable, "-W", "ignore", "-c", HELD]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    before = told.pop("before")
    if before == "1":
        pytest.skip("BLAS has one thread here")
    free = {name: told.pop(name) for name in ("between", "ended", "after")}
    assert free == dict.fromkeys(free, before)
    assert told == dict.fromkeys(("main", "thread", "first", "last", "parent", "child"), "1")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("seed", range(3))
def test_shuffled_rows_give_the_same_map_to_rounding(graph, seed):
    """For a given ridge: the folds that choose one go by the numbers of rows."""
    X, _ = make_swiss_roll(500, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    model = PolynomialEmbedding(graph=graph, n_neighbors=12, alpha=1e-3)
    expected, found = model.fit(X).map_, model.fit(X[order]).map_
    Y = expected.transform(X)
    np.testing.assert_allclose(found.transform(X), Y, atol=1e-7 * np.abs(Y).max())
