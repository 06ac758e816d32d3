"""Processes that the tests of faults start, and then kill, starve or interrupt: ``fault_children.py TASK …``."""

import contextlib
import io
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numba
import numpy as np

from maps import random_map
from polyfold import ExplicitEmbedding, KernelExtrapolation, NystromExtension, PolynomialEmbedding, PolynomialMap
from polyfold.datasets import make_swiss_roll

warnings.simplefilter("ignore")


def say(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def run_command(*arguments):
    from polyfold.cli import app

    with contextlib.redirect_stderr(io.StringIO()):
        app([str(each) for each in arguments], standalone_mode=False)


def list_writes(folder):
    """What writes a file: name of the file, and the function that writes it anew."""
    model, data = folder / "model.safetensors", folder / "data.npy"
    random_map("kronecker", 2, 300, 2, 20, seed=0).save(model)
    np.save(data, np.random.default_rng(0).normal(size=(1500, 300)))
    other = random_map("kronecker", 2, 300, 2, 20, seed=1)
    place = ("transform", model, data, "--force", "--quiet", "-o")
    return {
        "map.safetensors": other.save,
        "placed.csv": lambda path: run_command(*place, path),
        "placed.parquet": lambda path: run_command(*place, path),
        "placed.npy": lambda path: run_command(*place, path),
        "page.html": lambda path: run_command("explore", model, data, "--force", "-o", path),
        "map.json": lambda path: run_command("export", model, "--force", "-o", path),
    }


def begin_writing(write, path):
    """Start a process that writes a file, and return its number once it begins to."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"!")
        write(path)
        os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    return child


def kill_writers(folder, n_kills, seed):
    """Kill a writer of each kind of file at random moments; tell which contents were found afterwards."""
    draw = random.Random(int(seed))
    for name, write in list_writes(Path(folder)).items():
        path = Path(folder) / name
        write(path)
        new, seconds = path.read_bytes(), []
        for _ in range(5):  # a child takes longer than this process: it has no memory of its own yet
            child = begin_writing(write, path)
            start = time.perf_counter()
            os.waitpid(child, 0)
            seconds.append(time.perf_counter() - start)
        assert path.read_bytes() == new, "what is written is always the same"
        old = b"old" * 1000
        found = {"old": 0, "new": 0, "other": 0, "litter": 0, "unfinished": 0}
        for _ in range(int(n_kills)):
            path.write_bytes(old)
            child = begin_writing(write, path)
            time.sleep(draw.uniform(0, 1.5 * max(seconds)))
            os.kill(child, signal.SIGKILL)
            found["unfinished"] += os.waitpid(child, 0)[1] != 0
            there = path.read_bytes() if path.exists() else None
            found["old" if there == old else "new" if there == new else "other"] += 1
        found["litter"] = len(list(Path(folder).glob(".polyfold-*.tmp")))
        write(path)
        assert path.read_bytes() == new, "what was left behind is in nobody's way"
        for each in Path(folder).glob(".polyfold-*.tmp"):
            each.unlink()
        say(file=name, milliseconds=round(1000 * max(seconds), 1), **found)


def make_estimator(settings):
    settings = dict(settings)
    if settings.pop("explicit", False):
        return ExplicitEmbedding(PolynomialEmbedding(**settings))
    if "implicit" in settings:
        return {"KE": KernelExtrapolation, "Nyström": NystromExtension}[settings.pop("implicit")](**settings)
    return PolynomialEmbedding(**settings)


def read_size():
    return int(re.search(r"VmSize:\s*(\d+)", Path("/proc/self/status").read_text())[1]) * 1024


def starve(settings, n_samples, n_columns, megabytes):
    """Fit in too little memory, and then what the error says would fit."""
    settings = json.loads(settings)
    X = np.random.default_rng(0).normal(size=(int(n_samples), int(n_columns)))
    make_estimator(settings).fit(X[:3000])  # whatever is compiled or loaded at the first fit
    limit = read_size() + int(megabytes) * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    estimator = make_estimator(settings)
    message = ""
    try:
        estimator.fit(X)
    except MemoryError as error:
        message = str(error)
    say(message=message, learned=[name for name in vars(estimator) if name.endswith("_")])
    if found := re.search(r"About ([\d,]+) samples would fit", message):
        number = int(found[1].replace(",", ""))
        say(fitted=number, finite=bool(np.isfinite(make_estimator(settings).fit_transform(X[:number])).all()))


class Stages:
    """Which stage of a fit begins: told by its bar, whether or not it is shown."""

    def __init__(self):
        import tqdm

        self.names, self.told, self.target = [], False, None
        stages = self

        class Bar(tqdm.tqdm):
            def __init__(self, *arguments, **keywords):
                stages.begin(keywords.get("desc"))
                super().__init__(*arguments, **keywords)

        tqdm.tqdm = Bar

    def begin(self, name):
        self.names.append(name)
        if name == self.target and not self.told:
            self.told = True
            say(begins=name)


def interrupt(settings, n_samples, n_columns, n_stages):
    """Fit again and again, and let each stage be interrupted from outside as it begins."""
    settings, n_samples, n_columns = json.loads(settings), int(n_samples), int(n_columns)
    random_numbers = np.random.default_rng(0)
    latent = random_numbers.normal(size=(n_samples, min(n_columns, 6)))
    X = latent @ random_numbers.normal(size=(latent.shape[1], n_columns))
    X = (X + 0.1 * random_numbers.normal(size=X.shape)) if n_columns > 6 else latent
    stages = Stages()
    small = X[:1500]
    expected = make_estimator(settings).fit_transform(small)
    gaps = {}
    if int(n_stages) > 3:
        stages.names.clear()  # a small fit may go another way
        gaps = measure_gaps(make_estimator(settings), X, stages)
    names = [name for name in dict.fromkeys(stages.names) if name]
    say(stages=names, gaps=gaps)
    for name in names[: int(n_stages)]:
        estimator = make_estimator(settings)
        stages.target, stages.told = name, False
        ended = "interrupted"
        try:
            estimator.fit(X)
            ended = "fitted"
            time.sleep(5)  # it comes too late, and not after this
        except KeyboardInterrupt:
            left = [each for each in vars(estimator) if each.endswith("_")]
            ended = ended if not left or len(left) > 5 else left
        say(ended=ended)
        stages.target = None
        again = make_estimator(settings).fit_transform(small)
        say(same=bool(np.array_equal(again, expected)))


def measure_gaps(estimator, X, stages):
    """Return the longest time, by stage, in which the interpreter hears no signal."""
    gaps, last = {}, [time.perf_counter(), "start"]

    def tick(*_):
        now, stage = time.perf_counter(), (stages.names or [None])[-1] or "columns"
        gaps[last[1]] = max(gaps.get(last[1], 0.0), round(now - last[0], 2))
        last[:] = [now, stage]

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        estimator.fit(X)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return gaps


def fit_and_place():
    """Bits of fits and of their coordinates, by threads that are shared: ours, and those of each library."""
    import polyfold._evaluation as evaluation

    evaluation.MANY_MULTIPLICATIONS = 0
    roll, _ = make_swiss_roll(2000, random_state=0)
    mixing = np.random.default_rng(0).normal(size=(3, 40))
    wide = np.sin(roll @ mixing / 20)  # neighbours are looked for by scikit-learn and faiss, which have OpenMP
    fits = [
        PolynomialEmbedding(n_neighbors=10, n_jobs=2).fit(roll),
        *(PolynomialEmbedding(neighbors=kind, n_jobs=2).fit(wide) for kind in ("exact", "approx")),
        NystromExtension(n_neighbors=10, n_jobs=2).fit(wide[:700]),
        KernelExtrapolation().fit(wide[:300]),
    ]
    samples = [roll, wide, wide, wide, wide]
    placed = [fitted.transform(X).tobytes() for fitted, X in zip(fits, samples, strict=True)]
    scores = [fitted.score(X) for fitted, X in zip(fits[:3], samples, strict=False)]
    return [fitted.map_.to_json() for fitted in fits[:3]], placed, scores, threading.active_count()


def send_bits(connection):
    connection.send(fit_and_place())


def double(values):
    made = np.empty_like(values)
    for i in numba.prange(len(values)):
        made[i] = 2 * values[i]
    return made


def multiply(method):
    """Fit and place here, and then in a process that this one starts; numba's own threads are at work before."""
    doubled = numba.njit(parallel=True)(double)(np.ones(10_000))
    assert (doubled == 2).all()
    here = fit_and_place()
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=send_bits, args=(theirs,))
    process.start()
    there = ours.recv() if ours.poll(100) else None
    process.join(10)
    if process.exitcode is None:  # it hangs
        process.kill()
    same = there is not None and there[:3] == here[:3]
    say(same=same, threads=here[3], code=process.exitcode)


def save_always(path, seed, seconds):
    """Fit and save to a path that another does too."""
    X, _ = make_swiss_roll(150, random_state=int(seed))
    end, n_rounds = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        estimator = PolynomialEmbedding(n_neighbors=8, degree=1, random_state=int(seed)).fit(X)
        for _ in range(20):
            estimator.map_.save(path)
        n_rounds += 20
    say(rounds=n_rounds)


def compile_loops():
    """Fit and place, whatever becomes of the compiled loops."""
    warnings.simplefilter("default")
    X, _ = make_swiss_roll(300, random_state=0)
    learned = PolynomialEmbedding(n_neighbors=10).fit(X).map_
    say(json=PolynomialMap.from_json(learned.to_json()).transform(X).tolist() == learned.transform(X).tolist())


TASKS = {
    "kill": kill_writers,
    "starve": starve,
    "interrupt": interrupt,
    "multiply": multiply,
    "save": save_always,
    "compile": compile_loops,
}

if __name__ == "__main__":
    TASKS[sys.argv[1]](*sys.argv[2:])
